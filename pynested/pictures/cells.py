"""Cells of pictures: each has a text, a look and owners; one function draws a row of cells."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .svg import CELL_INK, Sheet, fill_color, line_color, text_width, tint_color
from .truncation import Gap, hidden_count

Element = NDArray[Any]  # a number, or a row of numbers
Owners = tuple[int, ...]  # the components that an element belongs to
Look = Literal["number", "hidden", "unused", "repeated"]  # filled; paler, for several elements; hatched; dashed
Rows = Sequence[int | Gap]  # indices of components, and the gaps where some are hidden
NameOf = Callable[[int], str]  # name of a component
Columns = Mapping[float, Callable[[int], Sequence["Cell"]]]  # cells of a component, by the x where the column begins
Texts = Mapping[int, Sequence[str]]  # texts of a row, by its number
ROW, LINE = 26, 31  # height of a component that is drawn as one row, and of the row with its margin
TABLE_LINE = 24


class Cell(NamedTuple):
    """A cell of a row; the cell has the colours of its owners in bands, and is grey without an owner."""

    text: str
    width: float  # pixels
    owners: Owners = ()
    look: Look = "number"
    title: str = ""  # text that a pointer on the cell shows
    size: int = 1  # number of elements that the cell stands for
    color: str = ""  # of the text, which is bold then


class CellFormat:
    """Precision and width of cells that stand side by side: all are equally precise, and ``width`` holds the longest.

    >>> CellFormat([np.array(1.5), np.array(1 / 3)], 30).text(np.array(2 / 3))
    '0.6667'
    >>> CellFormat([np.array([1.0, 0.25])], 30).text(np.arange(10))
    '0 … 9'
    """

    def __init__(self, elements: Sequence[Element], least: float) -> None:
        self._digits = _shared_digits([number for element in elements for number in _written_numbers(element)])
        self.width = max([least, *(text_width(self.text(element), 13) + 9 for element in elements)])
        self.block_width = min(1.9 * self.width, 80.0)  # of a block that stands for many cells

    def text(self, element: Element) -> str:
        """Return the text of an element."""
        between = " … " if element.size > 3 else " "
        return between.join(_format_number(number, self._digits) for number in _written_numbers(element))

    def cell(self, item: int | Gap, read: Callable[[int], Element], owners: Owners = (), look: Look = "number") -> Cell:
        """Return the cell of the element ``read(item)``, or of a gap."""
        if isinstance(item, Gap):
            block: Look = "hidden" if look == "number" else look
            width = self.width if len(item) == 1 else self.block_width
            return Cell(hidden_count(len(item)), width, owners, block, size=len(item))
        element = read(item)
        text = self.text(element)
        in_full = str(element.tolist()) if element.size <= 12 else np.array2string(element, threshold=12)
        return Cell(text, self.width, owners, look, in_full if text != in_full else "")


def _written_numbers(element: Element) -> list[Any]:
    """Return the numbers of an element that are written out: up to three, else the first and the last."""
    numbers: list[Any] = element.reshape(-1).tolist()
    return numbers if len(numbers) <= 3 else [numbers[0], numbers[-1]]


def _shared_digits(numbers: Sequence[Any]) -> int:
    """Return the most digits that leave each number six characters; at least two."""
    fitting = (d for d in range(7, 2, -1) if all(len(_format_number(number, d)) <= 6 for number in numbers))
    return next(fitting, 2)


def _format_number(value: Any, digits: int) -> str:
    """Return a number with at most so many digits, without zeros that say nothing.

    >>> _format_number(1.0, 5), _format_number(-0.0, 5), _format_number(-812345.0, 3), _format_number(float("-inf"), 1)
    ('1', '-0', '-8.12e5', '-inf')
    """
    if isinstance(value, bool):
        return str(value)
    return f"{value:.{digits}g}".replace("e+", "e").replace("e0", "e").replace("e-0", "e-")


def draw_cells(
    sheet: Sheet, x: float, y: float, height: float, cells: Sequence[Cell], outline: str = "currentColor"
) -> float:
    """Draw cells from x on and return where they end; without cells, a dashed outline and the word "empty"."""
    if not cells:
        _draw_dashed(sheet, x, y + 2, 14, height - 4, outline)
        sheet.note(x + 20, y + height / 2 + 4.5, "empty")
    for cell in cells:
        _draw_ground(sheet, x + 0.6, y, cell.width - 1.2, height, cell)
        if cell.text:
            largest = 11 if cell.look == "hidden" else 13
            size = round(min(largest, largest * (cell.width - 4) / text_width(cell.text, largest)), 1)
            color = cell.color or (CELL_INK if cell.owners and cell.look in ("number", "hidden") else "currentColor")
            sheet.text(
                x + cell.width / 2, y + height / 2 + 0.35 * size, cell.text, size=size, fill=color,
                bold=cell.color != "", opacity=0.75 if cell.look in ("unused", "repeated") else 1, title=cell.title,
            )  # fmt: skip
        x += cell.width
    return x


def _draw_ground(sheet: Sheet, x: float, y: float, width: float, height: float, cell: Cell) -> None:
    if cell.look == "repeated":
        _draw_dashed(sheet, x + 1, y + 1.5, width - 2, height - 3, line_color(cell.owners[0]))
    elif cell.look == "unused":
        sheet.rect(x, y, width, height, "currentColor", round=3, opacity="0.11")
        hatch = f"M{x + 0.28 * width:g} {y + height - 9:g}L{x + 0.72 * width:g} {y + 9:g}"
        sheet.path(hatch, width=1.1, opacity=0.2 if cell.text else 0.4)
    elif not cell.owners:
        sheet.rect(x, y, width, height, "currentColor", round=3, opacity="0.18")
    band = height / max(len(cell.owners), 1)
    for k, owner in enumerate(cell.owners if cell.look in ("number", "hidden") else ()):
        color = fill_color(owner) if cell.look == "number" else tint_color(owner)
        sheet.rect(x, y + k * band, width, height if k == 0 else band, color, round=0 if k else 3)


def _draw_dashed(sheet: Sheet, x: float, y: float, width: float, height: float, color: str) -> None:
    sheet.rect(x, y, width, height, "none", round=4, stroke=color, stroke_width="1.3", stroke_dasharray="3 2.5")


def labelled_width(name: str, rows: Iterable[Sequence[Cell]]) -> float:
    """Return the width of some rows with a name above them."""
    return max([text_width(name, 12), *(sum(cell.width for cell in row) or 60.0 for row in rows)])


def draw_components(sheet: Sheet, x: float, y: float, rows: Rows, name_of: NameOf, columns: Columns) -> None:
    """Draw the name of each component, one component a line, and its cells in each column."""
    for k, row in enumerate(rows):
        top = y + k * LINE
        if isinstance(row, Gap):
            sheet.note(x, top + 17.5, hidden_count(len(row), "component"))
            continue
        sheet.text(x, top + 17.5, name_of(row), size=12, anchor="start", bold=True, fill=line_color(row))
        for left, cells_of in columns.items():
            draw_cells(sheet, left, top, ROW, cells_of(row), line_color(row))
    if not rows:
        sheet.note(x, y + 17.5, "no components")


def draw_table(sheet: Sheet, x: float, y: float, headings: Sequence[str], rows: Rows, texts: Texts) -> float:
    """Draw the texts of each row below their headings, and return where the table ends."""
    lefts = [x]
    for column in zip(headings, *texts.values(), strict=True):
        lefts.append(lefts[-1] + max(text_width(text, 12) for text in column) + 24)
    for heading, left in zip(headings, lefts, strict=False):
        sheet.note(left, y - 8, heading)
    for k, row in enumerate(rows):
        baseline = y + 20 + k * TABLE_LINE
        if isinstance(row, Gap):
            sheet.text(x, baseline, hidden_count(len(row)), size=12, anchor="start", opacity=0.9)
            continue
        name, *others = texts[row]
        sheet.text(x, baseline, name, size=12, anchor="start", bold=True, fill=line_color(row))
        for text, left in zip(others, lefts[1:], strict=False):
            sheet.text(left, baseline, text, size=12, anchor="start")
    return y + 20 + len(rows) * TABLE_LINE
