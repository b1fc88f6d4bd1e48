"""Quiet calls, blocks and threads."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from pynested.backends import numpy as cpu
from pynested.backends.errors import ArgumentError
from pynested.backends.numpy import running

UNARY = ["exp", "log", "sin", "tanh", "negative", "sqrt", "reciprocal", "square"]


@pytest.fixture
def shouting() -> Iterator[None]:
    """The caller wants an error for everything, and is left with that."""
    with np.errstate(all="raise"):
        yield
        assert set(np.geterr().values()) == {"raise"}


@pytest.mark.usefixtures("shouting")
def test_no_verb_warns_and_the_callers_error_state_stays() -> None:
    x = np.array([-np.inf, -1e38, -100, 0, 1e38, np.inf, np.nan], np.float32)
    for name in [*UNARY, "gelu", "silu", "erf", "erfc", "relu", "sgn"]:
        getattr(cpu, name)(x)
    for name in ["add", "subtract", "multiply", "divide", "power"]:
        getattr(cpu, name)(x, x)
        getattr(cpu, name)(x, x, out=np.empty_like(x))
    cpu.frexp(x)
    cpu.quietly(np.linalg.norm, x)
    with pytest.raises(FloatingPointError):
        np.multiply(x, x)


@pytest.mark.usefixtures("shouting")
def test_quiet_on_threads_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREAD_BYTES", 0)
    monkeypatch.setattr(running, "THREADS", 3)
    monkeypatch.setattr(running, "BLOCK_BYTES", 16)
    x = np.linspace(-200, 200, 50, dtype=np.float32)
    for name in ["exp", "log", "gelu", "silu"]:
        getattr(cpu, name)(x)


def test_a_quiet_call_inside_a_quiet_call() -> None:
    inner = running.quiet(lambda: np.float32(1) / np.float32(0))
    assert running.quietly(lambda: inner() + running.quietly(np.log, np.float32(0))) != 0


def test_division_outside_still_warns() -> None:
    cpu.divide(np.ones(1), np.zeros(1))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        np.divide(np.ones(1), np.zeros(1))
    assert len(caught) == 1


@pytest.mark.parametrize("threads", [1, 2, 5])
@pytest.mark.parametrize("count", [0, 1, 2, 7])
def test_run_does_every_job_once(threads: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", threads)
    done: list[int] = []
    running.run(done.append, [(job,) for job in range(count)], running.THREAD_BYTES)
    assert sorted(done) == list(range(count))


@pytest.mark.parametrize("bad", [0, 3])
def test_an_error_in_a_job_comes_out(bad: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 2)

    def work(job: int) -> None:
        if job == bad:
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        running.run(work, [(job,) for job in range(4)], running.THREAD_BYTES)


def test_everything_is_over_when_an_error_comes_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 3)
    failed, done = threading.Event(), []

    def work(job: int) -> None:
        if job == 1:
            failed.set()
            raise ZeroDivisionError
        failed.wait()
        time.sleep(0.01 * job)  # so that whoever does not wait for this is gone
        done.append(job)

    with pytest.raises(ZeroDivisionError):
        running.run(work, [(0,), (1,), (2,)], running.THREAD_BYTES)
    assert sorted(done) == [0, 2]


def test_scratch_is_kept_by_its_thread_and_slot(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "KEPT_BYTES", (16, 64))
    kind = np.dtype(np.float32)
    first = running.scratch("a", (4,), kind)
    assert np.shares_memory(running.scratch("a", (2, 2), kind), first)
    assert not np.shares_memory(running.scratch("b", (4,), kind), first)
    assert running.scratch("a", (3, 5), kind).shape == (3, 5)
    for size in (1, 100):
        assert not np.shares_memory(running.scratch("a", (size,), kind), running.scratch("a", (size,), kind))
    with ThreadPoolExecutor(1) as other:
        assert not np.shares_memory(
            other.submit(running.scratch, "a", (4,), kind).result(), running.scratch("a", (4,), kind)
        )


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_the_least_and_the_greatest_element_wherever_they_lie(dtype: str) -> None:
    rows = np.array([[3, -np.inf, 5], [0, 7, -2]], dtype)
    assert (running.minimum_of(rows), running.maximum_of(rows)) == (-np.inf, 7)
    for place in range(rows.size):
        rows.flat[place] = np.nan  # wins, as it does in a reduction
        assert np.isnan([running.minimum_of(rows), running.maximum_of(rows)]).all()


def test_blocks_cover_all_rows() -> None:
    for rows, row_bytes in [(0, 8), (1, 8), (10, 10**9), (10, 0), (1000, 4096)]:
        cuts = running.blocks(rows, row_bytes)
        assert [row for start, stop in cuts for row in range(start, stop)] == list(range(rows))


@pytest.mark.parametrize("asked, threads", [("1", 1), ("3", 3), ("8", 8), ("1000000", 8), ("", 4)])
def test_the_number_of_threads_can_be_asked_for(asked: str, threads: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYNESTED_THREADS", asked)
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(6)), raising=False)
    assert running._threads_to_use() == threads


@pytest.mark.parametrize("asked", ["0", "many", "-1", "3.5", "1e9"])
def test_other_numbers_of_threads_are_refused(asked: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYNESTED_THREADS", asked)
    with pytest.raises(ArgumentError, match=rf"PYNESTED_THREADS is '{re.escape(asked)}'.* from 1 to"):
        running._threads_to_use()


@pytest.mark.parametrize(("rows", "shares"), [(0, 1), (1, 1), (5, 5), (8, 8), (100, 8)])
def test_no_thread_has_an_empty_share(rows: int, shares: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 8)
    cuts = running.shares(rows)
    assert len(cuts) == shares and all(start < stop for start, stop in cuts) == (rows > 0)
    assert [row for start, stop in cuts for row in range(start, stop)] == list(range(rows))


@pytest.mark.skipif(not hasattr(os, "fork"), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_forked_child_starts_its_own_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(running, "THREADS", 2)
    done: list[int] = []
    running.run(done.append, [(0,), (1,)], running.THREAD_BYTES)
    child = os.fork()
    if child == 0:
        running.run(done.append, [(2,), (3,)], running.THREAD_BYTES)
        os._exit(0 if sorted(done) == [0, 1, 2, 3] else 1)
    assert os.waitpid(child, 0)[1] == 0


AFTER_THE_END = """
import atexit, threading, time
import numpy as np
import pynested as pn
from pynested.backends.numpy import running

running.THREADS = 3
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
