"""`Jagged`: the structure of the jagged layout, in which components are segments along one dimension."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import canonical_int
from pynested.backends import Matrices, Segments, same_integers, strided_index
from pynested.backends.errors import DimensionError, StructureError
from pynested.backends.limits import MOST_DIMENSIONS

from .base import ImmutableStructure, StructureView, slice_bounds
from .extents import Ints, as_frozen, component_matrices, freeze
from .layout import Layout, jagged
from .validation import as_integers, check_offsets


class Jagged(ImmutableStructure):
    """Components that differ in one dimension, ``ragged_dim``, and lie one after another along it in the values.

    The values have one dimension less than the nested array: their axis ``ragged_dim - 1`` holds the *rows* of all
    components.

    Attributes
    ----------
    offsets : int64 (B + 1,)
        Component ``i`` begins at row ``offsets[i]``; without lengths it ends at ``offsets[i + 1]``.
    lengths : int64 (B,) or None
        The number of rows of each component. With lengths, components can lie in any order, overlap, or leave gaps.
    ragged_dim : int
        The dimension of the nested array, 1 or more, as the batch is dimension 0.
    count : int
        The number of components, B.
    is_packed : bool
        Whether there are no lengths, so that the components cover the values exactly once.
    """

    layout: Layout = jagged
    _fields = ("offsets", "lengths", "ragged_dim")

    offsets: Ints
    lengths: Ints | None
    ragged_dim: int
    count: int
    is_packed: bool

    def __init__(self, offsets: Any, lengths: Any = None, ragged_dim: int = 1, *, name: str = "Jagged") -> None:
        starts = as_integers(name, "offsets", offsets, 1)
        sizes = None if lengths is None else as_integers(name, "lengths", lengths, 1)
        check_offsets(name, starts, sizes)
        dim = canonical_int(name, "ragged_dim", ragged_dim)
        if dim < 1:
            raise DimensionError(f"{name}: ragged_dim counts the batch as dimension 0, so it is at least 1, not {dim}.")
        self.__dict__.update(
            offsets=starts, lengths=sizes, ragged_dim=dim, count=starts.size - 1, is_packed=sizes is None
        )

    @classmethod
    def from_valid(cls, offsets: Ints, lengths: Ints | None = None, ragged_dim: int = 1) -> Jagged:
        """Return the structure of offsets, and lengths, that are known to be valid."""
        structure, starts = cls.__new__(cls), as_frozen(offsets)
        sizes = None if lengths is None else as_frozen(lengths)
        structure.__dict__.update(
            offsets=starts, lengths=sizes, ragged_dim=ragged_dim, count=starts.size - 1, is_packed=lengths is None
        )
        return structure

    @classmethod
    def from_lengths(cls, lengths: Ints, ragged_dim: int = 1) -> Jagged:
        """Return the packed structure of components of these lengths."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.add.accumulate(lengths, out=offsets[1:])
        return cls.from_valid(freeze(offsets), None, ragged_dim)

    # ---- rows of the components -------------------------------------------------------------------------------------

    @cached_property
    def segments(self) -> Segments:
        """The segments of rows that the components are in packed values."""
        return Segments(self.offsets) if self.lengths is None else Segments.from_lengths(self.lengths)

    @cached_property
    def component_lengths(self) -> Ints:
        """The length of each component along the ragged dimension: int64 (B,)."""
        return self.segments.lengths if self.lengths is None else self.lengths

    @cached_property
    def rows(self) -> int:
        """The number of rows of the values; with lengths, the least number that holds all components."""
        if self.lengths is None:
            return self.offsets.item(-1)
        return int((self.offsets[:-1] + self.lengths).max(initial=0))

    @cached_property
    def span(self) -> slice | None:
        """The rows that the components fill in order and without gaps between them, else None."""
        starts = (self.offsets[:-1] - self.segments.offsets[:-1])[self.component_lengths > 0]
        if (starts != starts[:1]).any():
            return None
        first = int(starts[0]) if starts.size else 0
        return slice(first, first + self.segments.rows)

    @cached_property
    def has_overlap(self) -> bool:
        """Whether two components share a row."""
        if self.lengths is None:
            return False
        nonempty = self.lengths > 0
        starts, lengths = self.offsets[:-1][nonempty], self.lengths[nonempty]
        order = np.argsort(starts, kind="stable")
        return bool(((starts + lengths)[order][:-1] > starts[order][1:]).any())

    @cached_property
    def row_index(self) -> Ints:
        """The row of the values at which each row of packed values lies."""
        shift = self.offsets[:-1] - self.segments.offsets[:-1]
        return np.arange(self.segments.rows) + np.repeat(shift, self.component_lengths)

    @property
    def packed(self) -> Jagged:
        """The structure of packed values: this one if it is packed, else `repacked`."""
        return self if self.lengths is None else self.repacked

    @cached_property
    def repacked(self) -> Jagged:
        """The structure of a packed copy; another object than this one, also if this one is packed."""
        packed = Jagged.from_valid(self.segments.offsets, None, self.ragged_dim)
        packed.__dict__.update(segments=self.segments)
        return packed

    # ---- values -----------------------------------------------------------------------------------------------------

    def fits(self, values: Any) -> bool:
        """Return whether every component lies inside ``values``, an ndarray of any device."""
        shape, axis = values.shape, self.ragged_dim - 1
        if not axis < len(shape) < MOST_DIMENSIONS:
            return False
        return shape[axis] == self.rows if self.is_packed else shape[axis] >= self.rows  # type: ignore[no-any-return]

    def misfit_error(self, name: str, values: Array) -> StructureError:
        """Return the error for values that the structure does not fit."""
        dim = self.ragged_dim
        if not dim <= values.ndim < MOST_DIMENSIONS:
            return StructureError(
                f"{name}: values of {values.ndim} dimensions make a nested array of {values.ndim + 1}, the batch among "
                f"them; it needs more than {dim}, its ragged dimension, and can have {MOST_DIMENSIONS}."
            )
        rows = values.shape[dim - 1]
        if self.lengths is None:
            return StructureError(
                f"{name}: offsets run from 0 to {self.rows}; without lengths they must run from 0 to the {rows} rows "
                "of values. Slice the values, or give lengths."
            )
        starts = self.offsets[:-1]
        i = int(np.flatnonzero((starts > rows) | (self.lengths > rows - starts))[0])
        return StructureError(
            f"{name}: component {i} begins at {starts[i]} and has length {self.lengths[i]}, which leaves the {rows} "
            "rows of values."
        )

    def extents(self, shape: tuple[int, ...]) -> Ints:
        """Return the extents of the components in values of ``shape``: int64 (max(B, 1), d), see `extents.py`."""
        axis = self.ragged_dim - 1

        def compute() -> Ints:
            sizes = np.empty((max(self.count, 1), len(shape)), np.int64)
            sizes[:] = shape
            sizes[:, axis] = self.component_lengths if self.count else -1
            return freeze(sizes)

        return self.segments.remember(("extents", axis, shape[:axis], shape[axis + 1 :]), compute)

    def matrices(self, shape: tuple[int, ...]) -> Matrices:
        """Return the matrices of all components in packed values of ``shape``, with the ragged dimension first.

        The ragged dimension is the first dimension of components, or the last of two.
        """
        axis = self.ragged_dim - 1

        def compute() -> Matrices:
            if axis:
                return self.with_ragged_dim(1).matrices(shape[::-1]).turned
            return component_matrices(self.extents(shape)[: self.count])

        return self.segments.remember(("matrices", axis, shape[:axis], shape[axis + 1 :]), compute)

    # ---- the same segments among other axes: the values are viewed likewise -----------------------------------------

    def with_ragged_dim(self, ragged_dim: int) -> Jagged:
        """Return the same segments along another dimension."""
        if ragged_dim == self.ragged_dim:
            return self
        # Cached properties of the rows stay valid. `repacked` does not, as it has the ragged dimension in it.
        moved = Jagged.__new__(Jagged)
        facts = moved.__dict__
        facts.update(self.__dict__, segments=self.segments, ragged_dim=ragged_dim)
        facts.pop("repacked", None)
        return moved

    def with_axes(self, order: Sequence[int]) -> Jagged:
        """Return the structure with the axes of every component in this order; regular axes can be left out."""
        return self.with_ragged_dim(order.index(self.ragged_dim - 1) + 1)

    def with_new_axis(self, axis: int) -> Jagged:
        """Return the structure with a new axis of size 1 before ``axis``."""
        return self.with_ragged_dim(self.ragged_dim + (axis < self.ragged_dim))

    def unflattened(self, axis: int, sizes: Sequence[int]) -> Jagged:
        """Return the structure with a regular axis split into several axes, of ``sizes``."""
        return self.with_ragged_dim(self.ragged_dim + (len(sizes) - 1) * (axis < self.ragged_dim - 1))

    def flattened(self, first: int, last: int, width: int) -> Jagged | None:
        """Return the structure with the axes from ``first`` to ``last`` merged, None if the memory does not allow it.

        If the ragged axis is ``first``, each of its rows has ``width`` elements along the axes behind it. If it is a
        later one, a merged component is not one segment.
        """
        axis = self.ragged_dim - 1
        if first < axis <= last:
            return None
        if axis != first:
            return self.with_ragged_dim(self.ragged_dim - (last - first) * (first < axis))
        lengths = None if self.lengths is None else self.lengths * width
        return Jagged.from_valid(self.offsets * width, lengths, self.ragged_dim)

    # ---- indexing ---------------------------------------------------------------------------------------------------

    def select_components(self, index: slice | Ints) -> StructureView:
        """Return the components at ``index``; packed neighbours stay packed, with their slice of the values."""
        if self.lengths is None and isinstance(index, slice):
            start, stop, step = index.indices(self.count)
            if step == 1:
                offsets = self.offsets[start : max(start, stop) + 1]
                first, end = int(offsets[0]), int(offsets[-1])
                kept = Jagged.from_valid(freeze(offsets - first), None, self.ragged_dim)
                return StructureView(kept, self.ragged_dim - 1, slice(first, end))
        return StructureView(self._with_rows(self.offsets[:-1][index], self.component_lengths[index]))

    def select_index(self, axis: int, index: int) -> StructureView:
        """Return the entry at ``index`` along a regular ``axis`` of each component; the axis is removed."""
        return StructureView(self.with_ragged_dim(self.ragged_dim - (axis < self.ragged_dim - 1)), axis, index)

    def slice_axis(self, axis: int, part: slice) -> StructureView:
        """Return the entries ``part`` along ``axis`` of each component; steps along the ragged axis need a copy."""
        if axis != self.ragged_dim - 1:
            return StructureView(self, axis, part)
        starts, lengths, step = slice_bounds(part, self.component_lengths)
        starts += self.offsets[:-1]
        if step == 1:
            return StructureView(self._with_rows(starts, lengths))
        rows = strided_index(lengths[:, None], np.full((self.count, 1), step), starts)
        return StructureView(Jagged.from_lengths(lengths, self.ragged_dim), axis, rows)

    def _with_rows(self, starts: Ints, lengths: Ints) -> Jagged:
        """Return the structure of components with these first rows and lengths, in the same values."""
        end = int((starts + lengths).max(initial=0))
        structure = Jagged.from_valid(freeze(np.append(starts, end)), lengths, self.ragged_dim)
        structure.__dict__["rows"] = end
        return structure

    # ---- comparison -------------------------------------------------------------------------------------------------

    @cached_property
    def _compared(self) -> tuple[bytes, bytes | None]:
        """Offsets and lengths as bytes, which compare faster than arrays."""
        return self.offsets.tobytes(), None if self.lengths is None else self.lengths.tobytes()

    def same_lengths(self, other: Jagged) -> bool:
        """Return whether the components have equal lengths."""
        if self is other or self._compared == other._compared:
            return True
        return not (self.is_packed and other.is_packed) and same_integers(
            self.component_lengths, other.component_lengths
        )

    def same_placement(self, other: Any) -> bool:
        """Return whether components lie in equal rows, so that elements correspond one to one in equal values."""
        if self is other:
            return True
        return type(other) is Jagged and self.ragged_dim == other.ragged_dim and self._compared == other._compared
