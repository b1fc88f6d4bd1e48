"""The differences of a run, grouped by clause, most telling first."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from .judge import DIFFERS, PARTS
from .placements import HOLES_MAX, HOLES_NAN, PACKED, TRANSPOSED
from .records import Record, Run

WIDTH = 98
_SEVERITY = {verdict: rank for rank, verdict in enumerate(DIFFERS)}
_LABEL = 10

# How a group is named after "the target"; gradients have their own words.
_GRADIENT = {
    "value": "gives another gradient",
    "shape": "gives a gradient of another shape",
    "dtype": "gives a gradient of another dtype",
    "refused": "refuses to compute the gradient",
}


@dataclass(frozen=True)
class Group:
    """Every finding about one clause that differs in one way in one layout: pairs of result and finding."""

    clause: str
    part: str
    verdict: str
    layout: str
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
    def extent(self) -> str:
        """How many cases in which layout."""
        return f"{len(self.members)} case{'s' if len(self.members) > 1 else ''}, {self.layout}"


def groups(run: Run) -> list[Group]:
    """Return the groups: crashes before wrong values before refusals, the larger group first."""
    found: dict[tuple[str, str, str, str], list[tuple[Record, Record]]] = {}
    for result in run.results:
        for finding in result["findings"]:
            if finding["verdict"] in DIFFERS:
                key = finding["clause"], finding["part"], finding["verdict"], result["layout"]
                found.setdefault(key, []).append((result, finding))
    made = [Group(*key, members) for key, members in found.items()]
    return sorted(made, key=lambda one: (_SEVERITY[one.verdict], PARTS.index(one.part), -len(one.members), one.clause))


def in_full(group: Group, target: str) -> Iterator[str]:
    """Yield the lines of one group with an example that can be pasted."""
    result, finding = group.example
    yield f"{group.clause}   {target} {group.what}   ({group.extent})"
    yield from _field("clause", finding["text"])
    yield from _field("case", f"{result['id']}   {_where(result, finding)}")
    yield from _field("call", finding["call"])
    yield from _field("expected", finding["want"])
    yield from _field("got", finding["got"])
    code = [part for line in finding["snippet"].splitlines() for part in _wrapped_code(line)]
    yield from (f"  {'paste' if not number else '':{_LABEL}}{line}".rstrip() for number, line in enumerate(code))


def in_brief(found: Sequence[Group]) -> list[str]:
    """Return one line for each clause and way to differ; the layouts stand together."""
    merged: dict[tuple[str, str, str], list[Group]] = {}
    for group in found:
        merged.setdefault((group.clause, group.part, group.verdict), []).append(group)
    rows = []
    for (clause, part, verdict), same in merged.items():
        layouts = " ".join(sorted(group.layout for group in same))
        cases = sum(len(group.members) for group in same)
        what = f"{part} {verdict}" if part == "gradient" else verdict
        rows.append((clause, what, layouts, str(cases), same[0].example[1]["got"]))
    widths = [max((len(row[column]) for row in rows), default=0) for column in range(4)]
    aligned = ["  ".join(f"{text:{width}}" for text, width in zip(row, widths, strict=False)) for row in rows]
    return [_cut(f"{head}  {row[-1]}", WIDTH) for head, row in zip(aligned, rows, strict=True)]


def _where(result: Record, finding: Record) -> str:
    """Return layout and placements, and what the placements tell when it is not all of them."""
    ran, bad = result["placements"], finding["placements"]
    if len(bad) == len(ran):
        return f"{result['layout']}, {'every placement' if len(ran) > 1 else PACKED}"
    if set(bad) <= {HOLES_NAN, HOLES_MAX}:
        return f"{result['layout']}, only where gaps lie between the components"
    if bad == [TRANSPOSED]:
        return f"{result['layout']}, only where components are stored transposed"
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
