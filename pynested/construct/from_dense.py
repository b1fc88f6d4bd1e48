"""Nested arrays from a dense batch: its slices (`slices_as_nested`), ranges (`narrow`) or elements (`masked_select`).

A *slice* is ``array[i]``, for a position along dimension 0; it becomes component ``i``. `narrow` also accepts a nested
array, whose components take the part of the slices.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_device_array, as_raw_bools
from pynested.autograd.arguments.shapes import broadcast_shape, canonical_dim
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError
from pynested.backends.host import to_host
from pynested.nested.component_views import select_components, slice_dim
from pynested.nested.layout_conversion import slices_as_components
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, IntsLike
from pynested.structure import Ints, Jagged
from pynested.structure.layout import Layout, canonical_layout, jagged, strided
from pynested.structure.validation import as_integers


@operator
def narrow(
    array: NestedArray | Dense, dim: int, start: IntsLike = 0, length: IntsLike | None = None, layout: Layout = strided
) -> NestedArray:
    """View ``length`` elements of each slice along ``dim``, beginning at ``start``: ``(B, L, D) -> (B, *, D)``.

    The elements outside the ranges are gaps. Length 0 makes an empty component, also at the end of the dimension. A
    nested array keeps its layout, and its irregular dimensions stay irregular. Gradient: the cotangent for the elements
    inside the ranges, +0 for all others. Clauses: NARROW-1 to NARROW-4, NARROW-6 to NARROW-12. After
    `torch.nested.narrow`.

    Parameters
    ----------
    dim : int
        The dimension of the ranges. For a nested array it can be any dimension; 0 selects components. For a dense array
        it must be 1 if the result is jagged.
    start, length : int or int array (B,)
        One integer for all slices, or one integer for each slice of a dense array. ``length`` is required.
    layout : Layout
        The layout of the result if ``array`` is dense.

    Raises
    ------
    StructureError
        For a negative start or length, and for a range that ends beyond the dimension in some component. For a start or
        length that is neither one integer nor an integer for each slice. For a dense array of fewer than 2 dimensions.
    DimensionError
        For a ``dim`` that is out of range, and for a ``dim`` other than 1 of a dense array if the result is jagged.
    DTypeError
        For a start or length that is not an integer.
    ArgumentError
        For a missing length.

    Examples
    --------
    >>> pn.narrow(pn.array([[1, 2, 3], [4, 5, 6]]), 1, start=[0, 1], length=[1, 2], layout=pn.jagged).unbind()
    (array([1]), array([5, 6]))
    >>> pn.narrow(pn.nested_array([[1, 2, 3], [4, 5]]), 1, 1, 1).unbind()
    (array([2]), array([5]))
    """
    layout = canonical_layout("narrow", layout)
    if isinstance(array, NestedArray):
        return _narrow_nested(array, dim, start, length)
    x = as_device_array("narrow", array)
    check_is_batch("narrow", x)
    dim = canonical_dim("narrow", dim, x.ndim)
    if not dim and layout is strided:
        return _narrow_nested(slices_as_nested("narrow", x, strided), dim, start, length)
    if layout is jagged and dim != 1:
        raise DimensionError(
            f"narrow: a jagged result has ranges along dimension 1, not {dim}. Use layout=pn.strided for other "
            "dimensions."
        )
    count = len(x)
    start, length = _start_or_length("start", start, count), _start_or_length("length", length, count)
    starts, lengths = _checked_ranges(start, length, count, x.shape[dim])
    x = x.contiguous()
    if layout is jagged:
        rows = movement.reshape(x, (count * x.shape[1], *x.shape[2:]))
        offsets = np.append(starts + np.arange(count) * x.shape[1], rows.shape[0])
        return NestedArray(rows, Jagged.from_validated(offsets, lengths))
    flat, structure = slices_as_components(x, count)
    extents = structure.extents.copy()
    extents[:, dim - 1] = length if length.size else -1
    offsets = structure.offsets + starts * structure.strides[:, dim - 1]
    return NestedArray(flat, structure.with_placement(extents, structure.strides, offsets))


def check_is_batch(name: str, x: Array) -> None:
    """Raise StructureError unless the slices of ``x`` along dimension 0 can be components."""
    if x.ndim < 2:
        raise StructureError(
            f"{name}: a dense array needs 2 dimensions or more to be a batch; this array has {x.ndim}."
        )


def slices_as_nested(name: str, x: Array, layout: Layout) -> NestedArray:
    """Return the slices of a dense array along dimension 0 as components: a view if ``x`` is contiguous."""
    check_is_batch(name, x)
    count, *shape = x.shape
    if layout is strided:
        return NestedArray(*slices_as_components(x, count))
    values = movement.reshape(x, (count * shape[0], *shape[1:]))
    return NestedArray(values, Jagged.from_lengths(np.full(count, shape[0], np.int64)))


def _narrow_nested(x: NestedArray, dim: int, start: Any, length: Any) -> NestedArray:
    """View a range of components if ``dim`` is 0; otherwise view the same range of each component."""
    dim = canonical_dim("narrow", dim, x.ndim)
    start, length = _start_or_length("start", start), _start_or_length("length", length)
    span = slice(int(start), int(start) + int(length))
    if not dim:
        _checked_ranges(start, length, 1, len(x))
        return select_components(x, span)
    sizes = x.extents[:, dim - 1]
    _checked_ranges(start, length, len(sizes), np.where(sizes < 0, np.iinfo(np.int64).max, sizes))
    return slice_dim(x, dim, span)


def _start_or_length(argument: str, value: Any, num_slices: int | None = None) -> Ints:
    """Return an argument of `narrow` as int64: one integer, or one for each of ``num_slices`` slices if given."""
    expected = "an integer" if num_slices is None else f"an integer, or one for each of the {num_slices} entries"
    if value is None:
        raise ArgumentError(f"narrow: {argument} is missing. Give {expected}.")
    integers = as_integers("narrow", argument, value)
    if integers.shape and integers.shape != (num_slices,):
        raise StructureError(f"narrow: {argument} has shape {integers.shape}. Give {expected}.")
    return integers


def _checked_ranges(start: Ints, length: Ints, num_ranges: int, size: int | Ints) -> tuple[Ints, Ints]:
    """Return the start and the length of each range; raise unless each range lies inside its size.

    With no ranges, the start and the length are checked as for one range, so a wrong integer is always an error.
    """
    starts, lengths, sizes = (
        np.broadcast_to(values if np.size(values) else 0, (max(num_ranges, 1),)) for values in (start, length, size)
    )
    wrong = np.flatnonzero((starts < 0) | (lengths < 0) | (starts > sizes) | (lengths > sizes - starts))
    if wrong.size:
        i = int(wrong[0])
        raise StructureError(
            f"narrow: entry {i}: start ({starts[i]}) + length ({lengths[i]}) is not inside dimension size "
            f"({sizes[i]}). Both must be 0 or more."
        )
    return starts[:num_ranges], lengths[:num_ranges]


@operator
def masked_select(array: Dense, mask: Dense) -> NestedArray:
    """Select the elements where ``mask`` is True, as a component for each row of ``array``: ``(..., D) -> (B, *)``.

    A row holds the elements along the last dimension. The rows become components in C order; the result is jagged. A
    row without a selected element makes an empty component. DTypeError for a mask that is not bool. ShapeError for a
    mask that does not broadcast to the shape of ``array``, and for an ``array`` without dimensions. ArgumentError for a
    nested operand. Gradient: the cotangent for the selected elements, +0 for all others. Clauses: MASKED_SELECT-1 to
    MASKED_SELECT-6. After `torch.nested.masked_select`.

    >>> x = pn.array([[1, 2], [3, 4]])
    >>> pn.masked_select(x, x > 1).unbind()
    (array([2]), array([3, 4]))
    """
    if isinstance(array, NestedArray) or isinstance(mask, NestedArray):
        raise ArgumentError("masked_select: the array and the mask must be dense. A nested mask is an index: x[mask].")
    x = as_device_array("masked_select", array)
    raw_mask = as_raw_bools("masked_select", "mask", mask, x)
    if not x.ndim:
        raise ShapeError("masked_select: an array without dimensions has no rows. Give it one: x.reshape(1).")
    if broadcast_shape("masked_select", x.shape, raw_mask.shape) != x.shape:
        raise ShapeError(
            f"masked_select: a mask of shape {raw_mask.shape} does not broadcast to an array of shape {x.shape}."
        )
    xp = get_backend(x.device).xp
    is_selected = xp.broadcast_to(raw_mask, x.shape)
    lengths = to_host(is_selected.reshape(prod(x.shape[:-1]), x.shape[-1]).sum(axis=1))
    selected = movement.take_rows(movement.reshape(x, (x.numel(),)), xp.flatnonzero(is_selected))
    return NestedArray(selected, Jagged.from_lengths(lengths))
