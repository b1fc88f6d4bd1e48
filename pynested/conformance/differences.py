"""The differences of a run: one entry for each root cause, sorted by kind and then by how silent the harm is."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .blame import PLACEMENT
from .judge import CORRUPT, DIFFERS
from .kinds import CRASH, KINDS
from .placements import HOLES_MAX, HOLES_NAN, PACKED, words
from .records import Record, Run

WIDTH = 98
_LABEL = 10
_KINDS = list(KINDS)
_MOST = 4  # operators that an entry names on one line

# Of one kind a wrong gradient comes first, for it is the most silent, and a dtype last.
_VERDICTS = ("value", "shape", "kind", CORRUPT, "accepted", "refused", "error-kind", "dtype")
_BY_MESSAGE = ("refused", "error-kind", CORRUPT)

# What of a message differs from call to call: what is quoted or in brackets, numbers, and who says it.
_SAYS = re.compile(r"^\w+\(\):? ")
_VARIES = re.compile(r"'[^']*'|\"[^\"]*\"|\[[^\]]*\]|\([^)]*\)|-?\d+(\.\d+)?")

# How an entry is named after "the target"; gradients have their own words.
_GRADIENT = {
    "value": "gives another gradient",
    "shape": "gives a gradient of another shape",
    "dtype": "gives a gradient of another dtype",
    "refused": "refuses to compute the gradient",
}


@dataclass(frozen=True)
class Cause:
    """Every finding that has one root: pairs of result and finding.

    Refusals have one root where they say the same, whatever the operator. Other differences have one where they break
    the same clause; those that are there only where components are not packed, where they are in the same chapter.
    """

    kind: str
    part: str
    verdict: str
    root: str
    members: Sequence[tuple[Record, Record]]

    @property
    def what(self) -> str:
        """What the target does, to follow its name."""
        return (_GRADIENT if self.part == "gradient" else {}).get(self.verdict, DIFFERS[self.verdict])

    @property
    def example(self) -> tuple[Record, Record]:
        """The member that is easiest to read: packed if possible, the fewest words of code."""
        return min(self.members, key=lambda pair: (PACKED not in pair[1]["placements"], len(pair[1]["snippet"])))

    @property
    def clause(self) -> str:
        """The clause of the example."""
        return str(self.example[1]["clause"])

    @property
    def operators(self) -> list[str]:
        """The operators that are affected, those with the most cases first."""
        found = [result["op"] for result, _ in self.members]
        return sorted(dict.fromkeys(found), key=found.count, reverse=True)

    @property
    def layouts(self) -> str:
        """The layouts that are affected."""
        return " and ".join(sorted({result["layout"] for result, _ in self.members}))

    @property
    def extent(self) -> str:
        """How many cases in which layouts."""
        return f"{len(self.members)} case{'s' if len(self.members) > 1 else ''}, {self.layouts}"


def causes(run: Run) -> list[Cause]:
    """Return the causes in the order of a report."""
    found: dict[tuple[str, str, str, str], list[tuple[Record, Record]]] = {}
    for result in run.results:
        for finding in result["findings"]:
            if finding["verdict"] in DIFFERS:
                key = finding["kind"], finding["part"], finding["verdict"], root_of(result, finding)
                found.setdefault(key, []).append((result, finding))
    return sorted((Cause(*key, members) for key, members in found.items()), key=_rank)


def root_of(result: Record, finding: Record) -> str:
    """Return what two findings share that have the same cause."""
    if finding["verdict"] in _BY_MESSAGE:
        return normal(str(finding["got"]))
    if finding["kind"] == CRASH:
        return f"{result['op']}: {finding['got']}"
    clause = str(finding["clause"])
    return f"{clause} {result['chapter']}" if clause == PLACEMENT else clause


def normal(text: str) -> str:
    """Return the text of an error, ``Class: message``, without what differs from call to call.

    >>> normal("RuntimeError: sum(): expected size 3 but got 4")
    'RuntimeError: expected size … but got …'
    """
    kind, _, message = text.partition(": ")
    return f"{kind}: {_VARIES.sub('…', re.sub(_SAYS, '', message))}"


def _rank(cause: Cause) -> tuple[Any, ...]:
    verdict = _VERDICTS.index(cause.verdict) if cause.verdict in _VERDICTS else -1
    late = cause.verdict == "dtype"
    return _KINDS.index(cause.kind), late, cause.part != "gradient", verdict, -len(cause.members), cause.root


def in_full(cause: Cause, target: str, dense: str = "") -> Iterator[str]:
    """Yield the lines of one entry with an example that can be pasted."""
    result, finding = cause.example
    yield f"{cause.clause}   {target} {cause.what}   ({cause.extent})"
    yield from _field("kind", KINDS[cause.kind])
    yield from _field("clause", finding["text"])
    if len(cause.operators) > 1:
        yield from _field("operators", ", ".join(cause.operators))
    yield from _field("case", f"{result['id']}   {where(result, finding)}")
    yield from _field("call", finding["call"])
    yield from _field("expected", finding["want"])
    yield from _field("got", finding["got"])
    if "again" in finding:
        yield from _field("again", finding["again"])
    if "dense" in finding:
        yield from _field("dense", f"{dense}: {finding['dense']}" if dense else finding["dense"])
    code = [part for line in finding["snippet"].splitlines() for part in _wrapped_code(line)]
    yield from (f"  {'paste' if not number else '':{_LABEL}}{line}".rstrip() for number, line in enumerate(code))


def in_brief(found: Sequence[Cause]) -> list[str]:
    """Return a line for each entry: kind, clause, what differs, how many cases, of which operators, and what came."""
    rows = []
    for cause in found:
        what = f"{cause.part} {cause.verdict}" if cause.part == "gradient" else cause.verdict
        names = cause.operators[:_MOST]
        more = len(cause.operators) - len(names)
        operators = ", ".join(names) + (f" +{more}" if more else "")
        rows.append((cause.kind, cause.clause, what, str(len(cause.members)), operators, cause.example[1]["got"]))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    aligned = ["  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=False)) for row in rows]
    return [_cut(f"{head}  {row[4]}: {row[5]}", WIDTH) for head, row in zip(aligned, rows, strict=True)]


def where(result: Record, finding: Record) -> str:
    """Return layout and placements, and what the placements tell when it is not all of them."""
    ran, bad = result["placements"], finding["placements"]
    if len(bad) == len(ran):
        return f"{result['layout']}, {'every placement' if len(ran) > 1 else PACKED}"
    if set(bad) <= {HOLES_NAN, HOLES_MAX}:
        return f"{result['layout']}, only where gaps lie between the components"
    if all(len(words(one)) > 1 for one in bad):
        return f"{result['layout']}, only where operands lie differently: {', '.join(bad)}"
    if len(bad) == 1 and bad != [PACKED]:
        return f"{result['layout']}, only where components lie {bad[0]}"
    if PACKED not in bad:
        return f"{result['layout']}, only where components are not packed"
    return f"{result['layout']}, {', '.join(bad)}"


def _field(label: str, text: str) -> Iterator[str]:
    """Yield a labelled paragraph."""
    indent = " " * (_LABEL + 2)
    lines = textwrap.wrap(text, WIDTH - len(indent)) or [""]
    yield f"  {label:{_LABEL}}{lines[0]}"
    yield from (indent + line for line in lines[1:])


def _wrapped_code(line: str) -> list[str]:
    """Break a long line of code where Python allows it: at blanks after the first bracket."""
    head, bracket, tail = line.partition("(")
    whole = head.replace(" ", "\0") + bracket + tail
    width = WIDTH - _LABEL - 2
    parts = textwrap.wrap(whole, width, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False)
    return [part.replace("\0", " ") for part in parts] or [""]


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 1] + "…"
