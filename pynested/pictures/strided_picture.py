"""The picture of a strided or a dense array: its components as matrices, their structure, and the buffer beneath.

In the buffer an arc shows the step along each dimension, and an arrow the start of each component.
"""

from __future__ import annotations

from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends import get_backend

from .cells import draw_items, draw_nothing
from .drawn_buffer import Component, DrawnBuffer, Strip, fit_buffer
from .svg import PAGE, Sheet, assign_lanes, fill_color, line_color, text_width
from .truncation import Gap, hidden_count, listing

Ints = NDArray[np.int64]

# Components, matrices of a component of more than two dimensions, rows and columns of a matrix.
_LEVELS = (
    (12, 6, 8, 12), (7, 3, 4, 6), (5, 2, 3, 4), (3, 2, 3, 3), (3, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2), (1, 2, 2, 2),
    (1, 1, 2, 2), (1, 1, 1, 2),
)  # fmt: skip
_CELL, _LEFT, _TOP = 30, 18, 60
_ROW, _APART = 30, 34  # height of a row, and room between matrices
_TABLE_LINE = 24
_BESIDE = 460  # components that end further right have their table beneath
_CAPTION, _START = 13, 18  # heights of a caption above the arcs, and of one below the strip


class _Panel(NamedTuple):
    """A matrix: a component, or a matrix of a component of more than two dimensions."""

    component: Component
    lead: tuple[int, ...]


class _Drawing(NamedTuple):
    """A sheet, the buffer that is drawn on it, and the name of the array."""

    sheet: Sheet
    buffer: DrawnBuffer
    name: str
    is_dense: bool

    def called(self, component: int, lead: tuple[int, ...] = ()) -> str:
        """Return the name of a component or of one of its matrices; a dense array is no component of another."""
        index = lead if self.is_dense else (component, *lead)
        return f"{self.name}[{', '.join(map(str, index))}]" if index else self.name


def draw_strided(buffer: Any, sizes: Ints, strides: Ints, offsets: Ints, name: str = "x") -> Sheet:
    """Draw a strided array; ``buffer: (N,)``, ``sizes: (B, d)``, ``strides: (B, d)``, ``offsets: (B,)`` in elements."""
    drawn = fit_buffer(buffer, sizes, strides, offsets, _LEVELS, _CELL, PAGE)
    texts = "; ".join(_sizes(component) for component in drawn.shown.values()) or "none"
    sheet = Sheet(
        f"A strided array: {len(sizes)} components in one buffer of {len(buffer)} values; sizes {texts}; "
        f"offsets {listing(offsets.tolist())}"
    )
    return _draw(_Drawing(sheet, drawn, name, is_dense=False))


