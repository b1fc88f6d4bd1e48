"""The picture of a jagged array: its components, and the lengths and offsets that cut one buffer into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import LINE, ROW, Cell, draw_cells, draw_components
from .drawn_buffer import DrawnBuffer, Strip, fit_buffer
from .svg import PAGE, Sheet, assign_lanes, captioned_span, line_color, text_width
from .truncation import Gap, listing

Ints = NDArray[np.int64]

# Components, and elements of each, from generous to frugal.
_LEVELS = ((12, 24), (12, 4), (7, 6), (7, 4), (5, 3), (5, 2), (3, 2), (2, 2), (1, 2))
_CELL, _LEFT, _TOP = 44, 18, 40
_CAPTION = 62  # width of the captions of the right half
_ENTRY, _ENTRY_HEIGHT = 36, 26  # of lengths and offsets
_CELL_HEIGHT, _ARROW_ROOM = 32, 58
_APART = 15  # between arrows that end at the same boundary
_LANE = 32  # height of a bracket with its name


class _Jagged:
    """A jagged array: its buffer, the part that is drawn, and the integers beside it."""

    def __init__(self, values: Any, offsets: Ints, lengths: Ints | None, name: str) -> None:
        self.name = name
        self.end = int(offsets[-1]) if lengths is None else None  # the last offset, if it closes the last component
        self.lengths = np.diff(offsets) if lengths is None else lengths
        self.starts = offsets[: len(self.lengths)]
        sizes = self.lengths.reshape(-1, 1)
        room = PAGE - _CAPTION
        self.buffer: DrawnBuffer = fit_buffer(values, sizes, np.ones_like(sizes), self.starts, _LEVELS, _CELL, room)

    def called(self, component: int) -> str:
        """Return the name of a component."""
        return f"{self.name}[{component}]"

    def entries(self, numbers: Ints) -> list[Cell]:
        """Return a cell for the number of each component."""
        return [
            Cell("⋯", _ENTRY) if isinstance(row, Gap) else Cell(str(numbers[row]), _ENTRY, color=line_color(row))
            for row in self.buffer.rows
        ]


def draw_jagged(values: Any, offsets: Ints, lengths: Ints | None = None, name: str = "x") -> Sheet:
    """Draw a jagged array; ``values: (N, ...)`` with the ragged dimension first, ``offsets: (B + 1,)``.

    With ``lengths: (B,)`` there can be gaps, and the last offset is not used.
    """
    array = _Jagged(values, offsets, lengths, name)
    buffer = array.buffer
    sheet = Sheet(
        f"A jagged array: {len(array.starts)} components of lengths {listing(array.lengths.tolist()) or 'none'} "
        f"in one buffer of {len(values)} values; offsets {listing(offsets.tolist())}"
    )
    sheet.heading(_LEFT, 24, "what you see")
    x = _LEFT + text_width(array.called(max(buffer.shown, default=0)), 12) + 10
    cells = {x: lambda i: buffer.row(buffer.shown[i])}
    draw_components(sheet, _LEFT, _TOP, buffer.rows, array.called, cells)
    bottom = _TOP + len(buffer.rows) * LINE
    x, y = sheet.width + 62, float(_TOP)
    if buffer.fits(PAGE - _CAPTION - x):
        sheet.path(f"M{x - 34:g} 16V{max(bottom, _TOP + 158):g}", opacity=0.3, width=1)
    else:
        x, y = _LEFT, max(bottom, _TOP + ROW) + 44
    sheet.heading(x, y - 16, "what is in memory")
    _draw_memory(sheet, array, x, y + 2)
    return sheet


def _draw_memory(sheet: Sheet, array: _Jagged, x: float, y: float) -> None:
    """Draw the right half, its upper left corner at (x, y)."""
    strip, offsets = Strip(array.buffer, x + _CAPTION), array.entries(array.starts)
    if array.end is not None:  # the last offset is an end, not a start, so it is grey
        offsets.append(Cell(str(array.end), _ENTRY, color="currentColor"))
    left = max(x + _CAPTION, (x + _CAPTION + strip.right - len(offsets) * _ENTRY) / 2)
    lengths = {"lengths": array.entries(array.lengths)} if array.end is None else {}
    for name, cells in {**lengths, "offsets": offsets}.items():
        _draw_caption(sheet, x, y + _ENTRY_HEIGHT / 2, name)
        draw_cells(sheet, left, y, _ENTRY_HEIGHT, cells)
        y += _ENTRY_HEIGHT + 8
    top = y - 8 + _ARROW_ROOM
    _draw_arrows(sheet, array, strip, left, y - 5, top - 7)
    _draw_caption(sheet, x, top + _CELL_HEIGHT / 2, "values")
    strip.draw(sheet, top, _CELL_HEIGHT)
    _draw_brackets(sheet, array, strip, top)


def _draw_caption(sheet: Sheet, x: float, middle: float, text: str) -> None:
    sheet.text(x, middle + 4.5, text, size=12, anchor="start", sans=True)


def _draw_arrows(sheet: Sheet, array: _Jagged, strip: Strip, left: float, y: float, tip: float) -> None:
    """Draw an arrow from each offset to the boundary it names; several to one boundary stand side by side."""
    offsets = [
        (k, array.starts[row], line_color(row)) for k, row in enumerate(array.buffer.rows) if isinstance(row, int)
    ]
    if array.end is not None:
        offsets.append((len(array.buffer.rows), array.end, "currentColor"))
    for entry, offset, color in offsets:
        is_end = color == "currentColor"
        together = [other for other, other_offset, _ in offsets if other_offset == offset]
        x = left + (entry + 0.5) * _ENTRY
        to = strip.left_of(offset) + (together.index(entry) - (len(together) - 1) / 2) * _APART
        middle = (y + tip) / 2
        curve = f"M{x:g} {y:g}C{x:g} {middle + 6:g} {to:g} {middle - 6:g} {to:g} {tip:g}"
        sheet.path(curve, stroke=color, width=1.6, opacity=0.75 if is_end else 1, dash="3 3" if is_end else "")
        sheet.head(to, tip, stroke=color, opacity=0.75 if is_end else 1)


def _draw_brackets(sheet: Sheet, array: _Jagged, strip: Strip, top: float) -> None:
    """Draw the name of each component under its cells: below a bracket or, if it is empty, below a dashed line."""
    marks = []
    for i in array.buffer.shown:
        left, right = (strip.left_of(array.starts[i] + length) for length in (0, array.lengths[i]))
        text = array.called(i) if array.lengths[i] else f"{array.called(i)} empty"
        marks.append((i, left, right, text))
    lanes = assign_lanes([captioned_span(left + 4, right - 4, text, 11) for _, left, right, text in marks])
    for lane, (i, left, right, text) in sorted(zip(lanes, marks, strict=True)):
        color, y = line_color(i), top + _CELL_HEIGHT + 20 + lane * _LANE
        if left < right:
            sheet.path(f"M{left + 4:g} {y:g}v5H{right - 4:g}v-5", stroke=color)
        else:
            crosses = any(box.left < left < box.right and top < box.top < y for box in sheet.boxes)
            end = top + _CELL_HEIGHT + 6 if crosses else y + 8
            sheet.path(f"M{left:g} {top - 3:g}V{end:g}", stroke=color, width=1.5, dash="2.5 3")
        sheet.text((left + right) / 2, y + 19, text, size=11, bold=True, fill=color)
