"""Indexing of dense arrays, and of one component behind an integer, as NumPy does it."""

from __future__ import annotations

import re
from itertools import product
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import ArgumentError, IndexOutOfRange, PynestedError, StructureError

from ...nests import LAYOUTS, PLACEMENTS, Numbers, assert_same, distinct, nest

ALL = slice(None)
BACK = slice(None, None, -1)


def as_numpy(entry: Any) -> Any:
    """Return an entry of an index as NumPy takes it."""
    if isinstance(entry, list):
        return np.array(entry, None if entry else np.int64)
    return entry


AT, BY = np.array([[0, -1], [1, 1]]), np.array([1, -2])
ENTRIES: tuple[Any, ...] = (
    ALL, slice(1, None), BACK, None, ..., 0, -1, [0, 1], [1], [[0, 1], [1, 0]], [], AT, BY, AT[None],
    np.zeros((0, 2), int), np.int8(1), np.array([True, False]), np.array([True, False, True]),
    np.eye(3, 4) > 0, np.ones((3, 4), np.bool_),
)  # fmt: skip
REFUSED = "a mask cannot be combined with other lists|a slice separates an integer"


def of_dense(bare: Numbers, index: tuple[Any, ...]) -> Any:
    """Return what NumPy picks, None if NumPy refuses."""
    try:
        return bare[tuple(map(as_numpy, index))]
    except IndexError:
        return None


def found_or_refused(x: Any, index: tuple[Any, ...], due: Any) -> Any:
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


@given(index=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=5).map(tuple), order=st.sampled_from("CF"))
@settings(max_examples=300)
def test_dense_arrays_by_anything(index: tuple[Any, ...], order: Any) -> None:
    bare = np.array(distinct((2, 3, 4, 2)), order=order)
    due, x = of_dense(bare, index), pn.array(bare, requires_grad=True)
    found = found_or_refused(x, index, due)
    if found is None:
        return
    np.testing.assert_array_equal(found.detach().numpy(), due)
    ours = tuple(pn.array(one) if isinstance(one, np.ndarray) else one for one in index)
    np.testing.assert_array_equal(x[ours].detach().numpy(), due)
    found.sum().backward()
    counts, positions = np.zeros(bare.size), of_dense(np.arange(bare.size).reshape(bare.shape), index).ravel()
    np.add.at(counts, positions, 1.0)
    np.testing.assert_array_equal(x.grad.numpy(), counts.reshape(bare.shape))  # type: ignore[union-attr]
    written = pn.array(bare)
    if len(set(positions.tolist())) < positions.size:
        with pytest.raises(StructureError, match="names it twice"):
            written[index] = 9.0
        return
    written[index] = 9.0
    bare[tuple(map(as_numpy, index))] = 9.0
    np.testing.assert_array_equal(written.numpy(), bare)


def test_beside_an_empty_list_no_index_is_out_of_range() -> None:
    x = np.zeros((1, 3, 2))
    for index in (([1], []), ([[7], [9]], []), ([], ALL, [-5])):
        assert pn.array(x)[index].shape == x[index].shape
    with pytest.raises(IndexOutOfRange):
        pn.array(x)[[1], [0]]


@given(
    number=st.integers(-2, 1),
    index=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4).map(tuple),
    layout=st.sampled_from(LAYOUTS),
    placement=st.sampled_from(PLACEMENTS),
)
def test_a_component_by_anything(number: int, index: tuple[Any, ...], layout: Any, placement: str) -> None:
    components = [distinct((3, 4, 2)), distinct((1, 4, 2), 5)]
    due = of_dense(components[number], index)
    found = found_or_refused(nest(components, layout, placement), (number, *index), due)
    assert found is None or np.array_equal(found.numpy(), due)


def test_a_component_by_lists_has_gradients_and_is_assigned(layout: Any) -> None:
    components = [distinct((3, 2)), distinct((1, 2), 5)]
    x = nest(components, layout).requires_grad_()
    (x[0, [2, 0, 2], 1] * pn.array([1.0, 10.0, 100.0])).sum().backward()
    assert_same(x.grad, [np.array([[0.0, 10.0], [0.0, 0.0], [0.0, 101.0]]), np.zeros((1, 2))])
    y = nest(components, layout)
    y[0, :, [1]] = 7.0
    assert_same(y, [np.stack([components[0][:, 0], np.full(3, 7.0)], -1), components[1]])


@pytest.mark.parametrize("rest", [(), (1,), (slice(1, None),), (..., 2), (None,), (ALL, BACK)], ids=str)
def test_a_mask_without_dimensions(rest: Any) -> None:
    values = np.arange(6.0).reshape(2, 3)
    for mask, kind in product((True, False), (pn.array, np.array, np.bool_)):
        x, index, expected = pn.array(values), (kind(mask), *rest), values.copy()
        due = values[np.array(mask), *rest]
        assert x[index].shape == due.shape and x[index].tolist() == due.tolist()
        expected[np.array(mask), *rest] = -1
        x[index] = -1
        assert x.tolist() == expected.tolist()


def test_a_comparison_of_an_array_without_dimensions_indexes_it() -> None:
    x = pn.array(3.0, requires_grad=True)
    assert x[x > 0].tolist() == [3.0] and x[x < 0].tolist() == []
    assert pn.grad((x[x > 0] * 2).sum(), x).item() == 2.0
    y = pn.array(3.0)
    y[y < 0] = 5
    assert y.item() == 3.0
    y[y > 0] = pn.array([7.0])
    assert y.item() == 7.0
    nested = pn.nested_array([[1.0, 2.0], [3.0]])
    assert nested[0, np.array(True)].tolist() == [[1.0, 2.0]]
    assert nested[0, pn.array(True), 1:].tolist() == [[2.0]]
