"""The questions of a run in the order in which they are asked, and what has come back.

A call that differs leads to two more: the same call once more, for an answer that changes is no answer; and the dense
operator of the target, where it offers one. They join the stream of requests as soon as it is known that they are
needed, while the calls of later cases are already under way. And it is asked in other processes, for there memory that
nobody wrote holds something else.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from . import messages
from .corpus import Case, Program
from .judge import DIFFERS, FORWARD, GRADIENT, OK, Finding
from .kinds import Second
from .messages import Message
from .placements import OVERLAPPING, PACKED, is_one_description
from .programs import judged
from .replies import GARBLED, HUNG, LOST, Reply
from .session import Identity, Session
from .wording import normal

_CALL, _AGAIN, _DENSE = "call", "again", "dense"


@dataclass(frozen=True)
class Job:
    """One case in one layout: as many requests as there are placements."""

    case: Case
    layout: str
    placements: tuple[str, ...]
    wrt: list[int | str]

    @cached_property
    def _call(self) -> Message:
        """The request, whatever the placement."""
        return messages.run(self.case, self.layout, PACKED, self.wrt)

    def request(self, placement: str) -> Message:
        """Return a request, which holds the call and nothing else; of what overlaps no gradient is asked."""
        request = {**self._call, "placement": placement}
        return messages.without_gradient(request) if placement == OVERLAPPING else request

    def requests(self) -> list[Message]:
        """Return the request of each placement."""
        return [self.request(placement) for placement in self.placements]


@dataclass
class Asked:
    """A job with its answers: the findings of each placement, of some once more, also elsewhere, and when dense."""

    job: Job
    found: dict[str, list[Finding]] = field(default_factory=dict)
    again: dict[str, list[Finding]] = field(default_factory=dict)
    elsewhere: dict[str, dict[str, list[Finding]]] = field(default_factory=dict)
    dense: list[Finding] = field(default_factory=list)
    waiting: int = 0

    @property
    def answered(self) -> bool:
        """True once every question about the job has its answer."""
        return not self.waiting and len(self.found) == len(self.job.placements)

    def second(self, placement: str, part: str) -> Second:
        """Return what the further questions brought about a part."""
        elsewhere = {words: _of(found, part) for words, found in self.elsewhere.get(placement, {}).items()}
        others = {words: one for words, one in elsewhere.items() if one is not None}
        return Second(_of(self.again.get(placement, []), part), _of(self.dense, part), others)

    def differs_elsewhere(self, placement: str) -> bool:
        """Return whether other processes have given another answer, while this one repeats its own."""
        others = (self.second(placement, one.part).other(one) for one in self.found[placement])
        return any(pair is not None and pair[0] for pair in others)

    def doubtful(self, without: Collection[str] = LOST) -> list[str]:
        """Return the placements to ask again: of each way to differ the first, but of those that are left out."""
        first: dict[tuple[str, str], str] = {}
        for placement, findings in self.found.items():
            for one in findings:
                if one.verdict in DIFFERS and one.verdict not in without:
                    first.setdefault((one.part, one.verdict), placement)
        return list(dict.fromkeys(first.values()))


def _of(findings: Sequence[Finding], part: str) -> Finding | None:
    return next((one for one in findings if one.part == part), None)


class Questions:
    """The requests of a session; iterating gives what is to be sent now, and goes on when more has come up."""

    def __init__(self, jobs: Sequence[Job], identity: Identity) -> None:
        self._identity = identity
        self._jobs = iter(jobs)
        self._ready: deque[tuple[Asked, str, str]] = deque()
        self._sent: deque[tuple[Asked, str, str]] = deque()
        self._open: deque[Asked] = deque()
        self._last: tuple[str, str, bool, Reply, list[Finding]] | None = None

    def __iter__(self) -> Iterator[Message]:
        return self

    def __next__(self) -> Message:
        """Return the next request; the end may not be the last word, for a reply can raise a question."""
        if not self._ready:
            asked = Asked(next(self._jobs))
            self._open.append(asked)
            self._ready.extend((asked, placement, _CALL) for placement in asked.job.placements)
        question = self._ready.popleft()
        self._sent.append(question)
        asked, placement, form = question
        request = asked.job.request(placement)
        return {**request, "dense": True} if form == _DENSE else request

    def answered(self, session: Session) -> Iterator[Asked]:
        """Yield every job, in order, once all about it is answered.

        A session that has taken all requests may end before the last reply raises a question: then it goes on.
        """
        goes_on = True
        while goes_on:
            for reply in session.answers(self):
                self._take(*self._sent.popleft(), reply)
                while self._open and self._open[0].answered:
                    self._ask_elsewhere(self._open[0], session)
                    yield self._open.popleft()
            goes_on = bool(self._ready)

    def _take(self, asked: Asked, placement: str, form: str, reply: Reply) -> None:
        """Judge a reply, and ask further once the last placement of a job has its answer."""
        findings = self._judged(asked, reply, form != _DENSE)
        if placement == OVERLAPPING:
            findings = [one for one in findings if one.part != GRADIENT]
        if form == _CALL:
            asked.found[placement] = findings
            if len(asked.found) == len(asked.job.placements):
                self._ask_further(asked)
            return
        asked.waiting -= 1
        if form == _DENSE:
            asked.dense = findings
        else:
            asked.again[placement] = findings

    def _judged(self, asked: Asked, reply: Reply, kinds: bool) -> list[Finding]:
        """Return the findings of a reply; the same reply to the same case is judged once."""
        job, last = asked.job, self._last
        if last is None or last[:3] != (job.case.id, job.layout, kinds) or last[3] is not reply:
            found = judged(job.case, job.layout, reply, self._identity.errors, kinds)
            self._last = last = job.case.id, job.layout, kinds, reply, found
        return last[4]

    def _ask_further(self, asked: Asked) -> None:
        doubtful = asked.doubtful()
        questions = [(asked, placement, _AGAIN) for placement in doubtful]
        if doubtful and self._identity.dense and not isinstance(asked.job.case, Program):
            questions.append((asked, asked.job.placements[0], _DENSE))
        asked.waiting = len(questions)
        self._ready.extend(questions)

    def _ask_elsewhere(self, asked: Asked, session: Session) -> None:
        """Ask what differs in other processes too; a process is lost once more there, but time is not."""
        for placement in asked.doubtful(without=(HUNG, GARBLED)):
            for fresh in (False, True):  # another answer counts if no earlier call can have made it
                replies = session.elsewhere(asked.job.request(placement), fresh)
                asked.elsewhere[placement] = {words: self._judged(asked, reply, True) for words, reply in replies}
                if not asked.differs_elsewhere(placement):
                    break


def is_of_descriptions(asked: Asked, placement: str, finding: Finding) -> bool:
    """Return whether it is only that operands are described apart: packed, the part is right, or would be in a dtype.

    What is said in the same words of operands that share their description has another reason.
    """
    job, text = asked.job, normal(finding.got)

    def shared(placement: str) -> bool:
        return is_one_description(placement, job.layout, len(job.case.nested))

    if shared(placement) or not agrees_where(asked, finding.part, PACKED):
        return False
    others = (one for where, findings in asked.found.items() if shared(where) for one in findings)
    return not any(one.part == finding.part and normal(one.got) == text for one in others)


def agrees_where(asked: Asked, part: str, placement: str) -> bool:
    """Return whether a part is right in a placement, or would be in another dtype."""
    return any(one.part == part and one.verdict in (OK, "dtype") for one in asked.found.get(placement, []))


def forward_of(asked: Asked) -> dict[str, str]:
    """Return how the call itself came out, by placement."""
    return {placement: one.verdict for placement, found in asked.found.items() for one in found if one.part == FORWARD}
