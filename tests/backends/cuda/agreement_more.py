"""The checks of verbs that move data, work on single elements, multiply, or attend; entered beside the others."""

from __future__ import annotations

import mmap
from functools import cache
from itertools import product
from typing import Any

import ml_dtypes
import numpy as np

from pynested.backends import Matrices, Segments
from pynested.backends.dtypes import is_float

from ...conversions import converted, telling
from . import agreement_attention  # noqa: F401  enters its checks
from .agreement import ALL, FLOATS, NUMBERS, POISON, check, close, cpu, drawn, layouts, poisoned, same


@check(*ALL)
def pad(backend: Any, dtype: str) -> None:
    for _, segments, x in layouts(dtype):
        for length, fill in ((segments.longest, 0), (segments.longest + 3, 1)):
            padded = poisoned(cpu.pad(x, segments, length, fill))
            same(backend.pad(x, segments, length, fill), padded)
            same(backend.unpad(padded, segments), cpu.unpad(padded, segments))


@check("uint8")
def beyond_32_bits(backend: Any, dtype: str) -> None:
    """Offsets past 2**32 on sparse memory: only the pages that are touched exist."""
    rows = 2**32 + 4096
    x = np.frombuffer(mmap.mmap(-1, rows), dtype).reshape(rows, 1)
    far = 2**32 + 10
    x[:50], x[far : far + 100, 0] = 7, np.arange(100)
    picked = np.array([0, far + 3, far + 99])
    assert backend.take_rows(x, picked).tolist() == [[7], [3], [99]]
    sizes, strides, offsets = np.array([[2, 3], [1, 4]]), np.array([[10, 1], [1, 2]]), np.array([far, far + 50])
    gathered = backend.gather_components(x[:, 0], sizes, strides, offsets)
    assert gathered.tolist() == [0, 1, 2, 10, 11, 12, 50, 52, 54, 56]
    wide = backend.gather_components(x[:, 0], np.array([[2, 2]]), np.array([[far + 3, 1]]), np.array([0]))
    assert wide.tolist() == [7, 7, 3, 4]
    one = Segments(np.array([far, far + 100]))
    assert backend.pad(x, one, 101, 9)[0, :, 0].tolist() == [*range(100), 9]
    assert backend.segment_max(x, one).tolist() == [[99]]


