"""Indexing as NumPy does it: reading, gradients and assignment, of every component and of dense arrays."""

from __future__ import annotations

import re
from contextlib import nullcontext
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import ArgumentError, IndexOutOfRange, PynestedError, StructureError

from ...nests import KINDS, LAYOUTS, PLACEMENTS, Kind, Numbers, assert_same, batch, distinct, place, plain, pull_back

ALL = slice(None)
X = batch([(2, 3), (0, 3), (4, 3)])
FULL = batch([(3, 2), (1, 2), (4, 2)])
MASKS = [x > 0.05 for x in X]


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
ENDS = st.none() | st.integers(-2, 3) | st.integers(-5, 5) | HUGE
SLICES = st.builds(slice, ENDS, ENDS, st.none() | st.none() | st.integers(-3, 3).filter(bool) | HUGE)
NUMBERS = st.lists(st.integers(-4, 3) | st.sampled_from([2**70, -(2**70)]), max_size=4)
OTHERS = st.sampled_from([0, -1, np.int64(2), np.array([-1, -3], np.int8), pn.array([0, 1]), [True, False, True], []])


@given(
    lengths=st.lists(st.integers(0, 4), min_size=1, max_size=4), kind=st.sampled_from(KINDS),
    first=SLICES | SLICES | NUMBERS | OTHERS, inner=st.lists(SLICES | st.integers(-2, 1) | st.none(), max_size=3),
    ellipsis=st.none() | st.integers(1, 4), placement=st.sampled_from(PLACEMENTS),
)  # fmt: skip
@settings(max_examples=250)
def test_any_index(lengths: Any, kind: Kind, first: Any, inner: Any, ellipsis: Any, placement: str) -> None:
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
    if not due:  # NumPy cannot say whether the other entries are in range of no components
        assert inner or len(made.array[entries]) == 0
        return
    picked, is_one = made.array[entries], np.ndim(as_numpy(first)) == 0 and not isinstance(first, slice)
    assert_same([picked.detach()] if is_one else picked.detach(), due)
    weights = [np.abs(distinct(part.shape, i)) for i, part in enumerate(due)]
    pull_back(picked, weights[0] if is_one else weights)
    slopes = [np.zeros(x.shape) for x in components]
    positions = by_numpy([np.arange(x.size).reshape(x.shape) for x in components], index)[1]
    for i, where, weight in zip(numbers, positions, weights, strict=True):
        np.add.at(slopes[i].reshape(-1), where.reshape(-1), weight.reshape(-1))
    assert_same(made.gradient(), slopes, 1e-15)
    x, gaps = made.array.detach(), made.holes_of(made.buffer.detach().numpy()).copy()
    if len(set(numbers)) < len(numbers):
        is_twice = any(part.size for i, part in zip(numbers, due, strict=True) if numbers.count(i) > 1)
        with pytest.raises(StructureError, match="names it twice") if is_twice else nullcontext():
            x[entries] = 7.0
        return
    value = picked.detach() * 2 + 1
    x[entries] = pn.as_nested_array(value) if is_one and value.ndim > 1 else value
    assert_same(x, [np.where(slope != 0, 2 * part + 1, part) for slope, part in zip(slopes, components, strict=True)])
    x[entries] = 7
    x[entries] += 1
    assert_same(x, [np.where(slope != 0, 8.0, part) for slope, part in zip(slopes, components, strict=True)])
    np.testing.assert_array_equal(made.holes_of(made.buffer.detach().numpy()), gaps)


