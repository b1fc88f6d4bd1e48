"""The part of a buffer and of its components that a picture shows, and the strip of cells that it is drawn as.

A jagged array is drawn as components of one dimension, whose elements are rows of the buffer.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, pairwise, product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.backends.host import to_host

from .cells import Cell, CellFormat, Owners, draw_cells
from .svg import Sheet, text_width
from .truncation import Gap, visible_indices, with_gaps

Ints = NDArray[np.int64]

_SHORT_GAP = 4  # a longer stretch that no component uses is drawn as one block


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
        """Indices that are drawn along each dimension, and the gaps between them; without dimensions, one index."""
        return [with_gaps(shown, size) for shown, size in zip(self.shown, self.sizes, strict=True)] or [[0]]

    def position(self, index: tuple[int, ...]) -> int:
        """Return the position of an element in the buffer."""
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=False))


class DrawnBuffer:
    """A buffer, its components, and the part of them that is drawn, which is copied to the host.

    ``values`` (N, ...) can be on any device, and its elements can be rows of numbers. ``sizes`` and ``strides`` are
    (B, d), ``offsets`` is (B,). ``level`` is the number of components that are drawn and, along each of the last
    dimensions, of elements. ``least`` is the smallest width of a cell. ``shown`` has the components that are drawn, by
    index; ``rows`` has the indices, and the gaps between them.
    """

    def __init__(
        self, values: Any, sizes: Ints, strides: Ints, offsets: Ints, level: Sequence[int], least: float
    ) -> None:
        count, rank = sizes.shape
        self._values = values
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
        self.rows = with_gaps(list(self.shown), count)
        drawn = sum(prod(map(len, component.shown)) for component in self.shown.values())
        self._is_complete = drawn == sizes.prod(axis=1).sum()
        self._owners = self._owners_of_cells()
        elements = to_host(values[np.array([*self._owners], np.int64)])
        self._elements = dict(zip(self._owners, elements, strict=True))
        positions = text_width(str(max(self._owners, default=0)), 10) + 4
        self.format = CellFormat(list(elements), max(least, positions))

    @cached_property
    def strip(self) -> list[Cell]:
        """The whole buffer as cells."""
        return [cell for start, stop in pairwise(self._edges()) for cell in self._cells(start, stop)]

    def fits(self, room: float) -> bool:
        """Return whether the strip is at most as wide as the room; its elements alone can be too wide."""
        return len(self._owners) * self.format.width <= room and sum(cell.width for cell in self.strip) <= room

    def row(self, component: Component, lead: tuple[int, ...] = ()) -> list[Cell]:
        """Return the cells of a component along its last dimension, at the indices ``lead`` of the others."""
        items = component.items[-1] if 0 not in component.sizes else []
        return [
            self.format.cell(item, lambda last: self._elements[component.position((*lead, last))], (component.number,))
            for item in items
        ]

    def _owners_of_cells(self) -> dict[int, Owners]:
        """Return the components of each position that is drawn."""
        owners: dict[int, Owners] = {}
        for i, component in self.shown.items():
            for position in {component.position(index) for index in product(*component.shown)}:
                owners[position] = (*owners.get(position, ()), i)
        return owners

    def _edges(self) -> list[int]:
        """Return where owners change, and where a drawn component begins or ends in a hidden stretch."""
        owners = self._owners
        full = [i for i in self.shown if self._beyond[i] > self._lowest[i]]
        bounds = {int(bound) for i in full for bound in (self._lowest[i], self._beyond[i])}
        changes = {k for position in owners for k in (position, position + 1) if owners.get(k - 1) != owners.get(k)}
        within = {bound for bound in bounds if {bound - 1, bound} <= owners.keys()}
        return sorted({0, len(self._values)} | bounds - within | changes)

    def _cells(self, start: int, stop: int) -> list[Cell]:
        """Return the cells of a stretch between two edges: elements, or one that stands for hidden or unused ones."""
        if start in self._owners:
            return [self.format.cell(k, self._elements.__getitem__, self._owners[start]) for k in range(start, stop)]
        lowest, beyond = self._lowest, self._beyond
        (reaching,) = np.nonzero((lowest < stop) & (beyond > start) & (beyond > lowest))
        if reaching.size and not self._is_complete:
            is_inside = reaching.size == 1 and lowest[reaching[0]] <= start and beyond[reaching[0]] >= stop
            owners = (int(reaching[0]),) if is_inside else ()
            return [self.format.cell(Gap(start, stop), self._elements.__getitem__, owners)]
        size = stop - start
        if size <= _SHORT_GAP:
            return [Cell("", self.format.width, look="unused")] * size
        return [Cell(f"{size} unused", self.format.block_width, look="unused", size=size)]


def fit_buffer(
    values: Any, sizes: Ints, strides: Ints, offsets: Ints, levels: Sequence[Sequence[int]], least: float, room: float
) -> DrawnBuffer:
    """Return the first of some levels, from generous to frugal, that fits the room; else the last.

    Each level is tried with narrower cells too.
    """
    for level, share in product(levels, (1.0, 0.75)):
        buffer = DrawnBuffer(values, sizes, strides, offsets, level, share * least)
        if buffer.fits(room):
            break
    return buffer


class Strip:
    """A buffer as a row of cells from x on."""

    def __init__(self, buffer: DrawnBuffer, x: float) -> None:
        self._cells = buffer.strip
        self._starts = list(accumulate((cell.size for cell in self._cells), initial=0))
        self._lefts = list(accumulate((cell.width for cell in self._cells), initial=x))
        self.right = self._lefts[-1]

    def left_of(self, position: int) -> float:
        """Return the x of the left edge of an element; the length of the buffer gives the end."""
        return float(np.interp(position, self._starts, self._lefts))

    def centre_of(self, position: int) -> float:
        """Return the x of the middle of an element."""
        return (self.left_of(position) + self.left_of(position + 1)) / 2

    def draw(self, sheet: Sheet, y: float, height: float) -> None:
        """Draw the cells, with their positions beneath."""
        draw_cells(sheet, self._lefts[0], y, height, self._cells)
        for cell, position, left in zip(self._cells, self._starts, self._lefts, strict=False):
            if cell.size == 1:
                sheet.text(left + cell.width / 2, y + height + 13, str(position), size=10, opacity=0.75)
