"""The picture of a tape: a row for each leaf and each node, and a rail from what was read to all that read it."""

from __future__ import annotations

from pynested.autograd.tape_text import HEAD, Tape

from .svg import Sheet, assign_lanes, line_color, text_width
from .truncation import Gap, hidden_count, visible_indices, with_gaps

_ROW, _RAIL = 24, 16  # pixels between rows and between rails
_TOP, _LEFT, _APART = 30, 22, 22
_SHOWN = 60  # rows; of a longer tape the first and the last
_SIZE = 12


def draw_tape(tape: Tape, name: str = "tape") -> Sheet:
    """Draw a tape from the leaves down to the results; a rail has the colour of what it leads away from."""
    chosen = visible_indices(len(tape), _SHOWN // 2)[:-1]
    chosen = [*chosen, *range(max(len(tape) - _SHOWN // 2, len(chosen)), len(tape))]
    sheet = Sheet(f"The {name}: {len(tape)} records, from {_leaves(tape)} leaves to the results")
    rows = with_gaps(chosen, len(tape))
    row_of = {record: k for k, record in enumerate(rows) if isinstance(record, int)}
    rails = _rails(tape, row_of)
    right = _LEFT + (max(rails.values(), default=0) + 1) * _RAIL + 10
    _draw_rails(sheet, tape, row_of, rails)
    _draw_text(sheet, tape, rows, right)
    return sheet


def _leaves(tape: Tape) -> int:
    return sum(record.is_leaf for record in tape.records)


def _sources(tape: Tape, record: int, row_of: dict[int, int]) -> list[int]:
    """Return what a record was made of, as far as it is drawn."""
    return list(dict.fromkeys(s for s in tape.records[record].sources if s is not None and s in row_of))


def _rails(tape: Tape, row_of: dict[int, int]) -> dict[int, int]:
    """Give each record a rail from its row to the last that reads it; a rail is used again where it has ended."""
    last = dict.fromkeys(row_of, 0)
    for record, row in row_of.items():
        for source in (record, *_sources(tape, record, row_of)):
            last[source] = max(last[source], row)
    spans = [(row, max(last[record], row + 1)) for record, row in row_of.items()]
    return dict(zip(row_of, assign_lanes(spans, apart=0), strict=True))


def _draw_rails(sheet: Sheet, tape: Tape, row_of: dict[int, int], rails: dict[int, int]) -> None:
    for record, row in row_of.items():
        x, y = _place(rails[record], row)
        for source in _sources(tape, record, row_of):
            from_x, from_y = _place(rails[source], row_of[source])
            bend = f"C{from_x:g} {y - 6:g} {x:g} {y - 14:g} {x:g} {y - 5:g}"
            sheet.path(f"M{from_x:g} {from_y:g}V{max(y - _ROW, from_y):g}{bend}", stroke=line_color(source), width=1.6)
    for record, row in row_of.items():
        x, y = _place(rails[record], row)
        leaf = tape.records[record].is_leaf
        sheet.rect(x - 4.5, y - 4.5, 9, 9, line_color(record), round=1.5 if leaf else 4.5)


def _place(rail: int, row: int) -> tuple[float, float]:
    return _LEFT + rail * _RAIL, _TOP + (row + 0.5) * _ROW


def _draw_text(sheet: Sheet, tape: Tape, rows: list[int | Gap], x: float) -> None:
    cells = {row: tape.cells(tape.records[row]) for row in rows if isinstance(row, int)}
    table = [HEAD, *cells.values()]
    lefts = [x]
    for column in range(3):
        lefts.append(lefts[-1] + max(text_width(row[column], _SIZE) for row in table) + _APART)
    for text, left in zip(HEAD, lefts, strict=True):
        sheet.note(left, 20, text)
    for k, row in enumerate(rows):
        baseline = _TOP + (k + 0.5) * _ROW + 4
        if isinstance(row, Gap):
            sheet.text(lefts[1], baseline, hidden_count(row.size), size=_SIZE, anchor="start", opacity=0.9)
            continue
        for column, (text, left) in enumerate(zip(cells[row], lefts, strict=True)):
            color = line_color(row) if column == 0 else "currentColor"
            if text:
                sheet.text(left, baseline, text, size=_SIZE, anchor="start", bold=column == 0, fill=color)
    if not rows:
        sheet.note(lefts[0], _TOP + 16, "nothing was recorded")
