"""Functions of elements whose answers are known: Python's numbers, exact equality, and arithmetic written out."""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ...nests import LAYOUTS, assert_same, batch, nest

BITWISE = {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor}
PYTHON = {
    "pow": operator.pow,
    "floor_divide": operator.floordiv,
    "remainder": operator.mod,
    **BITWISE,
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}
A, B = [[7, -7, 0], [], [5]], [[2, 3, 4], [], [2]]
FLOATS = [-7.5, -1.0, -0.5, 0.1, 0.5, 3.0, 1e-20, 1e20]
FORMS: dict[str, Any] = {
    "dense": lambda *numbers: pn.array(np.array(numbers)),
    **{one.name: lambda *numbers, k=one: pn.nested_array([np.array(numbers)], layout=k) for one in LAYOUTS},
}
DTYPES = ("bool", "int8", "uint8", "int64", "float16", "float32", "float64")


def integers(components: Any, dtype: Any = np.int64) -> list[Any]:
    return [np.array(one, dtype) for one in components]


@pytest.mark.parametrize("name", PYTHON)
def test_integers_are_those_of_python(lay: Any, layout: Any, name: str) -> None:
    function, ours, dtype = PYTHON[name], getattr(pn, name), np.bool_ if name.startswith("logical") else np.int64
    due = [[function(x, y) for x, y in zip(*pair, strict=True)] for pair in zip(A, B, strict=True)]
    calls = [ours, lambda a, b: getattr(a, name)(b)] + [function] * (dtype is np.int64)
    for call in calls:
        assert_same(call(lay(integers(A)), nest(integers(B), layout, "holes")), integers(due, dtype))
    for two, three in ((2, 3), (np.int64(2), np.int64(3)), (pn.array([[2]] * 3), np.array([3]))):
        assert_same(ours(lay(integers(A)), two), integers([[function(x, 2) for x in one] for one in A], dtype))
        assert_same(ours(three, lay(integers(B))), integers([[function(3, x) for x in one] for one in B], dtype))
    assert ours(pn.array(A[0]), pn.array(B[0])).tolist() == due[0]
    if dtype is np.bool_:  # of which 300 is one, beside int8 as well
        assert_same(
            ours(lay(integers(A, np.int8)), 300), integers([[function(x, 300) for x in one] for one in A], dtype)
        )


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 9, 63, 100])
def test_powers_of_integers_wrap(dtype: Any, exponent: int) -> None:
    bases = [int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), 3, 2, 1, 0, -(dtype is not np.uint8)]
    wrapped = [pow(base, exponent, 2 ** (8 * np.dtype(dtype).itemsize)) for base in bases]
    result = pn.nested_array([np.array(bases, dtype)]) ** exponent
    assert_same(result, [np.array(wrapped, np.uint64).astype(dtype)])


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_floats_are_divided_as_python_divides(lay: Any, name: str) -> None:
    """Signs of zero included."""
    for divisor in FLOATS:
        due = [np.array([PYTHON[name](a, divisor) for a in one]) for one in (FLOATS, [2.0])]
        assert_same(getattr(pn, name)(lay([np.array(FLOATS), np.array([2.0])]), divisor), due)


@pytest.mark.parametrize("name", ["floor_divide", "remainder"])
def test_a_zero_that_divides_no_element_is_not_refused(lay: Any, name: str) -> None:
    none = lay(integers([[], []]))
    for divisor in (0, np.zeros((2, 1), np.int64), none):
        assert_same(getattr(pn, name)(none, divisor), integers([[], []]))
    in_gaps = pn.nested_array_from_jagged(pn.array([1, 0, 2, 0, 3]), [0, 2, 4, 5], [1, 1, 1])
    due = [[PYTHON[name](5, 1)], [PYTHON[name](6, 2)], [PYTHON[name](7, 3)]]
    assert_same(getattr(pn, name)(lay(integers([[5], [6], [7]])), in_gaps), integers(due))


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
@pytest.mark.parametrize(("name", "function"), [("floor", math.floor), ("ceil", math.ceil), ("round", round)])
def test_rounding_is_that_of_python(lay: Any, name: str, function: Any, dtype: Any) -> None:
    numbers = [2.5, -2.5, 1.5, 0.5, -0.5, 0.49951171875, -0.2, 3.0, -7.75, 1023.5]
    for call, python in ((getattr(pn, name), function), (pn.trunc, math.trunc)):
        due = np.array([math.copysign(python(x), x) for x in numbers], dtype)
        assert_same(call(lay([np.array(numbers, dtype)])), [due])


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize(("function", "sign"), [(pn.add, 1), (pn.sub, -1)], ids=["add", "sub"])
def test_alpha_multiplies_after_promotion(form: str, function: Any, sign: int) -> None:
    def result(a: Any, b: Any, alpha: Any) -> tuple[Any, Any]:
        made = function(a, b, alpha=alpha)
        return made.dtype, (made.values() if made.is_nested else made).tolist()

    of = FORMS[form]
    small, half = of(np.int8(100), np.int8(-100)), of(np.float16(6e4))
    for wide in (of(0, 5), of(0, 5) if form == "jagged" else np.array([0, 5])):
        assert result(wide, small, 2) == (np.int64, [sign * 200, 5 - sign * 200])
        assert result(wide, small, 300) == (np.int64, [sign * 30000, 5 - sign * 30000])
    assert result(of(np.float32(0)), half, 2) == (np.float32, [sign * 120000.0])  # beyond float16
    assert result(of(0.0), of(2**62), 4) == (np.float64, [sign * 2.0**64])
    assert result(of(0.0), of(np.uint8(3)), -1) == (np.float64, [-sign * 3.0])
    assert result(1.5, small, 2) == (np.float64, [1.5 + sign * 200, 1.5 - sign * 200])
    assert result(small, small, 0.5) == (np.float64, [100 + sign * 50, -100 - sign * 50])
    # Within a dtype the product wraps, as every product of integers.
    assert result(of(np.int8(0)), of(np.int8(100)), 2) == (np.int8, [sign * -56])
    assert result(of(np.int8(0)), 100, 2) == (np.int8, [sign * -56])
    assert result(1, of(np.int8(100)), 2) == (np.int8, [1 + sign * -56])
    assert result(of(True, False), of(1, 1), 2) == (np.int64, [1 + sign * 2, sign * 2])


