"""The structure of the strided layout: sizes, strides and an offset for each component."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from pynested.autograd.arguments.shapes import canonical_int
from pynested.backends import Matrices, packed_offsets, packed_strides, same_integers, strided_index
from pynested.backends.errors import StructureError
from pynested.backends.limits import MOST_DIMENSIONS

from .immutable import Immutable
from .jagged import Jagged
from .layouts import Layout, strided
from .metadata import (
    Ints,
    check_outline,
    check_possible,
    frozen,
    given_outline,
    integers,
    matrices_of,
    placed_inside,
    sealed,
)
from .outlines import disjoint, merged_axes, outline_of, regular_sizes, replaced
from .parts import Part, ranges

# What is known of the places of elements, whatever shape they are seen in.
_OF_PLACES = ("numels", "tiles", "overlapping", "_disjoint")


class Strided(Immutable):
    """Any dimension may differ between components, which lie in a flat buffer each in its own way.

    Attributes
    ----------
    sizes, strides : int64 (B, d)
    offsets : int64 (B,)
        In elements; components may leave gaps or overlap.
    buffer_size : int
        The number of elements of the buffer.
    outline : int64 (max(B, 1), d)
        The sizes; of no components a row all the same, the sizes that a component would have, -1 where that is not
        known. What is asked of sizes is asked of the outline, so that no components obey the rules of one.
    """

    layout: Layout = strided
    ragged_dim: None = None  # none of them is *the* ragged one

    outline: Ints
    sizes: Ints
    buffer_size: int
    count: int

    def __init__(
        self,
        sizes: Any,
        strides: Any,
        offsets: Any,
        buffer_size: int,
        regular: Sequence[int | None] | None = None,
        *,
        name: str = "Strided",
    ) -> None:
        """Check everything; by default strides are those of C order, and components follow each other from 0.

        ``regular`` is for no components: the size of each dimension, or None where it is not known.
        """
        shapes, size = integers(name, "sizes", sizes, 2), canonical_int(name, "buffer_size", buffer_size)
        outline = shapes if len(shapes) else given_outline(name, shapes.shape[1], regular)
        check_outline(name, outline, len(shapes))
        steps = sealed(packed_strides(shapes)) if strides is None else integers(name, "strides", strides, 2)
        starts = sealed(packed_offsets(shapes)) if offsets is None else integers(name, "offsets", offsets, 1)
        if steps.shape != shapes.shape or starts.shape != shapes.shape[:1]:
            raise StructureError(
                f"{name}: sizes {shapes.shape}, strides {steps.shape} and offsets {starts.shape} must be (B, d), "
                "(B, d) and (B,)."
            )
        steps, starts = placed_inside(name, shapes, steps, starts, size)
        self.__dict__.update(
            outline=outline, sizes=shapes, strides=steps, offsets=starts, buffer_size=size, count=len(shapes)
        )

    @classmethod
    def derived(cls, outline: Ints, strides: Ints, offsets: Ints, buffer_size: int) -> Strided:
        """Of numbers that are known to be valid; there are as many components as offsets."""
        made, shapes, starts = cls.__new__(cls), frozen(outline), frozen(offsets)
        made.__dict__.update(
            outline=shapes,
            sizes=shapes if starts.size else shapes[:0],
            strides=frozen(strides),
            offsets=starts,
            buffer_size=buffer_size,
            count=starts.size,
        )
        return made

    @classmethod
    def of_packed(cls, outline: Ints, count: int) -> Strided:
        """Row-major components of these sizes one after the other."""
        sizes = outline if count else outline[:0]
        numels = np.multiply.reduce(sizes, axis=1, dtype=np.int64)
        if np.count_nonzero(numels) < max(count, 1) or sizes.shape[1] >= MOST_DIMENSIONS:
            check_possible("nested array", outline)  # where all have elements, they are in memory
        made, shapes = cls.__new__(cls), frozen(outline)
        made.__dict__.update(
            outline=shapes,
            sizes=shapes if count else shapes[:0],
            numels=sealed(numels),
            buffer_size=int(np.add.reduce(numels)),
            count=count,
            contiguous=True,
            tiles=True,
        )
        return made

    @cached_property
    def strides(self) -> Ints:
        """Those of packed components, whose sizes say where they lie; of others they are given."""
        return sealed(packed_strides(self.sizes))

    @cached_property
    def offsets(self) -> Ints:
        """Those of packed components; of others they are given."""
        offsets = np.zeros(self.count, np.int64)
        np.add.accumulate(self.numels[:-1], out=offsets[1:])
        return sealed(offsets)

    @cached_property
    def matrices(self) -> Matrices:
        """The matrices of all components once they are packed; these have two dimensions at least."""
        return matrices_of(self.sizes)

    def __reduce__(self) -> tuple[Any, ...]:
        return Strided, (self.sizes, self.strides, self.offsets, self.buffer_size, None if self.count else self.regular)

    @cached_property
    def regular(self) -> tuple[int | None, ...]:
        """The size of each dimension in which components do not differ, None for the others and where it is unknown."""
        return regular_sizes(self.outline)

    @cached_property
    def numels(self) -> Ints:
        """The number of elements of each component."""
        return frozen(self.sizes.prod(axis=1, dtype=np.int64))

    def fits(self, values: Any) -> bool:
        """Whether ``values``, an array of whatever device, are the buffer."""
        return values.shape == (self.buffer_size,) and bool(values.flags.c_contiguous)

    @property
    def packed(self) -> Strided:
        """The same sizes, row-major and one after the other."""
        return self if self.contiguous else self.tight

    @cached_property
    def tight(self) -> Strided:
        """What `packed` is of a copy, whether or not this is packed already."""
        return Strided.of_packed(self.outline, self.count)

    @cached_property
    def contiguous(self) -> bool:
        """Whether the components are row-major, in order, and fill the buffer."""
        return int(np.add.reduce(self.numels)) == self.buffer_size and self.span is not None

    @cached_property
    def span(self) -> slice | None:
        """The part of the buffer that row-major components fill one after another; None if they do not."""
        numels = self.numels
        starts = (self.offsets - numels.cumsum() + numels)[numels > 0]
        if (starts != starts[:1]).any() or not self._row_major():
            return None
        first = int(starts[0]) if starts.size else 0
        return slice(first, first + int(np.add.reduce(numels)))

    def _row_major(self, axes: slice = slice(None), step: int | Ints = 1) -> bool:
        """Whether the elements along ``axes`` of each component lie in C order, ``step`` apart."""
        sizes = self.sizes[:, axes]
        in_steps = (self.strides[:, axes] == packed_strides(sizes) * step) | (sizes == 1)
        return bool((np.logical_and.reduce(in_steps, axis=1) | (self.numels == 0)).all())

    @cached_property
    def last_follows(self) -> bool:
        """Whether the elements along the last axis of each component follow each other."""
        return not ((self.strides[:, -1] != 1) & (self.sizes[:, -1] > 1)).any()

    @cached_property
    def tiles(self) -> bool:
        """Whether the components cover the buffer exactly once, in whatever order."""
        return int(self.numels.sum()) == self.buffer_size and self._disjoint

    @cached_property
    def overlapping(self) -> bool:
        """Whether two elements may lie at one place."""
        return not self._disjoint

    @cached_property
    def _disjoint(self) -> bool:
        """Whether no place is used twice."""
        if int(self.numels.sum()) > self.buffer_size:
            return False
        live = self.numels > 0
        if np.count_nonzero(live) == self.count:
            return disjoint(self.sizes, self.strides, self.offsets)
        return disjoint(self.sizes[live], self.strides[live], self.offsets[live])

    @cached_property
    def jagged_view(self) -> tuple[Jagged, tuple[int, ...]] | None:
        """The same memory as rows of one shape, where only the first dimension of packed components differs."""
        if not self.contiguous or not self.count or not self.sizes.shape[1]:
            return None
        rest = self.regular[1:]
        known = tuple(size for size in rest if size is not None)
        return None if len(known) < len(rest) else (Jagged.of_lengths(self.sizes[:, 0]), known)

    # ---- the same elements in the same places, seen in another shape ----------------------------------------------

    def _seen(self, outline: Ints, strides: Ints) -> Strided:
        made = Strided.derived(outline, strides, self.offsets, self.buffer_size)
        for fact in _OF_PLACES:
            if fact in self.__dict__:
                made.__dict__[fact] = self.__dict__[fact]
        return made

    def with_axes(self, order: Sequence[int]) -> Strided:
        """The axes of every component in this order; those that are left out have size 1."""
        axes = np.array(order, np.intp)
        return self._seen(sealed(self.outline.take(axes, 1)), sealed(self.strides.take(axes, 1)))

    def with_one(self, axis: int) -> Strided:
        """A new axis of size 1 before ``axis``."""
        one = np.ones(1, np.int64)
        return self._seen(replaced(self.outline, axis, axis, one), replaced(self.strides, axis, axis, one))

    def unflattened(self, axis: int, sizes: Sequence[int]) -> Strided:
        """One axis as several, row-major, of ``sizes``."""
        parts = np.array([sizes], np.int64).reshape(1, len(sizes))
        outline = replaced(self.outline, axis, axis + 1, parts)
        check_possible("unflatten", outline)
        steps = self.strides[:, axis : axis + 1] * packed_strides(parts)
        return self._seen(outline, replaced(self.strides, axis, axis + 1, steps))

    def flattened(self, first: int, last: int) -> Strided | None:
        """The axes from ``first`` to ``last`` as one; None where their elements do not lie in equal steps."""
        step = self.strides[:, last : last + 1]
        if not self._row_major(slice(first, last + 1), step):
            return None
        return self._seen(merged_axes(self.outline, first, last), replaced(self.strides, first, last + 1, step))

    def reshaped(self, outline: Ints) -> Strided | None:
        """The components in other sizes, which hold as many elements; None where one of them is not row-major."""
        return self._seen(outline, sealed(packed_strides(outline[: self.count]))) if self._row_major() else None

    # ---- parts of it: the buffer stays ----------------------------------------------------------------------------

    def picked(self, picks: slice | Ints) -> Part:
        """The components of these numbers."""
        sizes, offsets = self.sizes[picks], self.offsets[picks]
        outline = sizes if offsets.size else outline_of(self.regular)
        return Part(Strided.derived(outline, self.strides[picks], offsets, self.buffer_size))

    def selected(self, axis: int, index: int) -> Part:
        """The entry at ``index`` along ``axis`` of each component, without the axis; all of them must have it."""
        kept = [k for k in range(self.outline.shape[1]) if k != axis]
        at = self.sizes[:, axis] + index if index < 0 else index
        offsets = self.offsets + at * self.strides[:, axis]
        return Part(self._elsewhere(self.outline[:, kept], self.strides[:, kept], offsets))

    def sliced(self, axis: int, part: slice) -> Part:
        """The entries along ``axis`` that ``part`` names in each component; a copy where it goes backwards."""
        outline, strides = self.outline.copy(), self.strides.copy()
        starts, outline[:, axis], step = ranges(part, outline[:, axis])
        offsets = self.offsets + starts[: self.count] * strides[:, axis]
        strides[:, axis] *= step
        if step < 0:
            places = strided_index(outline[: self.count], strides, offsets)
            return Part(Strided.of_packed(outline, self.count), 0, places)
        return Part(self._elsewhere(outline, strides, offsets))

    def _elsewhere(self, outline: Ints, strides: Ints, offsets: Ints) -> Strided:
        """Other places of the buffer; the offsets of components without elements say nothing."""
        live = (outline[: self.count] > 0).all(axis=1)
        return Strided.derived(outline, strides, np.where(live, offsets, 0), self.buffer_size)

    def same_placement(self, other: Any) -> bool:
        """Whether equal places mean equal elements."""
        if self is other:
            return True
        return (
            isinstance(other, Strided)
            and self.buffer_size == other.buffer_size
            and same_integers(self.outline, other.outline)
            and same_integers(self.offsets, other.offsets)
            and same_integers(self.strides, other.strides)
        )
