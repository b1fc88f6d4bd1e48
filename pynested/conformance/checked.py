"""The table of a report: how many checks of each operator agree, by layout and part."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence

from .differences import WIDTH
from .judge import ADAPTER, CONVENTION, DIFFERS, ERROR, FORWARD, GRADIENT, OK
from .placements import PACKED
from .records import Record
from .replies import MISSING, UNASKED

__all__ = ["agrees_where_packed", "table"]

_NAME, _CELL, _SUFFIX = 28, 11, 3
_PLACED = "differs only where not packed"
_COLUMNS = ((FORWARD, "forward"), (GRADIENT, "gradient"), (ERROR, "errors"))


def table(results: Sequence[Record], layouts: Sequence[str]) -> list[str]:
    """Return the lines of the table, and what its signs mean."""
    cells, chapters = _counted(results)
    titles = "".join(f"{title:>{_CELL - _SUFFIX}}".ljust(_CELL) for _, title in _COLUMNS)
    lines = [" " * _NAME + "".join(layout.center(len(titles)) for layout in layouts)]
    lines += ["operator".ljust(_NAME) + titles * len(layouts)]
    shown: list[str] = []
    for chapter, names in chapters.items():
        lines.append(chapter)
        for name in names:
            row = [_cell(cells[name, layout, part]) for layout in layouts for part, _ in _COLUMNS]
            lines.append(f"  {name}".ljust(_NAME) + "".join(row))
            shown += row
    return [*(line.rstrip() for line in lines), "", *_legend(" ".join(shown))]


def _counted(
    results: Sequence[Record],
) -> tuple[dict[tuple[str, str, str], Counter[str]], dict[str, list[str]]]:
    """Return how often each cell came to each verdict, and the operators of each chapter."""
    cells: dict[tuple[str, str, str], Counter[str]] = defaultdict(Counter)
    chapters: dict[str, list[str]] = {}
    for result in results:
        names = chapters.setdefault(result["chapter"], [])
        if result["op"] not in names:
            names.append(result["op"])
        for part, verdict in result["parts"].items():
            placed = verdict in DIFFERS and agrees_where_packed(result, part)
            cells[result["op"], result["layout"], part][_PLACED if placed else verdict] += 1
    return cells, chapters


def _cell(found: Counter[str]) -> str:
    """Return how many checks agree, of how many, and after them what is to be said about the others."""
    bad = sum(found[one] for one in (*DIFFERS, ADAPTER, _PLACED))
    good, missing = found[OK] + found[CONVENTION], found[MISSING]
    if not good and not bad:
        number, suffix = "none" if missing else "unasked" if found[UNASKED] else "·", ""
    else:
        number = f"{good}/{good + bad}" if bad else f"{good}"
        suffix = f"+{missing}" if missing else "p" if bad and bad == found[_PLACED] else ""
    return f"{number:>{_CELL - _SUFFIX}}{suffix}".ljust(_CELL)


def _legend(cells: str) -> list[str]:
    """Explain the signs that occur in the cells."""
    known = {
        r"/": "m/n  m of n agree",
        r"\dp": "m/np  the others agree where packed",
        r"\d\+": "n+k  k more are not implemented",
        r"none": "none  not implemented",
        r"unasked": "unasked  not asked",
        r"·": "·  nothing to check",
    }
    errors = "errors  calls that must be refused"
    return _rows(["n  all n agree", *(text for sign, text in known.items() if re.search(sign, cells)), errors])


def _rows(entries: Iterable[str]) -> list[str]:
    """Return entries side by side, in as many lines as they need."""
    lines: list[str] = []
    for entry in entries:
        if lines and len(lines[-1]) + 3 + len(entry) <= WIDTH:
            lines[-1] += f"   {entry}"
        else:
            lines.append(entry)
    return lines


def agrees_where_packed(result: Record, part: str) -> bool:
    """Return whether the only thing wrong with a part is that it depends on where the operands lie."""
    return not any(PACKED in finding["placements"] for finding in result["findings"] if finding["part"] == part)
