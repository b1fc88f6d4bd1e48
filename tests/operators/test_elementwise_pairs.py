"""pow, floor_divide, remainder, and the bitwise and logical functions: against Python's own numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DivisionByZero, DTypeError

from ..nests import assert_same

BITWISE = {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor}
LOGICAL = {
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}
SIGNS = {"pow": operator.pow, "floor_divide": operator.floordiv, "remainder": operator.mod, **BITWISE}
A, B = [[7, -7, 0], [], [5]], [[2, 3, 4], [], [2]]


def integers(components: Any, dtype: Any = np.int64) -> list[Any]:
    return [np.array(one, dtype) for one in components]


def python(function: Any, a: Any, b: Any) -> list[Any]:
    return [[function(x, y) for x, y in zip(*pair, strict=True)] for pair in zip(a, b, strict=True)]


@pytest.mark.parametrize("name", [*SIGNS, *LOGICAL])
class TestIntegers:
    def test_numbers_that_a_dtype_lacks(self, lay: Any, name: str) -> None:
        small = lay(integers(A, np.int8))
        if name in LOGICAL:
            assert_same(
                getattr(pn, name)(small, 300), [np.array([LOGICAL[name](x, 300) for x in one], np.bool_) for one in A]
            )
            return
        for operands in ((small, 300), (300, small)):  # though a 0 and a negative number are refused as well
            with pytest.raises(OverflowError, match=f"{name}: 300 is out of bounds for int8"):
                getattr(pn, name)(*operands)


class TestRefusals:
    @pytest.mark.parametrize("name", ["floor_divide", "remainder"])
    def test_an_integer_divided_by_zero(self, lay: Any, name: str) -> None:
        x = lay(integers(A))
        with pytest.raises(DivisionByZero, match=rf"{name}: component 2: .* the divisor 0 at \[0\]") as refused:
            getattr(pn, name)(x, lay(integers([[1, 2, 3], [], [0]])))
        assert isinstance(refused.value, ZeroDivisionError | RuntimeError)
        with pytest.raises(ZeroDivisionError, match=f"{name}: component 0: an integer is divided by 0"):
            getattr(pn, name)(x, 0)
        with pytest.raises(ZeroDivisionError, match="component 1"):
            getattr(pn, name)(x[::2], np.array([[1], [0]]))
        with pytest.raises(ZeroDivisionError, match=rf"{name}: an integer .* at \[1, 0\]"):
            getattr(pn, name)(5, pn.array([[1], [0]]))

    @pytest.mark.parametrize("name", ["floor_divide", "remainder"])
    def test_what_meets_nothing_divides_nothing(self, lay: Any, name: str) -> None:
        none = lay(integers([[], []]))
        for divisor in (0, np.zeros((2, 1), np.int64), none):
            assert [one.numpy().size for one in getattr(pn, name)(none, divisor).unbind()] == [0, 0]
        divisors = pn.nested_array_from_jagged(pn.array([1, 0, 2, 0, 3]), [0, 2, 4, 5], [1, 1, 1])
        result = getattr(pn, name)(lay(integers([[5], [6], [7]])), divisors)
        assert_same(result, integers(python(SIGNS[name], [[5], [6], [7]], [[1], [2], [3]])))

    def test_a_negative_power_of_an_integer(self, lay: Any) -> None:
        with pytest.raises(ArgumentError, match=r"pow: component 2: the exponent at \[0\] is negative"):
            lay(integers(A)) ** lay(integers([[1, 2, 3], [], [-1]]))
        with pytest.raises(ValueError, match="pow: component 0: the exponent is negative"):
            lay(integers(A)) ** -1
        assert_same(lay(integers(A[2:])).to(pn.float64) ** -1, [np.array([0.2])])

    @pytest.mark.parametrize("name", ["pow", "floor_divide", "remainder"])
    def test_bools(self, lay: Any, name: str) -> None:
        bools = lay([np.array([True, False])])
        with pytest.raises(DTypeError, match=f"{name}: takes numbers, not bools"):
            getattr(pn, name)(bools, True)
        assert getattr(pn, name)(bools, 2).dtype == np.int64

    @pytest.mark.parametrize("name", BITWISE)
    def test_floats_have_no_bits(self, lay: Any, name: str) -> None:
        for a, b in ((lay([np.array([1.0])]), 1), (lay(integers([[1]])), 1.0), (True, lay([np.array([1.0])]))):
            with pytest.raises(DTypeError, match=f"{name}: takes bools and integers, not float64"):
                getattr(pn, name)(a, b)
        assert getattr(pn, name)(lay([np.array([True, False])]), True).dtype == np.bool_
