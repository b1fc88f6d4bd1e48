"""A run shared among forks of this process: each asks about whole operators, and the records come back in order.

It is for a target that lives in this process. A fork has it as it was started, and nothing that one fork does reaches
another. A refusal is read in the light of calls of the same operator, so that an operator stays with one fork.
"""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import sys
import traceback
from collections.abc import Iterator, Sequence
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
from .signals import left_to_the_parent, name_of

POSSIBLE = sys.platform == "linux"  # the libraries of macOS do not bear it, and Windows lacks it
Groups = Sequence[Sequence[Job]]
Answer = tuple[list[Record], Exception | None]  # what was found of a group, and what broke it off


def usual_number() -> int:
    """Return as many forks as there are processors for this process; 1 where a process cannot be forked."""
    return len(os.sched_getaffinity(0)) if POSSIBLE else 1


def shared(jobs: Sequence[Job], session: Session, corpus: Corpus, number: int) -> Iterator[Record]:
    """Yield one record for each job, in order, asked by ``number`` forks of this process, or by itself alone."""
    groups = [list(group) for _, group in groupby(jobs, key=lambda job: job.case.op)]
    if number == 1 or len(groups) == 1:
        yield from results(jobs, session, corpus)
        return
    come: dict[int, Answer] = {}
    with _forked(groups, session, corpus, min(number, len(groups))) as forks:
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
def _forked(groups: Groups, session: Session, corpus: Corpus, number: int) -> Iterator[dict[Connection, BaseProcess]]:
    """Start the forks; none of them is left at the end."""
    context: Any = multiprocessing.get_context("fork")
    forks: dict[Connection, BaseProcess] = {}
    try:
        for _ in range(number):
            ours, theirs = context.Pipe()
            process = context.Process(target=_work, args=(theirs, [*forks, ours], groups, session, corpus), daemon=True)
            process.start()
            theirs.close()
            forks[ours] = process
        yield forks
    finally:
        for pipe, process in forks.items():
            process.kill()
            process.join()
            pipe.close()


def _work(pipe: Connection, others: Sequence[Connection], groups: Groups, session: Session, corpus: Corpus) -> None:
    """Be a fork: answer one group after another, until whoever hands them out is gone."""
    left_to_the_parent()
    for other in others:  # so that the other end is closed as soon as the process that forked is gone
        other.close()
    with contextlib.suppress(EOFError, BrokenPipeError):
        while True:
            pipe.send(_answered(groups[pipe.recv()], session, corpus))


def _answered(jobs: Sequence[Job], session: Session, corpus: Corpus) -> Answer:
    records: list[Record] = []
    try:
        records.extend(results(jobs, session, corpus))
    except Exception as error:
        error.add_note("".join(traceback.format_exception(error)).rstrip())
        return records, error
    return records, None
