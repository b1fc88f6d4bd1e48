"""`Strided`: the structure of the strided layout, with sizes, strides and an offset for each component."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import canonical_int
from pynested.backends import Matrices, packed_offsets, packed_strides, same_integers, strided_index
from pynested.backends.errors import StructureError
from pynested.backends.limits import MOST_DIMENSIONS

from .base import ImmutableStructure, IndexedStructure, resolve_slice
from .extents import (
    Ints,
    are_disjoint,
    as_readonly,
    component_matrices,
    extents_of_regular_sizes,
    make_readonly,
    merge_axes,
    regular_sizes,
    replace_columns,
)
from .jagged import Jagged
from .layout import Layout, strided
from .validation import as_integers, check_extents, check_size_limits, empty_batch_extents, validate_placement

# Cached properties that stay valid for a view in a new shape, as its elements lie at the same positions.
_SHARED_BY_VIEWS = ("numels", "is_packed", "has_overlap")


class Strided(ImmutableStructure):
    """Components of any sizes in a flat buffer, each with its own strides. Any dimension can be irregular.

    Attributes
    ----------
    sizes, strides : int64 (B, d)
        Shape and strides of each component, in elements.
    offsets : int64 (B,)
        The position of the first element of each component. Components can leave gaps and overlap.
    buffer_size : int
        The number of elements of the buffer.
    extents : int64 (max(B, 1), d)
        The sizes. An empty batch has one row, the sizes that a component would have, with -1 for an unknown size. So
        checks of shapes need no special case.
    count : int
        The number of components, B.
    """

    layout: Layout = strided
    ragged_dim: None = None  # any dimension can be irregular

    extents: Ints
    sizes: Ints
    buffer_size: int
    count: int

    def __init__(
        self,
        sizes: Any,
        strides: Any,
        offsets: Any,
        buffer_size: int,
        regular_sizes: Sequence[int | None] | None = None,
        *,
        name: str = "Strided",
    ) -> None:
        """Validate all arguments.

        If ``strides`` is None, components are row-major. If ``offsets`` is None, components follow each other from 0.
        For an empty batch, ``regular_sizes`` has the size of each dimension, or None if the size is unknown.
        """
        sizes, buffer_size = as_integers(name, "sizes", sizes, 2), canonical_int(name, "buffer_size", buffer_size)
        extents = sizes if len(sizes) else empty_batch_extents(name, sizes.shape[1], regular_sizes)
        check_extents(name, extents, len(sizes))
        strides = make_readonly(packed_strides(sizes)) if strides is None else as_integers(name, "strides", strides, 2)
        offsets = make_readonly(packed_offsets(sizes)) if offsets is None else as_integers(name, "offsets", offsets, 1)
        if strides.shape != sizes.shape or offsets.shape != sizes.shape[:1]:
            raise StructureError(
                f"{name}: sizes {sizes.shape}, strides {strides.shape} and offsets {offsets.shape} must be (B, d), "
                "(B, d) and (B,)."
            )
        strides, offsets = validate_placement(name, sizes, strides, offsets, buffer_size)
        self.__dict__.update(
            extents=extents, sizes=sizes, strides=strides, offsets=offsets, buffer_size=buffer_size, count=len(sizes)
        )

    @classmethod
    def from_validated(cls, extents: Ints, strides: Ints, offsets: Ints, buffer_size: int) -> Strided:
        """Return the structure of integers that are known to be valid, with one offset for each component."""
        structure, extents, offsets = cls.__new__(cls), as_readonly(extents), as_readonly(offsets)
        structure.__dict__.update(
            extents=extents,
            sizes=extents if offsets.size else extents[:0],
            strides=as_readonly(strides),
            offsets=offsets,
            buffer_size=buffer_size,
            count=offsets.size,
        )
        return structure

    @classmethod
    def from_extents(cls, extents: Ints, count: int) -> Strided:
        """Return the packed structure of row-major components, which computes strides and offsets when first read."""
        structure, extents = cls.__new__(cls), as_readonly(extents)
        sizes = extents if count else extents[:0]
        numels = np.multiply.reduce(sizes, axis=1, dtype=np.int64)
        if np.count_nonzero(numels) < max(count, 1) or sizes.shape[1] >= MOST_DIMENSIONS:
            check_size_limits("nested array", extents)  # a size of 0 hides an overflow of the other sizes
        structure.__dict__.update(
            extents=extents,
            sizes=sizes,
            numels=make_readonly(numels),
            buffer_size=int(np.add.reduce(numels)),
            count=count,
            is_contiguous=True,
            is_packed=True,
            _is_repacked=True,
        )
        return structure

    def __reduce__(self) -> tuple[Any, ...]:
        regular_sizes = None if self.count else self.regular_sizes
        return Strided, (self.sizes, self.strides, self.offsets, self.buffer_size, regular_sizes)

    @cached_property
    def strides(self) -> Ints:
        """The row-major strides of a structure from `from_extents`; other constructors set the attribute."""
        return make_readonly(packed_strides(self.sizes))

    @cached_property
    def offsets(self) -> Ints:
        """The packed offsets of a structure from `from_extents`; other constructors set the attribute."""
        offsets = np.zeros(self.count, np.int64)
        np.add.accumulate(self.numels[:-1], out=offsets[1:])
        return make_readonly(offsets)

    # ---- sizes ------------------------------------------------------------------------------------------------------

    @cached_property
    def regular_sizes(self) -> tuple[int | None, ...]:
        """The size of all components along each axis; None if their sizes differ or are unknown."""
        return regular_sizes(self.extents)

    @cached_property
    def numels(self) -> Ints:
        """The number of elements of each component: int64 (B,)."""
        return as_readonly(self.sizes.prod(axis=1, dtype=np.int64))

    @cached_property
    def matrices(self) -> Matrices:
        """The matrices of all components in packed values: their last two axes."""
        return component_matrices(self.sizes)

    # ---- values -----------------------------------------------------------------------------------------------------

    def fits(self, values: Any) -> bool:
        """Return whether ``values``, an ndarray of any device, can be the buffer."""
        return values.shape == (self.buffer_size,) and bool(values.flags.c_contiguous)

    def misfit_error(self, name: str, values: Array) -> StructureError:
        """Return the error for values that the structure does not fit."""
        return StructureError(
            f"{name}: the buffer of this structure must be flat and contiguous and have {self.buffer_size} elements; "
            f"the values have shape {values.shape} and strides {values.stride()}."
        )

    # ---- memory -----------------------------------------------------------------------------------------------------

    @property
    def packed(self) -> Strided:
        """The structure of packed, row-major values: the structure itself if it is equal, else `repacked`."""
        return self if self._is_repacked else self.repacked

    @cached_property
    def _is_repacked(self) -> bool:
        """Whether the structure is equal to `repacked`, also in offsets and strides that no element depends on."""
        return self.is_contiguous and self.same_placement(self.repacked)

    @cached_property
    def repacked(self) -> Strided:
        """The structure of a packed, row-major copy, always a new object."""
        return Strided.from_extents(self.extents, self.count)

    @cached_property
    def is_contiguous(self) -> bool:
        """Whether the components are row-major and in order, and cover the buffer exactly once."""
        return int(np.add.reduce(self.numels)) == self.buffer_size and self.span is not None

    @cached_property
    def is_packed(self) -> bool:
        """Whether the components cover the buffer exactly once, in any order and with any strides."""
        return int(self.numels.sum()) == self.buffer_size and not self.has_overlap

    @cached_property
    def span(self) -> slice | None:
        """The part of the buffer from the first to the last component.

        None unless the components are row-major, in order, and without gaps between them.
        """
        numels = self.numels
        starts = (self.offsets - numels.cumsum() + numels)[numels > 0]
        if (starts != starts[:1]).any() or not self._is_row_major():
            return None
        first = int(starts[0]) if starts.size else 0
        return slice(first, first + int(np.add.reduce(numels)))

    def _is_row_major(self, axes: slice = slice(None), step: int | Ints = 1) -> bool:
        """Return whether the elements along ``axes`` of each component lie in C order, ``step`` apart."""
        sizes = self.sizes[:, axes]
        is_in_order = (self.strides[:, axes] == packed_strides(sizes) * step) | (sizes == 1)
        return bool((np.logical_and.reduce(is_in_order, axis=1) | (self.numels == 0)).all())

    @cached_property
    def has_contiguous_rows(self) -> bool:
        """Whether the elements along the last axis of each component are adjacent in memory."""
        return not ((self.strides[:, -1] != 1) & (self.sizes[:, -1] > 1)).any()

    @cached_property
    def has_overlap(self) -> bool:
        """Whether two elements share memory."""
        if int(self.numels.sum()) > self.buffer_size:
            return True
        nonempty = self.numels > 0
        return not are_disjoint(self.sizes[nonempty], self.strides[nonempty], self.offsets[nonempty])

    @cached_property
    def jagged_view(self) -> tuple[Jagged, tuple[int, ...]] | None:
        """A jagged structure of the same memory, and the shape of its rows.

        None unless the components are contiguous, and regular in every dimension except dimension 1.
        """
        if not self.is_contiguous or not self.count or not self.sizes.shape[1]:
            return None
        inner_sizes = self.regular_sizes[1:]
        row_shape = tuple(size for size in inner_sizes if size is not None)
        return None if len(row_shape) < len(inner_sizes) else (Jagged.from_lengths(self.sizes[:, 0]), row_shape)

    # ---- the same elements in a new shape ---------------------------------------------------------------------------

    def _with_shape(self, extents: Ints, strides: Ints) -> Strided:
        """Return a structure of the same elements, with the cached properties in `_SHARED_BY_VIEWS`."""
        structure = Strided.from_validated(extents, strides, self.offsets, self.buffer_size)
        structure.__dict__.update({name: self.__dict__[name] for name in _SHARED_BY_VIEWS if name in self.__dict__})
        return structure

    def with_axes(self, order: Sequence[int]) -> Strided:
        """Return the structure with the axes of every component in ``order``, which can leave out axes of size 1."""
        axes = np.array(order, np.intp)
        return self._with_shape(make_readonly(self.extents.take(axes, 1)), make_readonly(self.strides.take(axes, 1)))

    def with_new_axis(self, axis: int) -> Strided:
        """Return the structure with a new axis of size 1 before ``axis``."""
        new_column = np.ones(1, np.int64)
        return self._with_shape(
            replace_columns(self.extents, axis, axis, new_column), replace_columns(self.strides, axis, axis, new_column)
        )

    def unflattened(self, axis: int, sizes: Sequence[int]) -> Strided:
        """Return the structure with an axis split into several axes, row-major, of ``sizes``."""
        new_sizes = np.array([sizes], np.int64).reshape(1, len(sizes))
        extents = replace_columns(self.extents, axis, axis + 1, new_sizes)
        check_size_limits("unflatten", extents)
        new_strides = self.strides[:, axis : axis + 1] * packed_strides(new_sizes)
        return self._with_shape(extents, replace_columns(self.strides, axis, axis + 1, new_strides))

    def flattened(self, first: int, last: int) -> Strided | None:
        """Return the structure with the axes from ``first`` to ``last`` merged; None if the result needs a copy."""
        step = self.strides[:, last : last + 1]
        if np.count_nonzero(self.sizes[:, last] == 1):  # its stride can be any number: read that of an axis before it
            step_axes = last - (self.sizes[:, first : last + 1] > 1)[:, ::-1].argmax(axis=1)
            step = self.strides[np.arange(self.count), step_axes][:, None]
        if not self._is_row_major(slice(first, last + 1), step):
            return None
        return self._with_shape(
            merge_axes(self.extents, first, last), replace_columns(self.strides, first, last + 1, step)
        )

    def reshaped(self, extents: Ints) -> Strided | None:
        """Return the structure with new sizes, of the same products; None unless all components are row-major."""
        if not self._is_row_major():
            return None
        return self._with_shape(extents, make_readonly(packed_strides(extents[: self.count])))

    # ---- indexing: the buffer stays ---------------------------------------------------------------------------------

    def select_components(self, index: slice | Ints) -> IndexedStructure:
        """Return the components at ``index``."""
        sizes, offsets = self.sizes[index], self.offsets[index]
        extents = sizes if offsets.size else extents_of_regular_sizes(self.regular_sizes)
        return IndexedStructure(Strided.from_validated(extents, self.strides[index], offsets, self.buffer_size))

    def select_index(self, axis: int, index: int) -> IndexedStructure:
        """Return the entry at ``index`` along ``axis`` of each component, without the axis. Every entry must exist."""
        other_axes = [k for k in range(self.extents.shape[1]) if k != axis]
        positive_index = self.sizes[:, axis] + index if index < 0 else index
        offsets = self.offsets + positive_index * self.strides[:, axis]
        return IndexedStructure(self.with_placement(self.extents[:, other_axes], self.strides[:, other_axes], offsets))

    def slice_axis(self, axis: int, index: slice) -> IndexedStructure:
        """Return the slice ``index`` of each component along ``axis``. A negative step needs a copy."""
        extents, strides = self.extents.copy(), self.strides.copy()
        starts, extents[:, axis], step = resolve_slice(index, extents[:, axis])
        offsets = self.offsets + starts[: self.count] * strides[:, axis]
        strides[:, axis] *= step
        if step < 0:
            positions = strided_index(extents[: self.count], strides, offsets)
            return IndexedStructure(Strided.from_extents(extents, self.count), values_index=positions)
        return IndexedStructure(self.with_placement(extents, strides, offsets))

    def with_placement(self, extents: Ints, strides: Ints, offsets: Ints) -> Strided:
        """Return new components in the same buffer. The offset of an empty component becomes 0."""
        nonempty = (extents[: self.count] > 0).all(axis=1)
        return Strided.from_validated(extents, strides, np.where(nonempty, offsets, 0), self.buffer_size)

    # ---- comparison -------------------------------------------------------------------------------------------------

    def same_placement(self, other: Any) -> bool:
        """Return whether the components of both structures lie at the same positions of buffers of equal size."""
        if self is other:
            return True
        return (
            isinstance(other, Strided)
            and self.buffer_size == other.buffer_size
            and same_integers(self.extents, other.extents)
            and same_integers(self.offsets, other.offsets)
            and same_integers(self.strides, other.strides)
        )
