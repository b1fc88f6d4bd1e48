"""Checks of the kernels that move data, multiply or add."""

from __future__ import annotations

import mmap
from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np

from pynested.backends import Matrices, Segments, strided_index
from pynested.backends.dtypes import is_float

from . import kernel_checks, kernel_checks_attention, kernel_checks_elements, kernel_checks_rows  # noqa: F401  enter their checks
from .kernel_checks import ALL, FLOATS, NUMBERS, Array, agree, check, drawn, like, plain, poisoned, same, whole

Placement = tuple[Any, Any, Any, int]  # sizes, strides, offsets, and the size of the buffer

# ---- movement -------------------------------------------------------------------------------------------------------


@kernel_checks.check_segments(*ALL)
def pad(backend: Any, x: Array, segments: Segments) -> None:
    greatest = np.inf if is_float(x.dtype) else True if x.dtype == bool else np.iinfo(x.dtype).max
    for length, fill in ((segments.longest, 0), (segments.longest + 3, 1), (segments.longest + 1, greatest)):
        agree(backend, "pad", x, segments, length, fill, exact=True)


@kernel_checks.check_segments(*ALL)
def unpad(backend: Any, x: Array, segments: Segments) -> None:
    for extra in (0, 3):
        padded = poisoned(plain.pad(x, segments, segments.longest + extra, 1))
        agree(backend, "unpad", padded, segments, exact=True)
        agree(backend, "unpad", np.asfortranarray(padded), segments, exact=True)


@check("uint8")
def beyond_32_bits(backend: Any, dtype: str) -> None:
    """Check offsets beyond 2**32 in sparse memory, of which only the pages that are touched exist."""
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
    segment = Segments(np.array([far, far + 100]))
    assert backend.pad(x, segment, 101, 9)[0, :, 0].tolist() == [*range(100), 9]
    assert backend.segment_max(x, segment).tolist() == [[99]]


@check(*ALL)
def copy(backend: Any, dtype: str) -> None:
    x = drawn(np.random.default_rng(6), (4, 3), dtype)
    for view in (x, x.T, x[::2], x[:0]):
        agree(backend, "copy", view, exact=True)


