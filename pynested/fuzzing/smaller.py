"""From a call that differs to the smallest one that differs in the same way, always as its writer makes it."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from pynested.conformance.asking import Job
from pynested.conformance.corpus import Program
from pynested.conformance.judge import CONVENTION, DIFFERS, Finding, judge
from pynested.conformance.kinds import Second, as_declared
from pynested.conformance.placements import PACKED
from pynested.conformance.programs import judged
from pynested.conformance.roots import BY_MESSAGE
from pynested.conformance.session import Session
from pynested.conformance.wording import normal
from pynested.spec.axes import FAMILIES
from pynested.spec.generator.batches import outline

from .asking import Drawn, jobs_of
from .calls import Vector, vector
from .plan import DRAWN, SCALED, SPECIAL, WHOLE, Numbers, Plan, admits, permitted
from .programs import Draft, program, shorter
from .shrink import shrunk

__all__ = ["DTYPE", "Kind", "Spot", "is_declared", "kind_of", "looked_at", "smallest"]

Kind = tuple[str, str, str, str]  # operator, part, verdict; and of a refusal what it says, of a dtype which for which

DTYPE = "dtype"  # the verdict about it

_SIMPLER = {SPECIAL: (WHOLE, DRAWN), SCALED: (WHOLE, DRAWN), DRAWN: (WHOLE,), WHOLE: ()}
_FEWEST = ("one", "two", "three", "many")  # components


@dataclass(frozen=True)
class Spot:
    """A plan, and the layout and placement in which it is looked at."""

    plan: Drawn
    layout: str
    placement: str


def kind_of(op: str, findings: Sequence[Finding]) -> Kind | None:
    """Return how a call differs, or None: the first part that does."""
    one = next((one for one in findings if one.verdict in DIFFERS), None)
    if one is None:
        return None
    says = (
        normal(one.got) if one.verdict in BY_MESSAGE else f"{one.got}, not {one.want}" if one.verdict == DTYPE else ""
    )
    return op, one.part, one.verdict, says


def looked_at(spot: Spot, session: Session) -> tuple[Vector, list[Finding]] | None:
    """Ask one call, and hold it against its definition; None where there is no such call."""
    found = program(spot.plan) if isinstance(spot.plan, Draft) else vector(spot.plan)
    job = next((one for one in jobs_of(found) if one.layout == spot.layout), None) if found is not None else None
    if found is None or job is None or spot.placement not in job.placements:
        return None
    return found, _judged(job, spot.placement, session)


def _judged(job: Job, placement: str, session: Session) -> list[Finding]:
    """Return the verdict of one call; what differs may be a convention, which the dense operator shows."""
    identity, request = session.identity, job.request(placement)
    (reply,) = session.answers(iter([request]))
    findings = judged(job.case, job.layout, reply, identity.errors)
    declares = identity.dense and identity.conventions and not isinstance(job.case, Program)
    if not declares or all(one.verdict not in DIFFERS for one in findings):
        return findings
    (reply,) = session.answers(iter([{**request, "dense": True}]))
    dense = {one.part: one for one in judge(job.case, job.layout, reply, identity.errors, kinds=False)}
    return [as_declared(one, Second(dense=dense.get(one.part)), identity.conventions) for one in findings]


def is_declared(spot: Spot, session: Session) -> bool:
    """Return whether a call differs only as the target declares that it does."""
    seen = looked_at(spot, session)
    return seen is not None and any(one.verdict == CONVENTION for one in seen[1])


def smallest(spot: Spot, kind: Kind, session: Session) -> Spot:
    """Return the smallest call that was met and differs so."""

    def shows(one: Spot) -> Kind | None:
        seen = looked_at(one, session)
        return None if seen is None else kind_of(one.plan.op, seen[1])

    return shrunk(spot, kind, _candidates, shows, lambda found: found)[0]


def _candidates(spot: Spot, kind: Kind) -> Iterator[Spot]:
    """Yield simpler spots: no law, fewer components, other numbers, lower levels, shorter and narrower ones, packed."""
    plans = shorter(spot.plan) if isinstance(spot.plan, Draft) else _plans(spot.plan)
    yield from (replace(spot, plan=plan) for plan in plans)
    if spot.placement != PACKED:
        yield replace(spot, placement=PACKED)


def _plans(plan: Plan) -> Iterator[Plan]:
    if plan.order:
        yield replace(plan, order=())
        yield from (replace(plan, order=one) for one in _fewer(plan.order) if one)
    yield from (replace(plan, numbers=one) for one in _SIMPLER[plan.numbers])
    if plan.tape:
        yield replace(plan, tape=False)
    yield from _lower(plan)
    said = tuple(outline(plan.row).lengths)
    if sum(said) < sum(plan.lengths):
        yield replace(plan, lengths=())
    shorter = _shorter(plan.lengths or said)
    yield from (replace(plan, lengths=one) for one in shorter if admits(dict(plan.row), one))
    if plan.sizes:
        yield replace(plan, sizes=())


def _lower(plan: Plan) -> Iterator[Plan]:
    """Yield plans with a lower level of one axis; they are written smallest first."""
    family, row = FAMILIES[plan.family], dict(plan.row)
    for axis, levels in family.levels().items():
        if axis == "operator":
            continue
        smallest_first = [one for one in _FEWEST if one in levels] if axis == "batch" else levels
        for level in itertools.takewhile(row[axis].__ne__, smallest_first):
            lower = {**row, axis: level}
            if permitted(family, lower):
                lengths = () if axis in ("batch", "lengths", "rank") else plan.lengths
                sizes = () if axis in ("sizes", "rank", "ragged") else plan.sizes
                order = () if axis == "batch" else plan.order
                yield replace(plan, row=lower, lengths=lengths, sizes=sizes, order=order)


def _fewer(numbers: Numbers) -> Iterator[Numbers]:
    """Yield half of the numbers, or all but one."""
    half = len(numbers) // 2
    if half > 1:
        yield from (numbers[:half], numbers[half:])
    yield from ((*numbers[:place], *numbers[place + 1 :]) for place in range(len(numbers)))


def _shorter(lengths: Numbers) -> Iterator[Numbers]:
    """Yield fewer lengths, or one that is less; all of them halved, where they have to stay equal."""
    yield from _fewer(lengths)
    yield tuple(length // 2 for length in lengths)
    yield tuple(max(length - 1, 0) for length in lengths)
    for place, length in enumerate(lengths):
        for less in sorted({0, length // 2, length - 1}):
            if 0 <= less < length:
                yield (*lengths[:place], less, *lengths[place + 1 :])
