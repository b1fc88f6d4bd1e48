"""Reducers: one interface for reducing a dense array along axes, and rows along segments.

A formula written against `Reducer` works for both. A slice is what one element of the result is computed from: the
elements along the axes, or the rows of one segment. Components of nested arrays are segments of rows.
"""

# ruff: noqa: D102 - Reducer describes the methods of both classes

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import reduction as of_axes
from pynested.autograd.rules import segment as of_segments
from pynested.backends import Segments, get_backend
from pynested.backends.host import from_host


class Reducer(Protocol):
    """Reductions of each slice of an array."""

    def sum(self, x: Array) -> Array:
        """Return the sum of each slice; +0 for an empty one."""

    def prod(self, x: Array) -> Array:
        """Return the product of each slice; 1 for an empty one."""

    def amax(self, x: Array) -> Array:
        """Return the maximum of each slice; the least value of the dtype for an empty one."""

    def amin(self, x: Array) -> Array:
        """Return the minimum of each slice; the greatest value of the dtype for an empty one."""

    def arg_reduce(self, kernel: str, x: Array) -> Array:
        """Return the index in each slice that ``kernel`` finds: ``segment_argmax`` or ``segment_argmin``."""

    def count(self, x: Array, correction: float = 0) -> Array | float:
        """Return the number of elements of each slice less ``correction``, at least 0, as a divisor of ``sum(x)``."""

    def spread(self, y: Array, x: Array) -> Array:
        """Repeat each entry of ``y``, one per slice of ``x``, over all elements of its slice."""


class AxisReducer:
    """Reducer of a dense array along some of its axes, which are canonical; the result has the other axes."""

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

    def arg_reduce(self, kernel: str, x: Array) -> Array:
        return self._as_segment(x, lambda rows, segments: SegmentReducer(segments).arg_reduce(kernel, rows))

    def count(self, x: Array, correction: float = 0) -> float:
        return max(math.prod([x.shape[axis] for axis in self.axes]) - correction, 0)

    def spread(self, y: Array, x: Array) -> Array:
        return moves.broadcast_to(moves.reshape(y, of_axes.keepdim_shape(x.shape, self.axes)), x.shape)

    def _as_segment(self, x: Array, reduce_segments: Callable[[Array, Segments], Array]) -> Array:
        """Reduce all slices as the columns of one segment."""
        rest = tuple(axis for axis in range(x.ndim) if axis not in self.axes)
        length, columns = math.prod([x.shape[axis] for axis in self.axes]), tuple(x.shape[axis] for axis in rest)
        rows = moves.reshape(moves.transpose(x, (*self.axes, *rest)), (length, *columns))
        return moves.reshape(reduce_segments(rows, Segments(np.array([0, length]))), columns)


class SegmentReducer:
    """Reducer of rows ``(N, ...)`` along segments; the result has one row per segment."""

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

    def arg_reduce(self, kernel: str, x: Array) -> Array:
        return Array(getattr(get_backend(x.device), kernel)(x.data, self.segments), x.device)

    def count(self, x: Array, correction: float = 0) -> Array:
        counts = np.maximum(self.segments.lengths - correction, 0) if correction else self.segments.lengths
        return Array(from_host(counts.astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1)), x.device), x.device)

    def spread(self, y: Array, x: Array) -> Array:
        return of_segments.spread(y, self.segments)


def subtract_maximum(reducer: Reducer, x: Array) -> tuple[Array, Array]:
    """Subtract from each element the maximum of its slice; return the differences and the maxima.

    A maximum that is not finite counts as 0, so that infinities and NaN stay what they are. The maximum is a constant
    for the gradient.
    """
    maximum = reducer.amax(x.detach())
    shift = of_elements.where(maximum, x.dtype.type(0), get_backend(x.device).isfinite(maximum.data))
    return x - reducer.spread(shift, x), shift