def test_masks_of_components_without_dimensions() -> None:
    """As in NumPy, ``np.array(5.0)[np.array(True)]`` is ``array([5.0])``, and empty for False."""
    kept = [(5.0, True), (6.0, False), (7.0, True)]
    x, mask = pn.nested_array([5.0, 6.0, 7.0], requires_grad=True), pn.nested_array([True, False, True])
    assert_same(x[mask], [np.array(number)[np.array(keep)] for number, keep in kept])
    assert pn.grad(x[mask].values().sum(), x).tolist() == [1, 0, 1]
    written = x.detach().clone()
    written[mask] = 0.0
    assert written.tolist() == [0, 6, 0] and len(x[:0][mask[:0]]) == 0
    with pytest.raises(StructureError, match="2 to 2 dimensions"):
        x.unsqueeze(1)[mask]


ENTRIES: tuple[Any, ...] = (
    ALL, slice(1, None), slice(None, None, -1), None, ..., 0, -1, [0, 1], [1], [[0, 1], [1, 0]], [],
    np.array([[0, -1], [1, 1]]), np.array([1, -2]), np.array([[[0, -1], [1, 1]]]), np.zeros((0, 2), int), np.int8(1),
    np.array([True, False]), np.array([True, False, True]), np.eye(3, 4) > 0, np.ones((3, 4), np.bool_),
    np.array(True), np.bool_(False),
)  # fmt: skip
REFUSED = r"a mask cannot be combined with|None or \.\.\. separates the integers|an integer, not (array|np\.False_)"


def of_dense(numbers: Numbers, index: tuple[Any, ...]) -> Any:
    """Return what NumPy picks, None if NumPy refuses."""
    try:
        return numbers[tuple(map(as_numpy, index))]
    except IndexError:
        return None


def picked_or_refused(x: Any, index: tuple[Any, ...], due: Any) -> Any:
    """Return ``x[index]``; None if it is refused, as NumPy does or for a documented reason."""
    if due is None:
        with pytest.raises(PynestedError):
            x[index]
        return None
    try:
        return x[index]
    except ArgumentError as error:
        assert re.search(REFUSED, str(error))
        return None


@given(
    index=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=5).map(tuple), number=st.integers(-2, 1),
    layout=st.sampled_from((None, None, *LAYOUTS)), placement=st.sampled_from(PLACEMENTS),
)  # fmt: skip
@settings(max_examples=500)
def test_dense_arrays_and_components_by_anything(index: Any, number: int, layout: Any, placement: str) -> None:
    shapes = [(3, 4, 2), (1 if layout else 3, 4, 2)]
    made = place(batch(shapes), layout, placement, grad=True)
    numbers = np.copy(plain(made.array)[number] if layout else plain(made.array))
    first, due = (number,) if layout else (), of_dense(numbers, index)
    picked = picked_or_refused(made.array, (*first, *index), due)
    if picked is None:
        return
    np.testing.assert_array_equal(picked.detach().numpy(), due)
    ours = tuple(pn.array(entry) if isinstance(entry, np.ndarray) else entry for entry in index)
    np.testing.assert_array_equal(made.array[(*first, *ours)].detach().numpy(), due)
    picked.sum().backward()
    counts, positions = np.zeros(numbers.size), of_dense(np.arange(numbers.size).reshape(numbers.shape), index).ravel()
    np.add.at(counts, positions, 1.0)
    counts = counts.reshape(numbers.shape)
    gradients = made.gradient()
    np.testing.assert_array_equal(gradients[number] if layout else gradients, counts)
    assert not layout or not gradients[~number].any()
    x = made.array.detach()
    if len(set(positions.tolist())) < positions.size:
        with pytest.raises(StructureError, match="names it twice"):
            x[(*first, *index)] = 9.0
        return
    x[(*first, *index)] = 9.0
    np.testing.assert_array_equal(plain(x)[number] if layout else plain(x), np.where(counts > 0, 9.0, numbers))


def test_beside_an_empty_list_no_index_is_out_of_range() -> None:
    x = np.zeros((1, 3, 2))
    for index in (([1], []), ([[7], [9]], []), ([], ALL, [-5])):
        assert pn.array(x)[index].shape == x[index].shape
    with pytest.raises(IndexOutOfRange):
        pn.array(x)[[1], [0]]
