"""log_softmax against the standard library's logarithms and exponentials, in every layout."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import pynested as pn

from ..nests import BOTH, JAGGED, JAGGED_2, STRIDED, Kind, assert_same, distinct, nest, place


def expected(run: Any) -> list[float]:
    top = max(run)
    total = math.log(math.fsum(math.exp(x - top) for x in run))
    return [x - top - total for x in run]


@pytest.mark.parametrize("kind", [JAGGED, JAGGED_2, STRIDED, BOTH], ids=str)
@pytest.mark.parametrize("placement", ["packed", "holes"])
def test_values(kind: Kind, placement: str) -> None:
    components = [distinct(shape) for shape in kind.shapes((2, 0, 3))]
    made = place(components, kind.layout, placement, kind.ragged)
    for dim in (1, 2):
        runs = [np.apply_along_axis(expected, dim - 1, x) if x.size else x for x in components]
        for result in (pn.log_softmax(made.array, dim), made.array.log_softmax(axis=dim)):
            assert_same(result, runs, 1e-15)


def test_what_is_far_below_keeps_its_logarithm(layout: Any) -> None:
    x = nest([np.array([1000.0, 0.0]), np.array([-np.inf, 3.0]), np.array([-np.inf]), np.array([np.inf, 1.0])], layout)
    wanted = [np.array([0.0, -1000.0]), np.array([-np.inf, 0.0]), np.full(1, np.nan), np.full(2, np.nan)]
    assert_same(pn.log_softmax(x, 1), wanted)
    half = pn.log_softmax(pn.array([3.0, 3.0], dtype=pn.float16), 0)
    assert half.dtype == np.float16 and half.tolist() == [float(np.float16(-math.log(2)))] * 2
