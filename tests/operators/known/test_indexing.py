"""Indexing as NumPy does it: reading, gradients and assignment, of every component and of dense arrays."""

from __future__ import annotations

import shutil
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import PynestedError, StructureError

from ...nests import LAYOUTS, PLACEMENTS, Numbers, assert_same, batch, distinct, nest, place, plain

ALL = slice(None)
BACK = slice(None, None, -1)
X = batch([(2, 3), (0, 3), (4, 3)])
FULL = batch([(3, 2), (1, 2), (4, 2)])
HOLDS = [x > 0.05 for x in X]

BATCH: list[Any] = [ALL, slice(1, None), BACK, slice(None, None, 2), slice(0, 0), slice(-9, 9), 0, -1, np.int64(2)]
BATCH += [[2, 0, 0], [], [True, False, True], np.array([-1, -3], np.int8), pn.array([0, 1])]
INNER: list[Any] = [
    (), (0,), (-1,), (...,), (None,), (slice(None, 1),), (slice(-2, None),), (slice(None, None, 2),), (BACK,),
    (slice(3, 0, -2),), (slice(5, 2),), (0, 1), (-1, BACK), (slice(None, None, 2), 1), (BACK, 0), (BACK, BACK),
    (..., 0), (..., slice(None, 1)), (None, 0), (0, None), (ALL, None, BACK), (None, BACK, ..., None), (BACK, ..., 0),
]  # fmt: skip


def as_numpy(entry: Any) -> Any:
    """Return an entry of an index as NumPy takes it."""
    if isinstance(entry, list):
        return np.array(entry, None if entry else np.int64)
    return np.asarray(entry) if isinstance(entry, pn.Array) else entry


def picked(count: int, first: Any) -> list[int] | int:
    """Return which components the first entry names."""
    found = np.arange(count)[as_numpy(first)]
    return found.tolist()  # type: ignore[no-any-return]


def by_numpy(components: list[Numbers], index: tuple[Any, ...]) -> Any:
    """Return what NumPy picks of each component that the first entry names; None if one of them is too short."""
    numbers, inner = picked(len(components), index[0]), index[1:]
    try:
        if isinstance(numbers, int):
            return components[numbers][inner]
        return [components[i][inner] for i in numbers]
    except IndexError:
        return None


def numbered(components: list[Numbers]) -> list[Numbers]:
    return [np.arange(x.size).reshape(x.shape) for x in components]


def turned(ragged: int) -> list[Numbers]:
    return [x if ragged == 1 else x.T.copy() for x in FULL]


@pytest.mark.parametrize("inner", INNER, ids=str)
def test_components_are_read_and_written(layout: Any, placement: str, inner: Any) -> None:
    for number, first in enumerate(BATCH, PLACEMENTS.index(placement)):
        ragged = 1 + number % 2  # placements take turns, so that each entry meets both
        components = turned(ragged)
        index = (first, *inner)
        due = by_numpy(components, index)
        if due is None:
            continue
        made = place(components, layout, placement, ragged)
        x, gaps = made.array, made.holes_of(made.buffer.numpy()).copy()
        found = x[index]
        assert_same(found if isinstance(due, list) else [found], due if isinstance(due, list) else [due])
        assert found.is_nested is False or found.layout is layout
        numbers = picked(len(components), first)
        if isinstance(numbers, list) and len(set(numbers)) < len(numbers):
            with pytest.raises(StructureError, match="names it twice") if due[0].size else nullcontext():
                x[index] = 7.0
            assert_same(x, components)
            continue
        expected = [one.copy() for one in components]
        for i in [numbers] if isinstance(numbers, int) else numbers:
            expected[i][inner] = 7.0
        x[index] = 7
        assert_same(x, expected)
        x[index] = x[index] * 2 + 1
        x[index] += 1
        assert_same(x, [np.where(one == 7, 16.0, one) for one in expected])
        x[index] = nest(components, layout, "packed", ragged)[index]
        assert_same(x, components)
        np.testing.assert_array_equal(made.holes_of(made.buffer.numpy()), gaps)


