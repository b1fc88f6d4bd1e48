"""Padded arrays: the components of a nested array in the corners of the rows of a dense one."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.arguments.shapes import canonical_shape, possible_shape
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import scalar
from pynested.autograd.rules import elementwise as of_elements
from pynested.autograd.rules import movement as moves
from pynested.backends import get_backend, packed_strides, strided_index
from pynested.backends.errors import GradientError, ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.nested import layout_conversion
from pynested.nested.layout_conversion import axis_first, packed, to_strided
from pynested.nested.nested_array import NestedArray
from pynested.structure import Jagged


@operator
def to_padded_array(
    input: NestedArray, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
) -> Array:
    """Every component in the leading corner of its row, ``padding`` elsewhere: ``(B, *, D) -> (B, max(*), D)``.

    Parameters
    ----------
    input : NestedArray
        Its holes never show; the result has its dtype.
    padding : number
        Converted to the dtype, which must be able to hold it: 0.0 pads integers with 0.
    output_size : sequence of int, optional
        A size for every dimension, the batch included, each as large as needed or larger; rows beyond the last
        component are all ``padding``. By default the size of the largest component.
    out : Array, optional
        Is filled and returned; it has the shape and dtype of the result. Where a gradient is wanted it is refused.

    Raises
    ------
    ShapeError
        For a size that is smaller than needed (nothing is truncated), another number of sizes, and an ``out`` of
        another shape or dtype.
    DTypeError
        For a ``padding`` that no element can equal: 0.5, inf or NaN for integers, 2 for bools.
    OverflowError
        For an integer outside the range of the integer dtype: 300 for int8.

    Notes
    -----
    All components empty gives (B, 0, ...), no components (0, ...). Gradient: each element gets the cotangent of its
    place; that of the padding goes nowhere.

    Clauses: TO_PADDED_ARRAY-1 to TO_PADDED_ARRAY-10. After `torch.nested.to_padded_tensor`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_padded_array(nt, -1, output_size=(2, 3))
    array([[ 1,  2, -1],
           [ 3, -1, -1]])
    """
    if type(input) is not NestedArray:
        raise StructureError(f"to_padded_array: the input must be nested, not {type(input).__name__}.")
    fill = scalar("to_padded_array", padding, input.dtype)
    _, target = together("to_padded_array", input.data, out, optional=1)
    needed = (len(input), *input.extents.max(axis=0, initial=0).tolist())
    shape = (
        needed
        if output_size is None
        else _checked_size(input, canonical_shape("to_padded_array", (output_size,)), needed)
    )
    padded = _padded(packed(input), possible_shape("to_padded_array", shape), fill)
    return padded if target is None else _written(padded, target)


def _checked_size(x: NestedArray, shape: tuple[int, ...], needed: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) != len(needed):
        raise ShapeError(
            f"to_padded_array: output_size {shape} has {len(shape)} sizes and the nested array has {len(needed)} "
            "dimensions."
        )
    for dim, (size, least) in enumerate(zip(shape, needed, strict=True)):
        if size < least:
            raise ShapeError(
                "to_padded_array: Value in output_size is less than NestedArray padded size. Truncation is not "
                f"supported: dimension {dim} needs {least}, output_size {shape} has {size}. Slice the nested array "
                "first."
            )
    return shape


def _padded(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    rows = layout_conversion.as_jagged_view(x)
    x = x if rows is None else rows
    structure = x.structure
    if isinstance(structure, Jagged) and shape[0] == len(x):
        r = structure.ragged_dim
        rest = x.data.shape[: r - 1] + x.data.shape[r:]
        if rest == shape[1:r] + shape[r + 1 :]:
            leading = moves.transpose(x.data, axis_first(r - 1, x.data.ndim)) if r > 1 else x.data
            filled = _pad_rows(leading, structure, shape[r], fill)
            back = (0, *range(2, r + 1), 1, *range(r + 1, x.ndim))
            return filled if r == 1 else moves.transpose(filled, back).contiguous()
    return _pad_places(to_strided(x), shape, fill)


def _pad_rows(rows: Array, structure: Jagged, length: int, fill: Any) -> Array:
    if not rows.requires_grad:
        return Array(get_backend(rows.device).pad(rows.data, structure.segments, length, fill), rows.device)
    padded = moves.pad(rows, structure.segments, length)
    if fill == 0 and not np.signbit(fill):
        return padded
    inside = np.arange(length) < structure.component_lengths[:, None]
    mask = inside.reshape(*inside.shape, *[1] * (rows.ndim - 1))
    return of_elements.where(padded, fill, from_host(mask, rows.device))


def _pad_places(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Any rank and any irregular dims: each element to its place in the flat dense array."""
    steps = packed_strides(np.array([shape], np.int64))[0]
    sizes = x.component_sizes()
    count = len(x)
    strides = np.broadcast_to(steps[1:], sizes.shape)
    places = strided_index(sizes, strides, np.arange(count) * steps[0])
    total = prod(shape)
    source = np.full(total, places.size, np.int64)
    source[places] = np.arange(places.size)
    filler = Array(from_host(np.full(1, fill, x.dtype), x.device), x.device)
    flat = moves.concatenate([layout_conversion.gather_elements(x), filler], 0)
    return moves.reshape(moves.take_rows(flat, source), shape)  # type: ignore[no-any-return]


def _written(padded: Array, target: Array) -> Array:
    """``padded`` in the memory of ``target``."""
    if target.shape != padded.shape or target.dtype != padded.dtype:
        raise ShapeError(
            f"to_padded_array: out has shape {target.shape} and dtype {target.dtype}; it must have shape "
            f"{padded.shape} and "
            f"dtype {padded.dtype}."
        )
    if padded.requires_grad:
        raise GradientError("to_padded_array: out= cannot be used where a gradient is wanted; leave it out.")
    return target.copy_(padded)
