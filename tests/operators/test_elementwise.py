"""Elementwise operators: NumPy on each component, whatever the layout and placement; and the rules of broadcasting."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import ArgumentError

from ..nests import assert_same, batch, distinct

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
