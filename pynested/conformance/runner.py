"""Run the cases: ask the adapter for each case in each layout and placement, judge the answers, write the records."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from pynested.spec.encoding import decode_value
from pynested.spec.table import Clause

from . import messages
from .corpus import Case, Corpus, Selection
from .judge import ADAPTER, DIFFERS, ERROR, FORWARD, GRADIENT, OK, UNREACHED, Finding, judge
from .literals import call_in_words
from .messages import Message
from .placements import placements_for
from .problems import KitError
from .records import Record
from .replies import MISSING, UNASKED
from .session import Session
from .snippets import snippet

# Where the placements of one case come to different verdicts, the first of these is the verdict of the case. One that
# agrees is a check that was made, whatever was not answered beside it; the findings say where that was.
_RANK = {verdict: rank for rank, verdict in enumerate([ADAPTER, *DIFFERS, OK, UNASKED, MISSING, UNREACHED])}

# Which clause of a case a difference is about: the first one of a class that fits.
_BLAME: Mapping[str, tuple[str, ...]] = {
    "accepted": ("error",),
    "error-kind": ("error",),
    "dtype": ("dtype",),
    "shape": ("shape", "edge"),
    "kind": ("shape",),
    "value": ("value", "edge"),
    "refused": ("value", "edge", "shape"),
}


@dataclass(frozen=True)
class Job:
    """One case in one layout: as many requests as there are placements."""

    case: Case
    layout: str
    placements: tuple[str, ...]
    wrt: list[int | str]

    def requests(self) -> list[Message]:
        """Return the requests, which hold the call and nothing else."""
        return [messages.run(self.case, self.layout, placement, self.wrt) for placement in self.placements]


def plan(corpus: Corpus, selection: Selection) -> list[Job]:
    """Return what to run, operator by operator in the order of the table, calls that must be refused last."""
    order = {name: number for number, name in enumerate(corpus.table)}
    chosen = sorted(selection.pick(corpus), key=lambda pair: (order[pair[0].op], pair[0].is_error))
    return [_job(case, layout, corpus) for case, layout in chosen]


def _job(case: Case, layout: str, corpus: Corpus) -> Job:
    placed = placements_for(decode_value(value) for value in (*case.args, *case.kwargs.values()))
    placements = tuple(one for one in placed if not case.placements or one.partition("-")[0] in case.placements)
    if not placements:
        raise KitError(f"{case.id}: its placements are {case.placements}, but its operands can only be {placed}")
    return Job(case, layout, placements, messages.differentiated(case, corpus.table[case.op]))


def results(jobs: Sequence[Job], session: Session, corpus: Corpus) -> Iterator[Record]:
    """Yield one record for each job, in order."""
    answers = session.answers(request for job in jobs for request in job.requests())
    forward: dict[tuple[str, str], dict[str, str]] = {}
    for job in jobs:
        started = time.perf_counter()
        found = [
            (placement, finding)
            for placement in job.placements
            for finding in judge(job.case, job.layout, next(answers), session.identity.errors)
        ]
        if job.case.is_error:
            near = forward.get((job.case.near or "", job.layout), {})
            found = [(placement, _reconcile(finding, near.get(placement))) for placement, finding in found]
        record = _record(job, found, corpus, session.identity.dialect)
        record["ms"] = round((time.perf_counter() - started) * 1e3, 2)
        forward[job.case.id, job.layout] = {
            placement: finding.verdict for placement, finding in found if finding.part == FORWARD
        }
        yield record


def _reconcile(finding: Finding, near: str | None) -> Finding:
    """Read a refusal in the light of the nearest call that must be accepted, in the same placement.

    Refusing everything is no merit: where the target lacks the operator, its refusal of a bad call says nothing. And
    where it has the operator, a refusal as `not implemented` is a refusal like any other.
    """
    if near == MISSING and finding.verdict in (OK, "error-kind"):
        return Finding(ERROR, MISSING, finding.want, finding.got)
    if near not in (None, MISSING) and finding.verdict == MISSING:
        return Finding(ERROR, OK, finding.want, finding.got)
    return finding


def _record(job: Job, found: Sequence[tuple[str, Finding]], corpus: Corpus, dialect: str) -> Record:
    case = job.case
    parts: dict[str, str] = {}
    by_verdict: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for placement, finding in found:
        worst = parts.setdefault(finding.part, finding.verdict)
        parts[finding.part] = min(worst, finding.verdict, key=_RANK.__getitem__)
        if finding.verdict not in (OK, UNREACHED):
            by_verdict.setdefault((finding.part, finding.verdict), []).append((placement, finding))
    return {
        "record": "result",
        "id": case.id,
        "op": case.op,
        "chapter": corpus.table[case.op].chapter,
        "layout": job.layout,
        "clauses": list(case.clauses),
        "dtypes": sorted(_dtypes([*case.args, *case.kwargs.values()])),
        "placements": list(job.placements),
        "parts": parts,
        "findings": [_finding(job, group, corpus, dialect) for group in by_verdict.values()],
        "notes": sorted({finding.note for _, finding in found if finding.note}),
    }


def _finding(job: Job, group: Sequence[tuple[str, Finding]], corpus: Corpus, dialect: str) -> Record:
    """Return one way in which a case differs, with everything that a reader of the report needs."""
    placement, finding = group[0]
    record: Record = {
        "part": finding.part,
        "verdict": finding.verdict,
        "placements": [one for one, _ in group],
        "got": finding.got,
    }
    if finding.verdict not in DIFFERS:
        return record
    clause = _blame(job.case, finding, corpus)
    operator = corpus.table[job.case.op]
    request = messages.run(job.case, job.layout, placement, job.wrt)
    return {
        **record,
        "want": finding.want,
        "clause": clause.id,
        "text": clause.text,
        "call": _explained(lambda: call_in_words(request, operator)),
        "snippet": _explained(lambda: snippet(request, operator, dialect, gradient=finding.part == GRADIENT)),
    }


def _explained(explanation: Callable[[], str]) -> str:
    """Return an explanation, or why there is none: it must not cost the difference that it explains."""
    try:
        return explanation()
    except Exception as error:
        return f"# the kit cannot write this call down: {type(error).__name__}: {error}"


def _blame(case: Case, finding: Finding, corpus: Corpus) -> Clause:
    """Return the clause that a difference is about: of those that the case cites, the first of a class that fits."""
    cited = [corpus.clauses[id_] for id_ in case.clauses]
    classes = ("gradient",) if finding.part == GRADIENT else _BLAME.get(finding.verdict, ())
    fitting = [clause for clause in cited if clause.kind_class in classes]
    return (fitting or cited)[0]


def _dtypes(value: object) -> set[str]:
    """Return the dtypes of the arrays in JSON values."""
    if isinstance(value, list):
        return set().union(*map(_dtypes, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    ((form, fields),) = value.items()
    if form == "list":
        return _dtypes(fields)
    return {str(fields["dtype"])} if form in ("nested", "dense") else set()
