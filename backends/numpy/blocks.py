"""Rows of arrays as matrices, and kernels that compute them in blocks, which stay in a cache."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from math import prod

import numpy as np

from ..dtypes import computing_dtype, is_half
from ..plain.widening import RawArray
from . import parallel

# The size of a block of an operand: it fits in a cache, and is so large that threads seldom wait for the interpreter.
BLOCK_BYTES = 768 * 1024


def rows_in_block(row_bytes: int) -> int:
    """Return the number of rows of this size that make a block, at least one."""
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def blocks(rows: int, row_bytes: int) -> list[tuple[int, int]]:
    """Cut rows into blocks. Return the first row of each block, and the row after its last; none for 0 bytes."""
    step = rows_in_block(row_bytes)
    return [(start, min(start + step, rows)) for start in range(0, rows if row_bytes else 0, step)]


def run_shares(work: Callable[[int, int], object], rows: int, nbytes: int) -> None:
    """Call ``work(start, stop)`` for a share of the rows on each thread, or for all rows if they are few bytes."""
    if nbytes < parallel.LEAST_THREADED_BYTES:
        work(0, rows)
    else:
        threads = max(1, min(parallel.THREADS, rows))
        parallel.run(work, list(pairwise(rows * thread // threads for thread in range(threads + 1))), nbytes)


def compute_rows(function: Callable[..., None], out: RawArray, *arrays: RawArray) -> RawArray:
    """Fill ``out`` by calls of ``function(*blocks, out=block)`` for blocks of rows that stay in the cache; return it.

    All arrays have as many rows as ``out``; ``function`` can write to any. A block has as many rows as fit in
    `BLOCK_BYTES` in the first array, whose rows must not be empty, and at least one. Halves are float32 in the blocks,
    and those of ``out`` are rounded once. A block is too small for threads, so that a job can compute it by blocks.
    """
    dtype = computing_dtype(out.dtype)
    if dtype == out.dtype and 0 < arrays[0].nbytes <= BLOCK_BYTES:
        function(*arrays, out=out)
        return out
    row_bytes = widened(arrays[0][:1]).nbytes

    def work(start: int, stop: int) -> None:
        target = out[start:stop]
        block = target if dtype == out.dtype else np.empty(target.shape, dtype)
        function(*[widened(x[start:stop]) for x in arrays], out=block)
        if block is not target:
            target[...] = block

    parallel.run(work, blocks(len(out), row_bytes), len(out) * row_bytes)
    return out


def as_matrix(x: RawArray) -> RawArray:
    """(N, ...) -> (N, D): x as a contiguous matrix, without a copy if x is contiguous."""
    return np.ascontiguousarray(x).reshape(len(x), prod(x.shape[1:]))


def last_rows(x: RawArray) -> RawArray:
    """(..., D) -> (N, D): x as a contiguous matrix, without a copy if x is contiguous."""
    return np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])


def rows_as_elements(x: RawArray, width: int, step: int = 1) -> RawArray:
    """View contiguous x as opaque elements of ``width`` numbers, of which element i starts at number ``i * step``.

    NumPy copies such elements, as bytes, two to three times as fast as rows of numbers. The width must not be 0.
    """
    count, itemsize = max(0, (x.size - width) // step + 1), x.itemsize
    return np.ndarray((count,), f"V{width * itemsize}", x, 0, (step * itemsize,))


def widened(x: RawArray) -> RawArray:
    """Return x, or a float32 copy of a float16 x."""
    return x.astype(np.float32) if is_half(x.dtype) else x
