"""The picture of a jagged array: its components, and the lengths and offsets that cut one buffer into them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .cells import draw_items, draw_nothing
from .drawn_buffer import DrawnBuffer, Strip, fit_buffer
from .svg import PAGE, Sheet, assign_lanes, line_color, text_width
from .truncation import Gap, hidden_count, listing

Ints = NDArray[np.int64]

# Components, and elements of each, from generous to frugal.
_LEVELS = ((12, 24), (12, 4), (7, 6), (7, 4), (5, 3), (5, 2), (3, 2), (2, 2), (1, 2))
_CELL, _LEFT, _TOP = 44, 18, 40
_ROW, _LINE = 26, 31  # height of a component, and of a line
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
        self.shown = list(self.buffer.shown)

    def called(self, component: int) -> str:
        """Return the name of a component."""
        return f"{self.name}[{component}]"


def draw_jagged(values: Any, offsets: Ints, lengths: Ints | None = None, name: str = "x") -> Sheet:
    """Draw a jagged array; ``values: (N, ...)`` with the ragged dimension first, ``offsets: (B + 1,)``.

    With ``lengths: (B,)`` there can be gaps, and the last offset says nothing.
    """
    array = _Jagged(values, offsets, lengths, name)
    sheet = Sheet(
        f"A jagged array: {len(array.starts)} components of lengths {listing(array.lengths.tolist()) or 'none'} "
        f"in one buffer of {len(values)} values; offsets {listing(offsets.tolist())}"
    )
    right, bottom = _draw_components(sheet, array), _TOP + len(array.buffer.rows) * _LINE
    x, y = right + 66, float(_TOP)
    if x + _CAPTION + array.buffer.width <= PAGE:
        sheet.path(f"M{right + 32:g} 16V{max(bottom, _TOP + 158):g}", opacity=0.3, width=1)
    else:
        x, y = _LEFT, max(bottom, _TOP + _ROW) + 44
    sheet.heading(x, y - 16, "what is in memory")
    _draw_memory(sheet, array, x, y + 2)
    return sheet


def _draw_components(sheet: Sheet, array: _Jagged) -> float:
    """Draw the left half, one component a line, and return where it ends."""
    sheet.heading(_LEFT, 24, "what you see")
    if not array.shown:
        sheet.note(_LEFT, _TOP + 17, "no components")
    x = _LEFT + text_width(array.called(max(array.shown, default=0)), 12) + 10
    right = x + 60
    for k, row in enumerate(array.buffer.rows):
        y = _TOP + k * _LINE
        if isinstance(row, Gap):
            sheet.note(x, y + 17, hidden_count(row.size, "component"))
            right = max(right, x + 110)
            continue
        sheet.text(_LEFT, y + 17.5, array.called(row), size=12, anchor="start", bold=True, fill=line_color(row))
        component = array.buffer.shown[row]
        if not component.sizes[0]:
            draw_nothing(sheet, x, y, _ROW, line_color(row))
            continue
        end = draw_items(
            sheet, x, y, _ROW, component.items[0], array.buffer.reader(component), array.buffer.format, row
        )
        right = max(right, end)
    return right


def _draw_memory(sheet: Sheet, array: _Jagged, x: float, y: float) -> None:
    """Draw the right half, its upper left corner at (x, y)."""
    strip = Strip(array.buffer, x + _CAPTION)
    entries = len(array.buffer.rows) + (array.end is not None)
    left = max(x + _CAPTION, (x + _CAPTION + strip.right - entries * _ENTRY) / 2)
    if array.end is None:
        _draw_entries(sheet, array, x, left, y, "lengths", array.lengths.item)
        y += _ENTRY_HEIGHT + 8
    _draw_entries(sheet, array, x, left, y, "offsets", array.starts.item)
    top = y + _ENTRY_HEIGHT + _ARROW_ROOM
    _draw_arrows(sheet, array, strip, left, y + _ENTRY_HEIGHT + 3, top - 7)
    sheet.text(x, top + _CELL_HEIGHT / 2 + 4.5, "values", size=12, anchor="start", sans=True)
    strip.draw(sheet, top, _CELL_HEIGHT)
    _draw_brackets(sheet, array, strip, top)


def _draw_entries(
    sheet: Sheet, array: _Jagged, x: float, left: float, y: float, name: str, entry: Callable[[int], int]
) -> None:
    """Draw one integer a component; the last offset ends and does not start, so it is grey."""
    entries = [
        ("⋯", "currentColor") if isinstance(row, Gap) else (str(entry(row)), line_color(row))
        for row in array.buffer.rows
    ]
    if name == "offsets" and array.end is not None:
        entries.append((str(array.end), "currentColor"))
    sheet.text(x, y + _ENTRY_HEIGHT / 2 + 4.5, name, size=12, anchor="start", sans=True)
    sheet.rect(left, y, max(len(entries), 1) * _ENTRY, _ENTRY_HEIGHT, "currentColor", round=5, opacity="0.15")
    for k, (text, color) in enumerate(entries):
        if k:
            sheet.path(f"M{left + k * _ENTRY:g} {y + 4:g}v{_ENTRY_HEIGHT - 8}", opacity=0.25, width=1)
        size = round(min(13.0, 13 * (_ENTRY - 4) / text_width(text, 13)), 1)
        centre = left + (k + 0.5) * _ENTRY
        sheet.text(centre, y + _ENTRY_HEIGHT / 2 + 4.6, text, size=size, bold=text != "⋯", fill=color)


def _draw_arrows(sheet: Sheet, array: _Jagged, strip: Strip, left: float, y: float, tip: float) -> None:
    """Draw an arrow from each offset to the boundary it names; several to one boundary stand side by side."""
    arrows = [  # number of the entry, offset, colour
        (k, int(array.starts[row]), line_color(row))
        for k, row in enumerate(array.buffer.rows)
        if not isinstance(row, Gap)
    ]
    if array.end is not None:
        arrows.append((len(array.buffer.rows), array.end, "currentColor"))
    for entry, offset, color in arrows:
        together = [other for other, other_offset, _ in arrows if other_offset == offset]
        x = left + (entry + 0.5) * _ENTRY
        to = strip.left_of(offset) + (together.index(entry) - (len(together) - 1) / 2) * _APART
        middle = (y + tip) / 2
        is_end = color == "currentColor"
        curve = f"M{x:g} {y:g}C{x:g} {middle + 6:g} {to:g} {middle - 6:g} {to:g} {tip:g}"
        sheet.path(curve, stroke=color, width=1.6, opacity=0.75 if is_end else 1, dash="3 3" if is_end else "")
        sheet.head(to, tip, stroke=color, opacity=0.75 if is_end else 1)


def _draw_brackets(sheet: Sheet, array: _Jagged, strip: Strip, top: float) -> None:
    """Draw a bracket with the name under the cells of every component; empty ones are seams, named below the others."""
    y = top + _CELL_HEIGHT + 20
    full = [i for i in array.shown if array.lengths[i]]
    spans = []
    for i in full:
        start, stop = int(array.starts[i]), int(array.starts[i] + array.lengths[i])
        spans.append((strip.left_of(start) + 4, strip.left_of(stop) - 4))
    halves = [text_width(array.called(i), 11) / 2 for i in full]
    around = [
        (min(a, (a + b) / 2 - half), max(b, (a + b) / 2 + half))
        for (a, b), half in zip(spans, halves, strict=True)
    ]  # fmt: skip
    lanes = assign_lanes(around)
    for i, (a, b), lane in zip(full, spans, lanes, strict=True):
        sheet.path(f"M{a:g} {y + lane * _LANE:g}v5H{b:g}v-5", stroke=line_color(i))
        sheet.text((a + b) / 2, y + lane * _LANE + 19, array.called(i), size=11, bold=True, fill=line_color(i))
    _draw_seams(sheet, array, strip, top - 3, y + (max(lanes, default=-1) + 1) * _LANE)


def _draw_seams(sheet: Sheet, array: _Jagged, strip: Strip, top: float, y: float) -> None:
    """Draw a dashed line where empty components lie; it ends early if it would cross a text."""
    seams: dict[int, list[int]] = {}
    for i in array.shown:
        if not array.lengths[i]:
            seams.setdefault(int(array.starts[i]), []).append(i)
    captions = [(strip.left_of(at), f"{', '.join(map(array.called, empty))} empty") for at, empty in seams.items()]
    lanes = assign_lanes([(x - text_width(text, 11) / 2, x + text_width(text, 11) / 2) for x, text in captions])
    for empty, (x, text), lane in zip(seams.values(), captions, lanes, strict=True):
        color, below = line_color(empty[0]), y + lane * 16 - 4
        crosses = any(box.left < x < box.right and top < box.top < below for box in sheet.boxes)
        end = top + _CELL_HEIGHT + 6 if crosses else below
        sheet.path(f"M{x:g} {top:g}V{end:g}", stroke=color, width=1.5, dash="2.5 3")
        sheet.text(x, y + lane * 16 + 8, text, size=11, bold=True, fill=color)
