"""Comparisons, equality of whole arrays, and choosing by a condition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

from ..nests import assert_same, batch, distinct, everywhere, nest, place

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

    def test_there_is_no_gradient(self, layout: Any, name: str) -> None:
        made = place(X, layout, grad=True)
        assert not getattr(pn, name)(made.array, 1.0).requires_grad


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int64", "float16", "float32", "float64"])
def test_integers_beyond_every_dtype_are_compared(dtype: str, lay: Any) -> None:
    x = [np.array([0, 1], dtype), np.array([1], dtype)]
    for number, above in ((2**70, True), (-(2**2000), False)):
        for made, value in ((lay(x) == number, False), (lay(x) < number, above), (number < lay(x), not above)):
            assert_same(made, [np.full(one.shape, value) for one in x])


def test_logical_not(lay: Any) -> None:
    x = [np.array([0.0, -0.0, np.nan]), np.array([np.inf, 2.0])]
    assert_same(pn.logical_not(lay(x)), [np.array([True, True, False]), np.array([False, False])])
    for kind in (np.bool_, np.int8, np.uint8, np.float16):
        flags = [np.array([0, 1], kind), np.array([], kind)]
        assert_same(pn.logical_not(lay(flags)), [np.array([True, False]), np.array([], np.bool_)])
    assert_same(
        ~lay([np.array([True, False]), np.array([], np.bool_)]), [np.array([False, True]), np.array([], np.bool_)]
    )
    with pytest.raises(DTypeError, match="logical_not"):
        lay([np.array([0, 1]), np.array([2])]).__invert__()


def test_equal_looks_at_components_only() -> None:
    for a in everywhere(X):
        for b in everywhere(X):
            assert pn.equal(a, b) is True
        assert a.equal(nest([x.astype(np.float32) for x in X])) is True
        assert pn.equal(a, nest(Y)) is False
        assert pn.equal(a, nest(X[:2])) is False
        assert pn.equal(a, nest([X[0], X[2], X[1]])) is False
        assert pn.equal(a, nest([x[:, :1] for x in X])) is False
        assert pn.equal(a, nest([x[:, 0] for x in X])) is False


def test_equal_sees_nan_zeros_and_neighbours(lay: Any) -> None:
    x = lay([np.array([np.nan, 1.0]), np.array([2.0])])
    assert pn.equal(x, x) is False
    assert pn.equal(lay([np.array([0.0])]), lay([np.array([-0.0])])) is True
    assert pn.equal(lay([np.array([1.0]), np.array([2.0])]), lay([np.array([2.0]), np.array([1.0])])) is False


def test_equal_takes_a_dense_array_for_its_slices(lay: Any) -> None:
    components = batch([(3, 2)] * 2)
    assert pn.equal(lay(components), np.stack(components)) is True
    assert pn.equal(np.stack(components), lay(components)) is True
    assert pn.equal(lay(X), distinct((3, 2, 2))) is False
    assert pn.equal(lay(components), np.stack(components)[:1]) is False
    assert pn.equal(lay(components), np.stack(components)[0]) is False
    assert pn.equal(lay([x.T for x in components], 2), np.stack(components).transpose(0, 2, 1)) is True


def test_equal_compares_exactly(lay: Any) -> None:
    near, wide = 2**53 + 1, 2.0**53
    pairs = [
        (np.int64(near), np.float64(wide)), (np.int64(2**24 + 1), np.float32(2**24)), (np.int64(2**63 - 1), 2.0**63),
        (np.int64(2049), np.float16(2048)), (np.int64(-(2**63) + 1), -(2.0**63)), (np.int64(0), np.float64(0.5)),
        (np.int64(0), np.float64(np.nan)), (np.int64(2**63 - 1), np.float32(np.inf)), (np.uint8(255), np.int8(-1)),
        (np.int32(2**24 + 1), np.float32(2**24)), (np.int16(2049), np.float16(2048)), (np.bool_(True), np.float16(2)),
    ]  # fmt: skip
    same = [(np.int64(2**53), wide), (np.int64(-(2**63)), -(2.0**63)), (np.int64(2**60), np.float32(2**60))]
    same += [(np.int64(7), np.float16(7)), (np.int64(0), np.float64(-0.0)), (np.bool_(True), np.int64(1))]
    for expected, given in ((False, pairs), (True, same)):
        for a, b in given:
            left, right = [np.array([a, a]), np.array([a])], [np.array([b, b]), np.array([b])]
            assert pn.equal(lay(left), lay(right)) is pn.equal(lay(right), lay(left)) is expected, (a, b)
            assert pn.equal(pn.array(left[0]), right[0]) is expected
            assert pn.equal(lay(left[:1]), np.array([right[0]])) is expected


def test_equal_without_components() -> None:
    def nothing(width: int) -> Any:
        return pn.nested_array_from_jagged(np.zeros((0, width)), [0])

    assert pn.equal(nothing(2), nothing(2)) is True
    assert pn.equal(nothing(2), nothing(3)) is False
    assert pn.equal(nothing(2), nest([np.zeros((0, 2))])[:0]) is True
    assert pn.equal(nothing(2), nest([np.zeros(0)])[:0]) is False


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

    def test_what_is_not_chosen_does_not_show(self, lay: Any) -> None:
        chosen = lay([np.array([True, False]), np.array([True])])
        bad = lay([np.array([np.nan, np.inf]), np.array([np.nan])])
        assert_same(pn.where(chosen, 1.0, bad), [np.array([1.0, np.inf]), np.array([1.0])])

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
