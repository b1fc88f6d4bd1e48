"""Plots of what the benchmarks print: a row for each operator, a mark for each contender.

    python -m benchmarks.operators > docs/benchmarks/operators.txt

The tables of a benchmark are its data. A number is how many times as long a contender takes as pynested, so the line at
1 is pynested, and what lies to the right of it is slower. The axis is logarithmic: as far as 2 lies to the right lies
1/2 to the left.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from pynested.pictures.palette import line as colour
from pynested.pictures.svg import Sheet, text_width

WIDTH, LABELS, ROW, TOP = 680.0, 150.0, 22.0, 46.0
NAME, TIME, CELL = 20, 10, 14  # characters of the columns that benchmarks print
TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)


class Row(NamedTuple):
    """An operator: our time as it is printed, and the ratio of each contender that supports it."""

    name: str
    ours: str
    ratios: dict[str, float]


class Table(NamedTuple):
    """One table of a benchmark."""

    title: str
    contenders: list[str]
    rows: list[Row]


def tables(text: str) -> Iterator[Table]:
    """The tables in what a benchmark printed: a title, a line of names, and rows."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if len(lines) < 3 or not lines[1].startswith(" " * NAME):
            continue
        contenders = _cells(lines[1])
        rows = [row for row in (_row(one, contenders) for one in lines[2:]) if row.ratios]
        if rows:
            yield Table(lines[0], contenders, rows)


def _cells(text: str) -> list[str]:
    return [text[start : start + CELL].strip() for start in range(NAME + TIME, len(text), CELL)]


def _row(text: str, contenders: list[str]) -> Row:
    found = zip(contenders, _cells(text), strict=True)
    ratios = {contender: float(cell) for contender, cell in found if cell != "-"}
    return Row(text[:NAME].strip(), text[NAME : NAME + TIME].strip(), ratios)


def plot(table: Table) -> str:
    """A table as SVG."""
    sheet = Sheet(f"{table.title}: how many times as long each contender takes as pynested")
    ratios = [ratio for row in table.rows for ratio in row.ratios.values()]
    low, high = math.log(min(0.5, *ratios) / 1.2), math.log(max(2.0, *ratios) * 1.2)
    bottom = TOP + ROW * len(table.rows)

    def across(ratio: float) -> float:
        return LABELS + (math.log(ratio) - low) / (high - low) * (WIDTH - LABELS - 20)

    def mark(contender: str, x: float, y: float) -> None:
        sheet.rect(x - 5, y - 5, 10, 10, colour(table.contenders.index(contender)), round=5)

    for tick in TICKS:
        if low < math.log(tick) < high:
            sheet.path(f"M{across(tick):g} {TOP - 6:g}V{bottom:g}", width=1, opacity=0.7 if tick == 1 else 0.18)
            sheet.text(across(tick), bottom + 16, "pynested" if tick == 1 else f"{tick:g}", size=11, opacity=0.75)
    left = LABELS
    for contender in table.contenders:
        mark(contender, left, 14)
        sheet.text(left + 10, 18, contender, size=12, anchor="start")
        left += 30 + text_width(contender, 12)
    for number, row in enumerate(table.rows):
        y = TOP + ROW * (number + 0.5)
        sheet.text(0, y + 4, row.name, size=12, anchor="start")
        for contender, ratio in row.ratios.items():
            mark(contender, across(ratio), y)
    return sheet.finish()


def write_plots(data: Path, folder: Path) -> None:
    """A page with a plot for every table that is kept in ``data``, and the tables themselves, folded."""
    parts = ["# How fast it is", ""]
    parts.append((data / "about.md").read_text(encoding="utf-8"))
    for path in sorted(data.glob("*.txt")):
        text = path.read_text(encoding="utf-8")
        parts += [f"## {path.stem.capitalize()}", ""]
        for table in tables(text):
            parts += [f"### {table.title}", "", plot(table)]
        parts += [
            "<details><summary>as it was printed</summary>",
            "",
            "```text",
            text.strip(),
            "```",
            "",
            "</details>",
            "",
        ]
    (folder / "index.md").write_text("\n".join(parts), encoding="utf-8")
