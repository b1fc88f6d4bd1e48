"""The part of a buffer and of its components that a picture shows, and the strip of cells that it is drawn as.

A jagged array is drawn as components of one dimension, whose elements are rows of the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise, product
from math import prod
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pynested.backends.host import to_host

from .cells import Cell, CellFormat, Owners, Read, draw_cells, draw_hidden, draw_nothing
from .svg import Sheet, text_width
from .truncation import FEWEST, Gap, visible_indices, with_gaps

Ints = NDArray[np.int64]

_SHORT_HOLE = 4  # a longer stretch that no component uses is drawn as one block


@dataclass(frozen=True)
class Component:
    """A component: the places of its elements in the buffer, and the indices that are drawn along each dimension."""

    number: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    shown: tuple[list[int], ...]

    @property
    def is_contiguous(self) -> bool:
        """Whether the elements lie one after another in the order of their indices."""
        dense = [prod(self.sizes[k + 1 :]) for k in range(len(self.sizes))]
        return 0 in self.sizes or all(n == 1 or s == d for n, s, d in zip(self.sizes, self.strides, dense, strict=True))

    @property
    def items(self) -> list[list[int | Gap]]:
        """Indices that are drawn along each dimension, and the gaps between them."""
        return [with_gaps(shown, size) for shown, size in zip(self.shown, self.sizes, strict=True)]

    def position(self, index: tuple[int, ...]) -> int:
        """Return the position of an element in the buffer."""
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=True))


@dataclass(frozen=True)
class Piece:
    """A stretch ``[start, stop)`` of the buffer that is drawn as one."""

    start: int
    stop: int
    owners: Owners
    kind: Literal["cells", "hole", "hidden"]

    @property
    def is_in_full(self) -> bool:
        """Whether every cell of the stretch is drawn."""
        return self.kind == "cells" or (self.kind == "hole" and self.stop - self.start <= _SHORT_HOLE)

    def width(self, form: CellFormat) -> float:
        """Return the width of the stretch."""
        return (self.stop - self.start) * form.width if self.is_in_full else form.block_width


class DrawnBuffer:
    """A buffer, its components, and the part that is drawn.

    Parameters
    ----------
    values : array on any device, (N, ...)
        Only the part that is drawn is copied to the host. An element can be a row of numbers.
    sizes, strides : int64 (B, d)
    offsets : int64 (B,)
    level : tuple of int
        The number of components that are drawn; and along each of the last dimensions, of elements.
    least : float
        The smallest width of a cell.

    Attributes
    ----------
    shown : dict
        The components that are drawn, by their numbers.
    pieces : list of Piece
        The whole buffer, cut into stretches.
    cells : dict
        The elements that are drawn, by their positions.
    width : float
        The width of the whole strip.
    """

    def __init__(
        self, values: Any, sizes: Ints, strides: Ints, offsets: Ints, level: Sequence[int], least: float
    ) -> None:
        count, rank = sizes.shape
        self.values, self.count = values, count
        steps = np.maximum(sizes - 1, 0) * strides
        self._lowest = offsets + np.minimum(steps, 0).sum(axis=1)
        above = offsets + np.maximum(steps, 0).sum(axis=1) + 1
        self._beyond = np.where((sizes == 0).any(axis=1), self._lowest, above)
        limits = ([level[1]] * rank + [*level[1:]])[-rank:] if rank else []
        self.shown = {
            i: Component(
                i, tuple(sizes[i].tolist()), tuple(strides[i].tolist()), int(offsets[i]),
                tuple(visible_indices(*along) for along in zip(sizes[i].tolist(), limits, strict=True)),
            )
            for i in visible_indices(count, level[0])
        }  # fmt: skip
        drawn = sum(prod(map(len, component.shown)) for component in self.shown.values())
        self._is_complete = drawn == sizes.prod(axis=1).sum()
        self._owners = self._owners_of_cells()
        self.pieces = self._cut()
        self.cells = self._read()
        positions = text_width(str(max(self.cells, default=0)), 10) + 4
        self.format = CellFormat(list(self.cells.values()), max(least, positions))
        self.width = sum(piece.width(self.format) for piece in self.pieces)

    @property
    def rows(self) -> list[int | Gap]:
        """Numbers of the components that are drawn, and the gaps between them."""
        return with_gaps(list(self.shown), self.count)

    def reader(self, component: Component, lead: tuple[int, ...] = ()) -> Read:
        """Return what gives the elements of a component along its last dimension, if its other indices are ``lead``."""
        return lambda last: self.cells[component.position((*lead, last)[: len(component.sizes)])]

    def _owners_of_cells(self) -> dict[int, Owners]:
        """Return the components of each position that is drawn."""
        owners: dict[int, Owners] = {}
        for i, component in self.shown.items():
            for position in {component.position(index) for index in product(*component.shown)}:
                owners[position] = (*owners.get(position, ()), i)
        return owners

    def _cut(self) -> list[Piece]:
        """Cut the buffer where owners change, and hidden stretches where a drawn component begins or ends."""
        owners = self._owners
        bounds = [
            int(bound)
            for i in self.shown
            if self._beyond[i] > self._lowest[i]
            for bound in (self._lowest[i], self._beyond[i])
        ]
        edges = {0, len(self.values), *(bound for bound in bounds if not {bound - 1, bound} <= owners.keys())}
        edges |= {position for position in owners if owners.get(position - 1) != owners[position]}
        edges |= {position + 1 for position in owners if owners.get(position + 1) != owners[position]}
        return [self._piece(start, stop) for start, stop in pairwise(sorted(edges))]

    def _piece(self, start: int, stop: int) -> Piece:
        if start in self._owners:
            return Piece(start, stop, self._owners[start], "cells")
        lowest, beyond = self._lowest, self._beyond
        (reaching,) = np.nonzero((lowest < stop) & (beyond > start) & (beyond > lowest))
        if self._is_complete or not reaching.size:
            return Piece(start, stop, (), "hole")
        is_one = reaching.size == 1 and lowest[reaching[0]] <= start and beyond[reaching[0]] >= stop
        kind: Literal["cells", "hidden"] = "cells" if stop - start < FEWEST else "hidden"
        return Piece(start, stop, (int(reaching[0]),) if is_one else (), kind)

    def _read(self) -> dict[int, Cell]:
        """Return the elements that are drawn, by their positions."""
        drawn = [k for piece in self.pieces if piece.kind == "cells" for k in range(piece.start, piece.stop)]
        return dict(zip(drawn, to_host(self.values[np.array(drawn, np.int64)]), strict=True))


def fit_buffer(
    values: Any, sizes: Ints, strides: Ints, offsets: Ints, levels: Sequence[Sequence[int]], least: float, room: float
) -> DrawnBuffer:
    """Return the first of some levels, from generous to frugal, that fits the room; else the last.

    Each level is tried with narrower cells too.
    """
    for level, share in product(levels, (1.0, 0.75)):
        buffer = DrawnBuffer(values, sizes, strides, offsets, level, share * least)
        if buffer.width <= room:
            break
    return buffer


class Strip:
    """A buffer as a row of cells from x on."""

    def __init__(self, buffer: DrawnBuffer, x: float) -> None:
        self._buffer = buffer
        self._lefts = [x]
        for piece in buffer.pieces:
            self._lefts.append(self._lefts[-1] + piece.width(buffer.format))

    @property
    def right(self) -> float:
        """Right end of the strip."""
        return self._lefts[-1]

    def left_of(self, position: int) -> float:
        """Return the x of the left edge of a cell; the length of the buffer gives the end."""
        for piece, left in zip(self._buffer.pieces, self._lefts, strict=False):
            if piece.start <= position < piece.stop:
                part = (position - piece.start) / (piece.stop - piece.start)
                return left + part * piece.width(self._buffer.format)
        return self.right

    def centre_of(self, position: int) -> float:
        """Return the x of the middle of a cell."""
        return (self.left_of(position) + self.left_of(position + 1)) / 2

    def draw(self, sheet: Sheet, y: float, height: float) -> None:
        """Draw the cells, with their positions beneath."""
        if not self._buffer.pieces:
            draw_nothing(sheet, self.right, y, height, "currentColor")
        form = self._buffer.format
        for piece, left in zip(self._buffer.pieces, self._lefts, strict=False):
            width, size = piece.width(form) - 2, piece.stop - piece.start
            if piece.kind == "cells":
                cells = [self._buffer.cells[position] for position in range(piece.start, piece.stop)]
                draw_cells(sheet, left + 1, y, width, height, cells, form, piece.owners)
            elif piece.kind == "hole":
                _draw_hole(sheet, piece, left + 1, y, width, height)
            else:
                draw_hidden(sheet, left + 1, y, width, height, size, piece.owners)
            for k in range(size if piece.is_in_full else 0):
                sheet.text(left + (k + 0.5) * form.width, y + height + 13, str(piece.start + k), size=10, opacity=0.75)


def _draw_hole(sheet: Sheet, piece: Piece, x: float, y: float, width: float, height: float) -> None:
    sheet.rect(x, y, width, height, "currentColor", round=5, opacity="0.11")
    count = piece.stop - piece.start
    if not piece.is_in_full:
        text = f"{count} unused"
        size = round(min(9.0, 9 * (width - 4) / text_width(text, 9)), 1)
        sheet.text(x + width / 2, y + height / 2 + 4, text, size=size, sans=True, opacity=0.9)
        return
    step = (width + 2) / count
    for k in range(count):
        a, b = x - 1 + (k + 0.28) * step, x - 1 + (k + 0.72) * step
        sheet.path(f"M{a:g} {y + height - 9:g}L{b:g} {y + 9:g}", width=1.1, opacity=0.4)
