"""Quiet calls, threads, and the threads of BLAS.

`test_kernels` runs blocks and threads of every kernel.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from itertools import groupby

import numpy as np
import pytest

from pynested.backends.errors import ArgumentError
from pynested.backends.numpy import parallel
from pynested.backends.quiet import quietly, without_warnings

from ..crowd import together


def test_a_quiet_call_inside_a_quiet_call() -> None:
    inner = without_warnings(lambda: np.float32(1) / np.float32(0))
    with np.errstate(all="raise"):
        assert quietly(lambda: inner() + quietly(np.log, np.float32(0))) != 0
        assert set(np.geterr().values()) == {"raise"}


def test_everything_is_over_when_an_error_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "THREADS", 3)
    failed, done = threading.Event(), []

    def work(job: int) -> None:
        if job == 1:
            failed.set()
            raise ZeroDivisionError
        failed.wait()
        time.sleep(0.01 * job)  # so that whoever does not wait for this is gone
        done.append(job)

    with pytest.raises(ZeroDivisionError):
        parallel.run(work, [(0,), (1,), (2,)], parallel.LEAST_THREADED_BYTES)
    assert sorted(done) == [0, 2]


@pytest.mark.parametrize(("value", "threads"), [("1", 1), ("3", 3), ("8", 8), ("1000000", 8), ("", 4)])
def test_the_environment_sets_the_number_of_threads(value: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYNESTED_THREADS", value)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    assert parallel._threads_to_use() == threads
    monkeypatch.setenv("PYNESTED_THREADS", "0")
    with pytest.raises(ArgumentError, match="PYNESTED_THREADS is '0'"):
        parallel._threads_to_use()


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_of_a_parent_that_computes_starts_its_own_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "THREADS", 2)
    started, done, expected = threading.Event(), [], blas_threads()

    def work(job: int) -> None:
        started.set()
        time.sleep(0.1)
        done.append(job)

    parent = threading.Thread(target=parallel.run, args=(work, [(0,), (1,)], parallel.LEAST_THREADED_BYTES))
    parent.start()
    started.wait()
    child = os.fork()
    if child == 0:
        signal.alarm(30)  # ends a child that hangs
        parallel.run(work, [(2,), (3,)], parallel.LEAST_THREADED_BYTES)
        os._exit(0 if sorted(done) == [0, 1, 2, 3] and blas_threads() == expected else 1)
    parent.join()
    assert os.waitpid(child, 0)[1] == 0


def test_one_caller_at_a_time_has_jobs_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "THREADS", 2)
    callers: list[int] = []

    def work(caller: int) -> None:
        callers.append(caller)
        time.sleep(0.01)

    together([partial(parallel.run, work, [(i,)] * 4, parallel.LEAST_THREADED_BYTES) for i in range(3)])
    assert [len(list(jobs)) for _, jobs in groupby(callers)] == [4, 4, 4]


AFTER_THE_END = """
import atexit, threading, time
import numpy as np
import pynested as pn
from pynested.backends.numpy import parallel

parallel.THREADS = 3
x = pn.array(np.ones(1 << 20))

def late():
    time.sleep(0.2)
    print((x + 1).sum().item(), flush=True)

threading.Thread(target=late).start()
atexit.register(late)
"""


def test_threads_that_outlive_the_program_still_compute() -> None:
    done = subprocess.run([sys.executable, "-c", AFTER_THE_END], capture_output=True, text=True, check=False)
    assert done.stdout.split() == [str(2.0 * 2**20)] * 2, done.stderr
    assert not done.stderr


# ---- BLAS has one thread while several threads of pynested call it, and its own number afterwards -------------------


def blas_threads() -> int:
    return max((library.num_threads for library in parallel._blas().lib_controllers), default=0)


@pytest.fixture
def threads() -> Iterator[int]:
    """Return the number of threads that BLAS has outside."""
    if not blas_threads():
        pytest.skip("the BLAS of this NumPy is unknown")
    with parallel._blas().limit(limits=2):
        yield blas_threads()


def test_only_jobs_on_several_threads_limit_blas(threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "THREADS", 2)
    for nbytes, expected in ((parallel.LEAST_THREADED_BYTES, 1), (0, threads)):
        seen: list[int] = []
        parallel.run(lambda counts: counts.append(blas_threads()), [(seen,), (seen,)], nbytes)
        assert seen == [expected, expected]
        assert blas_threads() == threads
    with pytest.raises(ZeroDivisionError):
        parallel.run(lambda job: 1 // job, [(0,), (0,)], parallel.LEAST_THREADED_BYTES)
    assert blas_threads() == threads
