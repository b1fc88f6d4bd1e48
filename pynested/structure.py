"""Structure: where each component of a nested array lies in its values, as integers on the host.

A structure is immutable. What a caller hands over is copied, checked and frozen, so that no kernel can read outside;
results of operators share the structure of their operands, and with it everything that was worked out about it.
"""

from __future__ import annotations

from typing import Any, Self, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pynested.backends import Segments, strided_index
from pynested.backends.cached import cached_property

from .layouts import Layout, jagged, strided

Ints: TypeAlias = NDArray[np.int64]


def frozen(numbers: Any) -> Ints:
    """``numbers`` as int64 that nobody can change: the array itself if it is already so, else a copy."""
    array = np.asarray(numbers, dtype=np.int64)
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


def handed_out(numbers: Ints) -> Ints:
    """A read-only copy of ``numbers``: whoever gets it cannot change a structure, by whatever means."""
    copy = np.array(numbers, order="C")[...]
    copy.setflags(write=False)
    return copy


def packed_strides(sizes: Ints) -> Ints:
    """The strides of row-major components of these sizes: (B, d)."""
    strides = np.ones_like(sizes)
    if sizes.shape[1] > 1:
        strides[:, :-1] = np.cumprod(np.maximum(sizes[:, :0:-1], 1), axis=1)[:, ::-1]
    return strides


def _equal(a: Ints | None, b: Ints | None) -> bool:
    return a is b or (a is not None and b is not None and np.array_equal(a, b))


class _Immutable:
    """A copy of what cannot change is itself; and what was pickled cannot be changed either."""

    _fields: tuple[str, ...]

    def __deepcopy__(self, memo: dict[int, Any]) -> Self:
        return self

    def __reduce__(self) -> tuple[Any, ...]:
        return _restored, (type(self), *[getattr(self, field) for field in self._fields])


def _restored(kind: Any, *fields: Any) -> Any:
    return kind(*[frozen(field) if isinstance(field, np.ndarray) else field for field in fields])


class Jagged(_Immutable):
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

    def __init__(self, offsets: Ints, lengths: Ints | None = None, ragged_dim: int = 1) -> None:
        self.offsets = offsets
        self.lengths = lengths
        self.ragged_dim = ragged_dim
        self.count: int = offsets.size - 1
        self.tiles = lengths is None

    @cached_property
    def segments(self) -> Segments:
        """The runs of the components once they are packed."""
        return Segments(self.offsets) if self.lengths is None else Segments.from_lengths(self.lengths)

    @cached_property
    def component_lengths(self) -> Ints:
        """The length of each component along the ragged dimension."""
        return self.segments.lengths if self.lengths is None else self.lengths

    @cached_property
    def packed(self) -> Jagged:
        """The same lengths without holes."""
        if self.lengths is None:
            return self
        packed = Jagged(self.segments.offsets, None, self.ragged_dim)
        packed.segments = self.segments
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

    def with_ragged_dim(self, ragged_dim: int) -> Jagged:
        """The same runs along another dimension."""
        if ragged_dim == self.ragged_dim:
            return self
        moved = Jagged(self.offsets, self.lengths, ragged_dim)
        if "segments" in self.__dict__:
            moved.segments = self.segments
        return moved

    def same_lengths(self, other: Jagged) -> bool:
        """Whether the components are as long as those of ``other``, by value."""
        return self is other or np.array_equal(self.component_lengths, other.component_lengths)

    def same_placement(self, other: Structure) -> bool:
        """Whether equal places mean equal elements."""
        if self is other:
            return True
        return (
            isinstance(other, Jagged)
            and self.ragged_dim == other.ragged_dim
            and np.array_equal(self.offsets, other.offsets)
            and _equal(self.lengths, other.lengths)
        )


