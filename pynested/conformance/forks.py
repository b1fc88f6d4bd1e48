"""A run shared among forks of this process: each asks about whole operators, and the records come back in order.

Each has a session of its own. A refusal is read in the light of calls of the same operator, so that an operator stays
with one fork.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from itertools import groupby
from multiprocessing.connection import Connection, wait
from multiprocessing.process import BaseProcess
from typing import Any, cast

from .asking import Job
from .corpus import Corpus
from .problems import KitError
from .records import Record
from .runner import results
from .session import Session
from .signals import Ended, leave_the_terminal_to_the_parent, name_of, raised

_PATIENCE = 10  # seconds, for a fork to end what it has started
POSSIBLE = sys.platform == "linux"  # the libraries of macOS do not bear it, and Windows lacks it
Start = Callable[[], Session]
Groups = Sequence[Sequence[Job]]
Answer = tuple[list[Record], Exception | None]  # what was found of a group, and what broke it off


def usual_number() -> int:
    """Return as many forks as there are processors for this process; 1 where a process cannot be forked."""
    return len(os.sched_getaffinity(0)) if POSSIBLE else 1


def shared(jobs: Sequence[Job], start: Start, corpus: Corpus, number: int) -> Iterator[Record]:
    """Yield one record for each job, in order, asked by ``number`` forks of this process at the same time."""
    groups = [list(group) for _, group in groupby(jobs, key=lambda job: job.case.op)]
    come: dict[int, Answer] = {}
    with _forked(groups, start, corpus, number) as forks:
        answers = _answers(groups, forks)
        for one in range(len(groups)):
            while one not in come:
                group, answer = next(answers)
                come[group] = answer
            records, error = come.pop(one)
            yield from records
            if error is not None:
                raise error


def _answers(groups: Groups, forks: dict[Connection, BaseProcess]) -> Iterator[tuple[int, Answer]]:
    """Hand out one group after another to whoever is free, and yield the groups with their answers as they come."""
    waiting = iter(range(len(groups)))
    asked: dict[Connection, int] = {}
    for fork in forks:
        _hand_out(fork, waiting, asked)
    while asked:
        for fork in cast(list[Connection], wait(list(asked))):
            group = asked.pop(fork)
            try:
                answer = fork.recv()
            except EOFError:
                answer = [], _lost(forks[fork], groups[group][0].case.op)
            else:
                _hand_out(fork, waiting, asked)
            yield group, answer


def _hand_out(fork: Connection, waiting: Iterator[int], asked: dict[Connection, int]) -> None:
    group = next(waiting, None)
    if group is not None:
        fork.send(group)
        asked[fork] = group


def _lost(process: BaseProcess, op: str) -> KitError:
    process.join()
    code = process.exitcode or 0
    how = f"was ended by {name_of(-code)}" if code < 0 else f"ended with exit status {code}"
    return KitError(f"a process that asked about {op} {how}; ask it alone: --op {op} --processes 1")


@contextlib.contextmanager
def _forked(groups: Groups, start: Start, corpus: Corpus, number: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Start the forks; none of them is left at the end, nor what they have started."""
    context: Any = multiprocessing.get_context("fork")
    forks: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, [*forks, ours], groups, start, corpus))
            process.start()
            theirs.close()
            forks[ours] = process
        yield forks
    finally:
        for pipe, process in forks.items():
            pipe.close()
            process.terminate()
        for process in forks.values():
            process.join(_PATIENCE)
            process.kill()
            process.join()


def _work(pipe: Connection, others: Sequence[Connection], groups: Groups, start: Start, corpus: Corpus) -> None:
    """Be a fork: answer one group after another, until whoever hands them out is gone, or ends this process."""
    for other in others:  # so that the other end is closed as soon as the process that forked is gone
        other.close()
    leave_the_terminal_to_the_parent()
    with contextlib.suppress(EOFError, BrokenPipeError, Ended), raised(), contextlib.ExitStack() as stack:
        session = None
        while True:
            group = groups[pipe.recv()]
            try:
                session = session or stack.enter_context(start())
            except Exception as error:
                pipe.send(([], _with_traceback(error)))
            else:
                pipe.send(_answered(group, session, corpus))


def _answered(jobs: Sequence[Job], session: Session, corpus: Corpus) -> Answer:
    records: list[Record] = []
    try:
        records.extend(results(jobs, session, corpus))
    except Exception as error:
        return records, _with_traceback(error)
    return records, None


def _with_traceback(error: Exception) -> Exception:
    """Return an error that says where it was raised, which does not go through a pipe otherwise."""
    error.add_note("".join(traceback.format_exception(error)).rstrip())
    return error
