"""Softmax of runs and rows, and layer normalization, against float64 loops, with the bounds of their analysis."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from pynested.backends import Segments
from pynested.backends import numpy as cpu

LAYOUTS = [list(product(range(4), repeat=count)) for count in range(4)] + [[(40, 0, 1, 7), (5, 9)]]
FLOATS = ["float16", "float32", "float64"]
POISON = [[np.nan], [np.inf], [np.inf, 0], [-np.inf], [-np.inf, -np.inf], [0, np.nan]]
COMPUTING = {"float16": 2.0**-24, "float32": 2.0**-24, "float64": 2.0**-53}

pytestmark = pytest.mark.usefixtures("path")


def runs_of(lengths: Any) -> Segments:
    return Segments.from_lengths(np.array(lengths, np.int64))


def softmax(column: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The plain softmax of one run, and how many roundoffs it may be off."""
    column = column.astype(np.longdouble)
    below = column.max() - column
    p = np.exp(-below) / np.exp(-below).sum()
    return p, p * (len(column) + 18 + 2 * below + 2 * (p * below).sum())


def assert_near(got: np.ndarray, exact: np.ndarray, error: np.ndarray) -> None:
    kind = np.finfo(got.dtype)
    allowed = COMPUTING[got.dtype.name] * error + float(kind.eps) / 2 * abs(exact) + 2 * float(kind.smallest_subnormal)
    assert (abs(got - exact) <= allowed).all(), (got, exact)


@pytest.mark.parametrize("layouts", LAYOUTS, ids=len)
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("scale", [1, 30, 1000])
def test_segment_softmax(layouts: list[tuple[int, ...]], dtype: str, scale: float) -> None:
    rng = np.random.default_rng(1)
    for lengths, inner in product(layouts, [(), (2,), (1, 2), (0,)]):
        segments = runs_of(lengths)
        x = rng.normal(0, scale, (segments.rows, *inner)).astype(dtype)
        g = rng.normal(0, 1, x.shape).astype(dtype)
        y = cpu.segment_softmax(x, segments)
        back = cpu.segment_softmax_backward(g, y, segments)
        assert (y.shape, y.dtype, back.shape, back.dtype) == (x.shape, x.dtype, x.shape, x.dtype)
        for start, stop in segments.pairs:
            for index in np.ndindex(inner):
                where = (slice(start, stop), *index)
                if start < stop:
                    assert_near(y[where], *softmax(x[where]))
                    check_backward(back[where], y[where], g[where])


def check_backward(got: np.ndarray, y: np.ndarray, g: np.ndarray) -> None:
    wide, cotangent = y.astype(np.longdouble), g.astype(np.longdouble)
    exact = wide * (cotangent - (wide * cotangent).sum())
    assert_near(got, exact, wide * (len(wide) + 4) * (abs(cotangent) + (wide * abs(cotangent)).sum()))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 1), (7, 5), (2, 3, 4), (6,)], ids=str)
@pytest.mark.parametrize("scale", [1, 1000])
def test_softmax_last(dtype: str, shape: tuple[int, ...], scale: float) -> None:
    rng = np.random.default_rng(1)
    x, g = rng.normal(0, scale, shape).astype(dtype), rng.normal(0, 1, shape).astype(dtype)
    y = cpu.softmax_last(x)
    back = cpu.softmax_last_backward(g, y)
    assert (y.shape, y.dtype, back.shape, back.dtype) == (x.shape, x.dtype, x.shape, x.dtype)
    for index in np.ndindex(shape[:-1]):
        if shape[-1]:
            assert_near(y[index], *softmax(x[index]))
            check_backward(back[index], y[index], g[index])
    if len(shape) > 1:
        np.testing.assert_array_equal(cpu.softmax_last(np.asfortranarray(x)), y)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("inner", [(), (3,)], ids=str)
