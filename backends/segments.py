"""`Segments`: groups of consecutive rows, described by offsets, the rows at which the groups begin."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value")


class Segments:
    """An immutable partition of ``rows`` rows into ``count`` segments, one after the other and without gaps.

    Segment ``i`` holds the rows ``offsets[i]`` to ``offsets[i + 1] - 1``. What follows from the offsets alone is
    computed at its first use and cached; all arrays of one structure share one `Segments` object.

    Parameters
    ----------
    offsets : int64 array (B + 1,)
        It starts at 0 and never decreases; the caller has checked this. It is not copied, and becomes read-only.

    Attributes
    ----------
    offsets : int64 array (B + 1,), read-only
    count : int
        The number of segments, B.
    rows : int
        The number of rows, N.
    """

    def __init__(self, offsets: NDArray[np.int64]) -> None:
        offsets.setflags(write=False)
        self.offsets = offsets
        self.count: int = offsets.size - 1
        self.rows: int = offsets.item(-1)
        self._cache: dict[Hashable, Any] = {}

    @classmethod
    def from_lengths(cls, lengths: NDArray[np.integer[Any]]) -> Segments:
        """Return segments of the given lengths. The caller has checked that none is negative."""
        offsets = np.zeros(lengths.size + 1, np.int64)
        np.add.accumulate(lengths, out=offsets[1:])
        return cls(offsets)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of rows of each segment: int64 (B,), read-only."""
        lengths = self.offsets[1:] - self.offsets[:-1]
        lengths.setflags(write=False)
        return lengths

    @cached_property
    def longest(self) -> int:
        """The number of rows of the longest segment, 0 if there is none."""
        return int(self.lengths.max(initial=0))

    @cached_property
    def any_empty(self) -> bool:
        """Whether some segment has no rows."""
        return not self.lengths.all()

    @cached_property
    def segment_of_row(self) -> NDArray[np.int64]:
        """The index of the segment that each row belongs to: int64 (N,), read-only."""
        indices = np.repeat(np.arange(self.count, dtype=np.int64), self.lengths)
        indices.setflags(write=False)
        return indices

    def repeated(self, copies: int, pieces: int) -> Segments:
        """Return these segments ``copies`` times, one after the other, with each row cut into ``pieces`` rows."""
        if copies == pieces == 1:
            return self

        def make() -> Segments:
            starts = np.arange(copies)[:, None] * self.rows + self.offsets[:-1]
            return Segments(np.append(starts, copies * self.rows) * pieces)

        return self.cached(("repeated", copies, pieces), make)

    def blocks(self, most_rows: int) -> list[tuple[slice, slice, Segments]]:
        """Cut the rows into blocks of whole segments, of up to ``most_rows`` rows, for kernels that compute in a cache.

        A block is the slice of its rows, the slice of its segments, and the segments of the block alone. A segment with
        more than ``most_rows`` rows is a block of its own.
        """

        def make() -> list[tuple[slice, slice, Segments]]:
            blocks, first = [], 0
            while first < self.count:
                start = self.offsets.item(first)
                fitting = int(np.searchsorted(self.offsets, start + most_rows, "right")) - 1
                end = min(self.count, max(first + 1, fitting))
                rows = slice(start, self.offsets.item(end))
                blocks.append((rows, slice(first, end), Segments(self.offsets[first : end + 1] - start)))
                first = end
            return blocks

        return self.cached(("blocks", most_rows), make)

    def cached(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what ``make`` returned at its first call for this key.

        The cache holds what a backend derives from the offsets alone: index arrays, sorting orders, copies of the
        offsets on a device.
        """
        try:
            value: Value = self._cache[key]
        except KeyError:
            value = self._cache[key] = make()
        return value

    def __repr__(self) -> str:
        return f"Segments(count={self.count}, rows={self.rows})"
