"""What there is to draw: a buffer, where the components lie in it, and which part of that a picture shows."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from itertools import product
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.backends.cached import cached_property

from .elide import Gap, cell_label, ends, with_gaps
from .strip import Owners, Piece, pieces
from .svg import text_width

Ints = NDArray[np.int64]

_PAGE = 1090  # pixels that a buffer may take

# What is shown of a long array, from generous to frugal; the first that fits the width is taken.
_JAGGED = ((12, 24), (12, 4), (7, 6), (7, 4), (5, 3), (5, 2), (3, 2))  # components, elements of each
_STRIDED = ((12, 6, 8, 12), (7, 3, 4, 6), (5, 2, 3, 4), (3, 2, 3, 3), (3, 2, 2, 3), (3, 2, 2, 2), (2, 2, 2, 2))
# components, matrices of a component (where it has more than two dimensions), rows and columns of a matrix


@dataclass(frozen=True)
class Memory(ABC):
    """A buffer whose cells are numbers or, in the jagged layout, rows of numbers."""

    values: NDArray[Any]

    @abstractmethod
    def positions(self) -> dict[int, list[int]]:
        """Return, of each component shown, the positions in the buffer that are drawn as cells."""

    @abstractmethod
    def used(self, start: int, stop: int) -> bool:
        """Whether a component may reach into a stretch none of whose cells is drawn; if not, it is a hole."""

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
        return pieces(self.owners, len(self.values), self.used)

    def cell(self, least: float) -> float:
        """Return the width of a cell: wide enough for the longest label, and for the position beneath it."""
        label = max((text_width(self.label(position)[0], 13) for position in self.owners), default=0)
        return max(least, label + 9, text_width(str(max(self.owners, default=0)), 10) + 4)

    def width(self, least: float) -> float:
        """Return how much room the buffer takes."""
        cell = self.cell(least)
        return sum(piece.width(cell) for piece in self.pieces)

    def label(self, position: int) -> tuple[str, str]:
        """Return what is written into a cell, and the same in full."""
        return cell_label(self.values[position])


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

    def used(self, start: int, stop: int) -> bool:
        """Whether a component may reach into a stretch none of whose cells is drawn; if not, it is a hole."""
        return bool(np.any((self.starts < stop) & (self.starts + self.lengths > start) & (self.lengths > 0)))


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

    def used(self, start: int, stop: int) -> bool:
        """Whether a component may reach into a stretch none of whose cells is drawn; if not, it is a hole."""
        return not self.exact and bool(np.any((self.lowest < stop) & (self.beyond > start)))


def choose_jagged(values: NDArray[Any], offsets: Ints, lengths: Ints | None, cell: float) -> Jagged:
    """Return as much of a jagged array as fits the page, in cells at least `cell` wide."""
    end = int(offsets[-1]) if lengths is None else None
    lengths = np.diff(offsets) if lengths is None else lengths
    for components, elements in _JAGGED:
        shown = {i: ends(int(lengths[i]), elements) for i in ends(len(lengths), components)}
        memory = Jagged(values, offsets[: len(lengths)], lengths, end, shown)
        if memory.width(cell) <= _PAGE:
            break
    return memory


def choose_strided(values: NDArray[Any], sizes: Ints, strides: Ints, offsets: Ints, cell: float) -> Strided:
    """Return as much of a strided array as fits the page, in cells at least `cell` wide."""
    steps = (sizes - 1) * strides
    lowest = offsets + np.minimum(steps, 0).sum(axis=1)
    beyond = np.where((sizes == 0).any(axis=1), lowest, offsets + np.maximum(steps, 0).sum(axis=1) + 1)
    elements = int(sizes.prod(axis=1).sum())
    for count, matrices, *matrix in _STRIDED:
        limits = ([matrices] * sizes.shape[1] + matrix)[-sizes.shape[1] :] if sizes.shape[1] else []
        shown = {}
        for i in ends(len(sizes), count):
            along = tuple(ends(int(size), limit) for size, limit in zip(sizes[i], limits, strict=True))
            shown[i] = Component(i, tuple(sizes[i].tolist()), tuple(strides[i].tolist()), int(offsets[i]), along)
        drawn = sum(prod(map(len, component.shown)) for component in shown.values())
        memory = Strided(values, lowest, beyond, shown, exact=drawn == elements)
        if memory.width(cell) <= _PAGE:
            break
    return memory
