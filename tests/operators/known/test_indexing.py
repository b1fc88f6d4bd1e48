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

from ...nests import (
    KINDS,
    LAYOUTS,
    PLACEMENTS,
    Kind,
    Numbers,
    assert_same,
    batch,
    distinct,
    nest,
    place,
    plain,
    pull_back,
)

ALL = slice(None)
BACK = slice(None, None, -1)
X = batch([(2, 3), (0, 3), (4, 3)])
FULL = batch([(3, 2), (1, 2), (4, 2)])
HOLDS = [x > 0.05 for x in X]


def as_numpy(entry: Any) -> Any:
    """Return an entry of an index as NumPy takes it."""
    if isinstance(entry, list):
        return np.array(entry, None if entry else np.int64)
    return np.asarray(entry) if isinstance(entry, pn.Array) else entry


def by_numpy(components: list[Numbers], index: list[Any]) -> tuple[list[int], list[Numbers]]:
    """Return the numbers of the components that the first entry names, and what NumPy picks of each by the others."""
    numbers = np.atleast_1d(np.arange(len(components))[as_numpy(index[0])]).tolist()
    return numbers, [components[i][tuple(index[1:])] for i in numbers]


HUGE = st.sampled_from([2**62, -(2**62), 2**70, -(2**70)])  # which Python's own sequences clamp
ENDS = st.none() | st.integers(-5, 5) | HUGE
SLICES = st.builds(slice, ENDS, ENDS, st.none() | st.integers(-3, 3).filter(bool) | HUGE)
NUMBERS = st.lists(st.integers(-4, 3) | st.sampled_from([2**70, -(2**70)]), max_size=4)
OTHERS = st.sampled_from([0, -1, np.int64(2), np.array([-1, -3], np.int8), pn.array([0, 1]), [True, False, True], []])


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4),
    kind=st.sampled_from(KINDS),
    first=SLICES | NUMBERS | OTHERS,
    inner=st.lists(SLICES | st.integers(-2, 1) | st.none(), max_size=3),
    ellipsis=st.none() | st.integers(1, 4),
    placement=st.sampled_from(PLACEMENTS),
)
@settings(max_examples=250)
def test_any_index(
    lengths: list[int], kind: Kind, first: Any, inner: list[Any], ellipsis: int | None, placement: str
) -> None:
    """Values, gradients and writes are those of NumPy, of each component that the first entry names."""
    components, index = batch(kind.shapes(lengths, 3)), [first, *inner]
    if ellipsis is not None:
        index.insert(min(ellipsis, len(index)), ...)
    made, entries = place(components, kind.layout, placement, kind.ragged, grad=True), tuple(index)
    try:
        numbers, due = by_numpy(components, index)
    except (IndexError, OverflowError):
        with pytest.raises(PynestedError):
            made.array[entries]
        return
    if not due:  # NumPy cannot say whether an index of no components is in range
        return
    found, is_one = made.array[entries], np.ndim(as_numpy(first)) == 0 and not isinstance(first, slice)
    assert_same([found.detach()] if is_one else found.detach(), due)
    weights = [np.abs(distinct(one.shape, i)) for i, one in enumerate(due)]
    pull_back(found, weights[0] if is_one else weights)
    slopes = [np.zeros(x.shape) for x in components]
    positions = by_numpy([np.arange(x.size).reshape(x.shape) for x in components], index)[1]
    for i, where, weight in zip(numbers, positions, weights, strict=True):
        np.add.at(slopes[i].reshape(-1), where.reshape(-1), weight.reshape(-1))
    assert_same(made.gradient(), slopes, 1e-15)
    x, gaps = made.array.detach(), made.holes_of(made.buffer.detach().numpy()).copy()
    if len(set(numbers)) < len(numbers):
        is_twice = any(one.size for i, one in zip(numbers, due, strict=True) if numbers.count(i) > 1)
        with pytest.raises(StructureError, match="names it twice") if is_twice else nullcontext():
            x[entries] = 7.0
        return
    x[entries] = 7
    expected = [np.where(slope != 0, 7.0, one) for slope, one in zip(slopes, components, strict=True)]
    assert_same(x, expected)
    x[entries] = x[entries] * 2 + 1
    x[entries] += 1
    assert_same(x, [np.where(one == 7, 16.0, one) for one in expected])
    np.testing.assert_array_equal(made.holes_of(made.buffer.detach().numpy()), gaps)


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
