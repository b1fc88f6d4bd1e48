"""Functions of one element that round, judge or keep integers: Python's own functions of numbers, and arithmetic."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DTypeError

from ..nests import assert_same


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
