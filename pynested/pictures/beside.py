"""Arrays side by side, component beside component: padded and ragged, an array and its gradient, step after step."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, named_type
from pynested.backends.host import to_host
from pynested.nested.component_views import component_ndarray
from pynested.nested.nested_array import NestedArray

from .elide import Gap, cell_label, digits_of_all, ends, in_short, more, with_gaps, written
from .memory import PAGE
from .palette import line
from .strip import block_width, draw_elided, draw_nothing
from .svg import Sheet, text_width

_LEVELS = ((12, 12), (12, 8), (8, 5), (6, 4), (6, 2))  # components, elements of each
_LEFT, _TOP = 18, 40
_ROW, _LINE, _APART = 26, 31, 26
_CELL = 30


@dataclass(frozen=True)
class Column:
    """One array: of each component shown its elements, each of which may be a row of numbers."""

    name: str
    rows: dict[int, NDArray[Any]]
    kind: str  # "own", "padded" or "stretched"
    limit: int  # elements shown of a component

    def items(self, row: int) -> list[int | Gap]:
        """Return which elements of a component are drawn."""
        count = len(self.rows[row])
        return with_gaps(ends(count, self.limit), count)

    @property
    def drawn(self) -> list[NDArray[Any]]:
        """The cells that are drawn."""
        return [cells[k] for row, cells in self.rows.items() for k in self.items(row) if isinstance(k, int)]

    @property
    def digits(self) -> int:
        """With how many digits numbers are written."""
        numbers = [number for cell in self.drawn for number in written(cell)]
        return digits_of_all(numbers, in_rows=len(numbers) > len(self.drawn))

    @property
    def cell(self) -> float:
        """The width of a cell."""
        digits = self.digits
        return max([_CELL, *(text_width(in_short(cell, digits), 13) + 9 for cell in self.drawn)])

    def width(self, lengths: dict[int, int]) -> float:
        """Return how much room the column takes."""
        cell, block = self.cell, block_width(self.cell)
        rows = [sum(block if isinstance(k, Gap) else cell for k in self.items(row)) or 60.0 for row in self.rows]
        if self.kind == "padded":
            rows = [row + block for row in rows]  # a gap that is parted takes two
        if self.kind == "stretched":
            rows += [cell * len(ends(length, self.limit)) for length in lengths.values()]
        return max([text_width(self.name, 12), *rows])


def draw_beside(arrays: Mapping[str, Any], padded: Collection[str] = (), stretched: Collection[str] = ()) -> Sheet:
    """Draw arrays side by side; `padded` and `stretched` name dense ones, the others' lengths say how far."""
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
    every = np.array([(*nested[0].component_shape(i), 1)[0] for i in range(len(nested[0]))], np.int64)
    for count, limit in _LEVELS:
        rows = ends(len(every), count)
        lengths = {i: int(every[i]) for i in rows}
        kinds = {name: "padded" if name in padded else "stretched" if name in stretched else "own" for name in arrays}
        columns = [Column(name, _rows(name, x, len(every), rows), kinds[name], limit) for name, x in arrays.items()]
        if sum(column.width(lengths) + _APART for column in columns) <= PAGE:
            break
    sheet = Sheet(f"Side by side, {len(every)} components of each: {', '.join(arrays)}")
    _draw_bands(sheet, columns, lengths, len(every))
    return sheet


def _rows(name: str, array: Any, count: int, shown: list[int]) -> dict[int, NDArray[Any]]:
    """Return the elements of each component shown; a component without dimensions is one element."""
    if type(array) is NestedArray:
        if len(array) != count:
            raise ArgumentError(f"beside: {name} has {len(array)} components, the first nested array {count}.")
        found = {i: to_host(component_ndarray(array, i)) for i in shown}
    elif isinstance(array, Array) and array.ndim and array.shape[0] == count:
        found = {i: to_host(array.data[i]) for i in shown}
    else:
        raise ArgumentError(
            f"beside: {name} is {getattr(array, 'shape', type(array).__name__)}, which has not one row for each of "
            f"the {count} components."
        )
    return {i: cells if cells.ndim else cells.reshape(1) for i, cells in found.items()}