# ---- comparisons ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
def test_integers_beyond_every_dtype_are_compared(dtype: str, lay: Any) -> None:
    x = [np.array([0, 1], dtype), np.array([1], dtype)]
    for number, above in ((2**70, True), (-(2**2000), False)):
        for made, value in ((lay(x) == number, False), (lay(x) < number, above), (number < lay(x), not above)):
            assert_same(made, [np.full(one.shape, value) for one in x])
    if dtype == "int8":
        assert_same(lay([np.array([-128, 127], np.int8)]) < 300, [np.array([True, True])])
        assert_same(lay([np.array([-128, 127], np.int8)]) != -300, [np.array([True, True])])


NEAR, WIDE = 2**53 + 1, 2.0**53
UNEQUAL = [
    (np.int64(NEAR), np.float64(WIDE)), (np.int64(2**24 + 1), np.float32(2**24)), (np.int64(2**63 - 1), 2.0**63),
    (np.int64(2049), np.float16(2048)), (np.int64(-(2**63) + 1), -(2.0**63)), (np.int64(0), np.float64(0.5)),
    (np.int64(0), np.float64(np.nan)), (np.int64(2**63 - 1), np.float32(np.inf)), (np.uint8(255), np.int8(-1)),
    (np.int32(2**24 + 1), np.float32(2**24)), (np.int16(2049), np.float16(2048)), (np.bool_(True), np.float16(2)),
    (np.float64(np.nan), np.float64(np.nan)), (np.float64(1.0), np.float64(2.0)),
]  # fmt: skip
EQUAL = [
    (np.int64(2**53), WIDE), (np.int64(-(2**63)), -(2.0**63)), (np.int64(2**60), np.float32(2**60)),
    (np.int64(7), np.float16(7)), (np.int64(0), np.float64(-0.0)), (np.bool_(True), np.int64(1)), (0.0, -0.0),
]  # fmt: skip


@pytest.mark.parametrize(("expected", "a", "b"), [(False, *p) for p in UNEQUAL] + [(True, *p) for p in EQUAL], ids=repr)
def test_equal_is_exact(lay: Any, expected: bool, a: Any, b: Any) -> None:
    left, right = [np.array([a, a]), np.array([a])], [np.array([b, b]), np.array([b])]
    assert pn.equal(lay(left), lay(right)) is pn.equal(lay(right), lay(left)) is expected
    assert pn.equal(pn.array(left[0]), right[0]) is expected
    assert pn.equal(lay(left[:1]), np.array([right[0]])) is expected


def test_allclose_takes_numbers_and_records_nothing(lay: Any) -> None:
    x = batch([(2, 3), (0, 3), (4, 3)])
    assert lay(x)[1:2].allclose(7.0) and pn.zeros(0).allclose(1)
    ones = [np.ones((2, 3)), np.ones((1, 3))]
    assert pn.allclose(1.0, lay(ones)) and lay(ones).allclose(np.ones(3)) and not lay(ones).allclose(-(2**2000))
    assert lay([np.array([2.0**70])]).allclose(2**70) and lay([np.zeros(1)]).allclose(0, rtol=np.inf)
    tracked = lay(x).requires_grad_()
    assert tracked.allclose(tracked * 1.0) and tracked.grad is None
