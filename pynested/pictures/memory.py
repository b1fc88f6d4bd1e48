"""What there is to draw: a buffer, where the components lie in it, and which part of that a picture shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import product
from math import prod
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from pynested.backends.host import to_host

from .elide import Gap, cell_label, digits_of_all, ends, in_short, with_gaps, written
from .strip import Owners, Piece, pieces
from .svg import text_width

Ints = NDArray[np.int64]

PAGE = 940  # pixels that a picture may take; a notebook's column is hardly wider

# What is shown of a long array, from generous to frugal; the first that fits the width is taken.
_JAGGED = ((12, 24), (12, 4), (7, 6), (7, 4), (5, 3), (5, 2), (3, 2), (2, 2), (1, 2))  # components, elements of each
_STRIDED = (
    (12, 6, 8, 12), (7, 3, 4, 6), (5, 2, 3, 4), (3, 2, 3, 3), (3, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2), (1, 2, 2, 2),
    (1, 1, 2, 2), (1, 1, 1, 2),
)  # fmt: skip
# components, matrices of a component (where it has more than two dimensions), rows and columns of a matrix

# How many rows and matrices (of a jagged array: components) are left out at least, where any are; how many elements
# (of a strided array: and components); and how narrow a cell may be.
_MANNERS = ((3, 3, 1.0), (3, 3, 0.75), (1, 3, 0.75))
_LAST = (1, 1, 0.75)  # one or two elements are left out only where nothing else fits
Manner = tuple[int, int, float]


@dataclass(frozen=True)
class Memory(ABC):
    """A buffer whose cells are numbers or, in the jagged layout, rows of numbers."""

    values: Any  # an array on any device, of which only what is drawn is read
    name: str
    hidden: int  # a block stands for so many cells at least
    least: float  # width of a cell at least

    @abstractmethod
    def positions(self) -> dict[int, list[int]]:
        """Return, of each component shown, the positions in the buffer that are drawn as cells."""

    @abstractmethod
    def spans(self, start: int, stop: int) -> tuple[Ints, bool]:
        """Return which components may reach into a stretch none of whose cells is drawn, and whether one fills it."""

    @abstractmethod
    def cuts(self) -> list[int]:
        """Return where the components that are drawn begin and end."""

    def called(self, *index: int) -> str:
        """Return what a component, or a part of one, is called."""
        return f"{self.name}[{', '.join(map(str, index))}]"

    def users(self, start: int, stop: int) -> Owners | None:
        """Return whose a stretch is none of whose cells is drawn: None where it is a hole, () where it is mixed."""
        reaching, filled = self.spans(start, stop)
        if not len(reaching):
            return None
        return (int(reaching[0]),) if len(reaching) == 1 and filled else ()

    @cached_property
    def owners(self) -> dict[int, Owners]:
        """Every position that is drawn as a cell, and the components it belongs to."""
        owners: dict[int, Owners] = {}
        for component, positions in self.positions().items():
            for position in dict.fromkeys(positions):
                owners[position] = (*owners.get(position, ()), component)
        return owners

    @cached_property
    def pieces(self) -> list[Piece]:
        """The buffer, cut into what is drawn as one."""
        return pieces(self.owners, len(self.values), self.cuts(), self.users, self.hidden)

    @cached_property
    def cells(self) -> dict[int, NDArray[Any]]:
        """What each cell holds that is drawn."""
        drawn = [p for piece in self.pieces if piece.kind == "cells" for p in range(piece.start, piece.stop)]
        return dict(zip(drawn, to_host(self.values[np.array(drawn, np.int64)]), strict=True))

    @cached_property
    def digits(self) -> int:
        """With how many digits numbers are written."""
        numbers = [number for cell in self.cells.values() for number in written(cell)]
        return digits_of_all(numbers, in_rows=len(numbers) > len(self.cells))

    @cached_property
    def cell(self) -> float:
        """The width of a cell: wide enough for the longest label, and for the position beneath it."""
        label = max((text_width(in_short(cell, self.digits), 13) for cell in self.cells.values()), default=0)
        return max(self.least, label + 9, text_width(str(max(self.cells, default=0)), 10) + 4)

    @property
    def width(self) -> float:
        """How much room the buffer takes."""
        return sum(piece.width(self.cell) for piece in self.pieces)

    def label(self, position: int) -> tuple[str, str]:
        """Return what is written into a cell, and the same in full."""
        return cell_label(self.cells[position], self.digits)


@dataclass(frozen=True)
class Jagged(Memory):
    """The rows ``[start, start + length)`` of a buffer are a component."""

    starts: Ints
    lengths: Ints
    end: int | None  # the last offset, where one closes the last component
    shown: dict[int, list[int]]  # of each component shown, which elements are

    @property
    def rows(self) -> list[int | Gap]:
        """The components shown, and the gaps between them."""
        return with_gaps(list(self.shown), len(self.starts))

    def positions(self) -> dict[int, list[int]]:
        """Return, of each component shown, the positions in the buffer that are drawn as cells."""
        return {i: [int(self.starts[i]) + element for element in shown] for i, shown in self.shown.items()}

    def spans(self, start: int, stop: int) -> tuple[Ints, bool]:
        """Return which components reach into a stretch, and whether one fills it."""
        ends = self.starts + self.lengths
        (reaching,) = np.nonzero((self.starts < stop) & (ends > start) & (self.lengths > 0))
        return reaching, bool(np.any((self.starts <= start) & (ends >= stop)))

    def cuts(self) -> list[int]:
        """Return where the components that are drawn begin and end."""
        full = [i for i in self.shown if self.lengths[i]]
        return [int(at) for i in full for at in (self.starts[i], self.starts[i] + self.lengths[i])]


@dataclass(frozen=True)
class Component:
    """One component of a strided array: where its elements lie, and which of them are drawn."""

    number: int
    sizes: tuple[int, ...]
    strides: tuple[int, ...]
    offset: int
    shown: tuple[list[int], ...]  # along each dimension

    @property
    def contiguous(self) -> bool:
        """Whether the elements lie one after another in the order of their indices."""
        dense = [prod(self.sizes[k + 1 :]) for k in range(len(self.sizes))]
        return 0 in self.sizes or all(n == 1 or s == d for n, s, d in zip(self.sizes, self.strides, dense, strict=True))

    def position(self, index: tuple[int, ...]) -> int:
        """Return where in the buffer an element lies."""
        return self.offset + sum(i * stride for i, stride in zip(index, self.strides, strict=True))

    def panels(self) -> list[tuple[int, ...]]:
        """Return the leading indices of the matrices drawn: one, where there are two dimensions or fewer."""
        return list(product(*self.shown[:-2]))


@dataclass(frozen=True)
class Strided(Memory):
    """Each component has sizes, strides and an offset of its own."""

    first_dim: ClassVar[int] = 1  # the number of the first dimension of a component: 0 is the batch

    lowest: Ints  # of each component, the first position it may use
    beyond: Ints  # and the first after the last
    shown: dict[int, Component]
    exact: bool  # whether every element of every component is drawn

    @property
    def rows(self) -> list[Component | Gap]:
        """The components shown, and the gaps between them."""
        items = with_gaps(list(self.shown), len(self.lowest))
        return [item if isinstance(item, Gap) else self.shown[item] for item in items]

    def positions(self) -> dict[int, list[int]]:
        """Return, of each component shown, the positions in the buffer that are drawn as cells."""
        return {i: [c.position(index) for index in product(*c.shown)] for i, c in self.shown.items()}

    def spans(self, start: int, stop: int) -> tuple[Ints, bool]:
        """Return which components may reach into a stretch, and whether the first lies on both of its sides."""
        if self.exact:
            return np.zeros(0, np.int64), False
        (reaching,) = np.nonzero((self.lowest < stop) & (self.beyond > start) & (self.beyond > self.lowest))
        return reaching, bool(len(reaching) and self.lowest[reaching[0]] <= start and self.beyond[reaching[0]] >= stop)

    def cuts(self) -> list[int]:
        """Return where the components that are drawn begin and end."""
        return [int(at) for i in self.shown for at in (self.lowest[i], self.beyond[i])]


def _choices(levels: Sequence[tuple[int, ...]]) -> list[tuple[tuple[int, ...], Manner]]:
    """Return what can be shown and in which manner, from the most to the least."""
    return [*product(levels, _MANNERS), *((level, _LAST) for level in levels)]


def choose_jagged(values: Any, offsets: Ints, lengths: Ints | None, cell: float, name: str, room: float) -> Jagged:
    """Return as much of a jagged array as fits a room, in cells that would be `cell` wide."""
    end = int(offsets[-1]) if lengths is None else None
    lengths = np.diff(offsets) if lengths is None else lengths
    for (components, elements), (most, hidden, share) in _choices(_JAGGED):
        shown = {i: ends(int(lengths[i]), elements, hidden) for i in ends(len(lengths), components, most)}
        memory = Jagged(values, name, hidden, share * cell, offsets[: len(lengths)], lengths, end, shown)
        if memory.width <= room:
            break
    return memory


def choose_strided(
    values: Any, sizes: Ints, strides: Ints, offsets: Ints, cell: float, name: str, kind: type[Strided] = Strided
) -> Strided:
    """Return as much of a strided array as fits the page, in cells that would be `cell` wide."""
    steps = (sizes - 1) * strides
    lowest = offsets + np.minimum(steps, 0).sum(axis=1)
    beyond = np.where((sizes == 0).any(axis=1), lowest, offsets + np.maximum(steps, 0).sum(axis=1) + 1)
    elements = int(sizes.prod(axis=1).sum())
    for (count, matrices, *matrix), (most, hidden, share) in _choices(_STRIDED):
        limits = ([matrices] * sizes.shape[1] + matrix)[-sizes.shape[1] :] if sizes.shape[1] else []
        least = ([most] * sizes.shape[1] + [hidden])[-sizes.shape[1] :]
        shown = {}
        for i in ends(len(sizes), count, hidden):
            along = tuple(map(ends, sizes[i].tolist(), limits, least))
            shown[i] = Component(i, tuple(sizes[i].tolist()), tuple(strides[i].tolist()), int(offsets[i]), along)
        drawn = sum(prod(map(len, component.shown)) for component in shown.values())
        memory = kind(values, name, hidden, share * cell, lowest, beyond, shown, exact=drawn == elements)
        if memory.width <= PAGE:
            break
    return memory
