"""Plots of benchmarks: a row for each operator, a mark for each contender.

    python -m benchmarks.operators --json docs/benchmarks/operators.json

A mark shows the time of a contender divided by that of pynested. The line at 1 is pynested, and marks to the right of
the line are slower. The axis is logarithmic. All plots of one benchmark have the same axis.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from benchmarks.harness import Times, in_units, read_times

if TYPE_CHECKING:
    from matplotlib.figure import Figure

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
ORDER = ("operators", "attention", "autograd", "compiled")
OURS = ("pynested", "compiled")  # contenders that the others of their table are compared with
COLORED = ("our strided", "numpy", "torch jagged", "torch strided", "torch padded", "torch dense")  # alike in all plots


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


def limits(plotted: Iterable[Table]) -> tuple[float, float]:
    """Return the limits of an axis that shows all ratios of some tables."""
    ratios = [ratio for table in plotted for row in table.rows for ratio in row.ratios.values()]
    return min(0.5, *ratios) / 1.2, max(2.0, *ratios) * 1.2


def draw(table: Table, axis: tuple[float, float]) -> Figure:
    """Draw a table: a row for each operator, with our time beside its name, and a mark for each other contender."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8, 0.28 * len(table.rows) + 1.2), layout="constrained")
    axes = figure.subplots()
    for contender in table.contenders:
        rows = [number for number, row in enumerate(table.rows) if contender in row.ratios]
        ratios = [table.rows[number].ratios[contender] for number in rows]
        color = f"C{COLORED.index(contender)}" if contender in COLORED else None
        axes.plot(ratios, rows, "o", label=contender, color=color)
    axes.axvline(1, color="black", linewidth=1)
    axes.set(xscale="log", xlim=axis, xlabel=f"time divided by that of {table.ours}")
    axes.xaxis.set_major_formatter("{x:g}")
    axes.set_yticks(range(len(table.rows)), [f"{row.name}   {row.ours}" for row in table.rows])
    axes.set_ylim(len(table.rows) - 0.5, -0.5)
    axes.grid(axis="x", alpha=0.4)
    figure.legend(loc="outside upper left", ncols=len(table.contenders))
    return figure


def write_section(name: str, times: Times, folder: Path) -> list[str]:
    """Write the plots of one benchmark, and return a section with its description and its plots."""
    description = ast.get_docstring(ast.parse((BENCHMARKS / f"{name}.py").read_text(encoding="utf-8"))) or ""
    plotted = tables(times)
    parts = [f"## {name.capitalize()}", "", description.partition("\n\n")[0], ""]
    for number, table in enumerate(plotted):
        file = folder / f"{name}-{number}.svg"
        draw(table, limits(plotted)).savefig(file)
        alt = f"{table.title}: time of each contender divided by that of {table.ours}"
        parts += [f"### {table.title}", "", f"![{alt}]({file.name})", ""]
    return parts


def write_plots(data: Path, folder: Path) -> None:
    """Write a page with a plot for every table that is kept in ``data``."""
    parts = ["# How fast it is", "", (data / "about.md").read_text(encoding="utf-8")]
    for path in sorted(data.glob("*.json"), key=lambda path: ORDER.index(path.stem)):
        parts += write_section(path.stem, read_times(path), folder)
    (folder / "index.md").write_text("\n".join(parts), encoding="utf-8")
