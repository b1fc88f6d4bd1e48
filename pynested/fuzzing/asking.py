"""The questions of a campaign and their verdicts: one call of the target is one question.

Of each number the call itself is asked in each layout in five placements, and the calls of the laws in two.
The answer that comes first is judged as `conform` judges it, against the definition. One that is bit for bit an answer
that was right is right too; everything else is judged as well, so that no verdict rests on equality with what is wrong.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pynested.conformance.arranging import placements_for
from pynested.conformance.asking import Job
from pynested.conformance.corpus import Case, Corpus, Program, Selection, case_of, program_of
from pynested.conformance.judge import DIFFERS, OK, Finding
from pynested.conformance.messages import Message
from pynested.conformance.placements import LAYOUTS, OVERLAPPING
from pynested.conformance.programs import judged
from pynested.conformance.replies import VALUE, Reply
from pynested.conformance.runner import plan as planned
from pynested.conformance.session import Session
from pynested.spec.components import Components
from pynested.spec.corpus import SPEC
from pynested.spec.table import load_table

from .calls import Vector, authored, expected
from .chance import Chance
from .laws import defined, follows, orders, taken
from .plan import Plan, drawn
from .programs import CHAPTERS, Draft, drafted, program
from .settings import Settings

__all__ = ["Asked", "Drawn", "Question", "asked_of", "case_in", "drawn_of", "jobs_of", "outcomes"]

Drawn = Plan | Draft

# Placements that are drawn in each layout; a case and a program are asked packed too.
_PLACES_OF_CASE, _PLACES_OF_LAW, _PLACES_OF_PROGRAM = 4, 2, 3
_PROGRAMS = 0.15  # of all numbers
NO_CALL, NO_EXPECTATION = "nothing that this target is asked", "nothing that vectors can expect"


@dataclass(frozen=True)
class Question:
    """A plan, perhaps with an order; the call that it stands for, in one layout and placement."""

    plan: Drawn
    job: Job
    placement: str

    @property
    def request(self) -> Message:
        """What is sent."""
        return self.job.request(self.placement)


@dataclass(frozen=True)
class Asked:
    """A question, and what came of each part of it."""

    question: Question
    findings: Sequence[Finding]

    @property
    def verdict(self) -> str:
        """The worst of the parts: how the target differs; `ok` where something was judged and agrees."""
        found = [one.verdict for one in self.findings]
        return next((one for one in found if one in DIFFERS), OK if OK in found else found[0])


def drawn_of(settings: Settings, number: int) -> Drawn:
    """Return what a number stands for: a call, or a program."""
    ops = tuple(op for op in settings.ops if op not in CHAPTERS)
    chapters = tuple(op for op in settings.ops if op in CHAPTERS)
    either = not settings.ops or (ops and chapters)
    if Chance(settings.seed, number, 4).happens(_PROGRAMS) if either else chapters:
        return drafted(settings.seed, number, chapters or CHAPTERS)
    return drawn(settings.seed, number, ops)


def case_in(vector: Vector) -> Case:
    """Return what is asked and what is due: of a call, or of a program."""
    op = vector["id"].partition("/")[0]
    return program_of(op, vector) if "steps" in vector else case_of(op, vector)


def jobs_of(vector: Vector, layouts: tuple[str, ...] = LAYOUTS) -> list[Job]:
    """Return what can be asked of one vector: these layouts, with those of `conform` and every other placement."""
    case = case_in(vector)
    jobs = planned(Corpus(load_table(), (case,), SPEC, ""), Selection(layouts=layouts))
    if case.is_error:
        return jobs
    alike = [one for one in placements_for(case) if one != OVERLAPPING]
    return [replace(job, placements=tuple(dict.fromkeys((*job.placements, *alike)))) for job in jobs]


def outcomes(settings: Settings, numbers: Iterable[int], session: Session, unasked: Counter[str]) -> Iterator[Asked]:
    """Ask all about these numbers, and yield each question with its verdict, in order.

    ``unasked`` counts the numbers of which there was nothing to ask, by the reason.
    """
    waiting: deque[Question] = deque()
    right: dict[Any, Reply] = {}

    def requests() -> Iterator[Message]:
        for number in numbers:
            with _named(settings.seed, number):
                plan = drawn_of(settings, number)
                for question in asked_of(plan, settings, session.identity.errors, unasked):
                    waiting.append(question)
                    yield question.request

    last = None
    for reply in session.answers(requests()):
        question = waiting.popleft()
        if question.plan.number != last:
            right, last = {}, question.plan.number
        yield _asked(question, reply, right, session.identity.errors)


@contextmanager
def _named(seed: int, number: int) -> Iterator[None]:
    """Say of a mistake of the kit's own where it was made."""
    try:
        yield
    except Exception as error:
        error.add_note(f"The fuzzer itself failed: seed {seed}, number {number}.")
        raise


