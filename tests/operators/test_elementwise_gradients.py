"""Gradients of elementwise operators: of both orders by differences, and the positions at kinks and NaN."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import assert_same, place


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
