"""Padding of nested arrays to dense arrays."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_arrays_on_one_device
from pynested.autograd.arguments.scalars import checked_scalar
from pynested.autograd.arguments.shapes import canonical_shape, check_possible_shape
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import movement
from pynested.backends import packed_strides, strided_index
from pynested.backends.errors import GradientError, ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.nested.layout_conversion import as_jagged_view, axis_to_front, gather_elements, packed, to_strided
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged


@operator
def to_padded_array(
    input: NestedArray, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
) -> Array:
    """Pad the components with ``padding`` at the end of each dimension to one size: ``(B, *, D) -> (B, max(*), D)``.

    The dtype stays. Gaps have no effect. If all components are empty, the result has the shape (B, 0, ...); without
    components it has the shape (0, ...). Gradient: the cotangent at the position of each element; the cotangent of the
    padding is not used. Clauses: TO_PADDED_ARRAY-1 to TO_PADDED_ARRAY-10. After `torch.nested.to_padded_tensor`.

    Parameters
    ----------
    padding : number
        The dtype must be able to represent it: 0.0 pads integers with 0.
    output_size : sequence of int, optional
        A size for every dimension, the batch included, large enough for all components; by default the smallest sizes.
        Slices beyond the last component contain only ``padding``.
    out : Array, optional
        The array to write to and to return, of the shape and dtype of the result. It is refused if ``input`` requires
        grad.

    Raises
    ------
    ShapeError
        For a size that is too small (components are not truncated), for a wrong number of sizes, and for an ``out`` of
        the wrong shape or dtype.
    DTypeError
        For a ``padding`` that no element can equal: 0.5, inf or NaN for integers, 2 for bools.
    OverflowError
        For an integer outside the range of the integer dtype: 300 for int8.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_padded_array(nt, -1, output_size=(2, 3))
    array([[ 1,  2, -1],
           [ 3, -1, -1]])
    """
    if type(input) is not NestedArray:
        raise StructureError(f"to_padded_array: the input must be nested, not {type(input).__name__}.")
    fill = checked_scalar("to_padded_array", padding, input.dtype)
    _, target = as_arrays_on_one_device("to_padded_array", input.data, out, optional=1)
    min_shape = (len(input), *input.extents.max(axis=0, initial=0).tolist())
    shape = min_shape if output_size is None else _checked_output_size(output_size, min_shape)
    padded = _padded(packed(input), check_possible_shape("to_padded_array", shape), fill)
    return padded if target is None else _copy_to_out(padded, target)


def _checked_output_size(output_size: Any, min_shape: tuple[int, ...]) -> tuple[int, ...]:
    shape = canonical_shape("to_padded_array", (output_size,))
    if len(shape) != len(min_shape):
        raise ShapeError(
            f"to_padded_array: output_size {shape} has {len(shape)} sizes and the nested array has {len(min_shape)} "
            "dimensions."
        )
    for dim, (size, min_size) in enumerate(zip(shape, min_shape, strict=True)):
        if size < min_size:
            raise ShapeError(
                "to_padded_array: Value in output_size is less than NestedArray padded size. Truncation is not "
                f"supported: dimension {dim} needs {min_size}, output_size {shape} has {size}. Slice the nested array "
                "first."
            )
    return shape


def _padded(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Pad a packed array: as segments if only the ragged dimension needs padding, else element by element."""
    jagged_view = as_jagged_view(x)
    x = x if jagged_view is None else jagged_view
    structure = x.structure
    if isinstance(structure, Jagged) and shape[0] == len(x):
        ragged_dim = structure.ragged_dim
        regular_sizes = x.data.shape[: ragged_dim - 1] + x.data.shape[ragged_dim:]
        if regular_sizes == shape[1:ragged_dim] + shape[ragged_dim + 1 :]:
            if ragged_dim == 1:
                return movement.pad(x.data, structure.segments, shape[1], fill)
            rows = axis_to_front(x.data, ragged_dim - 1)
            padded = movement.pad(rows, structure.segments, shape[ragged_dim], fill)
            # The padded ragged dimension is dimension 1; move it back to its position.
            order = (0, *range(2, ragged_dim + 1), 1, *range(ragged_dim + 1, x.ndim))
            return movement.transpose(padded, order).contiguous()
    return _pad_elements(to_strided(x), shape, fill)


def _pad_elements(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Pad along any dimensions: gather the result from one flat array of all elements and one element of padding."""
    strides = packed_strides(np.array([shape], np.int64))[0]
    sizes = x.component_sizes()
    component_strides = np.broadcast_to(strides[1:], sizes.shape)
    positions = strided_index(sizes, component_strides, np.arange(len(x)) * strides[0])
    total = prod(shape)
    element_index = np.full(total, positions.size, np.int64)  # the index of the padding, the last element of `flat`
    element_index[positions] = np.arange(positions.size)
    padding = Array(from_host(np.full(1, fill, x.dtype), x.device), x.device)
    flat = movement.concatenate([gather_elements(x), padding], 0)
    return movement.reshape(movement.take_rows(flat, element_index), shape)


def _copy_to_out(padded: Array, target: Array) -> Array:
    """Copy ``padded`` into ``target``."""
    if target.shape != padded.shape or target.dtype != padded.dtype:
        raise ShapeError(
            f"to_padded_array: out has shape {target.shape} and dtype {target.dtype}; it must have shape "
            f"{padded.shape} and dtype {padded.dtype}."
        )
    if padded.requires_grad:
        raise GradientError("to_padded_array: out= cannot be used if the input requires grad. Leave it out.")
    return target.copy_(padded)
