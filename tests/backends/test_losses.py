"""Cross entropy of each row against longdouble loops, and its gradient against the derivative written out."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pynested.backends import numpy as cpu

FLOATS = ["float16", "float32", "float64"]
COMPUTING = {"float16": 2.0**-24, "float32": 2.0**-24, "float64": 2.0**-53}

pytestmark = pytest.mark.usefixtures("path")


def loss_of(row: np.ndarray, target: int, weight: np.ndarray, smoothing: float) -> Any:
    row = row.astype(np.longdouble)
    below = row - row.max()
    each = np.log(np.exp(below).sum()) - below
    own = (1 - smoothing) * weight[target] * each[target]
    return own + smoothing / len(row) * (weight * each).sum() if smoothing else own


def gradient_of(row: np.ndarray, target: int, weight: np.ndarray, smoothing: float) -> np.ndarray:
    row = row.astype(np.longdouble)
    p = np.exp(row - row.max())
    p /= p.sum()
    result = np.zeros(len(row), np.longdouble)
    for c in range(len(row)):
        share = (1 - smoothing) * weight[target] * (c == target) + smoothing / len(row) * weight[c]
        for other in range(len(row)):
            result[other] += share * (p[other] - (other == c))
    return result


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("smoothing", [0.0, 0.1, 1.0])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (9, 4), (3, 70)], ids=str)
def test_cross_entropy(dtype: str, weighted: bool, smoothing: float, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(5)
    x = rng.normal(0, 4, shape).astype(dtype)
    target = rng.integers(0, shape[1], shape[0])
    target[::3] = -100
    weight = rng.uniform(0.5, 2, shape[1]).astype(dtype) if weighted else None
    loss, scale = cpu.cross_entropy(x, target, weight, -100, smoothing)
    g = rng.normal(size=shape[0]).astype(dtype)
    back = cpu.cross_entropy_backward(g, x, target, weight, -100, smoothing, scale)
    assert (loss.shape, loss.dtype, back.shape, back.dtype) == (shape[:1], x.dtype, shape, x.dtype)
    weights = np.ones(shape[1]) if weight is None else weight.astype(np.float64)
    unit = (shape[1] + 60) * COMPUTING[dtype]
    eps = float(np.finfo(dtype).eps)
    for row in range(shape[0]):
        if target[row] == -100:
            assert loss[row] == 0 and not back[row].any()
            continue
        exact = loss_of(x[row], int(target[row]), weights, smoothing)
        assert abs(loss[row] - exact) <= 10 * unit + eps * abs(exact)
        slope = float(g[row]) * gradient_of(x[row], int(target[row]), weights, smoothing)
        assert (abs(back[row] - slope) <= 4 * unit * abs(float(g[row])) + eps * abs(slope)).all()


@pytest.mark.parametrize("dtype", FLOATS)
def test_ignored_and_neighbouring_rows_are_untouched_by_nan(dtype: str) -> None:
    x = np.array([[0, 1], [np.nan, 0], [np.inf, 0], [2, 2], [-np.inf, -np.inf]], dtype)
    target = np.array([1, 7, 0, 7, 0])
    loss, scale = cpu.cross_entropy(x, target, None, 7, 0.0)
    np.testing.assert_allclose(loss, [np.log1p(np.exp(-1)), 0, np.nan, 0, np.nan], rtol=1e-3)
    g = np.array([1, np.nan, 1, np.inf, 1], dtype)
    back = cpu.cross_entropy_backward(g, x, target, None, 7, 0.0, scale)
    assert not back[[1, 3]].any() and np.isfinite(back[0]).all() and np.isnan(back[[2, 4]]).all()


def test_an_impossible_class_costs_infinity_and_a_certain_one_nothing() -> None:
    x = np.array([[0, -np.inf], [0, -np.inf], [0, 1000], [1000, 0]], np.float32)
    loss, _ = cpu.cross_entropy(x, np.array([0, 1, 0, 0]), None, -100, 0.0)
    assert loss.tolist() == [0, np.inf, 1000, 0]


def test_a_small_loss_is_accurate() -> None:
    x = np.array([[10000.0, 9995.0]], np.float32)
    loss, _ = cpu.cross_entropy(x, np.array([0]), None, -100, 0.0)
    np.testing.assert_allclose(loss, np.log1p(np.exp(-5.0)), rtol=1e-4)


def test_the_ignored_index_may_be_a_class() -> None:
    x = np.zeros((2, 2))
    loss, _ = cpu.cross_entropy(x, np.array([0, 1]), None, 0, 0.0)
    np.testing.assert_allclose(loss, [0, np.log(2)])
