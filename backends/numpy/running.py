"""How kernels run: quietly, block by block, and on more than one thread where that pays."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextvars import Context
from functools import wraps
from itertools import pairwise
from math import prod
from typing import Any, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..forking import in_forked_children
from ..memory import empty

P = ParamSpec("P")
Result = TypeVar("Result")

# Of one operand: small enough for a cache, large enough that threads rarely wait for each other at the GIL.
BLOCK_BYTES = 768 * 1024
KEPT_BYTES = 64 * 1024, 4 * 1024 * 1024  # scratch memory of sizes between is kept: malloc would fetch it page by page
THREAD_BYTES = 1024 * 1024  # below this, handing work to another thread costs more than it saves
MOST_THREADS = 4  # by default; more of them wait for the interpreter lock between the passes of a kernel


def _threads_to_use() -> int:
    """What the environment variable PYNESTED_THREADS says, otherwise the cores that this process may use, up to 4."""
    asked = os.environ.get("PYNESTED_THREADS", "")
    if asked.isdecimal() and int(asked) > 0:
        return int(asked)
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(cores, MOST_THREADS)


THREADS = _threads_to_use()

_pool: ThreadPoolExecutor | None = None

# NumPy keeps its error state in a context variable. Calling inside a context where warnings are off costs a tenth of
# entering np.errstate and leaves the caller's state alone. A context can be entered only once at a time, a copy (which
# takes constant time) at any time, so every call gets its own.
_quiet = Context()
_quiet.run(np.seterr, all="ignore")
another_quiet_context = _quiet.copy


def quietly(function: Callable[P, Result], *args: P.args, **kwargs: P.kwargs) -> Result:
    """Call ``function`` without floating-point warnings, whatever the caller's np.errstate says."""
    return another_quiet_context().run(function, *args, **kwargs)


def quiet(function: Callable[P, Result]) -> Callable[P, Result]:
    """Make every call of ``function`` quiet."""
    enter = another_quiet_context

    @wraps(function)
    def call(*args: P.args, **kwargs: P.kwargs) -> Result:
        return enter().run(function, *args, **kwargs)

    return call


def run(work: Callable[..., None], jobs: Sequence[tuple[Any, ...]], nbytes: int) -> None:
    """``work(*job)`` for each job; on all threads, a stretch of jobs each, where ``nbytes`` are enough to pay.

    Worth it because NumPy, SciPy and BLAS let go of the interpreter inside their loops. Jobs must not call ``run``.
    """
    parts = min(THREADS, len(jobs)) if nbytes >= THREAD_BYTES else 1
    if parts <= 1:
        _work_through(work, jobs)
        return
    stretches = [jobs[start:stop] for start, stop in _cut(len(jobs), parts)]
    others = [_started(work, stretch) for stretch in stretches[1:]]
    try:
        _work_through(work, stretches[0])
    finally:
        for other in others:
            other.result()


def _started(work: Callable[..., None], jobs: Sequence[tuple[Any, ...]]) -> Future[None]:
    """The jobs under way on another thread; done already where the interpreter is ending and starts none."""
    try:
        return _threads().submit(quietly, _work_through, work, jobs)
    except RuntimeError:
        done: Future[None] = Future()
        done.set_result(quietly(_work_through, work, jobs))
        return done


def _work_through(work: Callable[..., None], jobs: Iterable[tuple[Any, ...]]) -> None:
    for job in jobs:
        work(*job)


def _threads() -> ThreadPoolExecutor:
    global _pool
    if _pool is None:
        _pool = ThreadPoolExecutor(max(1, THREADS - 1), "pynested")
    return _pool


def _forget_threads() -> None:
    """A forked child has none of its parent's threads."""
    global _pool
    _pool = None


in_forked_children(_forget_threads)


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


def rows_in_block(row_bytes: int) -> int:
    """How many rows of this size make a block, at least one."""
    return max(1, BLOCK_BYTES // max(1, row_bytes))


def blocks(rows: int, row_bytes: int) -> list[tuple[int, int]]:
    """(first row, row after the last) of each block."""
    step = rows_in_block(row_bytes)
    return [(start, min(start + step, rows)) for start in range(0, rows, step)]


def shares(rows: int) -> list[tuple[int, int]]:
    """(first row, row after the last) of the share of each thread."""
    return _cut(rows, THREADS)


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


def widened(x: NDArray[Any]) -> NDArray[Any]:
    """x, or its float32 copy where it is float16."""
    return x.astype(computing_dtype(x.dtype), copy=False)
