"""Running sums along every dimension but the batch."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import DimensionError

from ..nests import assert_same


def test_nothing_of_a_run_is_in_another(lay: Any) -> None:
    x = [np.array([1.0, np.nan, 1e300]), np.array([1e17, 1.0]), np.array([0.1, 0.2]), np.array([np.inf]), np.ones(2)]
    expected = [[1.0, np.nan, np.nan], [1e17, 1e17], [0.1, 0.1 + 0.2], [np.inf], [1.0, 2.0]]
    assert_same(pn.cumsum(lay(x), 1), [np.array(one) for one in expected])


def test_dtypes(lay: Any) -> None:
    for dtype in (np.bool_, np.int8, np.uint8, np.int16, np.int32, np.int64):
        assert_same(lay([np.array([1, 1], dtype), np.array([0], dtype)]).cumsum(1), [np.array([1, 2]), np.array([0])])
    half = lay([np.array([2048, 1, 1, 60000, 60000, -60000], np.float16)])
    once = np.array([2048, 2048, 2050, 62048, np.inf, 62048], np.float16)
    assert_same(half.cumsum(1), [once])
    assert_same(lay([np.array([0.5, 1.5, 127.0])]).cumsum(1, dtype=pn.int8), [np.array([0, 1, -128], np.int8)])
    assert pn.cumsum(lay([np.array([1, 2])]), 1, dtype=pn.float32).dtype == np.float32


def test_dense() -> None:
    x = np.arange(24.0).reshape(2, 3, 4)
    for dim in (0, 1, 2, -1):
        assert_same([pn.cumsum(pn.array(x), dim), pn.array(x).cumsum(dim)], [np.cumsum(x, dim)] * 2)
    assert_same([pn.cumsum(np.array([True, True]), 0)], [np.array([1, 2])])
    assert_same([pn.cumsum(np.ones((0, 3), np.float32), 0)], [np.ones((0, 3), np.float32)])
    with pytest.raises(DimensionError, match="no dimensions"):
        pn.cumsum(pn.array(1.0), 0)
