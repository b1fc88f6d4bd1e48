"""Functions of one element that round, judge or keep integers: Python's own functions of numbers, and arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError, StructureError

from ..nests import assert_same, nest


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64])
def test_rounding(lay: Any, dtype: Any) -> None:
    """Python's own functions of numbers."""
    numbers = [2.5, -2.5, 1.5, 0.5, -0.5, 0.49951171875, -0.2, 3.0, -7.75, 1023.5]
    own: dict[str, Any] = {"floor": math.floor, "ceil": math.ceil, "round": round, "trunc": math.trunc}
    for name, function in own.items():
        due = np.array([math.copysign(function(x), x) for x in numbers], dtype)
        for result in (
            getattr(pn, name)(lay([np.array(numbers, dtype)])),
            getattr(lay([np.array(numbers, dtype)]), name)(),
        ):
            assert_same(result, [due])
            assert np.array_equal(np.signbit(result[0].numpy()), np.signbit(due)), name


def test_what_becomes_of_integers(lay: Any) -> None:
    ints = [np.array([100, -128], np.int8), np.array([11, 0], np.int8)]
    for name in ("floor", "ceil", "round", "trunc"):
        x = lay(ints)
        result = getattr(pn, name)(x)
        assert_same(result, ints)
        assert result.data.storage is not x.data.storage
    assert_same(pn.square(lay(ints)), [np.array([16, 0], np.int8), np.array([121, 0], np.int8)])
    assert_same(pn.reciprocal(lay(ints)), [np.array([0.01, -1 / 128]), np.array([1 / 11, np.inf])])
    assert_same(pn.reciprocal(lay([np.array([True, False])])), [np.array([1.0, np.inf])])
    assert_same(pn.isfinite(lay(ints)), [np.array([True, True])] * 2)
    assert_same(pn.isnan(lay(ints)), [np.array([False, False])] * 2)
    for name in ("floor", "ceil", "round", "trunc", "square"):
        with pytest.raises(DTypeError, match=f"{name}: takes numbers, not bool"):
            getattr(pn, name)(lay([np.array([True])]))
    with pytest.raises(DTypeError):
        lay(ints).reciprocal_()


def test_bools_have_no_gradient(lay: Any) -> None:
    x = lay([np.array([1.0, np.nan]), np.array([np.inf])])
    x.requires_grad_()
    for one in (x, x.values() if x.layout is pn.jagged else x[0]):
        for name in ("isnan", "isinf", "isfinite"):
            assert not getattr(pn, name)(one).requires_grad


def test_slopes_do_not_vanish_or_overflow_on_their_way() -> None:
    x = pn.array(np.array([1e30, 1e-18, -3e38], np.float32), requires_grad=True)
    pn.reciprocal(x).backward(pn.array(np.array([1e30, 1e-30, 3e38], np.float32)))
    np.testing.assert_allclose(x.grad.numpy(), np.float32([-1e-30, -1e6, -1 / 3e38]), rtol=1e-6)
    x.grad = None
    pn.square(x).backward(pn.array(np.array([1e5, 1.0, 0.25], np.float32)))
    np.testing.assert_allclose(x.grad.numpy(), np.float32([2e35, 2e-18, -1.5e38]), rtol=1e-6)


def test_clamp(lay: Any, layout: Any) -> None:
    components = [np.array([-2.0, 0.5, 3.0]), np.array([1.0, np.nan])]
    x = lay(components)
    assert_same(pn.clamp(x, 0, 1), [np.array([0.0, 0.5, 1.0]), np.array([1.0, np.nan])])
    assert_same(x.clamp(max=1), [np.array([-2.0, 0.5, 1.0]), np.array([1.0, np.nan])])
    assert_same(x.clamp(2, 1), [np.array([1.0, 1.0, 1.0]), np.array([1.0, np.nan])])
    low = nest([np.array([0.0, np.nan, 4.0]), np.array([-1.0, 0.0])], layout)
    assert_same(pn.clamp(x, low), [np.array([0.0, np.nan, 4.0]), np.array([1.0, np.nan])])
    assert_same(pn.clamp(pn.array([[0.25], [2.0]]), low, 3.0), [np.array([0.25, np.nan, 3.0]), np.array([2.0, 2.0])])
    whole = pn.clamp(x)
    assert_same(whole, components)
    assert whole.data.storage is not x.data.storage
    with pytest.raises(StructureError, match="component 1"):
        pn.clamp(x, 0, nest([np.zeros(3), np.zeros(1)], layout))


def test_clamp_of_integers(lay: Any) -> None:
    x = lay([np.array([-100, 5], np.int8), np.array([100], np.int8)])
    assert_same(pn.clamp(x, -3, 7), [np.array([-3, 5], np.int8), np.array([7], np.int8)])
    assert_same(pn.clamp(x, 0.5), [np.array([0.5, 5.0]), np.array([100.0])])
    for bounds in ((0, 300), (-129, None)):
        with pytest.raises(OverflowError):
            pn.clamp(x, *bounds)
    x.clamp_(0, 10)
    assert_same(x, [np.array([0, 5], np.int8), np.array([10], np.int8)])
    with pytest.raises(DTypeError):
        x.clamp_(0.5)


@pytest.mark.parametrize("nested", [True, False])
def test_clamp_sends_the_cotangent_to_the_element_at_a_bound(layout: Any, nested: bool) -> None:
    """Where `maximum` would share it: numbers of PyTorch."""

    def slopes(low: float, high: float) -> list[Any]:
        leaves = [pn.array(np.array(one), requires_grad=True) for one in ([-1.0, 0.0, 0.5, 1.0, 2.0], [low], [high])]
        x = pn.as_nested_array([leaves[0]], layout=layout) if nested else leaves[0]
        pn.clamp(x, leaves[1], leaves[2]).sum().backward()
        return [one.grad.tolist() for one in leaves if one.grad is not None]

    assert slopes(0.0, 1.0) == [[0.0, 1.0, 1.0, 1.0, 0.0], [1.0], [1.0]]
    assert slopes(1.0, 0.0) == [[0.0] * 5, [0.0], [5.0]]
