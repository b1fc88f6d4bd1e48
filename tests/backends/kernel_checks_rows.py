"""Checks of the kernels of rows: softmax, layer norm and cross entropy."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from .kernel_checks import FLOATS, Array, agree, check, close, drawn, like, plain, poisoned, same

SHAPES = ((5, 3), (9, 1), (3, 1100), (300, 40), (0, 3), (3, 0))
SOFTMAX_SHAPES = ((3, 5), (2, 3, 40), (2, 1500), (1,), (7, 2), (0, 3), (3, 0))
EXPONENTS = {"float16": (-10, 15), "bfloat16": (-100, 127), "float32": (-100, 127), "float64": (-700, 1023)}
SPECIAL_ROWS = (
    *([0, 1, 2], [np.nan, 1, 0], [np.inf, 0, 1], [-np.inf, 1, 1], [-np.inf] * 3, [5, 5, 5], [np.nan] * 3),
    *([np.inf, -np.inf, 0], [39.9, 39.9, -39.9], [1000, 999, 1000], [-1000, -999, -1000], [3, 2, 1]),
)


@check(*FLOATS)
def softmax_last(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(2)
    for shape in SOFTMAX_SHAPES:
        x = drawn(rng, shape, dtype)
        agree(backend, "softmax_last", x, terms=16, magnitude=0)
        agree(backend, "softmax_last", poisoned(x * 100))
        agree(backend, "softmax_last", np.asfortranarray(x))
    agree(backend, "softmax_last", poisoned(np.array(SPECIAL_ROWS, dtype)))


@check(*FLOATS)
def softmax_last_backward(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(2)
    for x in (*(drawn(rng, shape, dtype) for shape in SOFTMAX_SHAPES), np.array(SPECIAL_ROWS, dtype)):
        y, g = poisoned(plain.softmax_last(x)), drawn(rng, x.shape, dtype)
        agree(backend, "softmax_last_backward", g, y, terms=2)
        agree(backend, "softmax_last_backward", np.asfortranarray(g), np.asfortranarray(y), terms=2)


def huge_and_small_rows(rng: np.random.Generator, dtype: str, width: int) -> Array:
    """Return rows of every magnitude of the dtype, the greatest three times, and one row of NaN."""
    least, greatest = EXPONENTS[dtype]
    exponents = rng.integers(least, greatest, 40)
    exponents[:3] = greatest
    x = np.ldexp(rng.uniform(-1, 1, (40, width)), exponents[:, None]).astype(dtype)
    x[3] = np.nan
    return poisoned(x)


def rows_of_norms(rng: np.random.Generator, dtype: str) -> Iterator[Array]:
    for shape in SHAPES:
        yield drawn(rng, shape, dtype)
    for width in (2, 5, 300):
        yield huge_and_small_rows(rng, dtype, width)
    yield poisoned(np.array(SPECIAL_ROWS, dtype))


@check(*FLOATS)
def layer_norm(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(3)
    for x in rows_of_norms(rng, dtype):
        w, b = drawn(rng, x.shape[1], dtype, 1), drawn(rng, x.shape[1], dtype, 1)
        for weight, bias, eps in ((None, None, 1e-5), (w, None, 0.5), (None, b, 1e-5), (w, b, 0.5)):
            results, references = backend.layer_norm(x, weight, bias, eps), plain.layer_norm(x, weight, bias, eps)
            largest = abs(x.astype(np.float64)).max(axis=1, initial=1)
            condition = np.maximum(1, 0.05 * largest / references[2])[:, None]  # the mean of a row is rounded
            for got, expected, magnitude in zip(results, references, (condition, largest, 0), strict=True):
                close(got, expected, 4, magnitude)
    small = np.ldexp(np.array([[1, -2, 4], [0, 1, 0]], dtype), 0 if dtype == "float16" else -70)
    agree(backend, "layer_norm", small, None, None, 0.0, terms=4)
    for width, level in ((1, 0.1), (3, 0.5), (7, -2.0), (64, 3.3)):  # rows of equal elements become the bias exactly
        levels = rng.normal(size=40) * 10.0 ** rng.integers(-3, 4 if dtype == "float16" else 37, 40)
        x = poisoned(np.repeat(levels.astype(dtype)[:, None], width, axis=1))
        b = np.full(width, level, dtype)
        y, mean, std = backend.layer_norm(x, np.ones(width, dtype), b, 1e-5)
        same(y, np.broadcast_to(b, x.shape))
        same(mean, x[:, 0].astype(mean.dtype))
        np.testing.assert_allclose(std, np.sqrt(1e-5), rtol=1e-6)


@check(*FLOATS)
def layer_norm_backward(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(4)
    for x in rows_of_norms(rng, dtype):
        g, w = drawn(rng, x.shape, dtype, 1), drawn(rng, x.shape[1], dtype, 1)
        _, mean, std = plain.layer_norm(x, None, None, 1e-5)
        for weight in (w, None):
            agree(backend, "layer_norm_backward", g, x, weight, mean, std, terms=8, magnitude=30)


def losses(dtype: str) -> Iterator[tuple[Any, ...]]:
    """Yield the arguments of cross_entropy: with and without ignored rows, weights and smoothing."""
    rng = np.random.default_rng(5)
    for rows, classes in ((4, 3), (3, 1), (3, 1200), (2, 40), (9, 4), (0, 3), (2, 0)):
        x, weight = drawn(rng, (rows, classes), dtype), poisoned((rng.random(classes) + 0.5).astype(dtype))
        target = rng.integers(0, max(1, classes), rows)
        target[::3] = -100
        for w, smoothing, ignored in product((None, weight), (0.0, 0.25, 1.0), (-100, 1)):
            yield x, np.where(target == -100, ignored, target), w, ignored, smoothing
    special = poisoned(np.array(SPECIAL_ROWS, dtype))
    for ignored, smoothing in product((7, 0), (0.0, 0.25)):
        yield special, np.resize([0, 7, 1, 2], len(special)) % (8 if ignored else 3), None, ignored, smoothing
    yield poisoned(np.array([[10_000.0, 9995.0], [0, 1000]], dtype)), np.array([0, 0]), None, -100, 0.0


@check(*FLOATS)
def cross_entropy(backend: Any, dtype: str) -> None:
    for args in losses(dtype):
        (loss, scale), (expected, reference) = backend.cross_entropy(*args), plain.cross_entropy(*args)
        close(loss, expected, 8)
        finite = np.isfinite(reference).all(axis=0)  # the scale of other rows is for the adjoint of the same backend
        close(scale[:, finite], reference[:, finite], 8)


@check(*FLOATS)
def cross_entropy_backward(backend: Any, dtype: str) -> None:
    for x, target, weight, ignored, smoothing in losses(dtype):
        g = like(x, len(x), 1)
        g[target == ignored] = np.nan if len(x) % 2 else np.inf
        scale = plain.cross_entropy(x, target, weight, ignored, smoothing)[1]
        got = agree(backend, "cross_entropy_backward", g, x, target, weight, ignored, smoothing, scale, terms=8)
        assert not got[target == ignored].any()
