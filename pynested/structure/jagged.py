"""The structure of the jagged layout: runs along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pynested.autograd.arguments.shapes import canonical_int
from pynested.backends import Matrices, Segments, same_integers, strided_index
from pynested.backends.errors import DimensionError
from pynested.backends.limits import MOST_DIMENSIONS

from .immutable import Immutable
from .layouts import Layout, jagged
from .metadata import Ints, check_offsets, frozen, integers, matrices_of, sealed
from .parts import Part, ranges


class Jagged(Immutable):
    """One dimension, ``ragged_dim``, differs between components; along it they lie one after another in the values.

    Attributes
    ----------
    offsets : int64 (B + 1,)
        Component ``i`` begins at ``offsets[i]``; without lengths it ends at ``offsets[i + 1]``.
    lengths : int64 (B,) or None
        With them the values may have holes, and components lie in any order.
    ragged_dim : int
        Counted with the batch as dimension 0, so at least 1.
    """

    layout: Layout = jagged
    _fields = ("offsets", "lengths", "ragged_dim")

    offsets: Ints
    lengths: Ints | None
    ragged_dim: int
    count: int
    tiles: bool

    def __init__(self, offsets: Any, lengths: Any = None, ragged_dim: int = 1, *, name: str = "Jagged") -> None:
        starts = integers(name, "offsets", offsets, 1)
        counted = None if lengths is None else integers(name, "lengths", lengths, 1)
        check_offsets(name, starts, counted)
        at = canonical_int(name, "ragged_dim", ragged_dim)
        if at < 1:
            raise DimensionError(f"{name}: ragged_dim counts the batch as dimension 0, so it is at least 1, not {at}.")
        self.__dict__.update(
            offsets=starts, lengths=counted, ragged_dim=at, count=starts.size - 1, tiles=counted is None
        )

    @classmethod
    def derived(cls, offsets: Ints, lengths: Ints | None = None, ragged_dim: int = 1) -> Jagged:
        """Of offsets, and lengths, that are known to be valid."""
        made, starts = cls.__new__(cls), frozen(offsets)
        counted = None if lengths is None else frozen(lengths)
        made.__dict__.update(
            offsets=starts, lengths=counted, ragged_dim=ragged_dim, count=starts.size - 1, tiles=lengths is None
        )
        return made

    @classmethod
    def of_lengths(cls, lengths: Ints, ragged_dim: int = 1) -> Jagged:
        """Runs of these lengths one after the other."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.add.accumulate(lengths, out=offsets[1:])
        return cls.derived(sealed(offsets), None, ragged_dim)

    @cached_property
    def segments(self) -> Segments:
        """The runs of the components once they are packed."""
        return Segments(self.offsets) if self.lengths is None else Segments.from_lengths(self.lengths)

    @cached_property
    def component_lengths(self) -> Ints:
        """The length of each component along the ragged dimension."""
        return self.segments.lengths if self.lengths is None else self.lengths

    @cached_property
    def rows(self) -> int:
        """How many rows the values have; at least so many where there are lengths."""
        if self.lengths is None:
            return self.offsets.item(-1)
        return int((self.offsets[:-1] + self.lengths).max(initial=0))

    def fits(self, values: Any) -> bool:
        """Whether every component lies inside ``values``, an array of whatever device."""
        shape, axis = values.shape, self.ragged_dim - 1
        if not axis < len(shape) < MOST_DIMENSIONS:
            return False
        return shape[axis] == self.rows if self.tiles else shape[axis] >= self.rows  # type: ignore[no-any-return]

    @cached_property
    def span(self) -> slice | None:
        """The rows that components fill one after another; None if rows of no component lie between them."""
        starts = (self.offsets[:-1] - self.segments.offsets[:-1])[self.component_lengths > 0]
        if (starts != starts[:1]).any():
            return None
        first = int(starts[0]) if starts.size else 0
        return slice(first, first + self.segments.rows)

    @property
    def packed(self) -> Jagged:
        """The same lengths without holes."""
        return self if self.lengths is None else self.tight

    @cached_property
    def tight(self) -> Jagged:
        """What `packed` is of a copy, whether or not this is packed already."""
        packed = Jagged.derived(self.segments.offsets, None, self.ragged_dim)
        packed.__dict__.update(segments=self.segments)
        return packed

    @cached_property
    def overlapping(self) -> bool:
        """Whether two components share a row."""
        if self.lengths is None:
            return False
        live = self.lengths > 0
        starts, lengths = self.offsets[:-1][live], self.lengths[live]
        order = np.argsort(starts, kind="stable")
        return bool(((starts + lengths)[order][:-1] > starts[order][1:]).any())

    @cached_property
    def row_index(self) -> Ints:
        """For each row once packed, where it lies in the values."""
        shift = self.offsets[:-1] - self.segments.offsets[:-1]
        return np.arange(self.segments.rows) + np.repeat(shift, self.component_lengths)

    def outline(self, shape: tuple[int, ...]) -> Ints:
        """The shape of each component in values of ``shape``, or that which one would have: int64 (max(B, 1), d)."""
        axis = self.ragged_dim - 1

        def make() -> Ints:
            sizes = np.empty((max(self.count, 1), len(shape)), np.int64)
            sizes[:] = shape
            sizes[:, axis] = self.component_lengths if self.count else -1
            return sealed(sizes)

        return self.segments.remember(("outline", axis, shape[:axis], shape[axis + 1 :]), make)

    def matrices(self, shape: tuple[int, ...]) -> Matrices:
        """The matrices of all components in packed values of ``shape``, of which the ragged dimension is brought first.

        For a ragged dimension that leads, and for one that is the last of two.
        """
        axis = self.ragged_dim - 1

        def make() -> Matrices:
            if axis:
                return self.with_ragged_dim(1).matrices(shape[::-1]).turned
            return matrices_of(self.outline(shape)[: self.count])

        return self.segments.remember(("matrices", axis, shape[:axis], shape[axis + 1 :]), make)

    def with_ragged_dim(self, ragged_dim: int) -> Jagged:
        """The same runs along another dimension."""
        if ragged_dim == self.ragged_dim:
            return self
        moved = Jagged.__new__(Jagged)
        facts = moved.__dict__
        facts.update(self.__dict__, segments=self.segments, ragged_dim=ragged_dim)
        facts.pop("tight", None)
        return moved

    # ---- the same runs among other axes: the values are viewed likewise ---------------------------------------------

    def with_axes(self, order: Sequence[int]) -> Jagged:
        """The axes of every component in this order; regular ones may be left out."""
        return self.with_ragged_dim(order.index(self.ragged_dim - 1) + 1)

    def with_one(self, axis: int) -> Jagged:
        """A new axis of size 1 before ``axis``."""
        return self.with_ragged_dim(self.ragged_dim + (axis < self.ragged_dim))

    def unflattened(self, axis: int, sizes: Sequence[int]) -> Jagged:
        """A regular axis as several, of ``sizes``."""
        return self.with_ragged_dim(self.ragged_dim + (len(sizes) - 1) * (axis < self.ragged_dim - 1))

    def flattened(self, first: int, last: int, width: int) -> Jagged | None:
        """The axes from ``first`` to ``last`` as one; None where entries of others lie between those of a component.

        Where the ragged axis is the first of them, each of its entries has ``width`` in the others.
        """
        axis = self.ragged_dim - 1
        if first < axis <= last:
            return None
        if axis != first:
            return self.with_ragged_dim(self.ragged_dim - (last - first) * (first < axis))
        lengths = None if self.lengths is None else self.lengths * width
        return Jagged.derived(self.offsets * width, lengths, self.ragged_dim)

    # ---- parts of it, with what they take of the values -------------------------------------------------------------

    def picked(self, picks: slice | Ints) -> Part:
        """The components of these numbers; those that follow one another without holes keep to their rows."""
        if self.lengths is None and isinstance(picks, slice):
            start, stop, step = picks.indices(self.count)
            if step == 1:
                offsets = self.offsets[start : max(start, stop) + 1]
                first, end = int(offsets[0]), int(offsets[-1])
                kept = Jagged.derived(sealed(offsets - first), None, self.ragged_dim)
                return Part(kept, self.ragged_dim - 1, slice(first, end))
        return Part(self._windows(self.offsets[:-1][picks], self.component_lengths[picks]))

    def selected(self, axis: int, index: int) -> Part:
        """The entry at ``index`` along a regular ``axis`` of each component, without the axis."""
        return Part(self.with_ragged_dim(self.ragged_dim - (axis < self.ragged_dim - 1)), axis, index)

    def sliced(self, axis: int, part: slice) -> Part:
        """The entries along ``axis`` that ``part`` names in each component; a copy of rows that are not neighbours."""
        if axis != self.ragged_dim - 1:
            return Part(self, axis, part)
        starts, lengths, step = ranges(part, self.component_lengths)
        starts += self.offsets[:-1]
        if step == 1:
            return Part(self._windows(starts, lengths))
        rows = strided_index(lengths[:, None], np.full((self.count, 1), step), starts)
        return Part(Jagged.of_lengths(lengths, self.ragged_dim), axis, rows)

    def _windows(self, starts: Ints, lengths: Ints) -> Jagged:
        """Components that begin at ``starts`` and have ``lengths``, in the same values."""
        end = int((starts + lengths).max(initial=0))
        made = Jagged.derived(sealed(np.append(starts, end)), lengths, self.ragged_dim)
        made.__dict__["rows"] = end
        return made

    @cached_property
    def _compared(self) -> tuple[bytes, bytes | None]:
        """Offsets and lengths in a form that is compared in no time."""
        return self.offsets.tobytes(), None if self.lengths is None else self.lengths.tobytes()

    def same_lengths(self, other: Jagged) -> bool:
        """Whether the components are as long as those of ``other``, by value."""
        if self is other or self._compared == other._compared:
            return True
        return not (self.tiles and other.tiles) and same_integers(self.component_lengths, other.component_lengths)

    def same_placement(self, other: Any) -> bool:
        """Whether equal places mean equal elements."""
        if self is other:
            return True
        return type(other) is Jagged and self.ragged_dim == other.ragged_dim and self._compared == other._compared
