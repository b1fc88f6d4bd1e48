"""Comparisons, equality of whole arrays, and choosing by a condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

from ..nests import assert_same, batch, distinct, nest, place

SHAPES = [(2, 2), (0, 2), (3, 2)]
X = batch(SHAPES)
Y = [np.abs(x) for x in X]
DENSE = distinct((3, 1, 2))
COMPARED = {"eq": np.equal, "lt": np.less, "ne": np.not_equal}


@pytest.mark.parametrize("name", COMPARED)
class TestCompared:
    def test_infix(self, lay: Any, name: str) -> None:
        infix = {"eq": lambda a, b: a == b, "lt": lambda a, b: a < b, "ne": lambda a, b: a != b}[name]
        assert_same(infix(lay(X), lay(Y)), [COMPARED[name](x, y) for x, y in zip(X, Y, strict=True)])
        assert_same(lay(Y) > lay(X), [x < y for x, y in zip(X, Y, strict=True)])

    def test_nan_and_zeros(self, lay: Any, name: str) -> None:
        a, b = [np.array([np.nan, 0.0]), np.array([1.0])], [np.array([np.nan, -0.0]), np.array([2.0])]
        assert_same(getattr(pn, name)(lay(a), lay(b)), [COMPARED[name](x, y) for x, y in zip(a, b, strict=True)])

    def test_integers_out_of_range_are_no_error(self, lay: Any, name: str) -> None:
        x = [np.array([-128, 127], np.int8), np.array([0], np.int8)]
        for number in (300, -300):
            assert_same(getattr(pn, name)(lay(x), number), [COMPARED[name](one.astype(int), number) for one in x])


class TestWhere:
    def test_dtype(self, lay: Any) -> None:
        chosen = lay([np.array([True]), np.array([False, True])])
        ints = lay([np.array([1], np.int8), np.array([2, 3], np.int8)])
        assert pn.where(chosen, ints, 0.5).dtype == np.float64
        assert pn.where(chosen, ints, 1).dtype == np.int8
        assert_same(
            pn.where(chosen, ints, np.float32(0.5)), [np.array([1], np.float32), np.array([0.5, 3], np.float32)]
        )
        assert pn.where(chosen, True, False).dtype == np.bool_
        halves = lay([np.array([0.5]), np.array([1.5, 2.5])])
        assert_same(pn.where(chosen, 2**60, halves), [np.array([2.0**60]), np.array([1.5, 2.0**60])])
        for wrong, dtype in (
            (300, np.int8),
            (-1, np.uint8),
            (2**70, np.int64),
            (1e5, np.float16),
            (-(2**2000), np.float64),
        ):
            values = lay([np.array([1], dtype), np.array([2, 3], dtype)])
            for given in ((chosen, wrong, values), (chosen, values, wrong)):
                with pytest.raises(OverflowError, match=f"^where: .* out of bounds for {np.dtype(dtype)}"):
                    pn.where(*given)
        with pytest.raises(DTypeError, match="bool"):
            pn.where(ints, ints, ints)

    def test_gradient(self, layout: Any, placement: str) -> None:
        a, b = place(X, layout, placement, grad=True), place(Y, layout, placement, grad=True)
        result = pn.where(nest([x > 0 for x in X], layout), a.array, b.array)
        result.backward(nest([np.full(x.shape, np.nan) for x in X], layout))
        assert_same(a.gradient(), [np.where(x > 0, np.nan, 0.0) for x in X])
        assert_same(b.gradient(), [np.where(x > 0, 0.0, np.nan) for x in X])


class TestMaskedFill:
    def test_the_value_fits(self, lay: Any) -> None:
        ints = [np.array([1, 2], np.int8), np.array([3], np.int8)]
        flags = lay([np.array([True, False]), np.array([True])])
        assert_same(lay(ints).masked_fill(flags, 5.0), [np.array([5, 2], np.int8), np.array([5], np.int8)])
        for value in (0.5, np.inf, np.nan):
            with pytest.raises(DTypeError, match="int8"):
                lay(ints).masked_fill(flags, value)
        with pytest.raises(OverflowError, match="300"):
            lay(ints).masked_fill(flags, 300)
        with pytest.raises(DTypeError, match="bool"):
            flags.masked_fill(flags, 2)
        with pytest.raises(DTypeError, match="bool"):
            lay(ints).masked_fill(lay(ints), 0)

    def test_gradient(self, layout: Any, placement: str) -> None:
        made = place(X, layout, placement, grad=True)
        made.array.masked_fill(DENSE > 0, 2.0).backward(nest([np.full(x.shape, np.nan) for x in X], layout))
        assert_same(
            made.gradient(), [np.where(d > 0, 0.0, np.full(x.shape, np.nan)) for x, d in zip(X, DENSE, strict=True)]
        )