def _asked(question: Question, reply: Reply, right: dict[Any, Reply], errors: str) -> Asked:
    """Judge a reply, or recognise it."""
    job, key = question.job, (question.plan.order, question.job.layout)
    if isinstance(job.case, Program):
        return Asked(question, judged(job.case, job.layout, reply, errors))
    known = right.get(key)
    if known is not None and _same_reply(reply, known):
        return Asked(question, [Finding("forward", OK)])
    findings = judged(job.case, job.layout, reply, errors)
    if reply.outcome == VALUE and not any(one.verdict in DIFFERS for one in findings):
        right[key] = reply
    return Asked(question, findings)


def asked_of(plan: Drawn, settings: Settings, errors: str, unasked: Counter[str]) -> Iterator[Question]:
    """Yield the questions about a plan: a program; or the call itself, and what the laws say of it."""
    chance = Chance(plan.seed, plan.number, 2)
    if isinstance(plan, Draft):
        found = program(plan)
        unasked[NO_EXPECTATION] += found is None
        jobs = [] if found is None else jobs_of(found, settings.layouts)
        yield from _placed(plan, jobs, chance, _PLACES_OF_PROGRAM)
        return
    case = authored(plan)
    if case is None or (case.error is not None and errors == "none"):
        unasked[NO_CALL] += 1
        return
    vector = expected(case)
    if vector is None:
        unasked[NO_EXPECTATION] += 1
        return
    jobs = jobs_of(vector, settings.layouts)
    yield from _placed(plan, jobs, chance, _PLACES_OF_CASE)
    if case.error is not None:
        return
    batch, whole = _batch(case.args), defined(case)
    for order in orders(chance, batch):
        if follows(case, order, whole):
            ordered = replace(plan, order=order)
            call = case_of(plan.op, taken(vector, order))
            for job in jobs:
                places = _some(chance, job.placements, _PLACES_OF_LAW)
                yield from (Question(ordered, replace(job, case=call), one) for one in places)


def _placed(plan: Drawn, jobs: Sequence[Job], chance: Chance, most: int) -> Iterator[Question]:
    """Yield the questions about a vector: in each layout packed, and in some other placements."""
    for job in jobs:
        first, *others = job.placements
        yield from (Question(plan, job, one) for one in (first, *_some(chance, others, most)))


def _some(chance: Chance, placements: Sequence[str], most: int) -> list[str]:
    return [placements[place] for place in chance.order(len(placements))[:most]]


def _batch(values: Sequence[Any]) -> int:
    """Return the number of components of the first nested operand, or 0."""
    for one in values:
        if isinstance(one, Components):
            return len(one)
        if isinstance(one, list) and (found := _batch(one)):
            return found
    return 0


# --- the same answer once more


def _same_reply(a: Reply, b: Reply) -> bool:
    """Return whether two replies hold the same bits: values and gradients, their shapes, dtypes and forms."""
    if a.outcome != b.outcome or a.unsteady or not _same(a.value, b.value):
        return False
    if a.gradient is None or b.gradient is None:
        return a.gradient is b.gradient
    return a.gradient.outcome == b.gradient.outcome == VALUE and _same(a.gradient.value, b.gradient.value)


def _same(a: Any, b: Any) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, np.ndarray):
        return (a.dtype, a.shape, a.tobytes()) == (b.dtype, b.shape, b.tobytes())
    if isinstance(a, Components) and (a.shape, a.dtype) != (b.shape, b.dtype):
        return False
    if isinstance(a, list):
        return len(a) == len(b) and all(_same(*pair) for pair in zip(a, b, strict=True))
    if isinstance(a, Mapping):
        return a.keys() == b.keys() and all(_same(a[name], b[name]) for name in a)
    return bool(a == b)  # a number of Python: NaN is judged each time
