"""A partition of rows into runs, and everything that follows from it alone."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import cached_property
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

Value = TypeVar("Value")


class Segments:
    """An immutable partition of ``rows`` rows into ``count`` runs, one after the other and without gaps.

    Run ``i`` is the rows ``offsets[i]`` to ``offsets[i + 1]``. Whatever depends on the offsets alone is worked out when
    it is first asked for and kept, so that all results of one structure share it.

    Parameters
    ----------
    offsets : int64 array (B + 1,)
        Starts at 0 and never decreases; the caller has checked it. It is kept, not copied, and made read-only.

    Attributes
    ----------
    offsets : int64 array (B + 1,), read-only
    count : int
        The number of runs, B.
    rows : int
        The number of rows, N.
    """

    def __init__(self, offsets: NDArray[np.int64]) -> None:
        offsets.setflags(write=False)
        self.offsets = offsets
        self.count: int = offsets.size - 1
        self.rows: int = offsets.item(-1)
        self._worked_out: dict[Hashable, Any] = {}

    @classmethod
    def from_lengths(cls, lengths: NDArray[np.integer[Any]]) -> Segments:
        """Runs of the given lengths, which the caller has checked not to be negative."""
        offsets = np.zeros(lengths.size + 1, np.int64)
        np.add.accumulate(lengths, out=offsets[1:])
        return cls(offsets)

    @cached_property
    def lengths(self) -> NDArray[np.int64]:
        """The number of rows of each run: int64 (B,), read-only."""
        lengths = self.offsets[1:] - self.offsets[:-1]
        lengths.setflags(write=False)
        return lengths

    @cached_property
    def longest(self) -> int:
        """The number of rows of the longest run, 0 where there is none."""
        return int(self.lengths.max(initial=0))

    @cached_property
    def any_empty(self) -> bool:
        """Whether some run has no rows."""
        return not self.lengths.all()

    @cached_property
    def pairs(self) -> list[tuple[int, int]]:
        """(first row, row after the last) of each run, as Python integers."""
        ends: list[int] = self.offsets.tolist()
        return list(pairwise(ends))

    @cached_property
    def row_component(self) -> NDArray[np.int64]:
        """The number of the run that each row belongs to: int64 (N,), read-only."""
        component = np.repeat(np.arange(self.count, dtype=np.int64), self.lengths)
        component.setflags(write=False)
        return component

    def repeated(self, copies: int, width: int) -> Segments:
        """The same runs ``copies`` times one after the other, of rows that are cut into ``width`` rows each."""
        if copies == width == 1:
            return self

        def make() -> Segments:
            starts = np.arange(copies)[:, None] * self.rows + self.offsets[:-1]
            return Segments(np.append(starts, copies * self.rows) * width)

        return self.remember(("repeated", copies, width), make)

    def spans(self, rows: int) -> list[tuple[int, int, int, int]]:
        """Consecutive whole runs of about ``rows`` rows together, so that a kernel can work on them in cache.

        Returns (first row, row after the last, first run, run after the last) of each span; a run longer than ``rows``
        is a span of its own.
        """
        return self.remember(("spans", rows), lambda: self._cut(rows))

    def remember(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """Return what ``make`` returned when it was first called for this key.

        For what a backend derives from the partition and nothing else: selectors, orders, copies on a device.
        """
        try:
            value: Value = self._worked_out[key]
        except KeyError:
            value = self._worked_out[key] = make()
        return value

    def _cut(self, rows: int) -> list[tuple[int, int, int, int]]:
        spans = []
        offsets, first = self.offsets, 0
        while first < self.count:
            start = offsets.item(first)
            fitting = int(np.searchsorted(offsets, start + rows, "right")) - 1
            last = min(self.count, max(first + 1, fitting))
            spans.append((start, offsets.item(last), first, last))
            first = last
        return spans

    def __repr__(self) -> str:
        return f"Segments(count={self.count}, rows={self.rows})"
