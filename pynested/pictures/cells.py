"""Cells: numbers written with one precision, in rows that have the colours of their components."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .svg import CELL_INK, Sheet, fill_color, text_width, tint_color
from .truncation import Gap, hidden_count

Cell = NDArray[Any]  # a number, or a row of numbers
Label = Callable[[int], tuple[str, str]]  # the text of an element, and the same in full
Owners = tuple[int, ...]  # the components that an element belongs to

_WIDEST_BLOCK = 80.0


class CellFormat:
    """Texts of cells that stand side by side: all are equally precise, and ``width`` holds the longest.

    >>> CellFormat([np.array(1.5), np.array(1 / 3)], 30).text(np.array(2 / 3))
    '0.667'
    >>> CellFormat([np.array([1.0, 0.25])], 30).label(np.arange(10))
    ('0 … 9', '[0 1 2 3 4 5 6 7 8 9]')
    """

    def __init__(self, cells: Sequence[Cell], least: float) -> None:
        numbers = [number for cell in cells for number in _written_numbers(cell)]
        self._digits = _shared_digits(numbers, fewest=2 if len(numbers) > len(cells) else 3)
        self.width = max([least, *(text_width(self.text(cell), 13) + 9 for cell in cells)])

    def text(self, cell: Cell) -> str:
        """Return the text of a cell."""
        between = " … " if cell.size > 3 else " "
        return between.join(_format_number(number, self._digits) for number in _written_numbers(cell))

    def label(self, cell: Cell) -> tuple[str, str]:
        """Return the text of a cell, and the same in full."""
        return self.text(cell), np.array2string(cell, threshold=12)


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
    sheet: Sheet, x: float, y: float, cell: float, height: float, items: Sequence[int | Gap], label: Label, owner: int
) -> float:
    """Draw the elements of one component from x on, with a block for each gap, and return where they end."""
    labels: list[tuple[str, str]] = []
    for item in [*items, None]:
        if isinstance(item, int):
            labels.append(label(item))
            continue
        if labels:
            draw_cells(sheet, x, y, cell, height, labels, (owner,))
            x += cell * len(labels)
            labels = []
        if item is not None:
            draw_hidden(sheet, x + 1, y, block_width(cell) - 2, height, item.size, (owner,))
            x += block_width(cell)
    return x


def draw_cells(
    sheet: Sheet, x: float, y: float, cell: float, height: float, labels: Sequence[tuple[str, str]], owners: Owners
) -> None:
    """Draw cells that lie side by side, rounded only at the two ends; in bands if components overlap."""
    _draw_ground(sheet, x, y, cell * len(labels), height, [fill_color(owner) for owner in owners])
    for k in range(1, len(labels)):
        sheet.path(f"M{x + k * cell:g} {y + 0.5:g}V{y + height - 0.5:g}", stroke="#ffffff", width=1.2, opacity=0.75)
    for k, (text, in_full) in enumerate(labels):
        title = in_full if text != in_full else ""
        sheet.text(x + (k + 0.5) * cell, y + height / 2 + 4.6, text, fill=_ink(owners), title=title)


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


def block_width(cell: float) -> float:
    """Return the width of a block that stands for many cells.

    >>> block_width(30.0), block_width(100.0)
    (57.0, 80.0)
    """
    return min(1.9 * cell, _WIDEST_BLOCK)


def _draw_ground(sheet: Sheet, x: float, y: float, width: float, height: float, colors: Sequence[str]) -> None:
    """Draw the ground of cells, in a band for each colour; grey if no component is named."""
    if not colors:
        sheet.rect(x, y, width, height, "currentColor", round=5, opacity="0.18")
    band = height / max(len(colors), 1)
    for k, color in enumerate(colors):
        sheet.rect(x, y + k * band, width, height if k == 0 else band, color, round=0 if k else 5)


def _ink(owners: Owners) -> str:
    return CELL_INK if owners else "currentColor"
