"""Gradients of elementwise operators: of both orders by differences, and the positions at kinks and NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.functions import FUNCTIONS, Function

from ..nests import JAGGED, KINDS, STRIDED, Kind, assert_same, batch, distinct, place
from ..slopes import check_gradients

DIFFERENTIABLE = {name: one for name, one in FUNCTIONS.items() if one.dtypes != "bool"}
BINARY = ("add", "sub", "mul", "div", "maximum", "minimum", "remainder", "floor_divide")


def nested(kind: Kind, shapes: Any, placement: str) -> Any:
    """A function from the values of a buffer to a nested array with components of ``shapes``."""
    made = place(batch(shapes), kind.layout, placement, kind.ragged)
    structure = made.array.structure
    return made.buffer.detach().numpy(), lambda values: pn.NestedArray(values, structure)


@pytest.mark.parametrize("placement", ["packed", "holes"])
@pytest.mark.parametrize("kind", KINDS, ids=str)
class TestGradients:
    """First and second order; buffers without NaN in their holes, as differences would spread it."""

    def points(self, kind: Kind, placement: str) -> Any:
        buffer, nest = nested(kind, kind.shapes((2, 0, 1)), placement)
        return np.nan_to_num(buffer, nan=0.7) + 0.3, nest

    @pytest.mark.parametrize("name", ["neg", "gelu", "silu", "relu", "abs"])
    def test_unary(self, kind: Kind, placement: str, name: str) -> None:
        buffer, nest = self.points(kind, placement)
        check_gradients(lambda x: getattr(pn, name)(nest(x)), buffer)

    @pytest.mark.parametrize("function", DIFFERENTIABLE.values(), ids=DIFFERENTIABLE)
    def test_smooth(self, kind: Kind, placement: str, function: Function) -> None:
        buffer, nest = self.points(kind, placement)
        check_gradients(lambda x: getattr(pn, function.name)(nest(x)), function.inside(buffer) + function.positive)

    @pytest.mark.parametrize("name", BINARY)
    def test_binary(self, kind: Kind, placement: str, name: str) -> None:
        buffer, nest = self.points(kind, placement)
        function = getattr(pn, name)
        other = np.sin(buffer) + 3
        check_gradients(lambda x, y: function(nest(x), nest(y)), buffer, other)
        check_gradients(lambda x, y: function(nest(x), y), buffer, np.array(1.7))
        sizes = [(3, 1, 1), (1, 1, 1)] if kind.both else [(2,), (3, 1, 2), (1, 1, 2)]
        for shape in sizes if kind in (JAGGED, STRIDED) or kind.both else [(2, 1), (3, 2, 1)]:
            check_gradients(lambda x, y: function(nest(x), y), buffer, distinct(shape) + 2)
            check_gradients(lambda x, y: function(y, nest(x)), buffer + 9, distinct(shape))


def test_gradients_at_kinks(lay: Any, layout: Any, placement: str) -> None:
    def slopes(name: str, components: list[Any]) -> list[Any]:
        made = place([np.array(one) for one in components], layout, placement, grad=True)
        getattr(pn, name)(made.array).sum().backward()
        return made.gradient()

    assert_same(slopes("relu", [[0.0, -1.0], [2.0]]), [np.array([0.0, 0.0]), np.array([1.0])])
    assert_same(slopes("abs", [[0.0, -1.0], [2.0]]), [np.array([0.0, -1.0]), np.array([1.0])])
    assert_same(slopes("sgn", [[0.0, -1.0], [2.0]]), [np.array([0.0, 0.0]), np.array([0.0])])
    assert slopes("log", [[0.0, 2.0]])[0].tolist() == [np.inf, 0.5]
    assert slopes("reciprocal", [[0.0, -0.0], [2.0]])[0].tolist() == [-np.inf, -np.inf]
    for name in ("floor", "ceil", "round", "trunc"):
        assert_same(slopes(name, [[0.5, 1.0], [np.nan, np.inf]]), [np.zeros(2), np.zeros(2)])


def test_a_nan_stays_where_it_is(layout: Any, placement: str) -> None:
    made = place([np.array([np.nan, 1.0]), np.array([2.0])], layout, placement, grad=True)
    (pn.exp(made.array) * made.array).sum().backward()
    first, second = made.gradient()
    assert np.isnan(first[0]) and first[1] == pytest.approx(2 * math.e)
    assert second[0] == pytest.approx(3 * math.exp(2))


def test_gradients_keep_the_dtype_of_their_operand(layout: Any) -> None:
    x = place([np.array([1, 2], np.float32), np.array([3], np.float32)], layout, grad=True)
    y = pn.array(np.array(2.0), requires_grad=True)
    (x.array * y).sum().backward()
    assert (x.buffer.grad.dtype, y.grad.dtype, y.grad.item()) == (np.float32, np.float64, 6.0)
