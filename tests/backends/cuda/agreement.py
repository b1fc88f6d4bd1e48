"""For every verb with a kernel: a check that a backend agrees with the NumPy one, or with a loop, on telling arguments.

A check takes the backend and a dtype; it raises AssertionError. Operands lie between poison, so that a kernel which
looks beyond them shows it, and sizes are such that every path of the host side is taken.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from pynested.backends import Segments
from pynested.backends.dtypes import is_float

from .reference import cpu

CHECKS: dict[str, tuple[tuple[str, ...], Callable[[Any, str], None]]] = {}
FLOATS = ("float16", "bfloat16", "float32", "float64")
ALL = ("bool", "int8", "int16", "int32", "int64", "uint8", *FLOATS)
NUMBERS = ALL[1:]
# Of a number that is computed, and of one that is stored where that is less than what is computed in.
ROUNDING = {"float16": (3e-6, 1e-3), "bfloat16": (3e-6, 8e-3), "float32": (3e-6, 0.0), "float64": (1e-14, 0.0)}
POISON = 64  # elements before and after an operand
# (lengths, columns): a warp or a block a segment, several tiles of columns, wide packs, more rows than are kept.
LAYOUTS = (
    ((3, 0, 5, 1), 1),
    ((2, 0, 40, 7, 0), 3),
    ((0, 1, 130), 33),
    ((700, 0, 1300), 1),
    ((60, 90), 70),
    ((9, 0, 4), 256),
    ((2, 1, 0, 1), 256),
    ((3, 2), 300),
    ((0, 0), 4),
    ((2, 3), 0),
    ((), 2),
)
# Runs so long that they are cut into pieces, alone and among many empty ones.
LONG = (
    ((100_000, 0, 3, 70_000), 1),
    ((66_000, *[0] * 100), 1),
    ((600, *[0] * 80), 128),
    ((140,), 700),
    ((140,), 701),
)

Check = Callable[[Any, str], None]


def check(*dtypes: str) -> Callable[[Check], Check]:
    """Enter a check under the name of its verb."""

    def enter(function: Check) -> Check:
        CHECKS[function.__name__] = dtypes, function
        return function

    return enter


def poisoned(values: np.ndarray) -> np.ndarray:
    """The values, contiguous, between elements that no result may depend on."""
    whole = np.empty(values.size + 2 * POISON, values.dtype)
    whole.reshape(-1).view(np.uint8).fill(0xFF if is_float(values.dtype) else 0x01)
    inner = whole[POISON : POISON + values.size].reshape(values.shape)
    inner[...] = values
    return inner


def drawn(rng: np.random.Generator, shape: Any, dtype: str, scale: float = 3.0) -> np.ndarray:
    if dtype in FLOATS:
        return poisoned(rng.normal(0, scale, shape).astype(dtype))
    low = 0 if dtype in ("bool", "uint8") else -9
    return poisoned(rng.integers(low, 2 if dtype == "bool" else 10, shape).astype(dtype))


def layouts(dtype: str) -> Iterator[tuple[np.random.Generator, Segments, np.ndarray]]:
    for number, (lengths, columns) in enumerate(LAYOUTS):
        rng = np.random.default_rng(number)
        segments = Segments.from_lengths(np.array(lengths, np.int64))
        yield rng, segments, drawn(rng, (segments.rows, columns), dtype)


def same(got: Any, expected: Any) -> None:
    """The same shape, dtype and values, NaN where NaN is."""
    assert got.dtype == expected.dtype, (got.dtype, expected.dtype)
    if got.dtype.name == "bfloat16":  # whose NaN NumPy's testing does not know
        got, expected = got.astype(np.float32), expected.astype(np.float32)
    np.testing.assert_array_equal(got, expected)


def close(got: Any, expected: Any, terms: float = 1.0, magnitude: Any = None) -> None:
    """The same up to rounding: of the result, once, and of terms of about ``magnitude`` (1 and up by default)."""
    assert (got.shape, got.dtype) == (expected.shape, expected.dtype), (got.shape, got.dtype, expected.dtype)
    if not is_float(got.dtype):
        same(got, expected)
        return
    wide = expected.astype(np.float64)
    finite = np.isfinite(wide)
    same(got[~finite], expected[~finite])
    least = 1 if magnitude is None else magnitude
    computed, stored = ROUNDING[got.dtype.name]
    size = np.abs(wide[finite])
    allowed = computed * terms * np.maximum(size, least) + stored * size
    wrong = ~(np.abs(got[finite].astype(np.float64) - wide[finite]) <= allowed)
    assert not wrong.any(), (np.argwhere(wrong)[:3], got[finite][wrong][:3], expected[finite][wrong][:3])


# ---- segments -----------------------------------------------------------------------------------------------------


@check(*ALL)
def segment_sum(backend: Any, dtype: str) -> None:
    for _, segments, x in layouts(dtype):
        close(backend.segment_sum(x, segments), cpu.segment_sum(x, segments), 4, 30)
    if dtype in FLOATS:  # halves are added in float32, so that no partial sum overflows
        large = poisoned(np.repeat(np.array([60_000, -60_000], dtype), 64))
        same(backend.segment_sum(large, Segments(np.array([0, 128]))), np.zeros(1, dtype))
    for lengths, columns in LONG:
        long = Segments.from_lengths(np.array(lengths))
        x = drawn(np.random.default_rng(1), (long.rows, columns), dtype)
        close(backend.segment_sum(x, long), cpu.segment_sum(x, long), 4, 3000)


@check(*ALL)
def segment_cumsum(backend: Any, dtype: str) -> None:
    for _, segments, x in layouts(dtype):
        for backwards in (False, True):
            close(backend.segment_cumsum(x, segments, backwards), cpu.segment_cumsum(x, segments, backwards), 8, 300)


@check(*ALL)
def segment_max(backend: Any, dtype: str) -> None:
    for _, segments, x in layouts(dtype):
        same(backend.segment_max(x, segments), cpu.segment_max(x, segments))
    for lengths, columns in LONG:
        long = Segments.from_lengths(np.array(lengths))
        x = drawn(np.random.default_rng(1), (long.rows, columns), dtype)
        same(backend.segment_max(x, long), cpu.segment_max(x, long))


def loop(x: np.ndarray, segments: Segments, of_run: Callable[[np.ndarray], Any], dtype: Any) -> np.ndarray:
    rows = [of_run(x[start:stop]) for start, stop in segments.pairs]
    return np.array(rows, dtype).reshape(segments.count, *x.shape[1:])


@check(*ALL)
def segment_min(backend: Any, dtype: str) -> None:
    kind = np.dtype(dtype)
    greatest = np.inf if dtype in FLOATS else True if dtype == "bool" else np.iinfo(kind).max
    for _, segments, x in layouts(dtype):
        same(backend.segment_min(x, segments), loop(x, segments, lambda run: run.min(0, initial=greatest), kind))


@check(*ALL)
def segment_prod(backend: Any, dtype: str) -> None:
    kind = np.dtype(dtype) if dtype in FLOATS else np.dtype(np.int64)
    wide = np.dtype(np.float64) if dtype in FLOATS else kind
    for rng, segments, x in layouts(dtype):
        if dtype in FLOATS:
            x[...] = rng.choice([-1, 1, 0.5, 2], x.shape)
        expected = loop(x, segments, lambda run: np.clip(run.prod(0, dtype=wide), -6e4, 6e4), wide)
        got = backend.segment_prod(x, segments)
        assert got.dtype == kind
        np.testing.assert_array_equal(np.clip(got, -6e4, 6e4), expected.astype(kind))


def _with_nans(rng: np.random.Generator, x: np.ndarray) -> np.ndarray:
    if is_float(x.dtype) and x.size:
        x[rng.random(x.shape) < 0.05] = np.nan
    return x


@check(*ALL)
def segment_argmax(backend: Any, dtype: str) -> None:
    for rng, segments, x in layouts(dtype):
        _with_nans(rng, x)
        none = np.full(x.shape[1:], -1)
        same(
            backend.segment_argmax(x, segments),
            loop(x, segments, lambda run, none=none: run.argmax(0) if len(run) else none, np.int64),
        )


@check(*ALL)
def segment_argmin(backend: Any, dtype: str) -> None:
    for rng, segments, x in layouts(dtype):
        _with_nans(rng, x)
        none = np.full(x.shape[1:], -1)
        same(
            backend.segment_argmin(x, segments),
            loop(x, segments, lambda run, none=none: run.argmin(0) if len(run) else none, np.int64),
        )


@check(*FLOATS)
def segment_max_backward(backend: Any, dtype: str) -> None:
    for rng, segments, x in layouts(dtype):
        x[...] = _with_nans(rng, np.rint(x))
        top = cpu.segment_max(x, segments)
        g = drawn(rng, top.shape, dtype)
        close(backend.segment_max_backward(g, x, top, segments), cpu.segment_max_backward(g, x, top, segments))
        g[rng.random(g.shape) < 0.3] = rng.choice([np.nan, np.inf])
        close(backend.segment_max_backward(g, x, top, segments), cpu.segment_max_backward(g, x, top, segments))


@check(*FLOATS)
def segment_softmax(backend: Any, dtype: str) -> None:
    for rng, segments, x in layouts(dtype):
        x[rng.random(x.shape) < 0.1] = -np.inf
        close(backend.segment_softmax(x, segments), cpu.segment_softmax(x, segments), 2)
        x[rng.random(x.shape) < 0.01] = rng.choice([np.nan, np.inf])
        close(backend.segment_softmax(x, segments), cpu.segment_softmax(x, segments), 2)
    runs = Segments.from_lengths(np.array([2, 3]))
    x = np.array([1000, 1001, -np.inf, -np.inf, -np.inf], dtype)
    close(backend.segment_softmax(x, runs), cpu.segment_softmax(x, runs))


@check(*FLOATS)
def segment_softmax_backward(backend: Any, dtype: str) -> None:
    for rng, segments, x in layouts(dtype):
        y, g = poisoned(cpu.segment_softmax(x, segments)), drawn(rng, x.shape, dtype)
        close(backend.segment_softmax_backward(g, y, segments), cpu.segment_softmax_backward(g, y, segments), 2)


@check(*FLOATS)
def softmax_last(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(2)
    for shape in ((3, 5), (2, 3, 40), (2, 1500), (1,), (0, 3), (3, 0)):
        x, g = drawn(rng, shape, dtype), drawn(rng, shape, dtype)
        y = cpu.softmax_last(x)
        close(backend.softmax_last(x), y)
        close(backend.softmax_last_backward(g, y), cpu.softmax_last_backward(g, y), 2)


@check(*ALL)
def spread(backend: Any, dtype: str) -> None:
    for rng, segments, x in layouts(dtype):
        y = drawn(rng, (segments.count, *x.shape[1:]), dtype)
        same(backend.spread(y, segments), cpu.spread(y, segments))


# ---- rows ---------------------------------------------------------------------------------------------------------

SHAPES = ((5, 3), (9, 1), (3, 1100), (300, 40), (0, 3), (3, 0))


@check(*FLOATS)
def layer_norm(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(3)
    for shape in SHAPES:
        x, w, b = drawn(rng, shape, dtype), drawn(rng, shape[1], dtype, 1), drawn(rng, shape[1], dtype, 1)
        for weight, bias, eps in ((None, None, 1e-5), (w, None, 0.5), (None, b, 1e-5), (w, b, 0.5)):
            for got, expected in zip(
                backend.layer_norm(x, weight, bias, eps), cpu.layer_norm(x, weight, bias, eps), strict=True
            ):
                close(got, expected, 4)
    small = np.ldexp(np.array([[1, -2, 4], [0, 1, 0]], dtype), 0 if dtype == "float16" else -70)
    for got, expected in zip(
        backend.layer_norm(small, None, None, 0.0), cpu.layer_norm(small, None, None, 0.0), strict=True
    ):
        close(got, expected, 4)


@check(*FLOATS)
def layer_norm_backward(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(4)
    for shape in SHAPES:
        x, g, w = drawn(rng, shape, dtype), drawn(rng, shape, dtype, 1), drawn(rng, shape[1], dtype, 1)
        _, mean, std = cpu.layer_norm(x, None, None, 1e-5)
        for weight, with_bias in ((w, True), (None, True), (w, False), (None, False)):
            for got, expected in zip(
                backend.layer_norm_backward(g, x, weight, mean, std, with_bias),
                cpu.layer_norm_backward(g, x, weight, mean, std, with_bias),
                strict=True,
            ):
                assert (got is None) == (expected is None)
                if got is not None:
                    close(got, expected, 8, 30)


@check(*FLOATS)
def cross_entropy(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(5)
    for rows, classes in ((4, 3), (3, 1), (3, 1200), (2, 40), (0, 3), (2, 0)):
        x, weight = drawn(rng, (rows, classes), dtype), poisoned(rng.random(classes).astype(dtype))
        target = rng.integers(0, max(1, classes), rows)
        g = drawn(rng, rows, dtype, 1)
        for w, smoothing, ignored in ((None, 0.0, -100), (weight, 0.0, 1), (None, 0.25, 1), (weight, 0.25, -100)):
            target[:1] = ignored
            loss, scale = cpu.cross_entropy(x, target, w, ignored, smoothing)
            got = backend.cross_entropy(x, target, w, ignored, smoothing)
            close(got[0], loss, 8)
            close(got[1], scale, 8)
            close(
                backend.cross_entropy_backward(g, x, target, w, ignored, smoothing, scale),
                cpu.cross_entropy_backward(g, x, target, w, ignored, smoothing, scale),
                8,
            )