ENDS = st.none() | st.integers(-5, 5)
SLICES = st.builds(slice, ENDS, ENDS, st.none() | st.integers(-3, 3).filter(bool))
ENTRY = SLICES | st.integers(-2, 1) | st.none()


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    both=st.booleans(),
    first=SLICES | st.lists(st.integers(-5, 4) | st.sampled_from([2**70, -(2**70)]), max_size=4),
    inner=st.lists(ENTRY, max_size=3),
    rest=st.booleans(),
    layout=st.sampled_from(LAYOUTS),
    placement=st.sampled_from(PLACEMENTS),
)
@settings(max_examples=200)
def test_any_index(
    lengths: list[int], both: bool, first: Any, inner: list[Any], rest: bool, layout: Any, placement: str
) -> None:
    both &= layout is pn.strided
    components = batch([(n, (i + n) % 3 if both else 3) for i, n in enumerate(lengths)])
    index = (first, *inner, ...) if rest else (first, *inner)
    made = place(components, layout, placement, grad=True)
    try:
        due = by_numpy(components, index)
    except (IndexError, OverflowError):
        due = None
    if due is None:
        with pytest.raises(PynestedError):
            made.array[index]
        return
    if not due:  # NumPy cannot say whether an index of no components is in range
        return
    found = made.array[index]
    assert_same(found.detach(), due)
    weights = [distinct(one.shape, i) for i, one in enumerate(due)]
    slopes = [np.zeros(x.size) for x in components]
    for i, positions, weight in zip(picked(len(lengths), first), by_numpy(numbered(components), index), weights,
                                    strict=True):  # fmt: skip
        np.add.at(slopes[i], positions.reshape(-1), weight.reshape(-1))
    ragged = getattr(found.structure, "ragged_dim", 1) if found.is_nested else 1
    found.backward(nest(weights, layout, "packed", ragged) if found.is_nested else pn.array(np.stack(weights)))
    assert_same(made.gradient(), [one.reshape(x.shape) for one, x in zip(slopes, components, strict=True)], 1e-15)


def test_slices_of_slices_and_of_everything(lay: Any) -> None:
    assert_same(lay(X)[:, ::2][:, ::-1][:, :, 1:], [x[::2][::-1][:, 1:] for x in X])
    for index in (..., (...,), (ALL, ...), (..., ALL), (ALL, ALL, ALL, ...), ()):
        assert_same(lay(X)[index], X)


def test_a_value_for_each_component(layout: Any, placement: str) -> None:
    x = nest(FULL, layout, placement)
    rows = np.arange(6.0).reshape(3, 2)
    for at in (0, -1):
        x[:, at] = rows
        assert_same([one[at] for one in plain(x)], list(rows))
    x[:, ::-1] = rows[:, None]
    assert_same(x, [np.broadcast_to(row, one.shape) for row, one in zip(rows, FULL, strict=True)])
    x[:, ::-1] = nest(FULL, layout)
    assert_same(x, [one[::-1] for one in FULL])
    x[:, ::-1] = x
    assert_same(x, FULL)
    x[0] = [[1, 2], [3, 4], [5, 6]]
    assert_same(x[0], np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]))
    x[:, 0] = [8, 9]
    assert_same([one[0] for one in plain(x)], [np.array([8.0, 9.0])] * 3)


def test_masks_of_rows_and_of_no_components(layout: Any, placement: str) -> None:
    x, rows = nest(X, layout, placement), [mask[:, 0] for mask in HOLDS]
    for mask_layout in LAYOUTS:
        for masks in (HOLDS, rows):
            result = x[nest(masks, mask_layout, placement)]
            assert_same(result, [one[mask] for one, mask in zip(X, masks, strict=True)])
            assert result.layout is layout
    chosen = x[:0][x[:0] > 0]
    assert (len(chosen), chosen.ndim, chosen.layout) == (0, 2, layout)


def test_a_mask_leaves_a_ragged_dimension() -> None:
    x, columns = [one.T for one in X], [np.array([True, False, True]), np.array([False] * 3), np.array([True] * 3)]
    result = nest(x, pn.jagged, "holes", 2)[nest(columns, pn.strided)]
    assert_same(result, [one[mask] for one, mask in zip(x, columns, strict=True)])
    assert result.layout is pn.strided


def test_assignment_by_a_mask(layout: Any, placement: str) -> None:
    x = nest(X, layout, placement)
    x[nest(HOLDS)] = -1.0
    assert_same(x, [np.where(mask, -1.0, one) for one, mask in zip(X, HOLDS, strict=True)])
    before = x.data.storage.version
    x[nest(HOLDS)] = nest([np.full(int(mask.sum()), 2.0) for mask in HOLDS], layout)
    assert_same(x, [np.where(mask, 2.0, one) for one, mask in zip(X, HOLDS, strict=True)])
    assert x.data.storage.version > before


@pytest.mark.skipif(shutil.which("g++") is None, reason="the emulation needs g++")
def test_devices() -> None:
    there = pn.nested_array(X, device="emulated")
    assert_same(there[pn.array([2, 0], device="emulated")].to("cpu"), [X[2], X[0]])
    assert_same(there[[2, 0]][:, 1:].to("cpu"), [X[2][1:], X[0][1:]])
    assert_same(there[there > 0.05].to("cpu"), [x[mask] for x, mask in zip(X, HOLDS, strict=True)])
    there[there > 0.05] = 1.0
    assert_same(there.to("cpu"), [np.where(mask, 1.0, x) for x, mask in zip(X, HOLDS, strict=True)])