@check(*ALL)
def take_rows(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(6)
    for rows, columns, taken in ((7, 3, 20), (5, 1, 300), (3, 600, 4), (4, 0, 3), (4, 2, 0)):
        x, index = drawn(rng, (rows, columns), dtype), rng.integers(0, rows, taken)
        same(backend.take_rows(x, index), cpu.take_rows(x, index))


@check(*ALL)
def add_rows(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(7)
    for rows, columns, terms in ((7, 3, 50), (5, 1, 9000), (3, 40, 300), (6, 300, 4), (4, 0, 3), (4, 2, 0), (0, 2, 0)):
        x, index = drawn(rng, (terms, columns), dtype), rng.integers(0, max(1, rows // 2 + 1), terms)
        close(backend.add_rows(x, index, rows), cpu.add_rows(x, index, rows), 4, 300)


def _placements() -> Any:
    """(sizes, strides, offsets, buffer size): packed, holes, transposed, overlapping, repeated, many dims, words."""
    rng = np.random.default_rng(8)
    lengths = rng.integers(0, 40, 12)
    yield [[n, 8] for n in lengths], [[8, 1]] * 12, np.cumsum(lengths * 8 + 16) - lengths * 8, 16 * 40 * 12
    sizes = [[n, m] for n, m in rng.integers(17, 70, (5, 2))]
    yield sizes, [[1, n] for n, _ in sizes], np.arange(5) * 5000 + 3, 25_000
    yield [[3, 2, 4], [0, 2, 4], [2, 5, 1]], [[8, 1, 2], [1, 1, 1], [1, 2, 9]], [5, 0, 40], 64
    yield [[2, 3, 2, 3]] * 3, [[1, 2, 6, 12]] * 3, [0, 36, 72], 108
    yield [[4], [4], [2]], [[1], [1], [2]], [0, 1, 0], 8
    yield [[3, 2], [2, 2]], [[0, 1], [2, 0]], [4, 0], 9
    yield [[900], [1100]], [[3], [2]], [0, 2700], 5000
    yield [[30, 40, 20]], [[800, 20, 1]], [16], 24_016
    yield [[3, 16], [5, 16]], [[32, 1]] * 2, [0, 96], 256
    yield [[2, 3, 16]], [[128, 32, 1]], [16], 272
    yield [[], [], []], [[], [], []], [3, 0, 3], 5


@check(*ALL)
def gather_components(backend: Any, dtype: str) -> None:
    for sizes, strides, offsets, size in _placements():
        where = (*(np.array(x, np.int64).reshape(len(offsets), -1) for x in (sizes, strides)), np.array(offsets))
        buffer = drawn(np.random.default_rng(9), size, dtype)
        same(backend.gather_components(buffer, *where), cpu.gather_components(buffer, *where))


@check(*ALL)
def scatter_components(backend: Any, dtype: str) -> None:
    for sizes, strides, offsets, size in _placements():
        where = (*(np.array(x, np.int64).reshape(len(offsets), -1) for x in (sizes, strides)), np.array(offsets))
        if dtype == "bool" and not np.all(strides):
            continue  # NumPy adds repeated bools as integers, and refuses to store them
        flat = drawn(np.random.default_rng(10), cpu.gather_components(np.zeros(size), *where).size, dtype)
        close(backend.scatter_components(flat, *where, size), cpu.scatter_components(flat, *where, size), 2, 10)


EDGES = (0.0, -0.0, np.inf, -np.inf, np.nan, 1e-4, -90.0, 200.0, -700.5, 6.0, -6.0, 1e30, -1e30)


@check(*ALL)
def elementwise(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(12)
    for size in (0, 1, 300, 5000):
        x, g = drawn(rng, size, dtype), drawn(rng, size, dtype)
        names = ["relu", "sgn"]
        if dtype in FLOATS:
            names += ["erf", "erfc", "gelu", "silu"]
            with np.errstate(over="ignore"):
                x[: len(EDGES)] = np.array(EDGES, dtype)[:size]
        for name in names:
            close(getattr(backend, name)(x), getattr(cpu, name)(x))
        if dtype in FLOATS:
            closed = x.astype(np.float64) <= 0
            same(backend.relu_backward(g, x), np.where(closed, np.zeros_like(g), g))
            close(backend.gelu(x, "tanh"), cpu.gelu(x, "tanh"))
            for kind in ("none", "tanh"):
                close(backend.gelu_backward(g, x, kind), cpu.gelu_backward(g, x, kind), 4)
            close(backend.silu_backward(g, x), cpu.silu_backward(g, x), 4)
            tails = poisoned(np.array([-79, -81, -90] if dtype == "float32" else [-9, -8, -10], dtype))
            np.testing.assert_allclose(backend.silu(tails), cpu.silu(tails), rtol=100 * ml_dtypes.finfo(dtype).eps)


@check(*ALL)
def cast(backend: Any, dtype: str) -> None:
    x = poisoned(np.tile(telling(np.dtype(dtype)), 40))  # more than a block has threads
    for name in ALL:
        got, target = backend.cast(x, np.dtype(name)), np.dtype(name)
        assert got.dtype == target
        expected = np.tile(_exactly(dtype, name), 40)
        shown = got.astype(np.float64) if is_float(target) else got
        np.testing.assert_array_equal(shown, expected, f"to {name}")
        if is_float(target):
            assert (np.signbit(shown) == np.signbit(expected))[~np.isnan(shown)].all(), name


@cache
def _exactly(source: str, target: str) -> np.ndarray:
    """What the telling numbers of a dtype become in another; floats as float64, which has all of them."""
    numbers = telling(np.dtype(source))
    wide = numbers.astype(np.float64) if is_float(numbers.dtype) else numbers
    kind = np.dtype(target)
    return np.array(converted(wide.tolist(), kind), np.float64 if is_float(kind) else kind)


@check(*ALL)
def matmul_components(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(13)
    shapes = [(2, 3, 4), (0, 2, 2), (33, 17, 40), (3, 0, 2), (32, 16, 32), (1, 50, 1)]
    for transposed in product((False, True), repeat=2):
        sizes = np.array(shapes, np.int64)
        ends = [np.cumsum(sizes[:, p] * sizes[:, q] + POISON) for p, q in ((0, 1), (1, 2))]
        left = Matrices(ends[0] - sizes[:, 0] * sizes[:, 1], sizes[:, 0], sizes[:, 1], transposed[0])
        right = Matrices(ends[1] - sizes[:, 1] * sizes[:, 2], sizes[:, 1], sizes[:, 2], transposed[1])
        a, b = drawn(rng, ends[0][-1], dtype), drawn(rng, ends[1][-1], dtype)
        _poison_gaps(a, left)
        _poison_gaps(b, right)
        close(backend.matmul_components(a, b, left, right), cpu.matmul_components(a, b, left, right), 8, 30)


def _poison_gaps(flat: np.ndarray, matrices: Matrices) -> None:
    inside = np.zeros(flat.size, bool)
    for offset, rows, cols in matrices.places:
        inside[offset : offset + rows * cols] = True
    flat[~inside] = np.nan if is_float(flat.dtype) else 1


@check(*NUMBERS)
def sum_all(backend: Any, dtype: str) -> None:
    for shape in ((), (0,), (7, 3), (70_000,)):
        x = drawn(np.random.default_rng(14), shape, dtype)
        close(backend.sum_all(x), cpu.sum_all(x), 4, 3000)


@check(*NUMBERS)
def sum_last(backend: Any, dtype: str) -> None:
    for shape in ((3,), (4, 7), (2, 3, 40), (2, 1500), (0, 3), (3, 0)):
        x = drawn(np.random.default_rng(16), shape, dtype)
        wide = np.float64 if dtype in FLOATS else np.int64
        close(backend.sum_last(x), x.sum(-1, dtype=wide).astype(dtype if dtype in FLOATS else wide), 4, 300)
