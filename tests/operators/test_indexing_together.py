"""Dense arrays by several arrays of integers, which pick together: NumPy says what."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError, StructureError

from ..nests import assert_same, distinct, nest

AT, BY = np.array([[0, -1], [2, 1]]), np.array([1, -2])
TOGETHER: tuple[Any, ...] = (
    (AT, BY), ([0, 1], [1, 0]), (AT, BY, AT % 3), (BY, AT, 1), (1, AT), (AT[:, :1], BY[None], slice(1, None)),
    (0, [1, 0]), (AT[None], 1, BY, ...), (BY, [0], None), ([], [0]),
    (np.int8(2), BY, [[0], [2]]), (AT, np.array(1), BY, None, ...),
)  # fmt: skip
ASSIGNED: tuple[Any, ...] = (([0, 1], [1, 0]), (1, [1, 0]), ([[0], [2]], [0, 1], slice(2)), ([], []))


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

    def test_what_they_cannot_be_is_named(self) -> None:
        x = pn.zeros(4, 2, 3)
        for index, kind, text in (
            (([0], [2]), IndexOutOfRange, "2, at place 0 of the index, is out of bounds for dimension 1 of an array"),
            (([0, 1], [0, 1, 0]), ShapeError, r"shapes \(2,\) and \(3,\) do not broadcast"),
            (([0],) * 4, IndexOutOfRange, r"4 entries are too many for an array of shape \(4, 2, 3\)"),
            (([True, False, True, False], [0, 1]), ArgumentError, "a mask in an index stands alone"),
            (([0], [0.5]), ArgumentError, "not float64"),
            ((slice(None), [0]), ArgumentError, "is the first entry of an index"),
        ):  # fmt: skip
            with pytest.raises(kind, match=text):
                x[index]

    def test_a_nested_array_takes_one(self, layout: Any) -> None:
        with pytest.raises(ArgumentError, match="is the first entry of an index"):
            nest([np.ones((2, 2))], layout)[[0], [0]]
