"""Dense arrays, and single components, by lists, arrays and masks among other entries: NumPy says what."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import pynested as pn
from pynested.backends.errors import (
    ArgumentError,
    IndexOutOfRange,
    PynestedError,
    StructureError,
)

from ..nests import LAYOUTS, PLACEMENTS, assert_same, distinct, nest

AT, BY = np.array([[0, -1], [2, 1]]), np.array([1, -2])
TOGETHER: tuple[Any, ...] = (
    (AT, BY), ([0, 1], [1, 0]), (AT, BY, AT % 3), (BY, AT, 1), (1, AT), (AT[:, :1], BY[None], slice(1, None)),
    (0, [1, 0]), (AT[None], 1, BY, ...), (BY, [0], None), ([], [0]),
    (np.int8(2), BY, [[0], [2]]), (AT, np.array(1), BY, None, ...),
)  # fmt: skip


class TestSeveralArrays:
    """Of a dense array, as in NumPy: integers and arrays of them at the beginning broadcast and pick together."""

    @pytest.mark.parametrize("index", TOGETHER, ids=str)
    @pytest.mark.parametrize("turned", [False, True])
    def test_pick_together(self, index: Any, turned: bool) -> None:
        bare = distinct((4, 3, 3)) if not turned else distinct((3, 3, 4)).T
        numbered = tuple(np.array(one, np.int64) if isinstance(one, list) else one for one in index)
        for ours in (index, tuple(pn.array(one) if isinstance(one, np.ndarray) else one for one in index)):
            x = pn.array(bare, requires_grad=True)
            found = x[ours]
            np.testing.assert_array_equal(found.detach().numpy(), bare[numbered])
            weights = distinct(found.shape, 3)
            due = np.zeros(bare.shape)
            np.add.at(due, numbered, weights)
            found.backward(pn.array(weights))
            np.testing.assert_allclose(x.grad.numpy(), due, rtol=1e-15)

    @pytest.mark.parametrize(
        "index", [([0, 1], [1, 0]), (1, [1, 0]), ([[0], [2]], [0, 1], slice(2)), ([], [])], ids=str
    )
    def test_assignment(self, index: Any) -> None:
        bare = distinct((4, 2, 3))
        x = pn.array(bare)
        x[index] = 9.0
        bare[tuple(np.array(one, np.int64) if isinstance(one, list) else one for one in index)] = 9.0
        assert_same([x], [bare])
        with pytest.raises(StructureError, match="names it twice"):
            x[[0, 0], [1, 1]] = 1.0


ENTRIES: tuple[Any, ...] = (
    slice(None), slice(1, None), slice(None, None, -1), None, ..., 0, -1, [0, 1], [1], [[0, 1], [1, 0]], [],
    np.array([True, False]), np.array([True, False, True]), np.eye(3, 4) > 0, np.ones((3, 4), np.bool_),
)  # fmt: skip
REFUSED = "a mask in an index stands alone|stands apart from the lists"


def by_numpy(bare: np.ndarray[Any, Any], index: tuple[Any, ...]) -> np.ndarray[Any, Any] | None:
    """What NumPy picks, None where it refuses."""
    try:
        return bare[tuple(np.array(one, np.int64) if isinstance(one, list) else one for one in index)]
    except IndexError:
        return None


class TestAnywhere:
    """Lists, arrays and masks among slices, None, ``...`` and integers."""

    @given(index=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=5).map(tuple))
    @settings(max_examples=300)
    def test_as_numpy_or_refused(self, index: tuple[Any, ...]) -> None:
        bare = distinct((2, 3, 4, 2))
        due = by_numpy(bare, index)
        if due is None:
            with pytest.raises(PynestedError):
                pn.array(bare)[index]
            return
        x = pn.array(bare, requires_grad=True)
        try:
            found = x[index]
        except ArgumentError as error:
            assert re.search(REFUSED, str(error))
            return
        np.testing.assert_array_equal(found.detach().numpy(), due)
        found.sum().backward()
        counts = np.zeros(bare.size)
        numbered = by_numpy(np.arange(bare.size).reshape(bare.shape), index)
        assert numbered is not None
        np.add.at(counts, numbered.ravel(), 1.0)
        np.testing.assert_array_equal(x.grad.numpy(), counts.reshape(bare.shape))

    @pytest.mark.parametrize(
        ("index", "shape"),
        [
            ((slice(None), [0, 1]), (2, 2, 4, 2)),
            ((slice(None), 0, [0, 1, 2]), (2, 3, 2)),
            (([0, 1, 0], slice(None), [1, 2, 3]), (3, 3, 2)),
            ((slice(None), [[0], [1]], slice(None), [0, 1]), (2, 2, 2, 4)),
            ((..., [1]), (2, 3, 4, 1)),
            ((slice(None), np.eye(3, 4) > 0), (2, 3, 2)),
        ],
        ids=str,
    )
    def test_what_is_picked_lies_where_they_stand_or_in_front(
        self, index: tuple[Any, ...], shape: tuple[int, ...]
    ) -> None:
        assert pn.zeros(2, 3, 4, 2)[index].shape == shape

    def test_beside_an_empty_list_nothing_is_named_that_is_not_there(self) -> None:
        x = np.zeros((1, 3, 2))
        for index in (([1], []), ([[7], [9]], []), ([], slice(None), [-5])):
            assert pn.array(x)[index].shape == x[index].shape
        with pytest.raises(IndexOutOfRange):
            pn.array(x)[[1], [0]]

    @given(
        number=st.integers(-2, 1),
        index=st.lists(st.sampled_from(ENTRIES), min_size=1, max_size=4).map(tuple),
        layout=st.sampled_from(LAYOUTS),
        placement=st.sampled_from(PLACEMENTS),
    )
    def test_behind_an_integer_as_of_that_component(
        self, number: int, index: tuple[Any, ...], layout: Any, placement: str
    ) -> None:
        components = [distinct((3, 4, 2)), distinct((1, 4, 2), 5)]
        x = nest(components, layout, placement)
        due = by_numpy(components[number], index)
        if due is None:
            with pytest.raises(PynestedError):
                x[(number, *index)]
            return
        try:
            found = x[(number, *index)]
        except ArgumentError as error:
            assert re.search(REFUSED, str(error))
            return
        np.testing.assert_array_equal(found.numpy(), due)

    def test_of_a_component_they_get_the_cotangent_and_are_assigned(self, layout: Any) -> None:
        components = [distinct((3, 2)), distinct((1, 2), 5)]
        x = nest(components, layout).requires_grad_()
        (x[0, [2, 0, 2], 1] * pn.array([1.0, 10.0, 100.0])).sum().backward()
        assert_same(x.grad, [np.array([[0.0, 10.0], [0.0, 0.0], [0.0, 101.0]]), np.zeros((1, 2))])
        y = nest(components, layout)
        y[0, :, [1]] = 7.0
        assert_same(y, [np.stack([components[0][:, 0], np.full(3, 7.0)], -1), components[1]])
