"""The picture of a strided or a dense array: its components as matrices, their structure, and the buffer beneath.

In the buffer an arc shows the step along each dimension, and an arrow the start of each component.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends import get_backend

from .cells import Cell, draw_cells, draw_table, labelled_width
from .drawn_buffer import Component, DrawnBuffer, Strip, fit_buffer
from .svg import PAGE, Sheet, assign_lanes, captioned_span, line_color, text_width
from .truncation import Gap, hidden_count, listing

Ints = NDArray[np.int64]

# Components, matrices of a component of more than two dimensions, rows and columns of a matrix.
_LEVELS = (
    (12, 6, 8, 12), (7, 3, 4, 6), (5, 2, 3, 4), (3, 2, 3, 3), (3, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2), (1, 2, 2, 2),
    (1, 1, 2, 2), (1, 1, 1, 2),
)  # fmt: skip
_CELL, _LEFT, _TOP = 30, 18, 60
_ROW, _APART = 30, 34  # height of a row, and room between matrices
_ARC, _START = 28, 18  # heights of an arc above another, and of a caption below the strip


class _Panel(NamedTuple):
    """A matrix, with gaps between its rows; or the number of hidden matrices, without rows."""

    name: str
    color: str = "currentColor"
    rows: Sequence[list[Cell] | Gap] = ()


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
    drawn = fit_buffer(buffer, sizes, strides, offsets, _LEVELS, _CELL, PAGE - 30)
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
    if data.size:
        steps = [(size - 1) * step for size, step in zip(data.shape, strides, strict=True)]
        start = -sum(min(step, 0) for step in steps)
        # The memory from the lowest to the highest element, as one row.
        lowest = data[tuple(slice(0, 1) if step >= 0 else slice(-1, None) for step in strides)]
        as_strided = get_backend(array.device).xp.lib.stride_tricks.as_strided
        buffer = as_strided(lowest, (1 + sum(map(abs, steps)),), (data.itemsize,))
    else:
        buffer, start = data.reshape(-1), 0
    sizes, steps_of_one = (np.array([row], np.int64).reshape(1, data.ndim) for row in (data.shape, strides))
    drawn = fit_buffer(buffer, sizes, steps_of_one, np.array([start]), _LEVELS, _CELL, PAGE - 30)
    sheet = Sheet(f"A dense array: shape {data.shape}, strides {strides}, in {len(buffer)} values of memory")
    return _draw(_Drawing(sheet, drawn, name, is_dense=True))


def _draw(drawing: _Drawing) -> Sheet:
    sheet = drawing.sheet
    sheet.heading(_LEFT, 24, "what you see")
    bottom = _draw_components(drawing)
    if drawing.buffer.shown and not drawing.is_dense:
        bottom = _draw_structure(drawing, _LEFT, bottom + 30)
    y = bottom + 36
    sheet.heading(_LEFT, y, "what is in memory")
    strip = Strip(drawing.buffer, _LEFT)
    top = y + 16 + _draw_arcs(sheet, _arcs(drawing, strip), y + 16)
    strip.draw(sheet, top, _ROW)
    _draw_starts(drawing, strip, top + _ROW + 22)
    return sheet


# ---- components


def _draw_components(drawing: _Drawing) -> float:
    """Draw the matrices side by side, in lines that fit the page, and return where they end."""
    if not drawing.buffer.shown:
        drawing.sheet.note(_LEFT, _TOP + 17, "no components")
    x, y, bottom = float(_LEFT), float(_TOP), float(_TOP + _ROW)
    for panel in _panels(drawing):
        width = labelled_width(panel.name, [row for row in panel.rows if not isinstance(row, Gap)])
        if x > _LEFT and x + width > PAGE:
            x, y = _LEFT, bottom + _TOP - 24
        bottom = max(bottom, _draw_panel(drawing.sheet, panel, x, y))
        x += width + _APART
    return bottom


def _panels(drawing: _Drawing) -> Iterator[_Panel]:
    """Yield the matrices that are drawn, and the numbers of those that are hidden between them."""
    buffer = drawing.buffer
    for number in buffer.rows:
        if isinstance(number, Gap):
            yield _Panel(hidden_count(len(number)))
            continue
        component = buffer.shown[number]
        leads, is_full = list(product(*component.shown[:-2])), 0 not in component.sizes
        for lead in leads:
            indices = component.items[-2] if len(component.items) > 1 and is_full else [None]
            rows = [
                row if isinstance(row, Gap) else buffer.row(component, lead if row is None else (*lead, row))
                for row in indices
            ]
            yield _Panel(drawing.called(number, lead), line_color(number), rows)
        num_hidden = prod(component.sizes[:-2]) - len(leads)
        if num_hidden and is_full:
            yield _Panel(hidden_count(num_hidden))


def _draw_panel(sheet: Sheet, panel: _Panel, x: float, y: float) -> float:
    """Draw a matrix and return where it ends."""
    sheet.text(x, y - 8, panel.name, size=12, anchor="start", bold=True, fill=panel.color)
    for row in panel.rows:
        if isinstance(row, Gap):
            sheet.note(x, y + 18, hidden_count(len(row), "row"))
        else:
            draw_cells(sheet, x, y, _ROW, row, panel.color)
        y += _ROW + 2
    return y


def _draw_structure(drawing: _Drawing, x: float, y: float) -> float:
    """Draw the integers of the structure, one component a line, and return where the table ends."""
    texts = {
        i: (
            drawing.called(i), _sizes(component), str(component.strides), str(component.offset),
            "yes" if component.is_contiguous else "no",
        )
        for i, component in drawing.buffer.shown.items()
    }  # fmt: skip
    headings = ("", "sizes", "strides", "offset", "contiguous")
    return draw_table(drawing.sheet, x, y, headings, drawing.buffer.rows, texts)


def _sizes(component: Component) -> str:
    return " × ".join(map(str, component.sizes)) or "()"


# ---- the buffer


class _Arc(NamedTuple):
    """A step along a dimension, from the first element of a component to the next."""

    size: int
    left: float
    right: float
    text: str
    color: str


def _arcs(drawing: _Drawing, strip: Strip) -> list[_Arc]:
    """Return an arc for each dimension of each component that has a second element, the shortest steps first."""
    arcs = []
    for component in drawing.buffer.shown.values():
        steps = [(abs(step), dim) for dim, step in enumerate(component.strides) if component.sizes[dim] > 1 and step]
        for rank, (size, dim) in enumerate(sorted(steps) if 0 not in component.sizes else ()):
            left, right = (strip.centre_of(component.offset + k * component.strides[dim]) for k in (0, 1))
            number = dim if drawing.is_dense else dim + 1  # dimension 0 of a nested array is the batch
            name = f"dim {number}: " if rank == len(steps) - 1 else ""
            text, color = f"{name}{component.strides[dim]:+d}", line_color(component.number)
            arcs.append(_Arc(size, left - (3 if rank else 0), right, text, color))
    return sorted(arcs)


def _draw_arcs(sheet: Sheet, arcs: list[_Arc], y: float) -> float:
    """Draw the arcs, each above the shorter ones that it meets, and return how much room they take."""
    lanes = assign_lanes([captioned_span(left, right, text, 10) for _, left, right, text, _ in arcs])
    foot = y + 2 + _ARC * (1 + max(lanes, default=-1))
    for (_, left, right, text, color), lane in zip(arcs, lanes, strict=True):
        lift = 14 + lane * _ARC
        top = foot - lift * 4 / 3
        sheet.path(f"M{left:g} {foot:g}C{left:g} {top:g} {right:g} {top:g} {right:g} {foot - 1:g}", stroke=color)
        sheet.head(right, foot, stroke=color, size=3.6)
        sheet.text((left + right) / 2, foot - lift - 4, text, size=10, bold=True, sans=True, fill=color)
    return foot + 4 - y


def _draw_starts(drawing: _Drawing, strip: Strip, y: float) -> None:
    """Write below the strip where each component starts; the rightmost first, so that no arrow crosses a name."""
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
