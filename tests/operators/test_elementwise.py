"""Elementwise operators: NumPy on each component, whatever the layout and placement; and the rules of broadcasting."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError, DTypeError

from ..nests import LAYOUTS, assert_same, batch, distinct

SHAPES = [(2, 2), (0, 2), (3, 2)]
X = batch(SHAPES)
Y = batch(SHAPES, 1)

BINARY = {"add": np.add, "sub": np.subtract, "mul": np.multiply, "div": np.divide}
BINARY |= {"maximum": np.maximum, "minimum": np.minimum}
BINARY |= {"pow": np.errstate(all="ignore")(np.power), "floor_divide": np.floor_divide, "remainder": np.remainder}


@pytest.mark.parametrize("name", BINARY)
class TestBinary:
    def test_an_irregular_dimension_of_equal_lengths_meets_that_size(self, lay: Any, name: str) -> None:
        components = batch([(3, 2)] * 2)
        for shape in ((3, 2), (2, 3, 2), (3, 1), (2, 3, 1)):
            dense = distinct(shape)
            slices = dense if len(shape) == 3 else [dense] * 2
            expected = [BINARY[name](x, one) for x, one in zip(components, slices, strict=True)]
            assert_same(getattr(pn, name)(lay(components), dense), expected)

    def test_infix_and_ufunc(self, lay: Any, name: str) -> None:
        infix: dict[str, Any] = {
            **BINARY,
            "add": lambda a, b: a + b,
            "sub": lambda a, b: a - b,
            "mul": lambda a, b: a * b,
            "div": lambda a, b: a / b,
            "pow": lambda a, b: a**b,
            "floor_divide": lambda a, b: a // b,
            "remainder": lambda a, b: a % b,
        }
        expected = [BINARY[name](x, y) for x, y in zip(X, Y, strict=True)]
        assert_same(infix[name](lay(X), lay(Y)), expected)
        assert_same(BINARY[name](lay(X), lay(Y)), expected)
        assert_same(infix[name](np.float64(2), lay(X)), [BINARY[name](2.0, x) for x in X])
        assert_same(infix[name](distinct((2,)), lay(X)), [BINARY[name](distinct((2,)), x) for x in X])


def test_alpha(lay: Any) -> None:
    assert_same(pn.add(lay(X), lay(Y), alpha=2), [x + 2 * y for x, y in zip(X, Y, strict=True)])
    assert_same(pn.sub(lay(X), lay(Y), alpha=0.5), [x - 0.5 * y for x, y in zip(X, Y, strict=True)])
    assert_same(pn.add(lay(X), 3, alpha=2), [x + 6 for x in X])
    assert_same(pn.sub(3, lay(X), alpha=2), [3 - 2 * x for x in X])
    assert_same(pn.add(lay(X), distinct((2,)), alpha=-1), [x - distinct((2,)) for x in X])
    with pytest.raises(ArgumentError, match="alpha"):
        pn.add(lay(X), lay(Y), alpha="2")


FORMS: dict[str, Any] = {
    "dense": lambda *numbers: pn.array(np.array(numbers)),
    **{one.name: lambda *numbers, k=one: pn.nested_array([np.array(numbers)], layout=k) for one in LAYOUTS},
}


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
    # within a dtype the product wraps, as every product of integers
    assert result(of(np.int8(0)), of(np.int8(100)), 2) == (np.int8, [sign * -56])
    assert result(of(np.int8(0)), 100, 2) == (np.int8, [sign * -56])
    assert result(1, of(np.int8(100)), 2) == (np.int8, [1 + sign * -56])
    for a, b, alpha in (
        (small, small, 300),
        (small, 1, 128),
        (3, small, -(2**70)),
        (small, 300, 2),
        (of(1, 1), small, 2**63),
    ):
        with pytest.raises(OverflowError, match=f"^{function.__name__}: .* out of bounds for int"):
            function(a, b, alpha=alpha)
    flags = of(True, False)
    assert result(flags, of(1, 1), 2) == (np.int64, [1 + sign * 2, sign * 2])
    if function is pn.sub:
        with pytest.raises(DTypeError, match="bools"):
            pn.sub(flags, flags, alpha=2)


@pytest.mark.parametrize("form", FORMS)
def test_the_gradient_of_what_alpha_multiplies(form: str) -> None:
    leaf = pn.array(np.array([1, 2], np.float16), requires_grad=True)
    other = leaf if form == "dense" else pn.as_nested_array([leaf], layout=getattr(pn, form))
    self = pn.ones_like(other, dtype=pn.float64)
    pn.sub(self, other, alpha=3).sum().backward()
    assert leaf.grad is not None and leaf.grad.dtype == np.float16 and leaf.grad.tolist() == [-3, -3]


def test_integers(lay: Any) -> None:
    x = lay([np.array([-128, 5], np.int8), np.array([0], np.int8)])
    assert_same(-x, [np.array([-128, -5], np.int8), np.array([0], np.int8)])
    assert_same(abs(x), [np.array([-128, 5], np.int8), np.array([0], np.int8)])
    assert_same(pn.sgn(x), [np.array([-1, 1], np.int8), np.array([0], np.int8)])
    assert_same(pn.relu(x), [np.array([0, 5], np.int8), np.array([0], np.int8)])
    assert_same(x - 1, [np.array([127, 4], np.int8), np.array([-1], np.int8)])
    assert_same(x / 0, [np.array([-np.inf, np.inf]), np.array([np.nan])])
    for wrong in (300, -129):
        with pytest.raises(OverflowError):
            x + wrong


def test_edges(lay: Any) -> None:
    x = lay([np.array([-np.inf, -0.0, 0.0]), np.array([np.inf, np.nan, -1.0])])
    expected = {
        "exp": ([0.0, 1.0, 1.0], [np.inf, np.nan, math.exp(-1)]),
        "log": ([np.nan, -np.inf, -np.inf], [np.inf, np.nan, np.nan]),
        "sin": ([np.nan, -0.0, 0.0], [np.nan, np.nan, math.sin(-1)]),
        "tanh": ([-1.0, -0.0, 0.0], [1.0, np.nan, math.tanh(-1)]),
        "abs": ([np.inf, 0.0, 0.0], [np.inf, np.nan, 1.0]),
        "neg": ([np.inf, 0.0, -0.0], [-np.inf, np.nan, 1.0]),
    }
    for name, components in expected.items():
        for got, wanted in zip(getattr(pn, name)(x).unbind(), components, strict=True):
            np.testing.assert_allclose(got.numpy(), wanted, rtol=1e-15)
            finite = ~np.isnan(wanted)
            assert (np.signbit(got.numpy()) == np.signbit(wanted))[finite].all(), name
    assert pn.relu(x)[1].tolist()[0] == np.inf and np.isnan(pn.relu(x)[1].tolist()[1])
    assert pn.silu(lay([np.array([-1000.0, np.inf]), np.array([0.0])]))[0].tolist() == [0.0, np.inf]
    assert np.isnan((x - x)[0].tolist()[0]) and (x - x)[0].tolist()[1:] == [0.0, 0.0]
    assert (lay([np.array([1.0, -1.0, 0.0])]) / -0.0)[0].tolist()[:2] == [-np.inf, np.inf]