@pytest.mark.parametrize(
    "poison", [[np.nan], [np.inf], [np.inf, 0], [-np.inf], [-np.inf, -np.inf], [0, np.nan]], ids=str
)
def test_what_is_not_a_number_stays_in_its_run(dtype: str, inner: tuple[int, ...], poison: list[float]) -> None:
    segments = runs_of([2, 0, len(poison), 0, 3])
    clean = np.random.default_rng(3).normal(size=(segments.rows, *inner)).astype(dtype)
    x = clean.copy()
    x[2 : 2 + len(poison)] = np.array(poison).reshape(-1, *(1 for _ in inner))
    y, expected = cpu.segment_softmax(x, segments), cpu.segment_softmax(clean, segments)
    hurt = np.isin(np.arange(segments.rows), np.arange(2, 2 + len(poison)))
    assert np.isnan(y[hurt]).all()
    np.testing.assert_allclose(y[~hurt], expected[~hurt], rtol=4 * float(np.finfo(dtype).eps))
    back = cpu.segment_softmax_backward(clean, y, segments)
    assert np.isnan(back[hurt]).all() and np.isfinite(back[~hurt]).all()
    rows = np.array([[0, 1, 2], np.resize(poison, 3), [5, 5, 5]]).astype(dtype)
    y = cpu.softmax_last(rows)
    assert np.isnan(y[1]).all()
    np.testing.assert_allclose(y[[0, 2]].sum(axis=1), 1, rtol=2e-3)


@pytest.mark.parametrize("dtype", FLOATS)
def test_minus_infinity_beside_numbers_is_probability_zero(dtype: str) -> None:
    x = np.array([-np.inf, 1, 1, -np.inf, 5], dtype)
    assert cpu.segment_softmax(x, runs_of([3, 0, 2])).tolist() == [0, 0.5, 0.5, 0, 1]
    assert cpu.softmax_last(x[:3]).tolist() == [0, 0.5, 0.5]


def test_large_values_do_not_overflow() -> None:
    for dtype in ("float32", "float64"):
        x = np.array([1e30, 1e30, -1e30, -1e30, 1000, 1000, 39.9, 39.9, -39.9, -39.9], dtype)
        assert cpu.segment_softmax(x, runs_of([2] * 5)).tolist() == [0.5] * 10
        assert cpu.softmax_last(x.reshape(5, 2)).tolist() == [[0.5] * 2] * 5


def normalize(x: np.ndarray, weight: Any, bias: Any, eps: float) -> np.ndarray:
    wide = x.astype(np.longdouble)
    centred = wide - wide.mean(axis=1, keepdims=True)
    y = centred / np.sqrt((centred * centred).mean(axis=1, keepdims=True) + eps)
    return y * (1 if weight is None else weight) + (0 if bias is None else bias)


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("affine", ["none", "weight", "bias", "both"])
@pytest.mark.parametrize("shape", [(0, 3), (1, 1), (9, 5), (3, 200)], ids=str)
def test_layer_norm(dtype: str, affine: str, shape: tuple[int, int]) -> None:
    rng = np.random.default_rng(8)
    x = rng.normal(3, 2, shape).astype(dtype)
    weight = rng.normal(size=shape[1]).astype(dtype) if affine in ("weight", "both") else None
    bias = rng.normal(size=shape[1]).astype(dtype) if affine in ("bias", "both") else None
    y, mean, std = cpu.layer_norm(x, weight, bias, 1e-3)
    assert (y.shape, y.dtype, mean.shape, std.shape) == (shape, x.dtype, shape[:1], shape[:1])
    tolerance = 60 * shape[1] * COMPUTING[dtype] + float(np.finfo(dtype).eps)
    np.testing.assert_allclose(
        y, normalize(x, weight, bias, 1e-3).astype(np.float64), rtol=tolerance, atol=4 * tolerance
    )

    g = rng.normal(size=shape).astype(dtype)
    results = cpu.layer_norm_backward(g, x, weight, mean, std, bias is not None)
    expected = layer_norm_cotangents(g.astype(np.float64), x.astype(np.float64), weight, 1e-3)
    assert (results[1] is None, results[2] is None) == (weight is None, bias is None)
    for result, by_hand in zip(results, expected, strict=True):
        if result is not None:
            assert result.dtype == x.dtype
            np.testing.assert_allclose(result, by_hand, rtol=20 * tolerance, atol=20 * tolerance)


def layer_norm_cotangents(g: np.ndarray, x: np.ndarray, weight: Any, eps: float) -> tuple[np.ndarray, ...]:
    """Row by row with the Jacobian of the normalization written out."""
    width = x.shape[1]
    scale = np.ones(width) if weight is None else weight.astype(np.float64)
    result, by_weight, by_bias = np.zeros_like(x), np.zeros(width), np.zeros(width)
    for row in range(len(x)):
        centred = x[row] - x[row].mean()
        rstd = 1 / np.sqrt((centred**2).mean() + eps)
        jacobian = rstd * (np.eye(width) - 1 / width) - rstd**3 * np.outer(centred, centred) / width
        result[row] = (g[row] * scale) @ jacobian
        by_weight += g[row] * centred * rstd
        by_bias += g[row]
    return result, by_weight, by_bias


