"""Runs: what can be asked of the runs of an array, be these axes of a dense array or segments of rows.

Segments of rows are what the components of nested arrays are; what is written in terms of `Runs` is written for both.
"""

# ruff: noqa: D102 - the methods of both kinds of runs are described once, in Runs

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import reduction as of_axes
from pynested.autograd.rules import segment as of_segments
from pynested.backends import Segments, get_backend
from pynested.backends.host import from_host


class Runs(Protocol):
    """What a reduction can ask of the runs of an array."""

    def sum(self, x: Array) -> Array:
        """The sum of each run; +0 for an empty one."""

    def prod(self, x: Array) -> Array:
        """The product of each run; 1 for an empty one."""

    def amax(self, x: Array) -> Array:
        """The maximum of each run; the least value of the dtype for an empty one."""

    def amin(self, x: Array) -> Array:
        """The minimum of each run; the greatest value of the dtype for an empty one."""

    def place(self, verb: str, x: Array) -> Array:
        """Where in each run ``segment_argmax``, or ``segment_argmin``, finds what it looks for."""

    def count(self, x: Array, less: float = 0) -> Any:
        """How many elements each run has ``less`` so many, in the dtype of ``x``; not below 0."""

    def back(self, y: Array, x: Array) -> Array:
        """``y``, which has an entry for each run of ``x``, at every element of the run."""


class AxisRuns:
    """The runs of a dense array along some of its axes."""

    __slots__ = ("axes",)

    def __init__(self, axes: tuple[int, ...]) -> None:
        self.axes = axes

    def sum(self, x: Array) -> Array:
        return of_axes.sum_axes(x, self.axes)

    def prod(self, x: Array) -> Array:
        return self._as_segment(x, of_segments.segment_prod)

    def amax(self, x: Array) -> Array:
        return of_axes.amax(x, self.axes)

    def amin(self, x: Array) -> Array:
        return of_axes.amin(x, self.axes)

    def place(self, verb: str, x: Array) -> Array:
        return self._as_segment(x, lambda rows, segments: SegmentRuns(segments).place(verb, rows))

    def count(self, x: Array, less: float = 0) -> Any:
        return max(math.prod([x.shape[i] for i in self.axes]) - less, 0)

    def back(self, y: Array, x: Array) -> Array:
        return moves.broadcast_to(moves.reshape(y, of_axes.keepdim_shape(x.shape, self.axes)), x.shape)

    def _as_segment(self, x: Array, rule: Callable[[Array, Segments], Array]) -> Array:
        """What a rule over segments says of the one segment whose columns are the runs."""
        rest = tuple(i for i in range(x.ndim) if i not in self.axes)
        columns = tuple(x.shape[i] for i in rest)
        rows = moves.reshape(moves.transpose(x, (*self.axes, *rest)), (self.count(x), *columns))
        return moves.reshape(rule(rows, Segments(np.array([0, self.count(x)]))), columns)


class SegmentRuns:
    """The runs of rows ``(N, ...)`` that segments are."""

    __slots__ = ("segments",)

    def __init__(self, segments: Segments) -> None:
        self.segments = segments

    def sum(self, x: Array) -> Array:
        return of_segments.segment_sum(x, self.segments)

    def prod(self, x: Array) -> Array:
        return of_segments.segment_prod(x, self.segments)

    def amax(self, x: Array) -> Array:
        return of_segments.segment_max(x, self.segments)

    def amin(self, x: Array) -> Array:
        return of_segments.segment_min(x, self.segments)

    def place(self, verb: str, x: Array) -> Array:
        return Array(getattr(get_backend(x.device), verb)(x.data, self.segments), x.device)

    def count(self, x: Array, less: float = 0) -> Any:
        counts = np.maximum(self.segments.lengths - less, 0) if less else self.segments.lengths
        return Array(from_host(counts.astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1)), x.device), x.device)

    def back(self, y: Array, x: Array) -> Array:
        return of_segments.spread(y, self.segments)
