"""One buffer as a row of cells: what each cell holds, whose it is, and what is left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Literal

from .elide import Gap, more
from .palette import CELL_INK, fill, tint
from .svg import Sheet, text_width

Label = Callable[[int], tuple[str, str]]
Owners = tuple[int, ...]

_SHORT_HOLE = 4  # a longer stretch that no component uses is drawn as one block
_BLOCK = 80.0  # widest a block is that stands for many cells; one is less than two cells wide


@dataclass(frozen=True)
class Piece:
    """A stretch ``[start, stop)`` of the buffer that is drawn as one: cells, a hole, or what is left out."""

    start: int
    stop: int
    owners: Owners
    kind: Literal["cells", "hole", "more"]

    @property
    def in_full(self) -> bool:
        """Whether every cell of the stretch is drawn."""
        return self.kind == "cells" or (self.kind == "hole" and self.stop - self.start <= _SHORT_HOLE)

    def width(self, cell: float) -> float:
        """Return how much room the stretch takes where a cell takes `cell`."""
        return (self.stop - self.start) * cell if self.in_full else block_width(cell)


def block_width(cell: float) -> float:
    """Return the width of a block that stands for many cells.

    >>> block_width(30.0), block_width(100.0)
    (57.0, 80.0)
    """
    return min(1.9 * cell, _BLOCK)


def pieces(
    visible: Mapping[int, Owners],
    size: int,
    cuts: Iterable[int],
    users: Callable[[int, int], Owners | None],
    hidden: int = 1,
) -> list[Piece]:
    """Cut a buffer of `size` cells into pieces.

    Parameters
    ----------
    visible : mapping
        The positions to draw one by one, and which components own each.
    size : int
        Length of the buffer.
    cuts : iterable of int
        Where what is left out is cut, because a component that is drawn begins or ends there.
    users : callable
        Whose a stretch ``[start, stop)`` is that is not visible: None where it is a hole, () where it is not one's own.
    hidden : int
        How many cells a block stands for at least; fewer are drawn.
    """
    runs: list[Piece] = []
    for _, group in groupby(enumerate(sorted(visible)), key=lambda item: (item[1] - item[0], visible[item[1]])):
        positions = [position for _, position in group]
        runs.append(Piece(positions[0], positions[-1] + 1, visible[positions[0]], "cells"))
    edges = [Piece(0, 0, (), "cells"), *runs, Piece(size, size, (), "cells")]
    within = sorted(set(cuts))
    result = []
    for before, after in pairwise(edges):
        bounds = [before.stop, *(cut for cut in within if before.stop < cut < after.start), after.start]
        result += [
            _left_out(start, stop, users(start, stop), hidden) for start, stop in pairwise(bounds) if start < stop
        ]
        if after.stop > after.start:
            result.append(after)
    return result


def _left_out(start: int, stop: int, owners: Owners | None, hidden: int) -> Piece:
    if owners is None:
        return Piece(start, stop, (), "hole")
    return Piece(start, stop, owners, "cells" if stop - start < hidden else "more")


class Strip:
    """Pieces laid side by side from x on, cells `cell` pixels wide."""

    def __init__(self, pieces: Sequence[Piece], x: float, cell: float) -> None:
        self._pieces = list(pieces)
        self._cell = cell
        self._lefts = [x]
        for piece in self._pieces:
            self._lefts.append(self._lefts[-1] + piece.width(cell))

    @property
    def right(self) -> float:
        """Where the strip ends."""
        return self._lefts[-1]

    def left_of(self, position: int) -> float:
        """Return the x of the left edge of a cell; the length of the buffer gives the end."""
        for piece, left in zip(self._pieces, self._lefts[:-1], strict=True):
            if piece.start <= position < piece.stop:
                return left + (position - piece.start) / (piece.stop - piece.start) * piece.width(self._cell)
        return self.right

    def right_of(self, position: int) -> float:
        """Return the x of the right edge of a cell."""
        return self.left_of(position + 1)

    def centre_of(self, position: int) -> float:
        """Return the x of the middle of a cell."""
        return (self.left_of(position) + self.right_of(position)) / 2

    def draw(self, sheet: Sheet, y: float, height: float, label: Label) -> None:
        """Draw the cells, with their positions beneath."""
        if not self._pieces:
            draw_nothing(sheet, self._lefts[0], y, height, "currentColor")
        for piece, left in zip(self._pieces, self._lefts[:-1], strict=True):
            width = piece.width(self._cell)
            if piece.kind == "cells":
                labels = [label(position) for position in range(piece.start, piece.stop)]
                draw_run(sheet, left + 1, y, (width - 2) / len(labels), height, labels, piece.owners)
            elif piece.kind == "hole":
                _draw_hole(sheet, piece, left, y, width, height)
            else:
                draw_more(sheet, left + 1, y, width - 2, height, piece.stop - piece.start, piece.owners)
            self._draw_positions(sheet, piece, left, y + height + 13)

    def _draw_positions(self, sheet: Sheet, piece: Piece, left: float, y: float) -> None:
        if not piece.in_full:
            return
        for k, position in enumerate(range(piece.start, piece.stop)):
            sheet.text(left + (k + 0.5) * self._cell, y, str(position), size=10, opacity=0.75)


def draw_run(
    sheet: Sheet, x: float, y: float, cell: float, height: float, labels: Sequence[tuple[str, str]], owners: Owners
) -> None:
    """Draw cells that lie side by side, rounded only at the two ends; where components overlap, in bands."""
    _draw_ground(sheet, x, y, cell * len(labels), height, [fill(owner) for owner in owners])
    for k in range(1, len(labels)):
        sheet.path(f"M{x + k * cell:g} {y + 0.5:g}V{y + height - 0.5:g}", stroke="#ffffff", width=1.2, opacity=0.75)
    for k, (text, in_full) in enumerate(labels):
        title = in_full if text != in_full else ""
        sheet.text(x + (k + 0.5) * cell, y + height / 2 + 4.6, text, fill=ink(owners), title=title)


def _draw_ground(sheet: Sheet, x: float, y: float, width: float, height: float, colors: Sequence[str]) -> None:
    """Draw what cells lie on, in a band for each colour; grey where they are nobody's who is named."""
    if not colors:
        sheet.rect(x, y, width, height, "currentColor", round=5, opacity="0.18")
    band = height / max(len(colors), 1)
    for k, color in enumerate(colors):
        sheet.rect(x, y + k * band, width, height if k == 0 else band, color, round=0 if k else 5)


