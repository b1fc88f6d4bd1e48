"""The picture of a strided array: its components as grids, and the table of their sizes, strides and offsets."""

from __future__ import annotations

from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elide import Gap, listing, more, with_gaps
from .memory import Component, Strided, choose_strided
from .palette import fill, line
from .strided_memory import draw_memory
from .strip import draw_elided, draw_nothing
from .svg import Sheet, text_width

Ints = NDArray[np.int64]

_CELL = 30
_LEFT, _TOP = 18, 60
_CELL_HEIGHT, _APART = 30, 34
_TABLE_LINE = 24
_BESIDE = 460  # components that end further right have their table beneath


def draw_strided(buffer: NDArray[Any], sizes: Ints, strides: Ints, offsets: Ints) -> Sheet:
    """Draw a strided array; ``buffer: (N,)``, ``sizes: (B, d)``, ``strides: (B, d)``, ``offsets: (B,)`` in elements."""
    array = choose_strided(buffer, sizes, strides, offsets, _CELL)
    sheet = Sheet(
        f"A strided array: {len(sizes)} components in one buffer of {len(buffer)} values; sizes "
        f"{'; '.join(_sizes(c) for c in array.shown.values()) or 'none'}; offsets {listing(offsets.tolist())}"
    )
    cell = array.cell(_CELL)
    sheet.heading(_LEFT, 24, "what you see")
    right, bottom = _draw_components(sheet, array, cell)
    if array.shown:
        table = (right + 30, _TOP) if right <= _BESIDE else (_LEFT, bottom + 30)
        bottom = max(bottom, _draw_table(sheet, array, *table))
    draw_memory(sheet, array, cell, _LEFT, bottom + 36)
    return sheet


def _draw_components(sheet: Sheet, array: Strided, cell: float) -> tuple[float, float]:
    """Draw the components side by side and return where they end, to the right and below."""
    x, bottom = float(_LEFT), float(_TOP + _CELL_HEIGHT)
    if not array.shown:
        sheet.text(x, _TOP + 17, "no components", size=11, anchor="start", sans=True, opacity=0.6)
    for row in array.rows:
        if isinstance(row, Gap):
            x += _draw_gap(sheet, x, row.size) + _APART
            continue
        for panel in row.panels():
            width, height = _draw_panel(sheet, array, row, panel, cell, x)
            x += width + _APART
            bottom = max(bottom, _TOP + height)
        hidden = prod(row.sizes[:-2]) - len(row.panels())
        if hidden and 0 not in row.sizes:
            x += _draw_gap(sheet, x, hidden) + _APART
    return x - _APART, bottom


def _draw_gap(sheet: Sheet, x: float, count: int) -> float:
    sheet.text(x, _TOP + 19, more(count), size=12, anchor="start", opacity=0.6)
    return text_width(more(count), 12)


def _draw_panel(
    sheet: Sheet, array: Strided, component: Component, panel: tuple[int, ...], cell: float, x: float
) -> tuple[float, float]:
    """Draw a component, or one matrix of a component of more dimensions, and return its width and height."""
    name = f"x[{', '.join(map(str, (component.number, *panel)))}]"
    sheet.text(x, _TOP - 8, name, size=12, anchor="start", bold=True, fill=line(component.number))
    right = x + text_width(name, 12)
    if 0 in component.sizes:
        draw_nothing(sheet, x, _TOP, _CELL_HEIGHT, line(component.number))
        return max(60.0, right - x), _CELL_HEIGHT
    *lead, columns = [with_gaps(shown, size) for shown, size in zip(component.shown, component.sizes, strict=True)] or [
        [0]
    ]
    rows = lead[len(panel)] if len(lead) > len(panel) else [None]
    for k, row in enumerate(rows):
        y = _TOP + k * (_CELL_HEIGHT + 2)
        if isinstance(row, Gap):
            sheet.text(x, y + 18, f"{more(row.size)} rows", size=11, anchor="start", sans=True, opacity=0.6)
            continue
        label = partial(_label, array, component, panel if row is None else (*panel, row))
        right = max(right, draw_elided(sheet, x, y, cell, _CELL_HEIGHT, columns, label, component.number))
    return right - x, len(rows) * (_CELL_HEIGHT + 2)


def _label(array: Strided, component: Component, lead: tuple[int, ...], column: int) -> tuple[str, str]:
    index = (*lead, column)[: len(component.sizes)]
    return array.label(component.position(index))


def _draw_table(sheet: Sheet, array: Strided, x: float, y: float) -> float:
    """Draw the structure, one component a line, and return where the table ends."""
    entries = [_entries(component) for component in array.shown.values()]
    columns = list(zip(("", "sizes", "strides", "offset", "contiguous"), *entries, strict=True))
    lefts = [x + 22]
    for column in columns:
        lefts.append(lefts[-1] + max(text_width(text, 12) for text in column) + 26)
    for (heading, *_), left in zip(columns[1:], lefts[1:], strict=False):
        sheet.text(left, y - 8, heading, size=11, anchor="start", sans=True, opacity=0.6)
    sheet.path(f"M{x:g} {y:g}H{lefts[-1] - 26:g}", opacity=0.2, width=1)
    for k, row in enumerate(array.rows):
        baseline = y + 20 + k * _TABLE_LINE
        if isinstance(row, Gap):
            sheet.text(x + 22, baseline, more(row.size), size=12, anchor="start", opacity=0.6)
            continue
        sheet.rect(x, baseline - 11, 14, 14, fill(row.number), round=3)
        for entry, left in zip(_entries(row), lefts, strict=False):
            sheet.text(left, baseline, entry, size=12, anchor="start", bold=left == lefts[0])
    return y + 20 + len(array.rows) * _TABLE_LINE


def _entries(component: Component) -> tuple[str, ...]:
    contiguous = "yes" if component.contiguous else "no"
    return f"x[{component.number}]", _sizes(component), str(component.strides), str(component.offset), contiguous


def _sizes(component: Component) -> str:
    return " × ".join(map(str, component.sizes)) or "()"
