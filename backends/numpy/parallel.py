"""Jobs on several threads. While they run, BLAS uses one thread for each job."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import suppress
from functools import cache
from threading import RLock
from typing import Any

from threadpoolctl import ThreadpoolController

from ..environment import whole_number
from ..quiet import quietly

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
_lock = RLock()  # held while jobs run on several threads
if hasattr(os, "register_at_fork"):  # a fork waits for these jobs, so that the lock is free in the child
    os.register_at_fork(before=_lock.acquire, after_in_parent=_lock.release, after_in_child=_lock.release)


def run(work: Callable[..., object], jobs: Sequence[tuple[Any, ...]], nbytes: int) -> None:
    """Call ``work(*job)`` for each job, on all threads if the jobs work on ``LEAST_THREADED_BYTES`` or more.

    Threads compute at the same time because NumPy, SciPy and BLAS release the interpreter lock inside their loops.
    While jobs run, BLAS is limited to one thread, because two jobs that call a threaded OpenBLAS at once take up to
    thirty times as long. The limit holds for the whole process, so a second caller of ``run`` waits for the first. Jobs
    must not call ``run`` with as many bytes. No job runs any more when ``run`` returns, or raises the error of a job.
    """
    remaining = iter(jobs)

    def work_through() -> None:
        for job in remaining:
            work(*job)

    if THREADS == 1 or len(jobs) < 2 or nbytes < LEAST_THREADED_BYTES:
        return work_through()
    started: list[Future[None]] = []
    with _lock, _blas().limit(limits=1):
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
def _pool(pid: int) -> ThreadPoolExecutor:
    """Return the threads of this process. A forked process cannot use the threads of its parent."""
    return ThreadPoolExecutor(THREADS, "pynested")


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController().select(user_api="blas")