def ink(owners: Owners) -> str:
    """Return what is written with on the cells of some components, and on grey."""
    return CELL_INK if owners else "currentColor"


def draw_elided(
    sheet: Sheet, x: float, y: float, cell: float, height: float, items: Sequence[int | Gap], label: Label, owner: int
) -> float:
    """Draw the elements of one component from x on, with a block for each gap, and return where they end."""
    labels: list[tuple[str, str]] = []
    for item in [*items, None]:
        if isinstance(item, int):
            labels.append(label(item))
            continue
        if labels:
            draw_run(sheet, x, y, cell, height, labels, (owner,))
            x += cell * len(labels)
            labels = []
        if item is not None:
            draw_more(sheet, x + 1, y, block_width(cell) - 2, height, item.size, (owner,))
            x += block_width(cell)
    return x


def draw_more(sheet: Sheet, x: float, y: float, width: float, height: float, count: int, owners: Owners) -> None:
    """Draw the block that stands for `count` cells left out."""
    text = more(count)
    _draw_ground(sheet, x, y, width, height, [tint(owner) for owner in owners])
    size = min(11.0, 11.0 * (width - 6) / text_width(text, 11))
    sheet.text(x + width / 2, y + height / 2 + 4, text, size=round(size, 1), fill=ink(owners))


def draw_nothing(sheet: Sheet, x: float, y: float, height: float, stroke: str) -> None:
    """Draw what is empty: a dashed outline and the word."""
    sheet.rect(x, y + 2, 14, height - 4, "none", round=4, stroke=stroke, stroke_width="1.3", stroke_dasharray="3 2.5")
    sheet.text(x + 20, y + height / 2 + 4.5, "empty", size=11, anchor="start", sans=True, opacity=0.9)


def lanes(spans: Sequence[tuple[float, float]], apart: float = 5) -> list[int]:
    """Give each span the first lane in which it meets no other: captions that would collide go one lower.

    >>> lanes([(0, 10), (8, 20), (30, 40)])
    [0, 1, 0]
    """
    taken: list[list[tuple[float, float]]] = []
    result = []
    for left, right in spans:
        free = (k for k, lane in enumerate(taken) if all(right + apart <= a or b + apart <= left for a, b in lane))
        lane = next(free, len(taken))
        if lane == len(taken):
            taken.append([])
        taken[lane].append((left, right))
        result.append(lane)
    return result


def _draw_hole(sheet: Sheet, piece: Piece, left: float, y: float, width: float, height: float) -> None:
    sheet.rect(left + 1, y, width - 2, height, "currentColor", round=5, opacity="0.11")
    count = piece.stop - piece.start
    if not piece.in_full:
        text = f"{count} unused"
        size = round(min(9.0, 9 * (width - 6) / text_width(text, 9)), 1)
        sheet.text(left + width / 2, y + height / 2 + 4, text, size=size, sans=True, opacity=0.9)
        return
    step = width / count
    for k in range(count):
        a, b = left + k * step + step * 0.28, left + (k + 1) * step - step * 0.28
        sheet.path(f"M{a:g} {y + height - 9:g}L{b:g} {y + 9:g}", width=1.1, opacity=0.4)
