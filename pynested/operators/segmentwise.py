"""Formulas of the operators that keep the shape and work on each segment along one dimension."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment as of_segments
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import Segments
from pynested.components.runs import OverAxis, OverRuns, along
from pynested.nested.array import NestedArray, around
from pynested.nested.operands import DType, Kind
from pynested.tables.runs import AxisRuns, Runs, SegmentRuns

Conversion = Callable[[str, Array, Any], tuple[Array, np.dtype[Any]]]  # those of `pynested.tables.dtypes`


def along_dim(
    name: str, self: Kind, dim: int, dtype: DType | None, convert: Conversion, of_rows: OverRuns, of_axis: OverAxis
) -> Kind:
    """Return the operator ``name`` of an operand, dense or nested, along ``dim``.

    ``convert`` returns the operand as it is computed, and the dtype of the result. ``of_rows`` computes with segments
    of rows, ``of_axis`` with an axis of an array.
    """
    result: Any
    if isinstance(self, NestedArray):
        data, result_dtype = convert(name, self.data, dtype)
        x = self if data is self.data else around(data, self.structure)
        result = along(name, x, dim, of_rows, of_axis)
        if result.data.dtype != result_dtype:
            result = around(to_dtype(result.data, result_dtype), result.structure)
    else:
        array = as_array(name, self)
        axis = canonical_dim(name, dim, array.ndim)
        array, result_dtype = convert(name, array, dtype)
        result = to_dtype(of_axis(array, axis), result_dtype)
    return result  # type: ignore[no-any-return]


def softmax_of_axis(x: Array, axis: int) -> Array:
    """Return the softmax along an axis."""
    last = x.ndim - 1
    return _swapped(of_segments.softmax_last(_swapped(x, axis, last)), axis, last).contiguous()


def cumsum_of_axis(x: Array, axis: int) -> Array:
    """Return the cumulative sums along an axis."""
    whole = Segments(np.array([0, x.shape[axis]]))  # one segment, of rows that hold all other dimensions
    return _swapped(of_segments.segment_cumsum(_swapped(x, 0, axis), whole), 0, axis).contiguous()


def log_softmax_of_rows(rows: Array, segments: Segments) -> Array:
    """Return the logarithm of the softmax of each segment."""
    return _log_softmax(SegmentRuns(segments), rows)


def log_softmax_of_axis(x: Array, axis: int) -> Array:
    """Return the logarithm of the softmax along an axis."""
    return _log_softmax(AxisRuns((axis,)), x)


def _log_softmax(runs: Runs, x: Array) -> Array:
    greatest = runs.amax(x.detach())
    below = x - runs.back(greatest, x)
    return below - runs.back(of_elements.log(runs.sum(of_elements.exp(below))), x)


def _swapped(x: Array, a: int, b: int) -> Array:
    order = list(range(x.ndim))
    order[a], order[b] = b, a
    return x if a == b else moves.transpose(x, tuple(order))