def test_layer_norm_keeps_poisoned_rows_apart() -> None:
    x = np.random.default_rng(9).normal(size=(5, 7)).astype(np.float32)
    y, mean, std = cpu.layer_norm(x, None, None, 1e-5)
    back = cpu.layer_norm_backward(x, x, None, mean, std, False)[0]
    for poison in (np.nan, np.inf):
        bad = x.copy()
        bad[2, 3] = poison
        y_bad, mean, std = cpu.layer_norm(bad, None, None, 1e-5)
        back_bad = cpu.layer_norm_backward(x, bad, None, mean, std, False)[0]
        assert np.isnan(y_bad[2]).all() and np.isnan(back_bad[2]).all()
        keep = [0, 1, 3, 4]
        np.testing.assert_allclose(y_bad[keep], y[keep], rtol=1e-6)
        np.testing.assert_allclose(back_bad[keep], back[keep], rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("dtype", FLOATS)
def test_rows_of_equal_elements_become_the_bias_exactly(dtype: str) -> None:
    rng = np.random.default_rng(10)
    for width in (1, 3, 7, 64):
        levels = (rng.normal(size=40) * 10.0 ** rng.integers(-3, 4 if dtype == "float16" else 37, 40)).astype(dtype)
        levels[:2] = np.finfo(dtype).max, -0.0
        x = np.repeat(levels[:, None], width, axis=1)
        bias = rng.normal(size=width).astype(dtype)
        y, mean, std = cpu.layer_norm(x, np.ones(width, dtype), bias, 1e-5)
        np.testing.assert_array_equal(y, np.broadcast_to(bias, x.shape))
        np.testing.assert_array_equal(mean, levels.astype(mean.dtype))
        np.testing.assert_allclose(std, np.sqrt(1e-5), rtol=1e-6)


def on_a_scale(x: np.ndarray, eps: float) -> tuple[np.ndarray, Any, float]:
    """A row times a power of two that brings it to about 1, the power, and eps on that scale: all exact."""
    exponent = np.frexp(np.abs(x).max())[1]
    return np.ldexp(x.astype(np.float64), -exponent), -exponent, float(np.ldexp(eps, -2 * exponent))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_every_magnitude(dtype: str) -> None:
    """Huge rows, whose squares overflow, beside ordinary ones and one of NaN: none of them is lost."""
    rng, kind = np.random.default_rng(11), np.finfo(dtype)
    for width in (2, 5, 300):
        x, g = (rng.uniform(-1, 1, (40, width)).astype(dtype) for _ in range(2))
        exponents = rng.integers(-10, kind.maxexp, len(x))
        exponents[:3] = kind.maxexp
        x = np.ldexp(x, exponents[:, None], dtype=dtype)
        x[3] = np.nan
        y, mean, std = cpu.layer_norm(x, None, None, 1e-5)
        back, by_weight, _ = cpu.layer_norm_backward(g, x, np.ones(width, dtype), mean, std)
        total = np.zeros(width)
        for row in [row for row in range(len(x)) if row != 3]:
            small, shift, eps = on_a_scale(x[row], 1e-5)
            error = 40 * width * COMPUTING[dtype] * (1 + abs(small).max() / np.sqrt(small.var() + eps)) ** 2
            np.testing.assert_allclose(y[row], normalize(small[None], None, None, eps)[0], rtol=error, atol=error)
            due = layer_norm_cotangents(g[row][None].astype(np.float64), small[None], None, eps)
            far = error / np.sqrt(small.var() + eps)
            assert (
                abs(np.ldexp(back[row].astype(np.float64), -shift) - due[0][0]) <= far + np.ldexp(1.0, -130 - shift)
            ).all()
            total += due[1]
        assert np.isnan(y[3]).all() and np.isnan(back[3]).all() and np.isnan(by_weight).all()
        rest = np.delete(np.arange(len(x)), 3)
        apart = cpu.layer_norm_backward(g[rest], x[rest], np.ones(width, dtype), mean[rest], std[rest])[1]
        np.testing.assert_allclose(apart, total, atol=1e-3 if dtype == "float32" else 1e-9)
