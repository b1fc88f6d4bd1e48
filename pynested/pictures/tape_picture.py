"""The picture of a tape: a row for each leaf and each node, and a rail from what was read to all that read it."""

from __future__ import annotations

from pynested.autograd.tape_text import HEAD, Tape

from .cells import TABLE_LINE, draw_table
from .svg import Sheet, assign_lanes, line_color
from .truncation import with_gaps

_RAIL = 16  # pixels between rails
_TOP, _LEFT = 26, 22
_SHOWN = 60  # rows; of a longer tape the first and the last


def draw_tape(tape: Tape, name: str = "tape") -> Sheet:
    """Draw a tape from the leaves down to the results; a rail has the colour of what it leads away from."""
    count = len(tape)
    leaves = sum(record.is_leaf for record in tape.records)
    sheet = Sheet(f"The {name}: {count} records, from {leaves} leaves to the results")
    shown = range(count)
    rows = with_gaps(shown if count <= _SHOWN + 1 else [*shown[: _SHOWN // 2], *shown[-_SHOWN // 2 :]], count)
    row_of = {record: k for k, record in enumerate(rows) if isinstance(record, int)}
    rails = _rails(tape, row_of)
    _draw_rails(sheet, tape, row_of, rails)
    left = _LEFT + (max(rails.values(), default=0) + 1) * _RAIL + 10
    draw_table(sheet, left, _TOP, HEAD, rows, {record: tape.records[record][:4] for record in row_of})
    if not rows:
        sheet.note(left, _TOP + 20, "nothing was recorded")
    return sheet


def _sources(tape: Tape, record: int, row_of: dict[int, int]) -> list[int]:
    """Return the sources of a record that are drawn."""
    return list(dict.fromkeys(s for s in tape.records[record].sources if s is not None and s in row_of))


def _rails(tape: Tape, row_of: dict[int, int]) -> dict[int, int]:
    """Give each record a rail from its row to the last row that reads it; a rail is used again where it has ended."""
    last = dict.fromkeys(row_of, 0)
    for record, row in row_of.items():
        for source in (record, *_sources(tape, record, row_of)):
            last[source] = max(last[source], row)
    spans = [(row, max(last[record], row + 1)) for record, row in row_of.items()]
    return dict(zip(row_of, assign_lanes(spans, apart=0), strict=True))


def _draw_rails(sheet: Sheet, tape: Tape, row_of: dict[int, int], rails: dict[int, int]) -> None:
    places = {record: (_LEFT + rails[record] * _RAIL, _TOP + 16 + row * TABLE_LINE) for record, row in row_of.items()}
    for record, (x, y) in places.items():
        for source in _sources(tape, record, row_of):
            from_x, from_y = places[source]
            bend = f"C{from_x:g} {y - 6:g} {x:g} {y - 14:g} {x:g} {y - 5:g}"
            path = f"M{from_x:g} {from_y:g}V{max(y - TABLE_LINE, from_y):g}{bend}"
            sheet.path(path, stroke=line_color(source), width=1.6)
    for record, (x, y) in places.items():
        is_leaf = tape.records[record].is_leaf
        sheet.rect(x - 4.5, y - 4.5, 9, 9, line_color(record), round=1.5 if is_leaf else 4.5)
