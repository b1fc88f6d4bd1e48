"""The picture of a jagged array: its components, and the offsets that cut one run of values into them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elide import Gap, listing, more, with_gaps
from .jagged_memory import CAPTION, draw_memory
from .memory import PAGE, Jagged, choose_jagged
from .palette import line
from .strip import draw_elided, draw_nothing
from .svg import Sheet, text_width

Ints = NDArray[np.int64]

_CELL = 44
_TOP = 40
_LEFT = 18
_ROW, _LINE = 26, 31


def draw_jagged(values: Any, offsets: Ints, lengths: Ints | None = None, name: str = "x") -> Sheet:
    """Draw a jagged array; ``values: (N, ...)`` with the ragged dimension first, ``offsets: (B + 1,)``.

    Where `lengths: (B,)` are given they may leave holes, and the last offset says nothing.
    """
    array = choose_jagged(values, offsets, lengths, _CELL, name, PAGE - CAPTION)
    sheet = Sheet(
        f"A jagged array: {len(array.starts)} components of lengths {listing(array.lengths.tolist()) or 'none'} "
        f"in one buffer of {len(values)} values; offsets {listing(offsets.tolist())}"
    )
    right, bottom = _draw_components(sheet, array), _TOP + len(array.rows) * _LINE
    x, y = right + 66, float(_TOP)
    if x + CAPTION + array.width <= PAGE:
        sheet.path(f"M{right + 32:g} 16V{max(bottom, _TOP + 158):g}", opacity=0.3, width=1)
    else:
        x, y = _LEFT, max(bottom, _TOP + _ROW) + 44
    sheet.heading(x, y - 16, "what is in memory")
    draw_memory(sheet, array, x, y + 2)
    return sheet


def _draw_components(sheet: Sheet, array: Jagged) -> float:
    """Draw the left half, one component a line, and return where it ends."""
    sheet.heading(_LEFT, 24, "what you see")
    if not array.rows:
        sheet.text(_LEFT, _TOP + 17, "no components", size=11, anchor="start", sans=True, opacity=0.9)
    x = _LEFT + text_width(array.called(max(array.shown, default=0)), 12) + 10
    right = x + 60
    for k, row in enumerate(array.rows):
        y = _TOP + k * _LINE
        if isinstance(row, Gap):
            sheet.text(x, y + 17, more(row.size, "component"), size=11, anchor="start", sans=True, opacity=0.9)
            right = max(right, x + 110)
            continue
        sheet.text(_LEFT, y + 17.5, array.called(row), size=12, anchor="start", bold=True, fill=line(row))
        right = max(right, _draw_component(sheet, array, row, x, y))
    return right


def _draw_component(sheet: Sheet, array: Jagged, component: int, x: float, y: float) -> float:
    start, length = int(array.starts[component]), int(array.lengths[component])
    if not length:
        draw_nothing(sheet, x, y, _ROW, line(component))
        return x + 60
    items = with_gaps(array.shown[component], length)
    return draw_elided(sheet, x, y, array.cell, _ROW, items, lambda k: array.label(start + k), component)
