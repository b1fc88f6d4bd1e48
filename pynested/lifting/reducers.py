"""Reducers: one interface for reducing a dense array along axes, and rows along segments.

A formula that calls the methods of a `Reducer` works for both. A *slice* is the elements from which one element of the
result is computed: the elements along the axes, or the rows of one segment. Components are segments of rows.
"""

# ruff: noqa: D102 - the methods of SegmentReducer are those of AxisReducer

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from pynested.autograd import Array
from pynested.autograd.primitives import binary, movement
from pynested.autograd.primitives import reduction as axis_primitives
from pynested.autograd.primitives import segment as segment_primitives
from pynested.backends import Segments, get_backend
from pynested.backends.host import from_host


class AxisReducer:
    """Reducer of a dense array along ``axes``, counted from the front. The result has the remaining axes."""

    __slots__ = ("axes",)

    def __init__(self, axes: tuple[int, ...]) -> None:
        self.axes = axes

    def sum(self, x: Array) -> Array:
        """Return the sum of each slice; +0 for an empty slice."""
        return axis_primitives.sum_axes(x, self.axes)

    def prod(self, x: Array) -> Array:
        """Return the product of each slice; 1 for an empty slice."""
        return self._as_segment(x, segment_primitives.segment_prod)

    def amax(self, x: Array) -> Array:
        """Return the maximum of each slice; the least value of the dtype for an empty slice."""
        return axis_primitives.amax(x, self.axes)

    def amin(self, x: Array) -> Array:
        """Return the minimum of each slice; the greatest value of the dtype for an empty slice."""
        return axis_primitives.amin(x, self.axes)

    def arg_reduce(self, kernel: str, x: Array) -> Array:
        """Return an index for each slice; ``kernel`` is ``segment_argmax`` or ``segment_argmin``."""
        return self._as_segment(x, lambda rows, segments: SegmentReducer(segments).arg_reduce(kernel, rows))

    def count(self, x: Array, correction: float = 0) -> float:
        """Return the divisor of ``sum(x)``: the number of elements of each slice minus ``correction``, at least 0."""
        return max(math.prod([x.shape[axis] for axis in self.axes]) - correction, 0)

    def spread(self, y: Array, x: Array) -> Array:
        """Repeat each entry of ``y`` for all elements of its slice; ``y`` has one entry for each slice of ``x``."""
        return movement.broadcast_to(movement.reshape(y, axis_primitives.keepdim_shape(x.shape, self.axes)), x.shape)

    def _as_segment(self, x: Array, reduce_segments: Callable[[Array, Segments], Array]) -> Array:
        """Reduce all slices as one segment of rows; each row has one element of every slice."""
        other_axes = tuple(axis for axis in range(x.ndim) if axis not in self.axes)
        num_rows, row_shape = math.prod(x.shape[axis] for axis in self.axes), tuple(x.shape[k] for k in other_axes)
        rows = movement.reshape(movement.transpose(x, (*self.axes, *other_axes)), (num_rows, *row_shape))
        return movement.reshape(reduce_segments(rows, Segments(np.array([0, num_rows]))), row_shape)


class SegmentReducer:
    """Reducer of rows ``(N, ...)`` along segments. The result has one row for each segment."""

    __slots__ = ("segments",)

    def __init__(self, segments: Segments) -> None:
        self.segments = segments

    def sum(self, x: Array) -> Array:
        return segment_primitives.segment_sum(x, self.segments)

    def prod(self, x: Array) -> Array:
        return segment_primitives.segment_prod(x, self.segments)

    def amax(self, x: Array) -> Array:
        return segment_primitives.segment_max(x, self.segments)

    def amin(self, x: Array) -> Array:
        return segment_primitives.segment_min(x, self.segments)

    def arg_reduce(self, kernel: str, x: Array) -> Array:
        return Array(getattr(get_backend(x.device), kernel)(x.data, self.segments), x.device)

    def count(self, x: Array, correction: float = 0) -> Array:
        counts = np.maximum(self.segments.lengths - correction, 0) if correction else self.segments.lengths
        return Array(from_host(counts.astype(x.dtype).reshape(-1, *[1] * (x.ndim - 1)), x.device), x.device)

    def spread(self, y: Array, x: Array) -> Array:
        return segment_primitives.spread(y, self.segments)


Reducer: TypeAlias = AxisReducer | SegmentReducer


def subtract_maximum(reducer: Reducer, x: Array) -> tuple[Array, Array]:
    """Subtract from each element the maximum of its slice; return the differences and the maxima.

    A maximum that is not finite counts as 0, so that infinities and NaN do not change. Gradients treat the maxima as
    constants.
    """
    maximum = reducer.amax(x.detach())
    shift = binary.where(maximum, x.dtype.type(0), get_backend(x.device).isfinite(maximum.data))
    return x - reducer.spread(shift, x), shift
