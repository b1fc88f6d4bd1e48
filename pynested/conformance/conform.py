"""A whole run: records written as they come, shown how far it is, and handed back."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TextIO

from .corpus import Corpus, Selection
from .forks import shared
from .lines import Write, writer
from .problems import KitError
from .progress import Progress
from .records import Record, Run, footer, header
from .runner import plan, results
from .session import Session


class BrokenOff(Exception):
    """The kit could not finish a run; ``run`` is what was found until then, the cause is what happened."""

    def __init__(self, run: Run) -> None:
        super().__init__(f"the run broke off after {len(run.results)} results")
        self.run = run


def conform(
    corpus: Corpus,
    selection: Selection,
    start: Callable[[], Session],
    keep: Path | None,
    screen: TextIO | None,
    forks: int = 1,
) -> Run:
    """Run what is selected, against the session that ``start`` opens once everything else is known to be right.

    With ``forks`` above 1 as many forks of this process ask, but no more than there are operators. Records go to the
    file ``keep`` one by one; a run that breaks off has no footer, and is raised as `BrokenOff`.
    """
    jobs = plan(corpus, selection)
    with writer(keep) as write, start() as session:
        jobs = [job for job in jobs if not job.case.refuses or session.identity.errors != "none"]
        first = header(corpus, session.identity, selection, len(jobs))
        found: list[Record] = []
        try:
            number = min(forks, len({job.case.op for job in jobs}))
            records = shared(jobs, start, corpus, number) if number > 1 else results(jobs, session, corpus)
            last = _run(len(jobs), records, first, found, write, Progress(screen, len(jobs)))
        except Exception as error:
            raise BrokenOff(Run(first, found)) from error
    return Run(first, found, last)


def _run(
    expected: int, records: Iterator[Record], first: Record, found: list[Record], write: Write, progress: Progress
) -> Record:
    """Write the records, add the results to ``found``, and return the footer."""
    started = time.perf_counter()
    write(first)
    with progress:
        for record in records:
            found.append(record)
            write(record)
            progress.at(record)
    if len(found) != expected:
        raise KitError(f"{expected} cases were to be run, but there are {len(found)} results")
    last = footer(found, time.perf_counter() - started)
    write(last)
    return last
