"""What a campaign comes to: the claim, and for each way to differ the smallest call, as `conform` tells it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pynested.conformance.asking import Job
from pynested.conformance.corpus import Case, Corpus, Selection
from pynested.conformance.differences import WIDTH, causes, in_full
from pynested.conformance.judge import CONVENTION, Finding
from pynested.conformance.placements import PACKED
from pynested.conformance.printable import printable
from pynested.conformance.problems import KitError, OutputError, UsageError
from pynested.conformance.records import Run, footer, header
from pynested.conformance.runner import plan as planned
from pynested.conformance.runner import results
from pynested.conformance.session import Session
from pynested.spec.corpus import SPEC, load_vectors
from pynested.spec.generator.write import text_of, text_of_programs
from pynested.spec.table import load_table

from .asking import case_in
from .calls import Vector
from .campaign import Tally
from .programs import CHAPTERS
from .settings import Settings, opened
from .smaller import Kind, Spot, is_declared, kind_of, looked_at, smallest

__all__ = ["Small", "check_folder", "claim", "differences", "save", "shrink", "ways"]


class Small:
    """The smallest call that differs in one way, and its vector, which is called by its ``place`` among the ways."""

    def __init__(self, kind: Kind, spot: Spot, vector: Vector, steady: bool, place: int) -> None:
        self.kind, self.spot, self.steady = kind, spot, steady
        plan = spot.plan
        self.vector = {**vector, "id": f"{plan.op}/fuzz-{plan.seed}-{place}/{plan.number}"}


def shrink(tally: Tally, settings: Settings, most: int) -> list[Small]:
    """Return the smallest calls of the ways to differ, of as many as are wanted, those first that came first.

    What turns out to be what the target declares is counted as that.
    """
    if not tally.first:
        return []
    with opened(settings) as session:
        for kind, spot in _in_order(tally):
            if is_declared(spot, session):
                tally.declared(kind)
        chosen = enumerate(_in_order(tally)[:most], 1)
        return [_small(kind, spot, session, place) for place, (kind, spot) in chosen]


def _in_order(tally: Tally) -> list[tuple[Kind, Spot]]:
    """Return the ways to differ, those first that came first."""
    return sorted(tally.first.items(), key=lambda pair: (pair[1].plan.number, pair[0]))


def _small(kind: Kind, spot: Spot, session: Session, place: int) -> Small:
    """Return the smallest call; the call itself where it agrees when it is asked again."""
    steady = kind_of(kind[0], _seen(spot, session)[1]) is not None
    spot = smallest(spot, kind, session) if steady else spot
    return Small(kind, spot, _seen(spot, session)[0], steady, place)


def _seen(spot: Spot, session: Session) -> tuple[Vector, Sequence[Finding]]:
    seen = looked_at(spot, session)
    if seen is None:
        raise KitError(f"the call of seed {spot.plan.seed}, number {spot.plan.number} has no expectation of its own")
    return seen


# --- the claim


def claim(tally: Tally, settings: Settings, name: str, first: int, seconds: float, workers: str) -> str:
    """Return what was asked, what came of it, and nothing else."""
    judged, rate = tally.judged, tally.judged / seconds if seconds else 0.0
    differ = tally.differ
    outcome = "all of them agree with the specification" if not differ else f"{differ:,} of them differ"
    text = (
        f"{name}, seed {settings.seed}: {tally.numbers:,} cases (numbers {first:,} to {first + tally.numbers - 1:,}), "
        f"{judged:,} judged calls in {seconds:.1f} s, {rate:,.0f} a second{workers}; {outcome}."
    )
    if not judged:
        text = f"{name}, seed {settings.seed}: {tally.numbers:,} cases, of which no call could be judged."
    others = tally.verdicts.total() - judged
    text += f" {others:,} calls need what the target does not have." if others else ""
    declared = tally.verdicts[CONVENTION]
    text += f" {declared:,} differ as the target declares." if declared else ""
    text += "".join(f" {count:,} cases are {why}." for why, count in sorted(tally.unasked.items()))
    text += f"\nThe adapter itself failed: {tally.failure}" if tally.failure else ""
    return "\n".join(line for part in text.splitlines() for line in textwrap.wrap(part, WIDTH)) + "\n"


# --- the differences


def ways(small: Sequence[Small], tally: Tally) -> str:
    """Return each way to differ in a line."""
    lines = [f"{len(tally.kinds):,} ways to differ: the first number, calls, operator, part, verdict"]
    told = {one.kind: one for one in small}
    for kind, spot in _in_order(tally):
        steady = "" if kind not in told or told[kind].steady else "   asked again, it agreed"
        text = f"  {spot.plan.number:>7}  {tally.kinds[kind]:>7,}  {'  '.join(kind).rstrip()}{steady}"
        lines.append(printable(text, WIDTH))
    return "\n".join(lines) + "\n"


def differences(small: Sequence[Small], settings: Settings) -> str:
    """Return the smallest calls as `conform` tells them, each with a snippet."""
    corpus = _corpus(small)
    with opened(settings) as session:
        placed = {one.vector["id"]: one.spot.placement for one in small}
        jobs = [job for case in corpus.cases for job in _jobs(corpus, case, settings, placed.get(case.id, PACKED))]
        found = list(results(jobs, session, corpus))
        selection = Selection(layouts=settings.layouts)
        run = Run(header(corpus, session.identity, selection, len(found)), found, footer(found, 0.0))
        name, dense = session.identity.name, session.identity.dense
    return "\n\n".join("\n".join(in_full(cause, name, dense)) for cause in causes(run)) + "\n"


def _jobs(corpus: Corpus, case: Case, settings: Settings, placement: str) -> Iterator[Job]:
    """Yield what to ask of a call: packed, and where it differs, in each layout."""
    alone = Corpus(corpus.table, (case,), SPEC, "")
    for job in planned(alone, Selection(layouts=settings.layouts)):
        yield replace(job, placements=tuple(dict.fromkeys((job.placements[0], placement))))


def _corpus(small: Sequence[Small]) -> Corpus:
    """Return the smallest calls as vectors, and those that must be accepted beside one that must be refused."""
    files = _files(small)
    return Corpus(load_table(), tuple(case_in(one) for found in files.values() for one in found), SPEC, "")


def _files(small: Sequence[Small]) -> dict[str, list[Mapping[str, Any]]]:
    """Return the vectors of each operator."""
    files: dict[str, list[Mapping[str, Any]]] = {}
    for one in small:
        op, vector = one.kind[0], one.vector
        if "near" in vector:
            near = _accepted(op, vector)
            files.setdefault(op, []).extend([] if near in files.get(op, []) else [near])
            vector = {**vector, "near": near["id"]}
        files.setdefault(op, []).append(vector)
    return files


def _accepted(op: str, refused: Vector) -> Mapping[str, Any]:
    """Return the call that must be accepted beside one that must not: that which it names, or the first of its kind."""
    layouts = set(refused["layouts"])
    accepted = [one for one in load_vectors()[op] if "error" not in one["expect"] and layouts <= set(one["layouts"])]
    return next((one for one in accepted if one["id"] == refused["near"]), accepted[0])


def check_folder(folder: Path) -> None:
    """Refuse a folder that has vectors already, which a campaign would mix with its own."""
    if any(folder.glob("*/*.json")):
        raise UsageError(f"--out {folder}: there are vectors in it; give an empty folder, or one that is not there")


def save(small: Sequence[Small], folder: Path) -> None:
    """Write the calls as vectors that ``pynested conform --vectors`` runs."""
    try:
        for op, found in _files(small).items():
            path = folder / load_table()[op].chapter / f"{op}.json"
            path.parent.mkdir(parents=True, exist_ok=True)
            text = text_of_programs(op, found) if op in CHAPTERS else text_of(op, found)
            path.write_text(text, encoding="utf-8", newline="\n")
    except OSError as error:
        raise OutputError(f"cannot write {folder}: {error.strerror}") from error
