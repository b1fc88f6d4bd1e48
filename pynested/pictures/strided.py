"""The picture of a strided array: its components as grids, and the table of their sizes, strides and offsets."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elide import Gap, listing, more, with_gaps
from .memory import PAGE, Component, Strided, choose_strided
from .palette import fill, line
from .strided_memory import draw_memory
from .strip import block_width, draw_elided, draw_nothing
from .svg import Sheet, text_width

Ints = NDArray[np.int64]

CELL = 30
_LEFT, _TOP = 18, 60
_CELL_HEIGHT, _APART = 30, 34
_TABLE_LINE = 24
_BESIDE = 460  # components that end further right have their table beneath


@dataclass(frozen=True)
class Panel:
    """A component, or one matrix of a component of more than two dimensions."""

    component: Component
    lead: tuple[int, ...]

    @property
    def index(self) -> tuple[int, ...]:
        """Where in the nested array it is found."""
        return self.component.number, *self.lead

    @property
    def empty(self) -> bool:
        """Whether there are no elements to draw."""
        return 0 in self.component.sizes

    @property
    def rows(self) -> list[int | Gap] | list[None]:
        """The rows drawn, and the gaps between them; None where there is one row, which has no index."""
        along = self._along()
        return along[-2] if len(along) > 1 else [None]

    @property
    def columns(self) -> list[int | Gap]:
        """The columns drawn, and the gaps between them."""
        return (self._along() or [[0]])[-1]

    def _along(self) -> list[list[int | Gap]]:
        return [with_gaps(shown, size) for shown, size in zip(self.component.shown, self.component.sizes, strict=True)]


def draw_strided(buffer: Any, sizes: Ints, strides: Ints, offsets: Ints, name: str = "x") -> Sheet:
    """Draw a strided array; ``buffer: (N,)``, ``sizes: (B, d)``, ``strides: (B, d)``, ``offsets: (B,)`` in elements."""
    array = choose_strided(buffer, sizes, strides, offsets, CELL, name)
    sheet = Sheet(
        f"A strided array: {len(sizes)} components in one buffer of {len(buffer)} values; sizes "
        f"{'; '.join(_sizes(c) for c in array.shown.values()) or 'none'}; offsets {listing(offsets.tolist())}"
    )
    sheet.heading(_LEFT, 24, "what you see")
    right, bottom = draw_components(sheet, array)
    if array.shown:
        table = (right + 30, _TOP) if right <= _BESIDE else (_LEFT, bottom + 30)
        bottom = max(bottom, _draw_table(sheet, array, *table))
    draw_memory(sheet, array, _LEFT, bottom + 36)
    return sheet


def draw_components(sheet: Sheet, array: Strided) -> tuple[float, float]:
    """Draw the components side by side, in lines that fit the page, and return where they end, right and below."""
    if not array.shown:
        sheet.text(_LEFT, _TOP + 17, "no components", size=11, anchor="start", sans=True, opacity=0.9)
    x, y, right, bottom = float(_LEFT), _TOP, 0.0, _TOP + _CELL_HEIGHT
    for item in _panels(array):
        if x > _LEFT and x + _panel_width(array, item) > PAGE:
            x, y = _LEFT, bottom + _TOP - 24
        width, height = _draw_panel(sheet, array, item, x, y)
        x += width + _APART
        right, bottom = max(right, x - _APART), max(bottom, y + height)
    return right, bottom


def _panels(array: Strided) -> list[Panel | Gap]:
    """Return what stands side by side: components, matrices of components with more dimensions, and gaps."""
    found: list[Panel | Gap] = []
    for row in array.rows:
        if isinstance(row, Gap):
            found.append(row)
            continue
        found += [Panel(row, index) for index in row.panels()]
        matrices = prod(row.sizes[:-2])
        if len(row.panels()) < matrices and 0 not in row.sizes:
            found.append(Gap(len(row.panels()), matrices))
    return found


def _panel_width(array: Strided, panel: Panel | Gap) -> float:
    if isinstance(panel, Gap):
        return text_width(more(panel.size), 12)
    widths = (block_width(array.cell) if isinstance(item, Gap) else array.cell for item in panel.columns)
    return max(text_width(array.called(*panel.index), 12), 60.0 if panel.empty else sum(widths))


def _draw_panel(sheet: Sheet, array: Strided, panel: Panel | Gap, x: float, y: float) -> tuple[float, int]:
    """Draw a component, or one matrix of a component of more dimensions, and return its width and height."""
    width = _panel_width(array, panel)
    if isinstance(panel, Gap):
        sheet.text(x, y + 19, more(panel.size), size=12, anchor="start", opacity=0.9)
        return width, _CELL_HEIGHT
    number = panel.component.number
    sheet.text(x, y - 8, array.called(*panel.index), size=12, anchor="start", bold=True, fill=line(number))
    if panel.empty:
        draw_nothing(sheet, x, y, _CELL_HEIGHT, line(number))
        return width, _CELL_HEIGHT
    for k, row in enumerate(panel.rows):
        top = y + k * (_CELL_HEIGHT + 2)
        if isinstance(row, Gap):
            sheet.text(x, top + 18, more(row.size, "row"), size=11, anchor="start", sans=True, opacity=0.9)
            continue
        label = partial(_label, array, panel.component, panel.lead if row is None else (*panel.lead, row))
        draw_elided(sheet, x, top, array.cell, _CELL_HEIGHT, panel.columns, label, number)
    return width, len(panel.rows) * (_CELL_HEIGHT + 2)


def _label(array: Strided, component: Component, lead: tuple[int, ...], column: int) -> tuple[str, str]:
    index = (*lead, column)[: len(component.sizes)]
    return array.label(component.position(index))


def _draw_table(sheet: Sheet, array: Strided, x: float, y: float) -> float:
    """Draw the structure, one component a line, and return where the table ends."""
    entries = [_entries(array, component) for component in array.shown.values()]
    columns = list(zip(("", "sizes", "strides", "offset", "contiguous"), *entries, strict=True))
    lefts = [x + 22]
    for column in columns:
        lefts.append(lefts[-1] + max(text_width(text, 12) for text in column) + 26)
    for (heading, *_), left in zip(columns[1:], lefts[1:], strict=False):
        sheet.text(left, y - 8, heading, size=11, anchor="start", sans=True, opacity=0.9)
    sheet.path(f"M{x:g} {y:g}H{lefts[-1] - 26:g}", opacity=0.35, width=1)
    for k, row in enumerate(array.rows):
        baseline = y + 20 + k * _TABLE_LINE
        if isinstance(row, Gap):
            sheet.text(x + 22, baseline, more(row.size), size=12, anchor="start", opacity=0.9)
            continue
        sheet.rect(x, baseline - 11, 14, 14, fill(row.number), round=3)
        for entry, left in zip(_entries(array, row), lefts, strict=False):
            sheet.text(left, baseline, entry, size=12, anchor="start", bold=left == lefts[0])
    return y + 20 + len(array.rows) * _TABLE_LINE


def _entries(array: Strided, component: Component) -> tuple[str, ...]:
    contiguous = "yes" if component.contiguous else "no"
    return array.called(component.number), _sizes(component), str(component.strides), str(component.offset), contiguous


def _sizes(component: Component) -> str:
    return " × ".join(map(str, component.sizes)) or "()"
