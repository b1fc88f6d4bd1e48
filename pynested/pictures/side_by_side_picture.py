"""Arrays side by side, component beside component: padded and ragged, an array and its gradient, step after step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, named_type
from pynested.backends.host import to_host
from pynested.nested.component_views import component_ndarray
from pynested.nested.nested_array import NestedArray

from .cells import Cell, CellFormat, draw_items, draw_nothing
from .svg import PAGE, Sheet, line_color, text_width
from .truncation import Gap, hidden_count, visible_indices, with_gaps

_LEVELS = ((12, 12), (12, 8), (8, 5), (6, 4), (6, 2))  # components, elements of each
_LEFT, _TOP = 18, 40
_ROW, _LINE, _APART = 26, 31, 26
_CELL = 30


class _Column:
    """An array: for each component that is shown its elements, the padding behind them, and the number of repeats.

    An element is a number or a row of numbers. Padding begins at the element ``ends[i]`` of row i.
    """

    def __init__(
        self,
        name: str,
        cells: dict[int, Cell],
        lengths: dict[int, int],
        limit: int,
        is_padded: bool,
        is_stretched: bool,
    ) -> None:
        self.name, self.cells = name, cells
        self.ends = {i: min(lengths[i], len(row)) if is_padded else len(row) for i, row in cells.items()}
        self.items = {i: _visible_items(end, limit) for i, end in self.ends.items()}
        self.padding = {i: _visible_items(len(row) - self.ends[i], limit) for i, row in cells.items()}
        self.repeats = {i: len(visible_indices(lengths[i], limit)) - 1 if is_stretched else 0 for i in cells}
        drawn = [cells[i][k] for i, items in self.items.items() for k in items if isinstance(k, int)]
        padding = [cells[i][self.ends[i] + k] for i, items in self.padding.items() for k in items if isinstance(k, int)]
        self.format = CellFormat(drawn + padding, _CELL)
        widths = [
            self.format.width_of([*self.items[i], *self.padding[i]]) + self.format.width * self.repeats[i]
            for i in cells
        ]
        self.width = max([text_width(name, 12), *(width or 60.0 for width in widths)])


def _visible_items(count: int, limit: int) -> list[int | Gap]:
    return with_gaps(visible_indices(count, limit), count)


def draw_side_by_side(
    arrays: Mapping[str, Any], padded: Collection[str] = (), stretched: Collection[str] = ()
) -> Sheet:
    """Draw arrays side by side; ``padded`` and ``stretched`` name dense ones, the lengths are those of the nested."""
    lengths_of_all = _check(arrays, padded, stretched)
    count = len(lengths_of_all)
    for components, limit in _LEVELS:
        shown = visible_indices(count, components)
        lengths = {i: int(lengths_of_all[i]) for i in shown}
        columns = [
            _Column(name, _read(name, array, count, shown), lengths, limit, name in padded, name in stretched)
            for name, array in arrays.items()
        ]
        if sum(column.width + _APART for column in columns) <= PAGE:
            break
    sheet = Sheet(f"Side by side, {count} components of each: {', '.join(arrays)}")
    lines = with_gaps(shown, count)
    left = _LEFT + text_width(f"[{max(shown, default=0)}]", 12) + 14
    x, top = PAGE + 1.0, _TOP - 24.0 - len(lines) * _LINE - 30
    for column in columns:
        if x + column.width > PAGE:  # the next band
            x, top = left, top + len(lines) * _LINE + 54
            _draw_names(sheet, lines, top)
        sheet.text(x, top - 10, column.name, size=12, anchor="start", bold=True)
        for k, row in enumerate(lines):
            if isinstance(row, int):
                _draw_component(sheet, column, row, x, top + k * _LINE)
        x += column.width + _APART
    return sheet


def _check(arrays: Any, padded: Collection[str], stretched: Collection[str]) -> list[int]:
    """Return the lengths of the first nested array; ArgumentError for arguments that cannot be drawn."""
    if not isinstance(arrays, Mapping) or not all(isinstance(name, str) for name in arrays):
        raise ArgumentError(
            f"beside: takes arrays by their names (str), as in beside({{'x': x, 'y': y}}), not {named_type(arrays)}"
            f"{' with other keys' if isinstance(arrays, Mapping) else ''}."
        )
    nested = [x for x in arrays.values() if type(x) is NestedArray]
    if not nested:
        raise ArgumentError("beside: none of the arrays is nested. Draw a dense array alone: picture(x).")
    for name in {*padded, *stretched} - {*arrays}:
        raise ArgumentError(f"beside: there is no {name!r} among the arrays, which are {', '.join(arrays)}.")
    return [(*nested[0].component_shape(i), 1)[0] for i in range(len(nested[0]))]


def _read(name: str, array: Any, count: int, shown: list[int]) -> dict[int, Cell]:
    """Return the elements of each component shown; a component without dimensions is one element."""
    if type(array) is NestedArray:
        if len(array) != count:
            raise ArgumentError(f"beside: {name} has {len(array)} components, the first nested array {count}.")
        components = {i: to_host(component_ndarray(array, i)) for i in shown}
    elif isinstance(array, Array) and array.ndim and array.shape[0] == count:
        components = {i: to_host(array.data[i]) for i in shown}
    else:
        raise ArgumentError(
            f"beside: {name} is {getattr(array, 'shape', type(array).__name__)}, which has not one row for each of "
            f"the {count} components."
        )
    return {i: np.atleast_1d(component) for i, component in components.items()}


def _draw_names(sheet: Sheet, lines: list[int | Gap], top: float) -> None:
    for k, row in enumerate(lines):
        y = top + k * _LINE + 17.5
        if isinstance(row, Gap):
            sheet.note(_LEFT, y, hidden_count(row.size))
        else:
            sheet.text(_LEFT, y, f"[{row}]", size=12, anchor="start", bold=True, fill=line_color(row))
    if not lines:
        sheet.note(_LEFT, top + 17.5, "no components")


def _draw_component(sheet: Sheet, column: _Column, row: int, x: float, y: float) -> None:
    cells, end, form = column.cells[row], column.ends[row], column.format
    if not len(cells) or column.repeats[row] < 0:
        draw_nothing(sheet, x, y, _ROW, line_color(row))
        return
    x = draw_items(sheet, x, y, _ROW, column.items[row], cells.__getitem__, form, row)
    for item in column.padding[row]:
        if isinstance(item, Gap):
            width, text = form.block_width, hidden_count(item.size)
        else:
            width, text = form.width, form.text(cells[end + item])
        _draw_padding(sheet, x, y, width, text)
        x += width
    for _ in range(column.repeats[row]):
        dashed = {"stroke": line_color(row), "stroke_width": "1.2", "stroke_dasharray": "3 2.5"}
        sheet.rect(x + 1.5, y + 1.5, form.width - 3, _ROW - 3, "none", round=4, **dashed)
        sheet.text(x + form.width / 2, y + _ROW / 2 + 4.6, form.text(cells[0]), opacity=0.7)
        x += form.width


def _draw_padding(sheet: Sheet, x: float, y: float, width: float, text: str) -> None:
    """Draw a cell that only fills the row, hatched."""
    sheet.rect(x + 1, y, width - 2, _ROW, "currentColor", round=3, opacity="0.11")
    sheet.path(f"M{x + 5:g} {y + _ROW - 4:g}L{x + width - 5:g} {y + 4:g}", width=1, opacity=0.2)
    sheet.text(x + width / 2, y + _ROW / 2 + 4.6, text, size=12, opacity=0.7)