def draw_dense(array: Array, name: str = "x") -> Sheet:
    """Draw a dense array: its matrices, and the stretch of memory that they are read from."""
    data = array.data
    strides = tuple(step // data.itemsize for step in data.strides)
    steps = [(size - 1) * step for size, step in zip(data.shape, strides, strict=True)]
    start = -sum(min(step, 0) for step in steps) if data.size else 0
    buffer = _memory_of(array, 1 + sum(map(abs, steps))) if data.size else data.reshape(-1)
    sizes, steps_of_one = (np.array([row], np.int64).reshape(1, data.ndim) for row in (data.shape, strides))
    drawn = fit_buffer(buffer, sizes, steps_of_one, np.array([start]), _LEVELS, _CELL, PAGE)
    sheet = Sheet(f"A dense array: shape {data.shape}, strides {strides}, in {len(buffer)} values of memory")
    return _draw(_Drawing(sheet, drawn, name, is_dense=True))


def _memory_of(array: Array, size: int) -> Any:
    """Return the memory from the lowest to the highest element, as one row."""
    data = array.data
    lowest = data[tuple(slice(0, 1) if step >= 0 else slice(-1, None) for step in data.strides)]
    as_strided = get_backend(array.device).xp.lib.stride_tricks.as_strided
    return as_strided(lowest, (size,), (data.itemsize,))


def _draw(drawing: _Drawing) -> Sheet:
    sheet = drawing.sheet
    sheet.heading(_LEFT, 24, "what you see")
    right, bottom = _draw_components(drawing)
    if drawing.buffer.shown and not drawing.is_dense:
        table = (right + 30, _TOP) if right <= _BESIDE else (_LEFT, bottom + 30)
        bottom = max(bottom, _draw_table(drawing, *table))
    y = bottom + 36
    sheet.heading(_LEFT, y, "what is in memory")
    strip = Strip(drawing.buffer, _LEFT)
    top = y + 16 + _draw_arcs(sheet, _arcs(drawing, strip), y + 16)
    strip.draw(sheet, top, _ROW)
    _draw_starts(drawing, strip, top + _ROW + 22)
    return sheet


# ---- components


def _draw_components(drawing: _Drawing) -> tuple[float, float]:
    """Draw the matrices side by side, in lines that fit the page, and return where they end, right and below."""
    if not drawing.buffer.shown:
        drawing.sheet.note(_LEFT, _TOP + 17, "no components")
    x, y, right, bottom = float(_LEFT), float(_TOP), 0.0, float(_TOP + _ROW)
    for item in _panels(drawing.buffer):
        width = _panel_width(drawing, item)
        if x > _LEFT and x + width > PAGE:
            x, y = _LEFT, bottom + _TOP - 24
        bottom = max(bottom, y + _draw_panel(drawing, item, x, y))
        right = max(right, x + width)
        x += width + _APART
    return right, bottom


def _panels(buffer: DrawnBuffer) -> list[_Panel | Gap]:
    """Return the matrices that are drawn, and the gaps between them."""
    panels: list[_Panel | Gap] = []
    for row in buffer.rows:
        if isinstance(row, Gap):
            panels.append(row)
            continue
        component = buffer.shown[row]
        leads = list(product(*component.shown[:-2]))
        panels += [_Panel(component, lead) for lead in leads]
        matrices = prod(component.sizes[:-2])
        if len(leads) < matrices and 0 not in component.sizes:
            panels.append(Gap(len(leads), matrices))
    return panels


def _panel_width(drawing: _Drawing, panel: _Panel | Gap) -> float:
    if isinstance(panel, Gap):
        return text_width(hidden_count(panel.size), 12)
    columns = (panel.component.items or [[0]])[-1]
    width = drawing.buffer.format.width_of(columns)
    name = text_width(drawing.called(panel.component.number, panel.lead), 12)
    return max(name, 60.0 if 0 in panel.component.sizes else width)


def _draw_panel(drawing: _Drawing, panel: _Panel | Gap, x: float, y: float) -> float:
    """Draw a matrix and return its height."""
    sheet, buffer = drawing.sheet, drawing.buffer
    if isinstance(panel, Gap):
        sheet.text(x, y + 19, hidden_count(panel.size), size=12, anchor="start", opacity=0.9)
        return _ROW
    component, lead = panel
    name, color = drawing.called(component.number, lead), line_color(component.number)
    sheet.text(x, y - 8, name, size=12, anchor="start", bold=True, fill=color)
    if 0 in component.sizes:
        draw_nothing(sheet, x, y, _ROW, color)
        return _ROW
    *_, columns = component.items or [[0]]
    rows: list[int | Gap | None] = [*component.items[-2]] if len(component.items) > 1 else [None]
    for k, row in enumerate(rows):
        top = y + k * (_ROW + 2)
        if isinstance(row, Gap):
            sheet.note(x, top + 18, hidden_count(row.size, "row"))
            continue
        read = buffer.reader(component, lead if row is None else (*lead, row))
        draw_items(sheet, x, top, _ROW, columns, read, buffer.format, component.number)
    return len(rows) * (_ROW + 2)


# ---- the table


def _draw_table(drawing: _Drawing, x: float, y: float) -> float:
    """Draw the structure, one component a line, and return where the table ends."""
    sheet, buffer = drawing.sheet, drawing.buffer
    entries = {i: _entries(drawing, component) for i, component in buffer.shown.items()}
    columns = list(zip(("", "sizes", "strides", "offset", "contiguous"), *entries.values(), strict=True))
    lefts = [x + 22]
    for column in columns:
        lefts.append(lefts[-1] + max(text_width(text, 12) for text in column) + 26)
    for (heading, *_), left in zip(columns[1:], lefts[1:], strict=False):
        sheet.note(left, y - 8, heading)
    sheet.path(f"M{x:g} {y:g}H{lefts[-1] - 26:g}", opacity=0.35, width=1)
    for k, row in enumerate(buffer.rows):
        baseline = y + 20 + k * _TABLE_LINE
        if isinstance(row, Gap):
            sheet.text(x + 22, baseline, hidden_count(row.size), size=12, anchor="start", opacity=0.9)
            continue
        sheet.rect(x, baseline - 11, 14, 14, fill_color(row), round=3)
        for entry, left in zip(entries[row], lefts, strict=False):
            sheet.text(left, baseline, entry, size=12, anchor="start", bold=left == lefts[0])
    return y + 20 + len(buffer.rows) * _TABLE_LINE


def _entries(drawing: _Drawing, component: Component) -> tuple[str, ...]:
    contiguous = "yes" if component.is_contiguous else "no"
    name = drawing.called(component.number)
    return name, _sizes(component), str(component.strides), str(component.offset), contiguous


def _sizes(component: Component) -> str:
    return " × ".join(map(str, component.sizes)) or "()"


# ---- the buffer


class _Arc(NamedTuple):
    """A step along a dimension, from the first element of a component to the next."""

    component: int
    rank: int  # among the steps of its component: the longest leaps highest
    text: str
    left: float
    right: float


def _arcs(drawing: _Drawing, strip: Strip) -> list[_Arc]:
    """Return an arc for each dimension of each component that has a second element to step to."""
    arcs = []
    for component in drawing.buffer.shown.values():
        steps = [(abs(step), dim) for dim, step in enumerate(component.strides) if component.sizes[dim] > 1 and step]
        for rank, (_, dim) in enumerate(sorted(steps) if 0 not in component.sizes else ()):
            stride, is_longest = component.strides[dim], rank == len(steps) - 1
            start = strip.centre_of(component.offset) - (3 if rank else 0)
            number = dim if drawing.is_dense else dim + 1  # dimension 0 of a nested array is the batch
            text = f"dim {number}: {stride:+d}" if is_longest else f"{stride:+d}"
            arcs.append(_Arc(component.number, rank, text, start, strip.centre_of(component.offset + stride)))
    return arcs


def _draw_arcs(sheet: Sheet, arcs: list[_Arc], y: float) -> float:
    """Draw the arcs, the longest steps highest, and return how much room they take."""
    by_rank = [[arc for arc in arcs if arc.rank == rank] for rank in range(1 + max((a.rank for a in arcs), default=-1))]
    lanes = [assign_lanes([_caption_span(arc) for arc in row]) for row in by_rank]
    heights = [16 + _CAPTION * (1 + max(lanes_of_rank)) for lanes_of_rank in lanes]
    room = sum(heights) + 6
    lift = 14
    for row, lanes_of_rank, height in zip(by_rank, lanes, heights, strict=True):
        for arc, lane in zip(row, lanes_of_rank, strict=True):
            color, foot = line_color(arc.component), y + room - 4
            top = foot - lift * 4 / 3
            curve = f"M{arc.left:g} {foot:g}C{arc.left:g} {top:g} {arc.right:g} {top:g} {arc.right:g} {foot - 1:g}"
            sheet.path(curve, stroke=color, width=1.5)
            sheet.head(arc.right, foot, stroke=color, size=3.6)
            baseline = foot - lift - 4 - lane * _CAPTION
            sheet.text((arc.left + arc.right) / 2, baseline, arc.text, size=10, bold=True, sans=True, fill=color)
        lift += height
    return room


def _caption_span(arc: _Arc) -> tuple[float, float]:
    centre, half = (arc.left + arc.right) / 2, text_width(arc.text, 10) / 2
    return centre - half, centre + half


def _draw_starts(drawing: _Drawing, strip: Strip, y: float) -> None:
    """Name under the strip where each component starts; the rightmost first, so that no arrow crosses a name."""
    rows: list[tuple[float, int]] = []  # the x of a name, and its row
    for component in sorted(drawing.buffer.shown.values(), key=lambda component: -strip.left_of(component.offset)):
        text = f"{drawing.called(component.number)} starts at {component.offset}"
        x, color = strip.left_of(component.offset) + 5, line_color(component.number)
        row = 1 + max((row for other, row in rows if other <= x + 12 + text_width(text, 11)), default=-1)
        rows.append((x, row))
        baseline = y + 20 + row * _START
        drawing.sheet.path(f"M{x:g} {baseline + 1:g}V{y - 4:g}", stroke=color, width=1.6)
        drawing.sheet.head(x, y - 4, stroke=color, size=3.6, up=True)
        drawing.sheet.text(x + 6, baseline, text, size=11, anchor="start", bold=True, sans=True, fill=color)
