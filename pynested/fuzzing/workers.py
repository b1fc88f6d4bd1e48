"""Who asks the chunks of a campaign: this process, some processes of this machine, or a cluster.

Tallies come back in the order of the chunks. A worker that is lost has its chunk asked again.
"""

from __future__ import annotations

import multiprocessing
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from typing import Any

from pynested.conformance.problems import KitError, UsageError

from .campaign import Tally, ask
from .settings import Settings

__all__ = ["alone", "on_cluster", "on_processes"]

Chunks = Iterator[tuple[int, int]]
_AHEAD = 3  # chunks that are handed out for each worker, so that none waits
_MOST_LOSSES = 3  # of the workers that ask one chunk, before it is taken for what ends them
_PATIENCE = 20  # seconds, for a cluster to answer


def alone(settings: Settings, chunks: Chunks) -> Iterator[Tally]:
    """Yield the tallies of chunks that are asked here, one after another."""
    for chunk in chunks:
        yield ask(settings, *chunk)


def on_processes(settings: Settings, chunks: Chunks, workers: int) -> Iterator[Tally]:
    """Yield the tallies of chunks that are asked by so many processes of this machine."""
    pending: deque[tuple[int, int]] = deque()
    lost, ended = 0, False
    while not ended:
        with ProcessPoolExecutor(workers, multiprocessing.get_context("spawn")) as pool:
            try:
                for tally in _in_order(pool, settings, chunks, pending, workers):
                    lost = 0
                    yield tally
                ended = True
            except BrokenProcessPool as error:
                lost += 1
                if lost == _MOST_LOSSES:
                    raise _ends_workers(pending[0]) from error


def _in_order(
    pool: ProcessPoolExecutor, settings: Settings, chunks: Chunks, pending: deque[tuple[int, int]], workers: int
) -> Iterator[Tally]:
    """Yield the tallies of the chunks that are ``pending``, and of those to come; what has none yet stays pending."""
    futures = deque(pool.submit(ask, settings, *chunk) for chunk in pending)
    while True:
        while len(futures) < _AHEAD * workers and (chunk := next(chunks, None)) is not None:
            pending.append(chunk)
            futures.append(pool.submit(ask, settings, *chunk))
        if not futures:
            return
        tally = futures[0].result()
        futures.popleft()
        pending.popleft()
        yield tally


def on_cluster(settings: Settings, chunks: Chunks, scheduler: str) -> Iterator[Tally]:
    """Yield the tallies of chunks that are asked by the workers of a Dask cluster; these have pynested installed.

    The scheduler asks the chunk of a worker that is lost again, and one whose tally was lost with it too.
    """
    with _client(scheduler) as client:
        futures: deque[Any] = deque()
        while True:
            ahead = _AHEAD * max(sum(client.nthreads().values()), 1)
            while len(futures) < ahead and (chunk := next(chunks, None)) is not None:
                futures.append((chunk, client.submit(ask, settings, *chunk, pure=False)))
            if not futures:
                return
            yield _gathered(*futures.popleft())


def _client(scheduler: str) -> Any:
    try:
        from distributed import Client  # optional
    except ImportError as error:
        raise UsageError("--scheduler needs Dask: pip install 'pynested[dask]'") from error
    connect: Any = Client
    try:
        client = connect(scheduler, timeout=_PATIENCE)
    except (OSError, ValueError) as error:
        raise UsageError(f"no Dask scheduler answers at {scheduler}: {error}") from error
    try:
        client.wait_for_workers(1, timeout=_PATIENCE)
    except TimeoutError as error:
        client.close()
        raise UsageError(
            f"the Dask scheduler at {scheduler} has no workers; start some: dask worker ADDRESS"
        ) from error
    return client


def _gathered(chunk: tuple[int, int], future: Any) -> Tally:
    from distributed import KilledWorker  # there, since the client is

    try:
        tally = future.result()
    except KilledWorker as error:
        raise _ends_workers(chunk) from error
    if tally.pynested != Tally().pynested:
        raise UsageError(f"a worker of the cluster has pynested {tally.pynested}, this is {Tally().pynested}")
    return tally  # type: ignore[no-any-return]


def _ends_workers(chunk: tuple[int, int]) -> KitError:
    first, end = chunk
    return KitError(f"every worker that asks the numbers from {first:,} to {end - 1:,} is lost; look at them alone")
