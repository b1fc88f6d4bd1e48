"""Every operator that keeps the shape of its runs against its definition, in every layout, and its derivative."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.spec.runwise import RUNWISE

from ..nests import assert_same, distinct, nest


@pytest.mark.parametrize("name", RUNWISE.keys())
def test_dense_and_half(name: str) -> None:
    x = distinct((3, 4))
    for dim in (0, 1):
        expected = RUNWISE[name].along(x, dim)
        assert np.allclose(getattr(pn, name)(pn.array(x), dim).numpy(), expected, rtol=1e-15, atol=0)
    half = getattr(pn, name)(pn.array([3.0, 3.0], dtype=pn.float16), 0)
    assert half.dtype == np.float16
    assert half.tolist() == RUNWISE[name].along(np.array([3.0, 3.0]), 0).astype(np.float16).tolist()


def test_log_softmax_keeps_what_is_far_below(layout: Any) -> None:
    x = nest([np.array([1000.0, 0.0]), np.array([-np.inf, 3.0]), np.array([-np.inf]), np.array([np.inf, 1.0])], layout)
    wanted = [np.array([0.0, -1000.0]), np.array([-np.inf, 0.0]), np.full(1, np.nan), np.full(2, np.nan)]
    assert_same(pn.log_softmax(x, 1), wanted)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize(("name", "value"), [("softmax", 1.0), ("softmin", 1.0), ("log_softmax", 0.0)])
def test_a_run_of_one_element_holds_all_of_it(layout: Any, name: str, value: float, dtype: str) -> None:
    numbers = np.linspace(-9, 9, 1001).astype(dtype)
    runs = nest([numbers[i : i + 1] for i in range(len(numbers))], layout)
    for result in (getattr(pn, name)(runs, 1).values(), getattr(pn, name)(pn.array(numbers[:, None]), 1)):
        assert set(result.numpy().ravel().tolist()) == {value}
