"""Functions of elements whose results are known: Python's integers, exact equality, and arithmetic written out."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import assert_same, nest

QUOTIENTS = {"floor_divide": operator.floordiv, "remainder": operator.mod}
DTYPES = ("bool", "int8", "uint8", "int64", "float16", "float32", "float64")


def integers(components: Any) -> list[Any]:
    return [np.array(component, np.int64) for component in components]


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 9, 63, 100])
def test_powers_of_integers_wrap(dtype: Any, exponent: int) -> None:
    bases = [int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), 3, 2, 1, 0, -(dtype is not np.uint8)]
    wrapped = [pow(base, exponent, 2 ** (8 * np.dtype(dtype).itemsize)) for base in bases]
    result = pn.nested_array([np.array(bases, dtype)]) ** exponent
    assert_same(result, [np.array(wrapped, np.uint64).astype(dtype)])


@pytest.mark.parametrize("name", QUOTIENTS)
def test_a_zero_that_divides_no_element_is_not_refused(lay: Any, name: str) -> None:
    none = lay(integers([[], []]))
    for divisor in (0, np.zeros((2, 1), np.int64), none):
        assert_same(getattr(pn, name)(none, divisor), integers([[], []]))
    in_gaps = pn.nested_array_from_jagged(pn.array([1, 0, 2, 0, 3]), [0, 2, 4, 5], [1, 1, 1])
    due = [[QUOTIENTS[name](5, 1)], [QUOTIENTS[name](6, 2)], [QUOTIENTS[name](7, 3)]]
    assert_same(getattr(pn, name)(lay(integers([[5], [6], [7]])), in_gaps), integers(due))


def test_alpha_scales_a_second_operand_of_another_dtype_before_the_sum(lay: Any) -> None:
    small, flags = lay([np.array([100, -100], np.int8)]), lay([np.array([True, False])])
    for function, sign in ((pn.add, 1), (pn.sub, -1)):
        assert_same(function(1.5, small, alpha=2), [1.5 + sign * np.array([200.0, -200.0])])
        assert_same(function(flags, lay([np.array([1, 1])]), alpha=2), [np.array([1 + sign * 2, sign * 2])])


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_beyond_every_dtype_are_compared(dtype: str, lay: Any) -> None:
    x = [np.array([0, 1], dtype), np.array([1], dtype)]
    for number, above in ((2**70, True), (-(2**2000), False)):
        for made, value in ((lay(x) == number, False), (lay(x) < number, above), (number < lay(x), not above)):
            assert_same(made, [np.full(part.shape, value) for part in x])
    if dtype == "int8":
        assert_same(lay([np.array([-128, 127], np.int8)]) < 300, [np.array([True, True])])
        assert_same(lay([np.array([-128, 127], np.int8)]) != -300, [np.array([True, True])])
        assert_same(pn.logical_and(lay(x), 300), [part != 0 for part in x])


NEAR, WIDE = 2**53 + 1, 2.0**53
UNEQUAL = [
    (np.int64(NEAR), np.float64(WIDE)), (np.int64(2**24 + 1), np.float32(2**24)), (np.int64(2049), np.float16(2048)),
    (np.int64(2**63 - 1), 2.0**63), (np.int64(2**63 - 1), np.float32(np.inf)), (np.int64(-(2**63) + 1), -(2.0**63)),
    (np.int64(0), np.float64(0.5)), (np.int64(0), np.float64(np.nan)), (np.uint8(255), np.int8(-1)),
]  # fmt: skip
EQUAL = [(np.int64(2**53), WIDE), (np.int64(-(2**63)), -(2.0**63)), (np.int64(7), np.float16(7)), (0.0, -0.0)]


@pytest.mark.parametrize(("expected", "a", "b"), [(False, *p) for p in UNEQUAL] + [(True, *p) for p in EQUAL], ids=repr)
def test_equal_is_exact(layout: Any, expected: bool, a: Any, b: Any) -> None:
    left, right = ([np.array([number, number]), np.array([number])] for number in (a, b))
    assert pn.equal(nest(left, layout), nest(right)) is pn.equal(nest(right, layout), nest(left)) is expected
    assert pn.equal(pn.array(left[0]), right[0]) is pn.equal(nest(left[:1], layout), right[0][None]) is expected
