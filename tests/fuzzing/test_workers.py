"""Whoever asks, the tally is the same; a worker that is lost loses nothing."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from concurrent.futures.process import BrokenProcessPool
from typing import Any

import pytest

from pynested.conformance.problems import KitError, UsageError
from pynested.fuzzing import workers
from pynested.fuzzing.campaign import Tally, ask, chunks
from pynested.fuzzing.settings import Settings

SETTINGS = Settings(6)


def added(tallies: Any) -> Tally:
    whole = Tally()
    for one in tallies:
        whole.add(one)
    return whole


def test_two_processes_ask_what_one_asks() -> None:
    alone = added(workers.alone(SETTINGS, chunks(0, 12, None, 1)))
    assert added(workers.on_processes(SETTINGS, chunks(0, 12, None, 2), 2)) == alone
    assert alone.numbers == 12 and alone.judged > 100


class Pool:
    """A pool of workers in this process that is broken at some calls."""

    def __init__(self, breaks: set[int]) -> None:
        self.calls, self.breaks = 0, breaks

    def __call__(self, count: int, context: Any) -> Pool:
        return self

    def __enter__(self) -> Pool:
        return self

    def __exit__(self, *_: object) -> None: ...

    def submit(self, function: Callable[..., Any], *args: Any) -> Future[Any]:
        future: Future[Any] = Future()
        self.calls += 1
        if self.calls in self.breaks:
            future.set_exception(BrokenProcessPool())
        else:
            future.set_result(function(*args))
        return future


def in_pairs() -> Iterator[tuple[int, int]]:
    return ((first, first + 2) for first in range(0, 16, 2))


def numbered(settings: Settings, first: int, end: int) -> Tally:
    tally = Tally(numbers=end - first)
    tally.kinds[str(first), "", "", ""] += 1
    return tally


@pytest.mark.parametrize("breaks", [{1}, {2}, {3, 4}, {5, 9}, {8}])
def test_the_chunk_of_a_lost_process_is_asked_again(breaks: set[int], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool(breaks))
    monkeypatch.setattr(workers, "ask", numbered)
    parts = list(workers.on_processes(SETTINGS, in_pairs(), 2))
    assert [kind[0] for part in parts for kind in part.kinds] == ["0", "2", "4", "6", "8", "10", "12", "14"]


def test_a_chunk_that_ends_every_process_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(workers, "ProcessPoolExecutor", Pool(set(range(3, 99))))
    monkeypatch.setattr(workers, "ask", numbered)
    with pytest.raises(KitError, match="numbers from 4 to 5"):
        list(workers.on_processes(SETTINGS, in_pairs(), 2))


def test_without_dask_a_cluster_is_refused_in_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "distributed", None)
    with pytest.raises(UsageError, match=r"pip install 'pynested\[dask\]'"):
        list(workers.on_cluster(SETTINGS, chunks(0, 4, None, 1), "tcp://127.0.0.1:9"))


def test_a_cluster_asks_what_one_process_asks_and_a_lost_worker_loses_nothing() -> None:
    pytest.importorskip("distributed")
    from .cluster import campaign

    whole = campaign(SETTINGS, 24, 2, kill_after=1)
    assert whole == added(ask(SETTINGS, *chunk) for chunk in chunks(0, 24, None, 2))
