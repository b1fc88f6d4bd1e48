"""Plots of benchmarks: a row for each operator, a mark for each contender.

    python -m benchmarks.operators --json docs/benchmarks/operators.json

A number is how many times as long a contender takes as pynested, so the line at 1 is pynested, and marks to the right
of it are slower. The axis is logarithmic: as far as 2 lies to the right lies 1/2 to the left. All plots of one
benchmark have the same axis.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import Times, in_units, read_times
from pynested.pictures.svg import Sheet, line_color, text_width

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ORDER = ("operators", "attention", "autograd", "compiled")
OURS = ("pynested", "compiled")  # contenders that the others of their table are compared with
ACROSS, ROW, TOP = 500.0, 22.0, 46.0
TICKS = (0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 300, 1000)
FINE = (0.5, 0.7, 1, 1.5, 2, 3)  # ticks of a short axis
Ends = tuple[float, float]


class Row(NamedTuple):
    """A row of a table: its name, our time, and the time of each other contender divided by ours."""

    name: str
    ours: str
    ratios: dict[str, float]


class Table(NamedTuple):
    """The rows of one load, kind of operands and direction."""

    title: str
    ours: str
    rows: list[Row]

    @property
    def contenders(self) -> list[str]:
        """Names of the other contenders."""
        return list(dict.fromkeys(name for row in self.rows for name in row.ratios))


def tables(times: Times) -> list[Table]:
    """Return the tables of a benchmark."""
    seconds: dict[str, dict[str, dict[str, float]]] = {}
    for case, time in times.items():
        title = f"{case.load}, {case.kind}, {case.direction}"
        seconds.setdefault(title, {}).setdefault(case.operator, {})[case.contender] = time
    result = []
    for title, rows in seconds.items():
        ours = next(name for name in OURS if any(name in row for row in rows.values()))
        compared = [
            Row(name, in_units(row[ours]).strip(), {other: row[other] / row[ours] for other in row if other != ours})
            for name, row in rows.items()
            if ours in row and len(row) > 1
        ]
        result.append(Table(title, ours, compared))
    return [table for table in result if table.rows]


def ends(plotted: Iterable[Table]) -> Ends:
    """Return the logarithms of the ratios at which an axis for all these tables ends."""
    ratios = [ratio for table in plotted for row in table.rows for ratio in row.ratios.values()]
    return math.log(min(0.5, *ratios) / 1.2), math.log(max(2.0, *ratios) * 1.2)


def plot(table: Table, axis: Ends) -> str:
    """Return a table as SVG."""
    sheet = Sheet(f"{table.title}: how many times as long each contender takes as {table.ours}")
    names = max(text_width(row.name, 12) for row in table.rows)
    left = names + 20 + max(text_width(row.ours, 11) for row in table.rows)
    low, high = axis
    bottom = TOP + ROW * len(table.rows)

    def across(ratio: float) -> float:
        return left + 20 + (math.log(ratio) - low) / (high - low) * ACROSS

    def mark(contender: str, x: float, y: float) -> None:
        sheet.rect(x - 5, y - 5, 10, 10, line_color(table.contenders.index(contender)), round=5)

    for tick in FINE if high - low < math.log(10) else TICKS:
        if low < math.log(tick) < high:
            sheet.path(f"M{across(tick):g} {TOP - 6:g}V{bottom:g}", width=1, opacity=0.7 if tick == 1 else 0.18)
            sheet.text(across(tick), bottom + 16, table.ours if tick == 1 else f"{tick:g}", size=11, opacity=0.75)
    for number, row in enumerate(table.rows):
        y = TOP + ROW * (number + 0.5)
        sheet.text(0, y + 4, row.name, size=12, anchor="start")
        sheet.text(left - text_width(row.ours, 11), y + 4, row.ours, size=11, anchor="start", opacity=0.75)
        for contender, ratio in row.ratios.items():
            mark(contender, across(ratio), y)
    left += 20
    for contender in table.contenders:
        mark(contender, left, 14)
        sheet.text(left + 10, 18, contender, size=12, anchor="start")
        left += 30 + text_width(contender, 12)
    return sheet.finish()


def section(name: str, times: Times) -> list[str]:
    """Return a section about one benchmark: what it measures, and its plots."""
    about = ast.get_docstring(ast.parse((BENCHMARKS / f"{name}.py").read_text(encoding="utf-8"))) or ""
    plotted = tables(times)
    parts = [f"## {name.capitalize()}", "", about.partition("\n\n")[0], ""]
    for table in plotted:
        parts += [f"### {table.title}", "", plot(table, ends(plotted)), ""]
    return parts


def write_plots(data: Path, folder: Path) -> None:
    """Write a page with a plot for every table that is kept in ``data``."""
    parts = ["# How fast it is", "", (data / "about.md").read_text(encoding="utf-8")]
    for path in sorted(data.glob("*.json"), key=lambda path: ORDER.index(path.stem)):
        parts += section(path.stem, read_times(path))
    (folder / "index.md").write_text("\n".join(parts), encoding="utf-8")