class Strided(_Immutable):
    """Any dimension may differ between components, which lie in a flat buffer each in its own way.

    Attributes
    ----------
    sizes, strides : int64 (B, d)
    offsets : int64 (B,)
        In elements; components may leave gaps or overlap.
    buffer_size : int
        The number of elements of the buffer.
    """

    layout: Layout = strided
    _fields = ("sizes", "strides", "offsets", "buffer_size")

    def __init__(self, sizes: Ints, strides: Ints, offsets: Ints, buffer_size: int) -> None:
        self.sizes = sizes
        self.strides = strides
        self.offsets = offsets
        self.buffer_size = buffer_size
        self.count: int = sizes.shape[0]

    @classmethod
    def of_packed(cls, sizes: Ints) -> Strided:
        """Row-major components of these sizes one after the other."""
        ends = np.cumsum(sizes.prod(axis=1, dtype=np.int64))
        total = int(ends[-1]) if ends.size else 0
        offsets = np.concatenate([np.zeros(1, np.int64), ends[:-1]]) if ends.size else np.zeros(0, np.int64)
        made = cls(frozen(sizes), frozen(packed_strides(sizes)), frozen(offsets), total)
        made.contiguous = made.tiles = True
        return made

    @cached_property
    def numels(self) -> Ints:
        """The number of elements of each component."""
        return frozen(self.sizes.prod(axis=1, dtype=np.int64))

    @cached_property
    def packed(self) -> Strided:
        """The same sizes, row-major and one after the other."""
        return self if self.contiguous else Strided.of_packed(self.sizes)

    @cached_property
    def contiguous(self) -> bool:
        """Whether the components are row-major, in order, and fill the buffer."""
        numels = self.numels
        if int(numels.sum()) != self.buffer_size:
            return False
        live = numels > 0
        if not np.array_equal(self.offsets[live], (np.cumsum(numels) - numels)[live]):
            return False
        sizes = self.sizes[live]
        return bool(((self.strides[live] == packed_strides(sizes)) | (sizes == 1)).all())

    @cached_property
    def tiles(self) -> bool:
        """Whether the components cover the buffer exactly once, in whatever order."""
        return self._disjoint and int(self.numels.sum()) == self.buffer_size

    @cached_property
    def overlapping(self) -> bool:
        """Whether two elements may lie at one place."""
        return not self._disjoint

    @cached_property
    def _disjoint(self) -> bool:
        """Whether no place is used twice; sorted strides and extents tell it at once in all usual cases."""
        if int(self.numels.sum()) > self.buffer_size:
            return False
        live = self.numels > 0
        sizes, strides, offsets = self.sizes[live], self.strides[live], self.offsets[live]
        order = np.argsort(strides, axis=1, kind="stable")
        s, n = np.take_along_axis(strides, order, 1), np.take_along_axis(sizes, order, 1)
        s = np.where(n == 1, 0, s)
        reach = np.cumsum((n - 1) * s, axis=1)
        within = (n == 1) | (s > np.concatenate([np.zeros((len(s), 1), np.int64), reach[:, :-1]], axis=1))
        last = offsets + (reach[:, -1] if reach.shape[1] else 0)
        by_start = np.argsort(offsets, kind="stable")
        if bool(within.all()) and bool((last[by_start][:-1] < offsets[by_start][1:]).all()):
            return True
        places = strided_index(sizes, strides, offsets)
        return np.unique(places).size == places.size

    @cached_property
    def rows(self) -> tuple[Jagged, tuple[int, ...]] | None:
        """The same memory as rows of one shape, where only the first dimension of packed components differs."""
        if not self.contiguous or not self.count or not self.sizes.shape[1]:
            return None
        rest = self.sizes[:, 1:]
        if (rest != rest[0]).any():
            return None
        offsets = np.zeros(self.count + 1, np.int64)
        np.cumsum(self.sizes[:, 0], out=offsets[1:])
        return Jagged(frozen(offsets)), tuple(rest[0].tolist())

    def same_placement(self, other: Structure) -> bool:
        """Whether equal places mean equal elements."""
        if self is other:
            return True
        return (
            isinstance(other, Strided)
            and self.buffer_size == other.buffer_size
            and np.array_equal(self.sizes, other.sizes)
            and np.array_equal(self.offsets, other.offsets)
            and np.array_equal(self.strides, other.strides)
        )


Structure: TypeAlias = Jagged | Strided
