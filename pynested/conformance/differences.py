"""The differences of a run: one entry for each root cause, sorted by kind and then by how silent the harm is."""

from __future__ import annotations

import itertools
import re
import textwrap
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from .judge import CORRUPT, DIFFERS, ERROR
from .kinds import CRASH, DENSE, INTERNAL, KINDS, LIMIT
from .placements import HOLES_MAX, HOLES_NAN, PACKED, SAYS, words
from .records import Record, Run
from .roots import BY_MESSAGE, Pair, grouped

WIDTH = 98
ENTRIES = 80  # that a report tells one by one, unless all are asked for
_LABEL = 10
_KINDS = list(KINDS)
_FOLDED = (INTERNAL, DENSE, LIMIT)  # the last ones first
_NOTHING = re.compile(r"no components|\((?:\d+, )*0[,)]")  # no component, or one without an element
_MOST = 4  # operators that an entry names on one line

# Of one kind a wrong gradient comes first, for it is the most silent; roundings come late, and dtypes last.
_PRECISION = "NUMERICS-"
_VERDICTS = ("value", "shape", "kind", CORRUPT, "accepted", "refused", "error-kind", "dtype")
# How an entry is named after "the target"; gradients have their own words.
_GRADIENT = {
    "value": "gives another gradient",
    "shape": "gives a gradient of another shape",
    "dtype": "gives a gradient of another dtype",
    "refused": "refuses to compute the gradient",
    CORRUPT: "leaves a gradient that contradicts itself or cannot be read",
}


@dataclass(frozen=True)
class Cause:
    """Every finding that has one root, which `roots` tells: pairs of result and finding."""

    kind: str
    part: str
    verdict: str
    root: str
    members: Sequence[Pair]

    @property
    def what(self) -> str:
        """What the target does, to follow its name."""
        return (_GRADIENT if self.part == "gradient" else {}).get(self.verdict, DIFFERS[self.verdict])

    @property
    def example(self) -> Pair:
        """The member that tells most: of the operator with the most cases, not of nothing, packed, in few words."""
        first = self.operators[0]
        return min(self.members, key=lambda pair: (pair[0]["op"] != first, *self._reading(pair)))

    def _reading(self, pair: Pair) -> tuple[Any, ...]:
        finding = pair[1]
        plain = (finding["kind"] != self.kind, finding["part"] == ERROR and self.kind == CRASH)
        nothing = _NOTHING.search(finding["call"].partition(";")[2]) is not None
        return *plain, nothing, PACKED not in finding["placements"], len(finding["snippet"])

    @property
    def clause(self) -> str:
        """The clause of the example."""
        return str(self.example[1]["clause"])

    @property
    def operators(self) -> list[str]:
        """The operators that are affected, those with the most cases first."""
        return by_frequency([result["op"] for result, _ in self.members])

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
    pairs = [(result, one) for result in run.results for one in result["findings"] if one["verdict"] in DIFFERS]
    return sorted((_cause(*group) for group in grouped(pairs)), key=_rank)


def _cause(kind: str, root: str, members: Sequence[Pair]) -> Cause:
    finding = members[0][1]
    return Cause(kind, finding["part"], finding["verdict"], root, members)


def _rank(cause: Cause) -> tuple[Any, ...]:
    verdict = _VERDICTS.index(cause.verdict) if cause.verdict in _VERDICTS else -1
    late = 2 if cause.verdict == "dtype" else int(cause.verdict == "value" and cause.clause.startswith(_PRECISION))
    return _KINDS.index(cause.kind), late, cause.part != "gradient", verdict, -len(cause.members), cause.root


def folded(found: Sequence[Cause], most: int = ENTRIES) -> tuple[list[Cause], list[Cause]]:
    """Return the causes that are told one by one, and the others: rare limits, what is so when dense too, refusals."""
    rare = sorted(
        found, key=lambda cause: (-_FOLDED.index(cause.kind) if cause.kind in _FOLDED else 1, len(cause.members))
    )
    less = {id(cause) for cause in rare[: max(len(found) - most, 0)]}
    return [one for one in found if id(one) not in less], [one for one in found if id(one) in less]


def in_short(number: int, cause: Cause) -> Iterator[str]:
    """Yield two lines for a cause: what differs, and where it is easiest to see."""
    _, finding = cause.example
    yield _cut(f"{number:2}  {cause.clause}  {named(cause.operators)}: {cause.what}   ({cause.extent})", WIDTH)
    due = "" if cause.verdict in BY_MESSAGE else f"expected {finding['want']}, got "
    yield _cut(f"    {finding['call'].partition(';')[0]}: {due}{finding['got']}", WIDTH)


def in_full(cause: Cause, target: str, dense: str = "") -> Iterator[str]:
    """Yield the lines of one entry with an example that can be pasted."""
    result, finding = cause.example
    yield f"{cause.clause}   {target} {cause.what}   ({cause.extent})"
    yield from _field("kind", KINDS[cause.kind])
    yield from _field("clause", finding["text"])
    if len(cause.operators) > 1:
        yield from _field("operators", ", ".join(cause.operators))
    yield from _field("case", f"{result['id']}   {where(result, finding)}")
    yield from (line for text in memory(finding["placements"]) for line in _field("memory", text))
    yield from _field("call", finding["call"])
    yield from _field("expected", finding["want"])
    yield from _field("got", finding["got"])
    if "again" in finding:
        yield from _field("again", finding["again"])
    if "dense" in finding:
        yield from _field("dense", f"{dense}: {finding['dense']}" if dense else finding["dense"])
    code = [part for line in finding["snippet"].splitlines() for part in _wrapped_code(line)]
    yield from (f"  {'paste' if not number else '':{_LABEL}}{line}".rstrip() for number, line in enumerate(code))


def in_brief(first: int, found: Sequence[Cause]) -> Iterator[str]:
    """Yield two lines for each cause, with its number from ``first`` on, those of one kind under a title."""
    numbered = enumerate(found, first)
    for kind, some in itertools.groupby(numbered, key=lambda pair: pair[1].kind):
        yield f"{kind}: {KINDS[kind]}"
        for number, cause in some:
            yield from in_short(number, cause)


def by_frequency(operators: Sequence[str]) -> list[str]:
    """Return each operator once, the most frequent first."""
    return [name for name, _ in Counter(operators).most_common()]


def named(operators: Sequence[str]) -> str:
    """Return the most frequent operators, and how many others there are."""
    found = by_frequency(operators)
    return ", ".join(found[:_MOST]) + (f" +{len(found) - _MOST}" if len(found) > _MOST else "")


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


def memory(placements: Sequence[str]) -> list[str]:
    """Return what the words mean that say where components lie, as far as that tells something."""
    told = [] if PACKED in placements else [one for one in words(placements[0]) if one not in (HOLES_NAN, HOLES_MAX)]
    return [f"{word}: {SAYS[word]}" for word in dict.fromkeys(told)]


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
