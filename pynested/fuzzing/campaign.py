"""A campaign: numbers in chunks, each chunk asked anywhere, and the tallies added up in order.

A chunk is a pure function of the settings and its numbers. So it does not matter who asks it, nor whether it is asked
twice because a worker was lost.
"""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from threading import RLock as Lock

from pynested._version import __version__
from pynested.conformance import problems
from pynested.conformance.judge import ADAPTER, CONVENTION, DIFFERS, OK

from .asking import Asked, outcomes
from .settings import Settings, opened
from .smaller import Kind, Spot, kind_of

__all__ = ["Tally", "ask", "chunks"]

_MOST = 500  # numbers of a chunk: a lost one costs seconds, and a child process is started for many calls
_TURNS = 8  # chunks of each worker, at the least, so that none waits long for the last

# Whoever reckons in many digits says so to all of a process, so the threads of one take turns.
_TURN = Lock()


@dataclass
class Tally:
    """What came of some numbers: how many calls had which verdict, and the first that differs in each way."""

    numbers: int = 0
    verdicts: Counter[str] = field(default_factory=Counter)
    unasked: Counter[str] = field(default_factory=Counter)
    kinds: Counter[Kind] = field(default_factory=Counter)
    first: dict[Kind, Spot] = field(default_factory=dict)
    failure: str = ""  # of the adapter itself
    pynested: str = __version__

    def note(self, asked: Asked) -> None:
        """Count one call."""
        question = asked.question
        self.verdicts[asked.verdict] += 1
        kind = kind_of(question.plan.op, asked.findings)
        if kind is not None:
            self.kinds[kind] += 1
            self.first.setdefault(kind, Spot(question.plan, question.job.layout, question.placement))
        if asked.verdict == ADAPTER and not self.failure:
            self.failure = asked.findings[0].got

    def add(self, later: Tally) -> None:
        """Add the tally of later numbers."""
        self.numbers += later.numbers
        for name in ("verdicts", "unasked", "kinds"):
            getattr(self, name).update(getattr(later, name))
        self.first = {**later.first, **self.first}
        self.failure = self.failure or later.failure

    def declared(self, kind: Kind) -> None:
        """Count what differs in one way as what the target declares."""
        count = self.kinds.pop(kind)
        del self.first[kind]
        self.verdicts[kind[2]] -= count
        self.verdicts[CONVENTION] += count

    @property
    def differ(self) -> int:
        """How many calls differ."""
        return self.kinds.total()

    @property
    def judged(self) -> int:
        """How many calls were judged: answered, and held against what is due."""
        return self.verdicts[OK] + self.verdicts[CONVENTION] + sum(self.verdicts[one] for one in DIFFERS)

    @property
    def exit_code(self) -> int:
        """As that of `conform`."""
        if self.failure:
            return problems.KIT
        if self.differ:
            return problems.DIFFERS
        return problems.AGREES if self.judged else problems.NOTHING


def ask(settings: Settings, first: int, end: int) -> Tally:
    """Return the tally of the numbers from ``first`` to ``end`` - 1."""
    tally = Tally(numbers=end - first)
    with _TURN, opened(settings) as session:
        for asked in outcomes(settings, range(first, end), session, tally.unasked):
            tally.note(asked)
    return tally


def chunks(first: int, count: int | None, minutes: float | None, workers: int) -> Iterator[tuple[int, int]]:
    """Yield the chunks of so many numbers, or of as many as fit into the time.

    Examples
    --------
    >>> list(chunks(10, 13, None, 1))
    [(10, 23)]
    >>> list(chunks(10, 25, None, 2))[:3]
    [(10, 12), (12, 14), (14, 16)]
    """
    size = _MOST if count is None or workers == 1 else min(_MOST, -(-count // (_TURNS * workers)))
    end = None if minutes is None else time.monotonic() + 60 * minutes
    number, last = first, None if count is None else first + count
    while (last is None or number < last) and (end is None or time.monotonic() < end):
        after = number + size if last is None else min(number + size, last)
        yield number, after
        number = after
