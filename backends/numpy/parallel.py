"""Computing of kernels block by block, and on several threads if arrays are large."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import contextmanager, suppress
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import ThreadpoolController

from ..dtypes import computing_dtype, is_half
from ..environment import whole_number
from ..quiet import quietly

# The size of a block of an operand: small enough for a cache, and so large that threads seldom wait for each other.
BLOCK_BYTES = 768 * 1024
LEAST_THREADED_BYTES = 1024 * 1024  # work on fewer bytes runs on the calling thread, which is quicker
MOST_THREADS = 4  # by default; more threads wait for the interpreter lock between the steps of a kernel


def _threads_to_use() -> int:
    """Return the number of threads.

    The environment variable PYNESTED_THREADS sets it, up to the number of cores. Without it, there are as many threads
    as cores that this process may use, up to 4.
    """
    cores = os.cpu_count() or 1
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return min(cores, whole_number("PYNESTED_THREADS", min(own, MOST_THREADS), least=1))


THREADS = _threads_to_use()


def run(work: Callable[..., object], jobs: Sequence[tuple[Any, ...]], nbytes: int) -> None:
    """Call ``work(*job)`` for each job, on all threads if the jobs work on ``LEAST_THREADED_BYTES`` or more.

    Threads compute at the same time because NumPy, SciPy and BLAS release the interpreter lock inside their loops. Jobs
    must not call ``run``. No job runs any more when ``run`` returns, or raises the error of a job.
    """
    remaining = iter(jobs)

    def work_through() -> None:
        for job in remaining:
            work(*job)

    if THREADS == 1 or len(jobs) < 2 or nbytes < LEAST_THREADED_BYTES:
        return work_through()
    started: list[Future[None]] = []
    with single_threaded_blas():
        try:
            with suppress(RuntimeError):  # the interpreter is ending and starts no more threads
                for _ in range(min(THREADS, len(jobs)) - 1):
                    started.append(_pool(os.getpid()).submit(quietly, work_through))
            work_through()
        finally:
            wait(started)
    for future in started:
        future.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of this process. A forked process cannot use the threads of its parent."""
    return ThreadPoolExecutor(THREADS, "pynested")


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")


_lock = threading.Lock()
_blas_limits: list[Any] = []  # an entry for each open `single_threaded_blas`; the first restores the old limit


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Let BLAS compute on the calling thread inside the ``with`` statement, and in all other threads of the process.

    Otherwise each caller of OpenBLAS waits for all threads of OpenBLAS. Two threads that multiply matrices at the same
    time then take up to thirty times as long.
    """
    with _lock:
        _blas_limits.append(None if _blas_limits else _blas().limit(limits=1))
    try:
        yield
    finally:
        with _lock:
            if len(_blas_limits) == 1:
                _blas_limits[0].restore_original_limits()
                _blas_limits.clear()
            else:
                _blas_limits.pop()


def rows_in_block(row_bytes: int) -> int:
    """Return the number of rows of this size that make a block, at least one."""
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def blocks(rows: int, row_bytes: int) -> list[tuple[int, int]]:
    """Cut rows into blocks. Return the first row of each block, and the row after its last.

    Rows of 0 bytes have no block.
    """
    if not row_bytes:
        return []
    step = rows_in_block(row_bytes)
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def run_shares(work: Callable[[int, int], object], rows: int, nbytes: int) -> None:
    """Call ``work(start, stop)`` for a share of the rows on each thread, or for all rows if they are few bytes."""
    if nbytes < LEAST_THREADED_BYTES:
        work(0, rows)
    else:
        threads = max(1, min(THREADS, rows))
        run(work, list(pairwise(rows * thread // threads for thread in range(threads + 1))), nbytes)


def compute_rows(function: Callable[..., None], out: NDArray[Any], *arrays: NDArray[Any]) -> NDArray[Any]:
    """Return ``out``, whose rows ``function(*blocks, out=block)`` computes in blocks that stay in the cache.

    All arrays have as many rows as ``out``; a block has `BLOCK_BYTES` of the first. Halves are float32 in the blocks,
    and those of ``out`` are rounded once.
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

    run(work, blocks(len(out), row_bytes), len(out) * row_bytes)
    return out


def as_matrix(x: NDArray[Any]) -> NDArray[Any]:
    """(N, ...) -> (N, D): x as a contiguous matrix, without a copy if x is contiguous."""
    return np.ascontiguousarray(x).reshape(len(x), prod(x.shape[1:]))


def last_rows(x: NDArray[Any]) -> NDArray[Any]:
    """(..., D) -> (N, D): x as a contiguous matrix, without a copy if x is contiguous."""
    return np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])


def rows_at_any_offset(buffer: NDArray[Any], width: int) -> NDArray[Any]:
    """Return a view of a flat, contiguous buffer: row i holds the ``width`` elements that begin at element i."""
    rows, step = max(0, buffer.size - width + 1), buffer.itemsize
    return np.ndarray((rows, width), buffer.dtype, buffer, 0, (step, step))


def widened(x: NDArray[Any]) -> NDArray[Any]:
    """Return x, or a float32 copy of a float16 x."""
    return x.astype(np.float32) if is_half(x.dtype) else x
