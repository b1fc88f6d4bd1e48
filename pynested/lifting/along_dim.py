"""Lifting of operators that work along one dimension and keep the shape (`along_dim`), or on the last dimensions.

A *row* is a slice of the values along their first axis. In packed values, the rows of each component are a *segment*.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.autograd.primitives import movement
from pynested.backends import Segments
from pynested.nested.layout_conversion import (
    as_jagged_view,
    axis_to_front,
    contiguous,
    exchanged_axes,
    front_to_axis,
    gather_elements,
    packed,
    rows_to_strided,
    with_dtype,
)
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import ArrayT, DType, canonical_component_dim
from pynested.structure import Jagged, Strided

from .result_dtypes import DTypeConversion

OnSegments = Callable[[Array, Segments], Array]  # rows (N, ...) and their segments -> rows of the same shape
OnAxis = Callable[[Array, int], Array]  # values and one of their axes -> values of the same shape


def along_dim(
    name: str,
    self: ArrayT,
    dim: int,
    on_segments: OnSegments,
    on_axis: OnAxis,
    convert: DTypeConversion,
    dtype: DType | None = None,
) -> ArrayT:
    """Apply an operator along ``dim`` of an operand, dense or nested; along the batch it raises an error.

    ``on_segments`` computes the operator for segments of rows, ``on_axis`` along one axis of values. ``dtype`` is
    the dtype that the user requested, an argument of ``convert``. The result has the layout of the operand; a nested
    result is packed.
    """
    if type(self) is not NestedArray:
        array = as_array(name, self)
        axis = canonical_dim(name, dim, array.ndim)
        array, result_dtype = convert(name, array, dtype)
        return movement.to_dtype(on_axis(array, axis), result_dtype)  # type: ignore[return-value]
    values, result_dtype = convert(name, self._buffer, dtype)
    x = self if values is self._buffer else wrap_unchecked(values, self._structure)
    axis = canonical_component_dim(name, dim, x.ndim) - 1
    structure = x._structure
    if isinstance(structure, Strided) and structure.packed.jagged_view is None:
        return with_dtype(_along_copied_axis(x, structure, axis, on_segments), result_dtype)
    jagged_x: Any = x if isinstance(structure, Jagged) else as_jagged_view(contiguous(x))
    if not jagged_x._structure.is_packed:
        jagged_x = packed(jagged_x)
    values, ragged_axis = jagged_x._buffer, jagged_x._structure.ragged_dim - 1
    if axis != ragged_axis:
        values = on_axis(values, axis)
    elif axis == 0:
        values = on_segments(values, jagged_x._structure.segments)
    else:
        rows_first = on_segments(axis_to_front(values, axis), jagged_x._structure.segments)
        values = front_to_axis(rows_first, axis).contiguous()
    if values._raw.dtype != result_dtype:
        values = movement.to_dtype(values, result_dtype)
    if isinstance(structure, Strided):
        return rows_to_strided(values, structure.packed)
    return wrap_unchecked(values, jagged_x._structure)


def _along_copied_axis(x: NestedArray, structure: Strided, axis: int, on_segments: OnSegments) -> NestedArray:
    """Apply the operator to segments: a copy in which the elements along ``axis`` lie one after another."""
    order = [k for k in range(x.ndim - 1) if k != axis] + [axis]
    lengths = structure.sizes[:, axis]
    outer_sizes = structure.sizes[:, order[:-1]]
    segments_per_component = np.where(lengths > 0, outer_sizes.prod(axis=1, dtype=np.int64), 0)
    flat = on_segments(gather_elements(x, order), Segments.from_lengths(np.repeat(lengths, segments_per_component)))
    axis_last = Strided.from_extents(structure.extents[:, order], structure.count)
    return contiguous(wrap_unchecked(flat, axis_last.with_axes(np.argsort(order).tolist())))


def swap_axes(x: Array, axis0: int, axis1: int) -> Array:
    """Exchange two axes of a dense array."""
    return x if axis0 == axis1 else movement.transpose(x, exchanged_axes(x.ndim, axis0, axis1))


def map_last_dims(x: NestedArray, sizes: tuple[int, ...], function: Callable[[Array], Array]) -> NestedArray:
    """Apply ``function``, ``(..., *sizes) -> (..., *new_sizes)``, to the last dimensions, whose sizes are ``sizes``."""
    x = packed(x)
    structure = x.structure
    if isinstance(structure, Jagged):
        return wrap_unchecked(function(x.data), structure)
    leading_extents = structure.extents[:, : structure.extents.shape[1] - len(sizes)]
    num_rows = int(leading_extents[: structure.count].prod(axis=1).sum())
    values = function(movement.reshape(gather_elements(x), (num_rows, *sizes)))
    new_sizes = np.broadcast_to(np.array(values.shape[1:], np.int64), (len(leading_extents), values.ndim - 1))
    extents = np.concatenate([leading_extents, new_sizes], axis=1)
    return wrap_unchecked(movement.reshape(values, (values.numel(),)), Strided.from_extents(extents, structure.count))
