"""pow, floor_divide, remainder, and the bitwise and logical functions: against Python's own numbers."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DivisionByZero, DTypeError

from ..nests import assert_same, nest, place

BITWISE = {"bitwise_and": operator.and_, "bitwise_or": operator.or_, "bitwise_xor": operator.xor}
LOGICAL = {
    "logical_and": lambda a, b: bool(a) and bool(b),
    "logical_or": lambda a, b: bool(a) or bool(b),
    "logical_xor": lambda a, b: bool(a) != bool(b),
}
SIGNS = {"pow": operator.pow, "floor_divide": operator.floordiv, "remainder": operator.mod, **BITWISE}
WRITING = {
    "pow": operator.ipow,
    "floor_divide": operator.ifloordiv,
    "remainder": operator.imod,
    "bitwise_and": operator.iand,
    "bitwise_or": operator.ior,
    "bitwise_xor": operator.ixor,
}
UFUNCS = {"pow": np.power, **{name: getattr(np, name) for name in (*SIGNS, *LOGICAL) if name != "pow"}}
A, B = [[7, -7, 0], [], [5]], [[2, 3, 4], [], [2]]
FLOATS = [-7.5, -1.0, -0.5, 0.1, 0.5, 3.0, 1e-20, 1e20]


def integers(components: Any, dtype: Any = np.int64) -> list[Any]:
    return [np.array(one, dtype) for one in components]


def python(function: Any, a: Any, b: Any) -> list[Any]:
    return [[function(x, y) for x, y in zip(*pair, strict=True)] for pair in zip(a, b, strict=True)]


@pytest.mark.parametrize("name", [*SIGNS, *LOGICAL])
class TestIntegers:
    def expected(self, name: str, a: Any = A, b: Any = B) -> list[Any]:
        dtype = np.bool_ if name in LOGICAL else np.int64
        return integers(python((SIGNS | LOGICAL)[name], a, b), dtype)

    def test_are_those_of_python(self, lay: Any, layout: Any, placement: str, name: str) -> None:
        other = place(integers(B), layout, placement).array
        expected = self.expected(name)
        for call in (getattr(pn, name), UFUNCS[name], lambda a, b: getattr(a, name)(b)):
            assert_same(call(lay(integers(A)), other), expected)
        if name in SIGNS:
            assert_same(SIGNS[name](lay(integers(A)), other), expected)

    def test_numbers_and_dense_arrays_stand_on_either_side(self, lay: Any, name: str) -> None:
        function = (SIGNS | LOGICAL)[name]
        left, right = ([[function(x, 2) for x in one] for one in A], [[function(3, x) for x in one] for one in B])
        dtype = np.bool_ if name in LOGICAL else np.int64
        for two, three in ((2, 3), (np.int64(2), np.int64(3)), (pn.array([[2]] * 3), np.array([3]))):
            assert_same(getattr(pn, name)(lay(integers(A)), two), integers(left, dtype))
            assert_same(getattr(pn, name)(three, lay(integers(B))), integers(right, dtype))
            if name in SIGNS:
                assert_same(function(lay(integers(A)), two), integers(left, dtype))
                assert_same(function(three, lay(integers(B))), integers(right, dtype))

    def test_are_written_in_place(self, layout: Any, placement: str, name: str) -> None:
        for write in (lambda a, b: getattr(a, f"{name}_")(b), WRITING.get(name)):
            if write is None:
                continue
            x = place(integers(A), layout, placement).array
            assert write(x, nest(integers(B), layout)) is x
            assert_same(x, [one.astype(np.int64) for one in self.expected(name)])

    def test_of_dense_arrays(self, name: str) -> None:
        result = getattr(pn, name)(pn.array(A[0]), pn.array(B[0]))
        assert type(result) is pn.Array and np.array_equal(result.numpy(), self.expected(name)[0])

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


@pytest.mark.parametrize("dtype", [np.int8, np.uint8, np.int16, np.int32, np.int64])
@pytest.mark.parametrize("exponent", [0, 1, 2, 3, 9, 63, 100])
def test_powers_of_integers_wrap(dtype: Any, exponent: int) -> None:
    bases = [int(np.iinfo(dtype).min), int(np.iinfo(dtype).max), 3, 2, 1, 0, -(dtype is not np.uint8)]
    bits = 8 * np.dtype(dtype).itemsize
    wrapped = [pow(base, exponent, 2**bits) for base in bases]
    expected = [n - 2**bits if n > np.iinfo(dtype).max else n for n in wrapped]
    result = pn.nested_array([np.array(bases, dtype)]) ** exponent
    assert result.dtype == dtype and result.unbind()[0].numpy().tolist() == expected


def test_floats_are_divided_as_python_does(lay: Any) -> None:
    for divisor in FLOATS:
        x = [np.array(FLOATS), np.array([2.0])]
        for name, function in (("floor_divide", operator.floordiv), ("remainder", operator.mod)):
            expected = [np.array([function(a, divisor) for a in one.tolist()]) for one in x]
            result = getattr(pn, name)(lay(x), divisor)
            assert_same(result, expected)
            for mine, due in zip(result.unbind(), expected, strict=True):
                assert np.array_equal(np.signbit(mine.numpy()), np.signbit(due))


@pytest.mark.parametrize("device", ["cpu", "plain", "emulated"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_devices_divide_alike(device: str, dtype: Any) -> None:
    with np.errstate(all="ignore"):
        a = np.array([*FLOATS, 7, -7, np.inf, -np.inf, np.nan, 0.0, -0.0], dtype)[:, None]
        b = np.array([0.1, -0.1, 2, -2, 0.0, -0.0, np.inf, -np.inf, np.nan, 3e-4], dtype)
        for name, ufunc in (("floor_divide", np.floor_divide), ("remainder", np.remainder)):
            result = getattr(pn, name)(pn.array(a, device=device), pn.array(b, device=device))
            due = ufunc(a, b)
            assert result.dtype == dtype
            assert np.array_equal(np.asarray(result.to(device="cpu")), due, equal_nan=True), name
            assert np.array_equal(np.signbit(np.asarray(result.to(device="cpu")))[due == 0], np.signbit(due)[due == 0])


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


class TestGradients:
    """Of pow at its edges; the rest of it is checked against differences, as every rule is."""

    def slopes(self, base: list[float], exponent: list[float], layout: Any, dtype: Any = np.float64) -> Any:
        made = [place([np.array(one, dtype), np.zeros(0, dtype)], layout, grad=True) for one in (base, exponent)]
        pn.pow(*[one.array for one in made]).sum().backward()
        return [one.gradient()[0].tolist() for one in made]

    def test_at_zero(self, layout: Any) -> None:
        ofs = self.slopes([0.0, 0.0, 0.0, 0.0], [0.0, 1.0, 2.0, 0.5], layout)
        assert ofs == [[0.0, 1.0, 0.0, np.inf], [0.0, 0.0, 0.0, 0.0]]

    def test_of_negative_bases(self, layout: Any) -> None:
        base, exponent = self.slopes([-2.0, -2.0, -1.0], [3.0, 0.0, -2.0], layout)
        assert base == [12.0, 0.0, 2.0] and np.isnan(exponent).all()

    def test_of_exponents(self, layout: Any) -> None:
        _, exponent = self.slopes([np.e, 1.0], [2.0, 5.0], layout)
        assert exponent == pytest.approx([np.e**2, 0.0])

    def test_in_float32_for_halves(self, layout: Any) -> None:
        base, _ = self.slopes([2.0**-19], [2.0**-4], layout, np.float16)  # a**(b - 1) is beyond float16
        assert base == pytest.approx([2.0**-4 * 2.0**17.8125], rel=2.0**-10)

    def test_of_numbers(self) -> None:
        x = pn.array([0.0, 2.0, -1.0], requires_grad=True)
        for number, due in ((0, [0, 0, 0]), (1, [1, 1, 1]), (2, [0, 4, -2]), (3.0, [0, 12, 3])):
            assert pn.grad((x**number).sum(), x).numpy().tolist() == due
        powers = pn.grad((2**x).sum(), x).numpy()
        assert powers == pytest.approx([np.log(2), 4 * np.log(2), np.log(2) / 2])
        assert pn.grad((0 ** x[:2]).sum(), x).numpy().tolist() == [0.0, 0.0, 0.0]

    def test_of_remainder_and_floor_divide(self, layout: Any) -> None:
        made = [place([np.array(one)], layout, grad=True) for one in ([7.0, -7.0], [2.0, 2.0])]
        pn.remainder(*[one.array for one in made]).sum().backward()
        assert [one.gradient()[0].tolist() for one in made] == [[1.0, 1.0], [-3.0, 4.0]]
        x = pn.array([7.0, -7.0], requires_grad=True)
        assert pn.grad((x // 2.0).sum(), x).numpy().tolist() == [0.0, 0.0]
