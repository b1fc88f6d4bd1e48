"""What benchmarks print, read back as tables of ratios: how many times as long a contender takes as pynested."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

NAME, TIME, CELL = 20, 10, 14  # characters of the columns that operators.py and attention.py print
NAMED = 24  # and of the first that autograd.py prints
_TIMED = re.compile(r"(?P<time>[\d.]+ us) +(?P<ratio>[\d.]+)x|-(?!\S)")
_COMPILED = re.compile(
    r"(?P<name>\S.*?)(?:, (?P<passes>forward(?: and backward)?))? +[\d,]+ µs +(?P<time>[\d,]+ µs) compiled +"
    r"(?P<ratio>[\d.]+) times"
)


class Row(NamedTuple):
    """A line of a table: what is measured, our time as it is printed, and the ratio of each contender that has it."""

    name: str
    ours: str
    ratios: dict[str, float]


class Table(NamedTuple):
    """One table of a benchmark."""

    title: str
    contenders: list[str]
    rows: list[Row]
    ours: str = "pynested"  # what all ratios are to


def tables(text: str) -> Iterator[Table]:
    """The tables in what a benchmark printed; none where it printed no ratios."""
    for block in text.split("\n\n"):
        lines = block.strip("\n").splitlines()
        if len(lines) > 1 and re.match(rf" {{{NAME}}} +pynested", lines[1]):
            yield _ratios(lines)
        elif len(lines) > 1 and re.match(rf" {{{NAMED}}} +NumPy by hand", lines[1]):
            yield _times(lines)
    found = [match for match in map(_COMPILED.match, text.splitlines()) if match]
    if found:
        yield _compiled(found)


def _ratios(lines: list[str]) -> Table:
    """A column of our times, and the ratios of the others to them: operators.py, attention.py."""

    def cells(text: str) -> list[str]:
        return [text[start : start + CELL].strip() for start in range(NAME + TIME, len(text), CELL)]

    contenders = cells(lines[1])
    rows = []
    for line in lines[2:]:
        ratios = {one: float(cell) for one, cell in zip(contenders, cells(line), strict=True) if cell != "-"}
        rows.append(Row(line[:NAME].strip(), line[NAME : NAME + TIME].strip(), ratios))
    return Table(lines[0], contenders, [row for row in rows if row.ratios])


def _times(lines: list[str]) -> Table:
    """A column for each contender, with its time and its ratio to NumPy: autograd.py."""
    names = re.split(" {2,}", lines[1].strip())
    rows = []
    for line in lines[2:]:
        found = dict(zip(names, _TIMED.finditer(line[NAMED:]), strict=True))
        ours = found.pop("pynested")
        ratios = {name: float(one["ratio"]) / float(ours["ratio"]) for name, one in found.items() if one["ratio"]}
        rows.append(Row(line[:NAMED].strip(), ours["time"].replace("us", "µs"), ratios))
    return Table(lines[0], [name for name in names if name != "pynested"], rows)


def _compiled(found: list[re.Match[str]]) -> Table:
    """A line for each function and pass, the function itself beside what compile makes of it: compiled.py."""
    rows: dict[str, Row] = {}
    for match in found:
        row = rows.setdefault(match["name"], Row(match["name"], match["time"], {}))
        row.ratios[match["passes"] or "forward"] = float(match["ratio"])
    title = "Functions beside what `pn.compile` makes of them"
    return Table(title, ["forward", "forward and backward"], [*rows.values()], "compiled")
