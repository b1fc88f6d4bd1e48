"""Cells: numbers written with one precision, in rows that have the colours of their components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .svg import CELL_INK, Sheet, fill_color, text_width, tint_color
from .truncation import Gap, hidden_count

Cell = NDArray[Any]  # a number, or a row of numbers
Read = Callable[[int], Cell]  # from the number of an element along the last dimension
Owners = tuple[int, ...]  # the components that an element belongs to


class CellFormat:
    """Texts of cells that stand side by side: all are equally precise, and ``width`` holds the longest.

    >>> CellFormat([np.array(1.5), np.array(1 / 3)], 30).text(np.array(2 / 3))
    '0.667'
    >>> CellFormat([np.array([1.0, 0.25])], 30).text(np.arange(10))
    '0 … 9'
    """

    def __init__(self, cells: Sequence[Cell], least: float) -> None:
        numbers = [number for cell in cells for number in _written_numbers(cell)]
        self._digits = _shared_digits(numbers, fewest=2 if len(numbers) > len(cells) else 3)
        self.width = max([least, *(text_width(self.text(cell), 13) + 9 for cell in cells)])
        self.block_width = min(1.9 * self.width, 80.0)  # of a block that stands for many cells

    def width_of(self, items: Sequence[int | Gap]) -> float:
        """Return the width of some elements and gaps."""
        return sum(self.block_width if isinstance(item, Gap) else self.width for item in items)

    def text(self, cell: Cell) -> str:
        """Return the text of a cell."""
        between = " … " if cell.size > 3 else " "
        return between.join(_format_number(number, self._digits) for number in _written_numbers(cell))


def _written_numbers(cell: Cell) -> list[Any]:
    """Return the numbers of a cell that are written out: up to three, else the first and the last."""
    numbers: list[Any] = cell.reshape(-1).tolist()
    return numbers if len(numbers) <= 3 else [numbers[0], numbers[-1]]


def _shared_digits(numbers: Sequence[Any], fewest: int) -> int:
    """Return the most digits that leave each number five characters or, if these are too few digits, seven."""
    if all(isinstance(number, int) and len(str(number)) <= 7 for number in numbers):
        return 7
    for width, least in ((5, fewest), (7, 1)):
        for digits in range(5, least - 1, -1):
            if all(len(_format_number(number, digits)) <= width for number in numbers):
                return digits
    return 1


def _format_number(value: Any, digits: int) -> str:
    """Return a number with at most so many digits, without zeros that say nothing.

    >>> _format_number(1.0, 5), _format_number(-0.0, 5), _format_number(-812345.0, 3), _format_number(float("-inf"), 1)
    ('1', '-0', '-8.12e5', '-inf')
    """
    if isinstance(value, bool):
        return str(value)
    return f"{value:.{digits}g}".replace("e+", "e").replace("e0", "e").replace("e-0", "e-")


def draw_items(
    sheet: Sheet,
    x: float,
    y: float,
    height: float,
    items: Sequence[int | Gap],
    read: Read,
    form: CellFormat,
    owner: int,
) -> float:
    """Draw the elements of one component from x on, with a block for each gap, and return where they end."""
    cells: list[Cell] = []
    for item in [*items, None]:
        if isinstance(item, int):
            cells.append(read(item))
            continue
        if cells:
            width = form.width * len(cells)
            draw_cells(sheet, x, y, width, height, cells, form, (owner,))
            x, cells = x + width, []
        if item is not None:
            draw_hidden(sheet, x + 1, y, form.block_width - 2, height, item.size, (owner,))
            x += form.block_width
    return x


def draw_cells(
    sheet: Sheet,
    x: float,
    y: float,
    width: float,
    height: float,
    cells: Sequence[Cell],
    form: CellFormat,
    owners: Owners,
) -> None:
    """Draw cells that lie side by side, rounded only at the two ends; in bands if components overlap."""
    _draw_ground(sheet, x, y, width, height, [fill_color(owner) for owner in owners])
    cell_width = width / len(cells)
    for k in range(1, len(cells)):
        between = f"M{x + k * cell_width:g} {y + 0.5:g}V{y + height - 0.5:g}"
        sheet.path(between, stroke="#ffffff", width=1.2, opacity=0.75)
    for k, cell in enumerate(cells):
        text, in_full = form.text(cell), np.array2string(cell, threshold=12)
        title = in_full if text != in_full else ""
        sheet.text(x + (k + 0.5) * cell_width, y + height / 2 + 4.6, text, fill=_ink(owners), title=title)


def draw_hidden(sheet: Sheet, x: float, y: float, width: float, height: float, count: int, owners: Owners) -> None:
    """Draw the block that stands for ``count`` hidden cells."""
    text = hidden_count(count)
    _draw_ground(sheet, x, y, width, height, [tint_color(owner) for owner in owners])
    size = min(11.0, 11.0 * (width - 6) / text_width(text, 11))
    sheet.text(x + width / 2, y + height / 2 + 4, text, size=round(size, 1), fill=_ink(owners))


def draw_nothing(sheet: Sheet, x: float, y: float, height: float, stroke: str) -> None:
    """Draw an empty component: a dashed outline and the word."""
    sheet.rect(x, y + 2, 14, height - 4, "none", round=4, stroke=stroke, stroke_width="1.3", stroke_dasharray="3 2.5")
    sheet.note(x + 20, y + height / 2 + 4.5, "empty")


def _draw_ground(sheet: Sheet, x: float, y: float, width: float, height: float, colors: Sequence[str]) -> None:
    """Draw the ground of cells, in a band for each colour; grey if no component is named."""
    if not colors:
        sheet.rect(x, y, width, height, "currentColor", round=5, opacity="0.18")
    band = height / max(len(colors), 1)
    for k, color in enumerate(colors):
        sheet.rect(x, y + k * band, width, height if k == 0 else band, color, round=0 if k else 5)


def _ink(owners: Owners) -> str:
    return CELL_INK if owners else "currentColor"
