"""Lifting of operators along one dimension, which keep the shape (`along_dim`), or on the last ones (`map_last_dims`).

A *segment* is the elements of one component along one dimension. A *row* is a slice of the values along the first axis.
If components lie one after another in the values, each component is a segment of rows.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.movement import to_dtype
from pynested.backends import Segments
from pynested.backends.errors import DimensionError
from pynested.nested.layout_conversion import (
    as_jagged_view,
    axis_first,
    contiguous,
    gather_elements,
    inverse_permutation,
    packed,
    rows_to_strided,
)
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import ArrayT, DType
from pynested.nested.shape_comparison import other_dims_hint
from pynested.structure import Jagged, Strided

from .result_dtypes import DTypeRule

OnSegments = Callable[[Array, Segments], Array]  # rows (N, ...) and their segments -> rows of the same shape
OnAxis = Callable[[Array, int], Array]  # values and one of their axes -> values of the same shape


def along_dim(
    name: str,
    self: ArrayT,
    dim: int,
    on_segments: OnSegments,
    on_axis: OnAxis,
    dtype_rule: DTypeRule,
    dtype: DType | None = None,
) -> ArrayT:
    """Apply an operator to each segment of an operand, dense or nested, along ``dim``.

    Parameters
    ----------
    name : str
        The operator, for error messages.
    self : NestedArray or Array
        The operand. A nested result is packed, in the same layout.
    dim : int
        Any dimension but the batch.
    on_segments, on_axis : callable
        The operator on each segment of rows, and along an axis of values.
    dtype_rule : callable
        A `DTypeRule`, which chooses the dtype of the computation and the dtype of the result.
    dtype : optional
        The dtype that the user requested, an argument of ``dtype_rule``.
    """
    result: Any
    if type(self) is not NestedArray:
        array = as_array(name, self)
        axis = canonical_dim(name, dim, array.ndim)
        array, result_dtype = dtype_rule(name, array, dtype)
        result = to_dtype(on_axis(array, axis), result_dtype)
        return result  # type: ignore[no-any-return]
    values, result_dtype = dtype_rule(name, self._buffer, dtype)
    x = self if values is self._buffer else wrap_unchecked(values, self._structure)
    result = _along_dim(name, x, dim, on_segments, on_axis)
    if result._buffer._raw.dtype != result_dtype:
        result = wrap_unchecked(to_dtype(result._buffer, result_dtype), result._structure)
    return result  # type: ignore[no-any-return]


def _along_dim(name: str, x: NestedArray, dim: int, on_segments: OnSegments, on_axis: OnAxis) -> NestedArray:
    """Apply the operator to segments of rows if ``dim`` is ragged, else along an axis of the values."""
    axis = canonical_dim(name, dim, x.ndim) - 1
    if axis < 0:
        raise DimensionError(
            f"{name}: dimension 0 is the batch dimension. The operator works inside each component. "
            f"{other_dims_hint(x.ndim)}"
        )
    structure = x._structure
    if isinstance(structure, Strided):
        if structure.packed.jagged_view is None:
            return _along_buffer(x, structure, axis, on_segments)
        rows = as_jagged_view(contiguous(x))
        assert rows is not None
        return rows_to_strided(_along_dim(name, rows, dim, on_segments, on_axis).data, structure.packed)
    if not structure.is_packed:
        return _along_dim(name, packed(x), dim, on_segments, on_axis)
    ragged_axis = structure.ragged_dim - 1
    if axis != ragged_axis:
        values = on_axis(x._buffer, axis)
    elif axis == 0:
        values = on_segments(x._buffer, structure.segments)
    else:
        order = axis_first(axis, x.data.ndim)
        rows_first = on_segments(movement.transpose(x.data, order), structure.segments)
        values = movement.transpose(rows_first, inverse_permutation(order)).contiguous()
    return wrap_unchecked(values, structure)


def _along_buffer(x: NestedArray, structure: Strided, axis: int, on_segments: OnSegments) -> NestedArray:
    """Copy the elements with ``axis`` as the last axis, so that they form segments, and apply the operator to those."""
    order = [k for k in range(x.ndim - 1) if k != axis] + [axis]
    lengths = structure.sizes[:, axis]
    outer_sizes = structure.sizes[:, order[:-1]]
    segments_per_component = np.where(lengths > 0, outer_sizes.prod(axis=1, dtype=np.int64), 0)
    flat = on_segments(gather_elements(x, order), Segments.from_lengths(np.repeat(lengths, segments_per_component)))
    axis_last = Strided.from_extents(structure.extents[:, order], structure.count)
    return contiguous(wrap_unchecked(flat, axis_last.with_axes(inverse_permutation(order))))


def swap_axes(x: Array, axis0: int, axis1: int) -> Array:
    """Exchange two axes of a dense array."""
    order = list(range(x.ndim))
    order[axis0], order[axis1] = axis1, axis0
    return x if axis0 == axis1 else movement.transpose(x, tuple(order))


def map_last_dims(x: NestedArray, sizes: tuple[int, ...], function: Callable[[Array], Array]) -> NestedArray:
    """Apply ``function`` to the packed values of ``x``, whose last dimensions have ``sizes``.

    The function maps values ``(..., *sizes)`` to ``(..., *new_sizes)``, with any number of new sizes.
    """
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