@check(*ALL)
def take_rows(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(6)
    for rows, columns, taken in ((7, 3, 20), (5, 1, 300), (3, 600, 4), (4, 0, 3), (4, 2, 0)):
        x, index = drawn(rng, (rows, columns), dtype), rng.integers(0, rows, taken)
        agree(backend, "take_rows", x, index, exact=True)
        agree(backend, "take_rows", x.T.copy().T, np.sort(index), exact=True)
    for inner in ((), (2, 2)):
        agree(backend, "take_rows", drawn(rng, (5, *inner), dtype), np.array([3, 0, 4, 0]), exact=True)


@check(*ALL)
def add_rows(backend: Any, dtype: str) -> None:
    rng = np.random.default_rng(7)
    for rows, columns, terms in ((7, 3, 50), (5, 1, 9000), (3, 40, 300), (6, 300, 4), (4, 0, 3), (4, 2, 0), (0, 2, 0)):
        x, index = drawn(rng, (terms, columns), dtype), rng.integers(0, max(1, rows // 2 + 1), terms)
        agree(backend, "add_rows", x, index, rows, terms=4, magnitude=300)
        agree(backend, "add_rows", whole(x), index, rows, exact=True)
    for inner in ((), (2, 2), (2,)):
        x, index = drawn(rng, (4099, *inner), dtype), np.repeat([0, 2, 1], [4096, 2, 1])
        x[...] = 1
        agree(backend, "add_rows", x, index, 4, exact=True)
        if dtype in FLOATS:
            x[4096], x[4098] = np.nan, np.inf
            agree(backend, "add_rows", x, index, 4, exact=True)


# ---- placement ------------------------------------------------------------------------------------------------------


def placements(dtype: str) -> Iterator[Placement]:
    """Yield contiguous, transposed, overlapping and repeated components, with gaps and without, few and many."""
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
    yield [[2, 3], [1, 3], [0, 3]], [[3, 1]] * 3, [0, 6, 9], 9
    yield [[1, 3], [2, 3]], [[3, 1]] * 2, [9, 0], 12
    yield [[2, 3], [1, 3]], [[3, 1]] * 2, [1, 8], 12
    yield [[2, 3], [1, 3]], [[3, 1]] * 2, [0, 6], 10
    yield [[2, 3], [1, 3]], [[3, 1]] * 2, [0, 7], 12
    yield [[2], [3], [2]], [[1]] * 3, [0, 2, 5], 7
    yield [[3, 2]], [[1, 1]], [5], 9
    yield [[2, 0, 2], [2, 1, 2]], [[2, 2, 1]] * 2, [3, 0], 6
    yield [[1, 2], [2, 1]], [[99, 1], [1, 99]], [0, 4], 16
    yield [[4, 0]] * 9, [[9, 1]] * 9, [0] * 9, 12
    yield [[3, 0, 2]] * 9 + [[2, 0, 2]], [[9, 2, 1]] * 10, [0] * 10, 12
    yield [[2**40, 0], [0, 2**40], [1, 1]] * 5, [[1, 1]] * 15, [0, 0, 1] * 5, 2  # an index of these fits no memory
    many = 4096 if dtype == "float16" else 40  # a sum of so many ones is no float16 if it is computed in it
    yield [[1]] * many, [[1]] * many, [0] * many, 2
    yield [[many]], [[0]], [1], 2
    yield [], [], [], 3


def as_arrays(placement: Placement) -> tuple[Array, Array, Array, int]:
    sizes, strides, offsets, size = placement
    shape = len(offsets), len(sizes[0]) if len(sizes) else 2
    shaped = [np.array(x, np.int64).reshape(shape) for x in (sizes, strides)]
    return shaped[0], shaped[1], np.array(offsets, np.int64), size


@check(*ALL)
def gather_components(backend: Any, dtype: str) -> None:
    for *where, size in map(as_arrays, placements(dtype)):
        buffer = drawn(np.random.default_rng(9), size, dtype)
        if is_float(buffer.dtype) and buffer.size:
            buffer[np.setdiff1d(np.arange(size), strided_index(*where))] = np.nan
        agree(backend, "gather_components", buffer, *where, exact=True)


@check(*ALL)
def scatter_components(backend: Any, dtype: str) -> None:
    for *where, size in map(as_arrays, placements(dtype)):
        places = strided_index(*where)
        if dtype == "bool" and len(np.unique(places)) < len(places):
            continue  # NumPy adds repeated bools as integers, and refuses to store them
        flat = drawn(np.random.default_rng(10), len(places), dtype)
        agree(backend, "scatter_components", flat, *where, size, terms=2, magnitude=100)
        agree(backend, "scatter_components", whole(flat), *where, size, exact=True)
        flat[...] = 1
        agree(backend, "scatter_components", flat, *where, size, exact=True)
        if dtype in FLOATS:
            flat[::3] = np.nan
            agree(backend, "scatter_components", flat, *where, size, exact=True)


# ---- products and totals --------------------------------------------------------------------------------------------

SIZES: tuple[Any, ...] = (
    [(2, 3, 4), (0, 2, 2), (33, 17, 40), (3, 0, 2), (32, 16, 32), (1, 50, 1)],
    [*product(range(3), repeat=3), *reversed([*product(range(3), repeat=3)]), (3, 2, 3)],
    [(2, 3, 2)] * 7,
    [(2, inner, 3) for inner in (1, 2, 3, 1, 2, 3)],
    [(200, 3, 100), (1, 3, 100), (2, 3, 100), (2, 3, 100), (1, 3, 100)],  # one of them is large
    [(1, 2, 1)],
    [],
)


def multiply(backend: Any, sizes: Any, dtype: str, transposed: tuple[bool, bool]) -> None:
    """Check products of matrices that lie apart, with NaN between them and in one of them."""
    rng, sizes = np.random.default_rng(13), np.array(sizes, np.int64).reshape(-1, 3)
    ends = [np.cumsum(sizes[:, p] * sizes[:, q] + kernel_checks.POISON) for p, q in ((0, 1), (1, 2))]
    left = Matrices(ends[0] - sizes[:, 0] * sizes[:, 1], sizes[:, 0], sizes[:, 1], transposed[0])
    right = Matrices(ends[1] - sizes[:, 1] * sizes[:, 2], sizes[:, 1], sizes[:, 2], transposed[1])
    a, b = (drawn(rng, end[-1] if len(end) else 0, dtype) for end in ends)
    for flat, matrices in ((a, left), (b, right)):
        inside = np.zeros(flat.size, bool)
        for offset, rows, cols in zip(matrices.offsets, matrices.rows, matrices.cols, strict=True):
            inside[offset : offset + rows * cols] = True
        flat[~inside] = np.nan if is_float(flat.dtype) else 1
    agree(backend, "matmul_components", a, b, left, right, terms=8, magnitude=30)
    agree(backend, "matmul_components", whole(a), whole(b), left, right, exact=True)
    if dtype in FLOATS and len(sizes) > 2:
        offset, rows, cols = left.offsets[2], left.rows[2], left.cols[2]
        a[offset : offset + rows * cols] = np.nan
        agree(backend, "matmul_components", a, b, left, right, terms=8, magnitude=30)


def single_matrix(rows: int, cols: int) -> Matrices:
    return Matrices(np.zeros(1, np.int64), np.array([rows]), np.array([cols]), False)


@check(*ALL)
def matmul_components(backend: Any, dtype: str) -> None:
    for number, sizes in enumerate(SIZES):
        for left, right in product((False, True), repeat=2) if number < 2 else [(False, False), (True, True)]:
            multiply(backend, sizes, dtype, (left, right))
    single, rows = single_matrix(1, 2), single_matrix(2, 1)
    if dtype == "int64":
        big = np.array([2**53 + 1, 1])
        same(backend.matmul_components(big, np.array([3, 4]), single, rows), np.array([3 * (2**53 + 1) + 4]))
    long, column = single_matrix(1, 4096), single_matrix(4096, 1)
    agree(backend, "matmul_components", np.ones(4096, dtype), np.ones(4096, dtype), long, column, exact=True)
    lengths = np.array([2, 0, 2, 3, 2, 2])  # one matrix for all, and matrices that overlap
    for offsets in ([0] * 6, [0, 1, 2, 3, 4, 5], [5, 4, 3, 2, 1, 0], [5, 0, 5, 0, 3, 1]):
        left = Matrices(np.cumsum(2 * lengths) - 2 * lengths, lengths, np.full(6, 2), False)
        right = Matrices(np.array(offsets), np.full(6, 2), np.full(6, 2), False)
        a, b = like(np.ones(9, dtype), 22), like(np.ones(7, dtype), 9)
        agree(backend, "matmul_components", whole(a), whole(b), left, right, exact=True)


@check(*NUMBERS)
def sum_all(backend: Any, dtype: str) -> None:
    for shape in ((), (0,), (1,), (7, 3), (5000,)):
        x = drawn(np.random.default_rng(14), shape, dtype)
        agree(backend, "sum_all", x, terms=4, magnitude=3000)
        agree(backend, "sum_all", whole(x), exact=True)
        agree(backend, "sum_all", whole(x).T, exact=True)
    if dtype in FLOATS:
        agree(backend, "sum_all", np.array([60000, 60000, -60000, -60000, 3], dtype), exact=True)
        agree(backend, "sum_all", np.ones((4099, 3), dtype), exact=True)
        # One after the other in float32 these are 999.903, as each addition rounds in the same direction.
        agree(backend, "sum_all", np.full(10_000, 0.1, dtype), magnitude=0)
    else:
        agree(backend, "sum_all", np.full(300, np.iinfo(dtype).max, dtype), exact=True)


@check(*NUMBERS)
def sum_last(backend: Any, dtype: str) -> None:
    for shape in ((3,), (4, 7), (2, 3, 40), (2, 1500), (0, 3), (3, 0)):
        x = drawn(np.random.default_rng(16), shape, dtype)
        agree(backend, "sum_last", x, terms=4, magnitude=300)
        agree(backend, "sum_last", whole(x), exact=True)
        agree(backend, "sum_last", np.asfortranarray(whole(x)), exact=True)
    if dtype in FLOATS:
        agree(backend, "sum_last", np.array([[60000, 60000, -60000], [1, np.nan, 1], [2, 2, 2]], dtype), exact=True)
        agree(backend, "sum_last", np.ones((2, 4099), dtype), exact=True)
