"""How kernels run: block by block, and on several threads if that pays."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from functools import cache
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import is_half
from ..environment import whole_number
from ..memory import empty
from ..quiet import quietly
from .blas import one_thread_each

# Of one operand: small enough for a cache, large enough that threads rarely wait for each other at the GIL.
BLOCK_BYTES = 768 * 1024
KEPT_BYTES = 64 * 1024, 4 * 1024 * 1024  # scratch memory of sizes between is kept: malloc would fetch it page by page
THREAD_BYTES = 1024 * 1024  # below this, handing work to another thread costs more than it saves
SHARED_ONES = 4096  # so many wait for whoever needs some
FEW_ROWS = 16  # so many are added one after the other; halves of more are added, which keeps the error small
MOST_THREADS = 4  # by default; more of them wait for the interpreter lock between the passes of a kernel


def _threads_to_use() -> int:
    """What the environment variable PYNESTED_THREADS says, otherwise the cores that this process may use, up to 4.

    More than the machine has cores are of no use to anybody, and are as many as it has cores.
    """
    cores = os.cpu_count() or 1
    own = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else cores
    return min(cores, whole_number("PYNESTED_THREADS", min(own, MOST_THREADS), least=1))


THREADS = _threads_to_use()


def run(work: Callable[..., None], jobs: Sequence[tuple[Any, ...]], nbytes: int) -> None:
    """Call ``work(*job)`` for each job; on all threads if ``nbytes`` are enough to pay.

    It pays because NumPy, SciPy and BLAS release the interpreter inside their loops. Jobs must not call ``run``. All
    jobs are over when it returns, or raises the error of one of them.
    """
    if THREADS == 1 or len(jobs) < 2 or nbytes < THREAD_BYTES:
        for job in jobs:
            work(*job)
        return
    started: list[Future[None]] = []
    with one_thread_each():
        try:
            for job in jobs:
                started.append(_pool(os.getpid()).submit(quietly, work, *job))
        except RuntimeError:  # the interpreter is ending, and starts no more threads
            for job in jobs[len(started) :]:
                work(*job)
        wait(started)
    for future in started:
        future.result()


@cache
def _pool(process: int) -> ThreadPoolExecutor:
    """Return the threads of a process. A forked process cannot use the threads of its parent."""
    return ThreadPoolExecutor(THREADS, "pynested")


_scratch = threading.local()


def scratch(slot: str, shape: tuple[int, ...], dtype: np.dtype[Any]) -> NDArray[Any]:
    """Memory for the calling thread to compute in, its own until it asks for the same slot again."""
    nbytes = prod(shape) * dtype.itemsize
    if not KEPT_BYTES[0] <= nbytes <= KEPT_BYTES[1]:
        return np.empty(shape, dtype)
    memory: NDArray[np.uint8] | None = getattr(_scratch, slot, None)
    if memory is None or memory.nbytes < nbytes:
        memory = np.empty(nbytes, np.uint8)
        setattr(_scratch, slot, memory)
    return memory[:nbytes].view(dtype).reshape(shape)


def ones(count: int, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Ones, not to be written to, which a dot product adds a row up with."""
    return _some_ones(dtype)[:count] if count <= SHARED_ONES else np.ones(count, dtype)


@cache
def _some_ones(dtype: np.dtype[Any]) -> NDArray[Any]:
    made = np.ones(SHARED_ONES, dtype)
    made.setflags(write=False)
    return made


def rows_in_block(row_bytes: int) -> int:
    """How many rows of this size make a block, at least one."""
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def blocks(rows: int, row_bytes: int) -> list[tuple[int, int]]:
    """(first row, row after the last) of each block."""
    step = rows_in_block(row_bytes)
    if 0 < rows <= step:
        return [(0, rows)]
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def shares(rows: int) -> list[tuple[int, int]]:
    """(first row, row after the last) of the share of each thread; of fewer threads where there are fewer rows."""
    return _cut(rows, max(1, min(THREADS, rows)))


def _cut(count: int, parts: int) -> list[tuple[int, int]]:
    """(first, one after the last) of each of so many parts, as equal as can be."""
    return list(pairwise(count * part // parts for part in range(parts + 1)))


def copy(x: NDArray[Any], /) -> NDArray[Any]:
    """A C-contiguous copy."""
    if x.nbytes < THREAD_BYTES:
        return x.copy()
    out = empty(x.shape, x.dtype)
    run(lambda start, stop: np.copyto(out[start:stop], x[start:stop]), shares(len(x)), x.nbytes)
    return out


def as_matrix(x: NDArray[Any]) -> NDArray[Any]:
    """(N, ...) -> (N, D), contiguous; x itself where it already is."""
    if x.ndim == 2 and x.flags.c_contiguous:
        return x
    return np.ascontiguousarray(x).reshape(len(x), prod(x.shape[1:]))


def minimum_of(x: NDArray[Any]) -> Any:
    """The least element of a contiguous array, NaN if it holds one; of few in a third of a reduction's time."""
    return x.item(x.argmin())


def maximum_of(x: NDArray[Any]) -> Any:
    """The greatest element of a contiguous array, NaN if it holds one."""
    return x.item(x.argmax())


def widened(x: NDArray[Any]) -> NDArray[Any]:
    """x, or its float32 copy where it is float16."""
    return x.astype(np.float32) if is_half(x.dtype) else x


def sum_rows(rows: NDArray[Any], out: NDArray[Any]) -> None:
    """``out <-`` the sum of rows, (N, D) -> (D,), added pairwise, block by block in cache, and the last few in float64.

    So the error grows as log N. Halves of the rows are contiguous, which is what NumPy adds quickest. With ``out=``
    NumPy would round to its dtype again and again.
    """
    if rows.shape[1] == 1 or len(rows) <= FEW_ROWS:
        out[...] = np.add.reduce(rows, axis=0, dtype=np.float64)
    elif len(rows) > (step := max(2, rows_in_block(rows[:1].nbytes))):
        cuts = range(0, len(rows), step)
        sums = np.empty((len(cuts), rows.shape[1]), np.float64)
        for place, start in enumerate(cuts):
            sum_rows(rows[start : start + step], sums[place])
        sum_rows(sums, out)
    else:
        halves = scratch("halves", (len(rows) // 2, rows.shape[1]), rows.dtype)
        while len(rows) > FEW_ROWS:
            half = len(rows) // 2
            np.add(rows[:half], rows[half : 2 * half], out=halves[:half])
            if len(rows) % 2:
                np.add(halves[0], rows[-1], out=halves[0])
            rows = halves[:half]
        out[...] = np.add.reduce(rows, axis=0, dtype=np.float64)
