"""The tape as text and as a picture: what was recorded between the leaves and a result."""

from __future__ import annotations

from base64 import b64encode
from dataclasses import dataclass
from html import escape
from typing import Any

from pynested.backends.errors import ArgumentError

from .containers import flatten
from .graph import lines_before
from .rules.rule import PART
from .tape import Line, source_of

HEAD = ("#", "rule", "output", "from")
ROW, CHAR, PAD = 22, 7.3, 12  # height of a row, width of a character, space between columns; pixels
SHOWN = 200  # rows in a picture; of a longer tape the first and the last


@dataclass(frozen=True)
class Record:
    """One row of a tape: a leaf or a line, and the rows it came from (None for a constant)."""

    name: str
    rule: str
    output: str
    sources: tuple[int | None, ...]


class Tape:
    """What was recorded for some results, first to last: ``print`` it, or let a notebook draw it."""

    def __init__(self, records: list[Record]) -> None:
        self.records = records

    def __len__(self) -> int:
        return len(self.records)

    def cells(self, record: Record) -> tuple[str, str, str, str]:
        """The four columns of a row."""
        names = ["const" if source is None else self.records[source].name for source in record.sources]
        return record.name, record.rule, record.output, ", ".join(names)

    def __str__(self) -> str:
        table = [HEAD, *[self.cells(record) for record in self.records]]
        widths = [max(len(row[column]) for row in table) for column in range(3)]
        return "\n".join(
            f"{row[0]:>{widths[0]}}  {row[1]:<{widths[1]}}  {row[2]:<{widths[2]}}  {row[3]}".rstrip() for row in table
        )

    __repr__ = __str__

    def svg(self) -> str:
        """A picture: a row for each record, and an arc from every source to what was made of it."""
        chosen = list(range(len(self.records)))
        if len(chosen) > SHOWN:
            chosen = chosen[: SHOWN // 2] + chosen[-SHOWN // 2 :]
        place = {index: row for row, index in enumerate(chosen)}
        cells = [self.cells(self.records[index]) for index in chosen]
        widths = [max([len(row[column]) for row in [HEAD, *cells]]) * CHAR for column in range(4)]
        reach = max([_reach(place, self.records, index) for index in chosen], default=0)
        left = 12 + min(reach, 12) * 9
        starts = [left + sum(widths[:column]) + PAD * column for column in range(4)]
        body = [_text(starts, HEAD, 0, "head")]
        for row, index in enumerate(chosen):
            record = self.records[index]
            kind = "leaf" if record.rule == "leaf" else "line"
            body.append(_text(starts, cells[row], row + 1, kind))
            shown = sorted({place[source] for source in record.sources if source is not None and source in place})
            body += [_arc(left, source, row) for source in shown]
        if len(chosen) < len(self.records):
            body.append(
                _text(starts, ("", f"… {len(self.records) - len(chosen)} more", "", ""), SHOWN // 2 + 0.5, "more")
            )
        width, height = starts[3] + widths[3] + PAD, (len(chosen) + 1) * ROW + PAD
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{width:.0f}" height="{height:.0f}" '
            f'viewBox="0 0 {width:.0f} {height:.0f}" font-family="monospace" font-size="12">'
            "<style>.head{font-weight:bold}.leaf{fill:#0b7285}.line{fill:#212529}.more{fill:#868e96}</style>"
            f'<rect width="100%" height="100%" fill="#fff"/>{"".join(body)}</svg>'
        )

    def _repr_html_(self) -> str:
        picture = b64encode(self.svg().encode()).decode()
        return f'<img alt="tape of {len(self)} records" src="data:image/svg+xml;base64,{picture}">'


def tape(outputs: Any, **names: Any) -> Tape:
    """What was recorded for ``outputs``; ``names`` are arrays, or containers of them, that are to be called so.

    Examples
    --------
    >>> import pynested as pn
    >>> x, w = pn.array([1.0, 2.0], requires_grad=True), pn.array(3.0, requires_grad=True)
    >>> pn.tape((x * w).sum(), x=x, w=w)
    #  rule  output        from
    x  leaf  float64 (2,)
    w  leaf  float64 ()
    1  mul   float64 (2,)  x, w
    2  sum   float64 ()    1
    """
    if not flatten(outputs)[0]:
        raise ArgumentError(f"tape: outputs must be arrays or containers of them, not a {type(outputs).__name__}.")
    ends = [node for node in map(source_of, flatten(outputs)[0]) if node is not None]
    lines = sorted(lines_before(ends), key=lambda line: line.number)
    nodes = [source for line in lines for source in line.sources] + ends
    leaves = [node for node in dict.fromkeys(nodes) if node is not None and type(node) is not Line]
    called = _called(names)
    places = {node: place for place, node in enumerate([*leaves, *lines])}
    free = (f"x{number}" for number in range(len(leaves)))
    records = [Record(called.get(leaf) or next(free), "leaf", _described(leaf), ()) for leaf in leaves]
    for number, line in enumerate(lines, 1):
        sources = tuple(None if source is None else places[source] for source in line.sources)
        output = f"{line.parts} parts" if line.parts else _described(line)
        rule = f"part {line.static[0]}" if line.rule is PART else line.rule.name
        records.append(Record(called.get(line, str(number)), rule, output, sources))
    return Tape(records)


def _called(names: dict[str, Any]) -> dict[Any, str]:
    """The names by node; the arrays of a container get numbers."""
    called: dict[Any, str] = {}
    for name, value in names.items():
        arrays = flatten(value)[0]
        for i, array in enumerate(arrays):
            called[source_of(array)] = name if len(arrays) == 1 else f"{name}[{i}]"
    return called


def _described(node: Any) -> str:
    return f"{node.dtype} {node.shape}"


def _reach(place: dict[int, int], records: list[Record], index: int) -> int:
    """How many rows the longest arc into a row spans."""
    return max([place[index] - place[s] for s in records[index].sources if s is not None and s in place], default=0)


def _text(starts: list[float], cells: tuple[str, ...], row: float, kind: str) -> str:
    y = row * ROW + ROW * 0.7
    spans = "".join(f'<tspan x="{x:.0f}">{escape(cell)}</tspan>' for x, cell in zip(starts, cells, strict=True) if cell)
    return f'<text y="{y:.0f}" class="{kind}">{spans}</text>'


def _arc(left: float, source: int, target: int) -> str:
    top, bottom = (source + 1.5) * ROW, (target + 1.5) * ROW
    x, bulge = left - 6, min(target - source, 12) * 9
    return (
        f'<path d="M{x:.0f} {top:.0f}C{x - bulge:.0f} {top:.0f} {x - bulge:.0f} {bottom:.0f} {x:.0f} {bottom:.0f}" '
        'fill="none" stroke="#adb5bd"/>'
    )