def _draw_bands(sheet: Sheet, columns: list[Column], lengths: dict[int, int], count: int) -> None:
    """Draw the columns from left to right, in bands that fit the page."""
    lines = with_gaps(list(lengths), count)
    left = _LEFT + text_width(f"[{max(lengths, default=0)}]", 12) + 14
    x, top = PAGE + 1.0, _TOP - 24.0 - len(lines) * _LINE - 30
    for column in columns:
        width = column.width(lengths)
        if x + width > PAGE:
            x, top = left, top + len(lines) * _LINE + 54
            _draw_names(sheet, lines, top)
        sheet.text(x, top - 10, column.name, size=12, anchor="start", bold=True)
        _draw_column(sheet, column, lines, lengths, x, top)
        x += width + _APART


def _draw_names(sheet: Sheet, lines: list[int | Gap], top: float) -> None:
    for k, row in enumerate(lines):
        y = top + k * _LINE + 17.5
        if isinstance(row, Gap):
            sheet.text(_LEFT, y, more(row.size), size=11, anchor="start", sans=True, opacity=0.9)
        else:
            sheet.text(_LEFT, y, f"[{row}]", size=12, anchor="start", bold=True, fill=line(row))
    if not lines:
        sheet.text(_LEFT, top + 17.5, "no components", size=11, anchor="start", sans=True, opacity=0.9)


def _draw_column(
    sheet: Sheet, column: Column, lines: list[int | Gap], lengths: dict[int, int], x: float, top: float
) -> None:
    for k, row in enumerate(lines):
        if isinstance(row, Gap):
            continue
        items, length = column.items(row), lengths[row]
        if not items or (column.kind == "stretched" and not length):
            draw_nothing(sheet, x, top + k * _LINE, _ROW, line(row))
        else:
            _draw_component(sheet, column, row, length, x, top + k * _LINE)


def _draw_component(sheet: Sheet, column: Column, row: int, length: int, x: float, y: float) -> None:
    items, cells, cell, digits = column.items(row), column.rows[row], column.cell, column.digits
    own, rest = _apart(items, length) if column.kind == "padded" else (items, [])
    end = draw_elided(sheet, x, y, cell, _ROW, own, lambda k: cell_label(cells[k], digits), row)
    for item in rest:
        text = more(item.size) if isinstance(item, Gap) else in_short(cells[item], digits)
        end = _draw_padding(sheet, end, y, block_width(cell) if isinstance(item, Gap) else cell, text)
    if column.kind == "stretched":
        _draw_ghosts(sheet, end, y, cell, len(ends(length, column.limit)) - 1, row, in_short(cells[0], digits))


def _apart(items: list[int | Gap], length: int) -> tuple[list[int | Gap], list[int | Gap]]:
    """Part what is drawn of a padded row into what is the component's and what is not; a gap may have some of both.

    >>> _apart([0, Gap(1, 9), 9], 4)
    ([0, Gap(start=1, stop=4)], [Gap(start=4, stop=9), 9])
    """
    own: list[int | Gap] = []
    rest: list[int | Gap] = []
    for item in items:
        start, stop = item if isinstance(item, Gap) else (item, item + 1)
        if start < length < stop:
            own.append(Gap(start, length))
            rest.append(Gap(length, stop))
        else:
            (own if start < length else rest).append(item)
    return own, rest


def _draw_padding(sheet: Sheet, x: float, y: float, width: float, text: str) -> float:
    """Draw a cell that is there to fill the row, hatched, and return where it ends."""
    sheet.rect(x + 1, y, width - 2, _ROW, "currentColor", round=3, opacity="0.11")
    sheet.path(f"M{x + 5:g} {y + _ROW - 4:g}L{x + width - 5:g} {y + 4:g}", width=1, opacity=0.2)
    sheet.text(x + width / 2, y + _ROW / 2 + 4.6, text, size=12, opacity=0.7)
    return x + width


def _draw_ghosts(sheet: Sheet, x: float, y: float, cell: float, count: int, row: int, text: str) -> None:
    """Draw what a broadcast element is met as, without being there."""
    for k in range(count):
        look = {"stroke": line(row), "stroke_width": "1.2", "stroke_dasharray": "3 2.5"}
        sheet.rect(x + k * cell + 1.5, y + 1.5, cell - 3, _ROW - 3, "none", round=4, **look)
        sheet.text(x + (k + 0.5) * cell, y + _ROW / 2 + 4.6, text, opacity=0.7)
