"""Run the cases: ask the adapter for each case in each layout and placement, judge the answers, write the records."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from pynested.spec.table import Operator

from . import messages
from .arranging import Placed, arranged
from .asking import Asked, Job, Questions, forward_of, is_of_descriptions
from .blame import Blame, only_placed
from .corpus import Case, Corpus, Program, Selection
from .descriptions import described_in
from .filled import WHERE
from .judge import ADAPTER, CONVENTION, DAMAGED, DIFFERS, ERROR, GRADIENT, OK, UNREACHED, Finding
from .kinds import UNSTEADY, Second, as_declared, is_internal, kind_of
from .literals import call_in_words
from .messages import Message
from .pasting import in_processes
from .placements import PACKED, words
from .problems import KitError
from .program_snippets import program_snippet
from .programs import program_in_words
from .records import Record
from .replies import CRASHED, HUNG, LOST, MISSING, UNASKED, UNCALLED
from .session import Identity, Session
from .snippets import snippet

# Where the placements of one case come to different verdicts, the first of these is the verdict of the case. One that
# agrees is a check that was made, whatever was not answered beside it; the findings say where that was.
_RANK = {verdict: rank for rank, verdict in enumerate([ADAPTER, *DIFFERS, OK, CONVENTION, UNASKED, MISSING, UNREACHED])}


def plan(corpus: Corpus, selection: Selection) -> list[Job]:
    """Return what to run, operator by operator in the order of the table.

    Calls that must be refused are the last of an operator, and before them those of nothing: see `Blame`.
    """
    order = {name: number for number, name in enumerate(corpus.table)}

    def place(pair: tuple[Case, str]) -> tuple[int, bool, bool]:
        case = pair[0]
        return order[case.op], case.is_error, case.has_no_element

    chosen = sorted(selection.pick(corpus), key=place)
    placed: Placed = {}
    for op in dict.fromkeys(case.op for case, _ in chosen):
        placed |= arranged([case for case in corpus.cases if case.op == op])
    jobs = [_job(case, layout, corpus, placed[case.id, layout]) for case, layout in chosen]
    if not selection.placements:
        return jobs
    asked = set(selection.placements)
    kept = [tuple(one for one in job.placements if asked.issuperset(words(one))) for job in jobs]
    return [replace(job, placements=left) for job, left in zip(jobs, kept, strict=True) if left]


def _job(case: Case, layout: str, corpus: Corpus, placements: tuple[str, ...]) -> Job:
    if not placements:
        raise KitError(f"{case.id}: its operands can lie in none of its placements, {', '.join(case.placements)}")
    return Job(case, layout, placements, messages.differentiated(case, corpus.table[case.op]))


def results(jobs: Sequence[Job], session: Session, corpus: Corpus) -> Iterator[Record]:
    """Yield one record for each job, in order."""
    forward: dict[tuple[str, str], dict[str, str]] = {}
    blamed = Blame(corpus)
    for asked in Questions(jobs, session.identity).answered(session):
        job = asked.job
        found = [(placement, finding) for placement, findings in asked.found.items() for finding in findings]
        near = forward.get((job.case.near or "", job.layout), {})
        if job.case.is_error:
            found = [(placement, _reconcile(finding, near.get(placement))) for placement, finding in found]
        forward[job.case.id, job.layout] = forward_of(asked)
        yield _record(asked, found, corpus, session.identity, blamed)


def _reconcile(finding: Finding, near: str | None) -> Finding:
    """Read a refusal in the light of the nearest call that must be accepted, in the same placement.

    Refusing everything is no merit: where the target lacks the operator, its refusal of a bad call says nothing. And
    where it has the operator, a refusal as `not implemented` is a refusal like any other, if the call was made.
    """
    if near == MISSING and finding.verdict in (OK, "error-kind"):
        return Finding(ERROR, MISSING, finding.want, finding.got)
    if near not in (None, MISSING) and finding.verdict == MISSING and UNCALLED not in finding.got:
        return Finding(ERROR, OK, finding.want, finding.got)
    return finding


def _not_taken(found: Sequence[tuple[str, Finding]], declared: Sequence[tuple[str, Finding]]) -> dict[str, Finding]:
    """Return by part what is not implemented where the operands are packed, or refused there as was declared.

    Such a call is not taken, wherever its operands lie: that another sentence comes first elsewhere is no difference.
    An error inside is one, but not where no operator of the target takes the call, as was declared.
    """
    return {
        said.part: said
        for (placement, one), (_, said) in zip(found, declared, strict=True)
        if placement == PACKED and one.verdict in (MISSING, "refused") and said.verdict in (MISSING, CONVENTION)
    }


def _as_where_packed(finding: Finding, untaken: Mapping[str, Finding]) -> Finding:
    """Return what a refusal is in the light of that of the packed operands."""
    said = untaken.get(finding.part)
    if said is None or finding.verdict != "refused" or (said.verdict == MISSING and is_internal(finding.got)):
        return finding
    return said


def _record(
    asked: Asked, found: Sequence[tuple[str, Finding]], corpus: Corpus, identity: Identity, blamed: Blame
) -> Record:
    job, case = asked.job, asked.job.case
    declared = [
        (
            placement,
            as_declared(
                finding,
                asked.second(placement, finding.part),
                identity.conventions,
                is_of_descriptions(asked, placement, finding),
            ),
        )
        for placement, finding in found
    ]
    is_asked_packed = not identity.capabilities.lacks(job.request(PACKED))
    untaken = _not_taken(found, declared) if is_asked_packed else {}
    declared = [(where, _as_where_packed(one, untaken)) for where, one in declared]
    parts: dict[str, str] = {}
    by_verdict: dict[tuple[str, str], list[tuple[str, Finding]]] = {}
    for placement, finding in declared:
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
        "dtypes": sorted(case.dtypes),
        "placements": list(job.placements),
        "parts": parts,
        "findings": [_finding(asked, group, corpus, identity, blamed) for group in by_verdict.values()],
        "notes": sorted({finding.note for _, finding in declared if finding.note}),
    }


def _finding(
    asked: Asked, group: Sequence[tuple[str, Finding]], corpus: Corpus, identity: Identity, blamed: Blame
) -> Record:
    """Return one way in which a case differs, with everything that a reader of the report needs."""
    job, (placement, finding) = asked.job, group[0]
    record: Record = {
        "part": finding.part,
        "verdict": finding.verdict,
        "placements": [one for one, _ in group],
        "got": finding.got,
    }
    if finding.verdict not in DIFFERS:
        return record
    second = asked.second(placement, finding.part)
    clause = blamed.clause(job.case, job.layout, finding, only_placed(asked.found, finding, [one for one, _ in group]))
    operator, request = corpus.table[job.case.op], job.request(placement)
    record |= {
        "kind": kind_of(finding, second),
        "want": finding.want,
        "clause": clause.id,
        "text": clause.text,
        **_shown(job.case, request, finding, operator, identity),
    }
    again = _again(finding, second)
    if record["kind"] == UNSTEADY or (finding.verdict == CRASHED and finding.part == GRADIENT):
        seen = "; ".join([finding.got, *again.values()])
        record["snippet"] = in_processes(record["snippet"]) + f"\n# seen: {seen}"
    if finding.verdict == HUNG:  # said to whoever pastes it, and waits
        record["snippet"] += f"\n# {finding.got}"
    if second.dense is not None:
        record["dense"] = _in_words(second.dense, asked.dense[0]) + _of_what(job.case)
    return record | again


def _of_what(case: Case) -> str:
    """Return what the dense operator was asked about where there is no component."""
    return ", of one component that might be there" if case.has_no_component else ""


def _again(finding: Finding, second: Second) -> Record:
    """Return what else was answered to the same call, if anything was, and what new memory held then."""
    other = second.other(finding)
    if other is None or finding.got.endswith(DAMAGED):  # which says itself what was answered then
        return {}
    words, answer = other
    return {"again": _in_words(answer, answer) + (words and WHERE.format(words))}


def _shown(case: Case, request: Message, finding: Finding, operator: Operator, identity: Identity) -> Record:
    """Return a call in words and as code, or a program up to the step that differs."""
    described = described_in(case, finding)
    marked = {"described": True} if described else {}
    if not isinstance(case, Program):
        how: dict[str, Any] = {
            "gradient": finding.part == GRADIENT,
            "nested": _is_nested(case, request["layout"], finding),
            "described": described,
            "precise": finding.near,
            "got": finding.got,
            "want": finding.want,
            "own": identity.own,
        }
        return {
            "call": _explained(lambda: call_in_words(request, operator)),
            "snippet": _explained(lambda: snippet(request, operator, identity.dialect, **how)),
            **marked,
        }
    last = len(case.steps) - 1
    if finding.step is not None and finding.verdict not in LOST:  # nobody knows at which step a process is lost
        last = finding.step
    where, is_described = (request["layout"], request["placement"]), bool(described)
    return {
        "call": _explained(lambda: program_in_words(case, last)),
        "snippet": _explained(lambda: program_snippet(case, *where, identity.dialect, last, is_described)),
        **marked,
    }


def _is_nested(case: Case, layout: str, finding: Finding) -> bool:
    """Return whether what comes is nested, and has components to be looked at."""
    shapes = case.expect.get("nested", {}).get("shapes")
    return bool(shapes) and finding.verdict != "kind" and case.expect.get("kind", {}).get(layout) != "dense"


def _in_words(finding: Finding, forward: Finding) -> str:
    """Return what a further question brought about a part, and about the call itself."""
    if finding.verdict == OK:
        return "as specified"
    if finding.verdict == UNREACHED and forward.verdict in (MISSING, UNASKED):
        return _in_words(forward, forward)
    if finding.verdict == UNREACHED:
        return "no gradient, since there is no result as specified"
    if finding.verdict in (MISSING, UNASKED):
        return f"not asked: {finding.got.partition(': ')[2] or finding.got}"
    return f"{finding.verdict}: {finding.got}" if finding.got else finding.verdict


def _explained(explanation: Callable[[], str]) -> str:
    """Return an explanation, or why there is none: it must not cost the difference that it explains."""
    try:
        return explanation()
    except Exception as error:
        return f"# the kit cannot write this call down: {type(error).__name__}: {error}"
