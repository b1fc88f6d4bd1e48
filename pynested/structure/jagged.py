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

from .base import ImmutableStructure, IndexedStructure, resolve_slice
from .extents import Ints, as_readonly, component_matrices, make_readonly
from .layout import Layout, jagged
from .validation import as_integers, check_offsets


class Jagged(ImmutableStructure):
    """Components that can differ in one dimension, ``ragged_dim``, and are slices of the values along it.

    The values have one dimension less than the nested array: their axis ``ragged_dim - 1`` holds the *rows* of all
    components.

    Attributes
    ----------
    offsets : int64 (B + 1,)
        Component ``i`` begins at row ``offsets[i]``; without lengths it ends at ``offsets[i + 1]``.
    lengths : int64 (B,) or None
        The number of rows of each component. With lengths, components can lie in any order, overlap, and leave gaps.
    ragged_dim : int
        The dimension along which the components can differ: 1 or more, as the batch is dimension 0.
    count : int
        The number of components, B.
    is_packed : bool
        Whether there are no lengths, so that the components cover the values exactly once.
    """

    layout: Layout = jagged

    offsets: Ints
    lengths: Ints | None
    ragged_dim: int
    count: int
    is_packed: bool

    def __init__(self, offsets: Any, lengths: Any = None, ragged_dim: int = 1, *, name: str = "Jagged") -> None:
        offsets = as_integers(name, "offsets", offsets, 1)
        lengths = None if lengths is None else as_integers(name, "lengths", lengths, 1)
        check_offsets(name, offsets, lengths)
        dim = canonical_int(name, "ragged_dim", ragged_dim)
        if dim < 1:
            raise DimensionError(f"{name}: ragged_dim counts the batch as dimension 0, so it is at least 1, not {dim}.")
        self.__dict__.update(
            offsets=offsets, lengths=lengths, ragged_dim=dim, count=offsets.size - 1, is_packed=lengths is None
        )

    @classmethod
    def from_validated(cls, offsets: Ints, lengths: Ints | None = None, ragged_dim: int = 1) -> Jagged:
        """Return the structure of offsets, and lengths, that are known to be valid."""
        structure, offsets = cls.__new__(cls), as_readonly(offsets)
        lengths = None if lengths is None else as_readonly(lengths)
        structure.__dict__.update(
            offsets=offsets, lengths=lengths, ragged_dim=ragged_dim, count=offsets.size - 1, is_packed=lengths is None
        )
        return structure

    @classmethod
    def from_lengths(cls, lengths: Ints, ragged_dim: int = 1) -> Jagged:
        """Return the packed structure of components of these lengths."""
        offsets = np.zeros(len(lengths) + 1, np.int64)
        np.add.accumulate(lengths, out=offsets[1:])
        return cls.from_validated(make_readonly(offsets), None, ragged_dim)

    def __reduce__(self) -> tuple[Any, ...]:
        return Jagged, (self.offsets, self.lengths, self.ragged_dim)

    # ---- rows of the components -------------------------------------------------------------------------------------

    @cached_property
    def segments(self) -> Segments:
        """The rows of each component in packed values, as segments."""
        return Segments(self.offsets) if self.lengths is None else Segments.from_lengths(self.lengths)

    @cached_property
    def component_lengths(self) -> Ints:
        """The length of each component along the ragged dimension: int64 (B,)."""
        return self.segments.lengths if self.lengths is None else self.lengths

    @cached_property
    def rows(self) -> int:
        """The least number of rows that values can have; packed values have exactly this number."""
        if self.lengths is None:
            return self.offsets.item(-1)
        return int((self.offsets[:-1] + self.lengths).max(initial=0))

    @cached_property
    def span(self) -> slice | None:
        """The rows of all components as one slice; None unless they lie in order, without gaps between components."""
        shifts = (self.offsets[:-1] - self.segments.offsets[:-1])[self.component_lengths > 0]
        if (shifts != shifts[:1]).any():
            return None
        start = int(shifts[0]) if shifts.size else 0
        return slice(start, start + self.segments.rows)

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
        """The index in ``values`` of each row of the packed values: int64 (N,)."""
        shift = self.offsets[:-1] - self.segments.offsets[:-1]
        return np.arange(self.segments.rows) + np.repeat(shift, self.component_lengths)

    @property
    def packed(self) -> Jagged:
        """The structure of packed values: the structure itself if it is packed, else `repacked`."""
        return self if self.lengths is None else self.repacked

    @cached_property
    def repacked(self) -> Jagged:
        """The structure of a packed copy, always a new object."""
        packed = Jagged.from_validated(self.segments.offsets, None, self.ragged_dim)
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
                f"{name}: values of {values.ndim} dimensions make a nested array of {values.ndim + 1} dimensions, with "
                f"the batch. With the ragged dimension {dim} it must have {dim + 1} to {MOST_DIMENSIONS} dimensions."
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
            f"{name}: component {i} begins at {starts[i]} and has length {self.lengths[i]}, so it ends beyond the "
            f"{rows} rows of values."
        )

    def extents(self, shape: tuple[int, ...]) -> Ints:
        """Return the sizes of all components in values of ``shape``: int64 (max(B, 1), d), see `extents.py`."""
        axis = self.ragged_dim - 1

        def compute() -> Ints:
            sizes = np.empty((max(self.count, 1), len(shape)), np.int64)
            sizes[:] = shape
            sizes[:, axis] = self.component_lengths if self.count else -1
            return make_readonly(sizes)

        return self.segments.cached(("extents", axis, shape[:axis], shape[axis + 1 :]), compute)

    def matrices(self, shape: tuple[int, ...]) -> Matrices:
        """Return the matrices of all components in packed values of ``shape``.

        The ragged dimension must be dimension 1, or dimension 2 if components have two dimensions. Components that are
        ragged along dimension 2 are the transposed matrices of ``values.T``, whose rows are ragged.
        """
        axis = self.ragged_dim - 1

        def compute() -> Matrices:
            if axis:
                return self.with_ragged_dim(1).matrices(shape[::-1]).transposed
            return component_matrices(self.extents(shape)[: self.count])

        return self.segments.cached(("matrices", axis, shape[:axis], shape[axis + 1 :]), compute)

    # ---- the same segments with other axes --------------------------------------------------------------------------

    def with_ragged_dim(self, ragged_dim: int) -> Jagged:
        """Return the same segments along another dimension."""
        if ragged_dim == self.ragged_dim:
            return self
        # Cached properties of the rows stay valid. `repacked` does not, as it depends on the ragged dimension.
        structure = Jagged.__new__(Jagged)
        attributes = structure.__dict__
        attributes.update(self.__dict__, segments=self.segments, ragged_dim=ragged_dim)
        attributes.pop("repacked", None)
        return structure

    def with_axes(self, order: Sequence[int]) -> Jagged:
        """Return the structure with the axes of every component in ``order``, which can leave out regular axes."""
        return self.with_ragged_dim(order.index(self.ragged_dim - 1) + 1)

    def with_new_axis(self, axis: int) -> Jagged:
        """Return the structure with a new axis of size 1 before ``axis``."""
        return self.with_ragged_dim(self.ragged_dim + (axis < self.ragged_dim))

    def unflattened(self, axis: int, sizes: Sequence[int]) -> Jagged:
        """Return the structure with a regular axis split into several axes, of ``sizes``."""
        return self.with_ragged_dim(self.ragged_dim + (len(sizes) - 1) * (axis < self.ragged_dim - 1))

    def flattened(self, first: int, last: int, width: int) -> Jagged | None:
        """Return the structure with the axes from ``first`` to ``last`` merged; None if the result needs a copy.

        If ``first`` is the ragged axis, ``width`` is the product of the sizes of the other merged axes.
        """
        axis = self.ragged_dim - 1
        if first < axis <= last:  # the rows of a component would be interleaved with those of others
            return None
        if axis != first:
            return self.with_ragged_dim(self.ragged_dim - (last - first) * (first < axis))
        lengths = None if self.lengths is None else self.lengths * width
        return Jagged.from_validated(self.offsets * width, lengths, self.ragged_dim)

    # ---- indexing ---------------------------------------------------------------------------------------------------

    def select_components(self, index: slice | Ints) -> IndexedStructure:
        """Return the components at ``index``. Consecutive packed components stay packed, in a slice of the values."""
        if self.lengths is None and isinstance(index, slice):
            start, stop, step = index.indices(self.count)
            if step == 1:
                offsets = self.offsets[start : max(start, stop) + 1]
                start_row, end_row = int(offsets[0]), int(offsets[-1])
                structure = Jagged.from_validated(make_readonly(offsets - start_row), None, self.ragged_dim)
                return IndexedStructure(structure, self.ragged_dim - 1, slice(start_row, end_row))
        return IndexedStructure(self._with_starts(self.offsets[:-1][index], self.component_lengths[index]))

    def select_index(self, axis: int, index: int) -> IndexedStructure:
        """Return the entry at ``index`` along a regular ``axis`` of each component, without the axis."""
        return IndexedStructure(self.with_ragged_dim(self.ragged_dim - (axis < self.ragged_dim - 1)), axis, index)

    def slice_axis(self, axis: int, index: slice) -> IndexedStructure:
        """Return the slice ``index`` of each component along ``axis``; a step along the ragged axis needs a copy."""
        if axis != self.ragged_dim - 1:
            return IndexedStructure(self, axis, index)
        starts, lengths, step = resolve_slice(index, self.component_lengths)
        starts += self.offsets[:-1]
        if step == 1:
            return IndexedStructure(self._with_starts(starts, lengths))
        rows = strided_index(lengths[:, None], np.full((self.count, 1), step), starts)
        return IndexedStructure(Jagged.from_lengths(lengths, self.ragged_dim), axis, rows)

    def _with_starts(self, starts: Ints, lengths: Ints) -> Jagged:
        """Return a structure for the same values, whose components have these first rows and lengths."""
        end = int((starts + lengths).max(initial=0))
        structure = Jagged.from_validated(make_readonly(np.append(starts, end)), lengths, self.ragged_dim)
        structure.__dict__["rows"] = end
        return structure

    # ---- comparison -------------------------------------------------------------------------------------------------

    @cached_property
    def _comparison_key(self) -> tuple[bytes, bytes | None]:
        """Offsets and lengths as bytes, which compare faster than arrays."""
        return self.offsets.tobytes(), None if self.lengths is None else self.lengths.tobytes()

    def same_lengths(self, other: Jagged) -> bool:
        """Return whether the components have equal lengths."""
        if self is other or self._comparison_key == other._comparison_key:
            return True
        return not (self.is_packed and other.is_packed) and same_integers(
            self.component_lengths, other.component_lengths
        )

    def same_placement(self, other: Any) -> bool:
        """Return whether the components of both structures lie at the same rows, along the same dimension."""
        if self is other:
            return True
        return (
            type(other) is Jagged
            and self.ragged_dim == other.ragged_dim
            and self._comparison_key == other._comparison_key
        )
