"""Nested arrays from parts of a dense array: a range of each slice (`narrow`), or masked elements (`masked_select`).

`narrow` also accepts a nested array. It then returns a view of the same range of every component.
"""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pynested.autograd.arguments.operands import as_raw_bools
from pynested.autograd.arguments.shapes import broadcast_shape, canonical_dim
from pynested.autograd.default_device import as_device_array
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import movement
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError
from pynested.backends.host import to_host
from pynested.nested.component_views import select_components, slice_dim
from pynested.nested.layout_conversion import slices_as_components
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, IntsLike
from pynested.structure import Ints, Jagged, Strided
from pynested.structure.layout import Layout, canonical_layout, jagged, strided
from pynested.structure.validation import as_host_array, as_integers

from .from_components import as_nested_array


@operator
def narrow(
    array: NestedArray | Dense, dim: int, start: IntsLike = 0, length: IntsLike | None = None, layout: Layout = strided
) -> NestedArray:
    """View ``length`` elements from ``start`` on along ``dim`` of each slice: ``(B, L, D) -> (B, *, D)``.

    The elements outside the ranges are gaps. Length 0 makes an empty component, also at the end of the dimension. A
    nested array keeps its layout, and its irregular dimensions stay irregular. Gradient:
    the cotangent for the elements inside the ranges, +0 for all others. Clauses: NARROW-1 to NARROW-4, NARROW-6 to
    NARROW-12. After `torch.nested.narrow`.

    Parameters
    ----------
    dim : int
        The dimension of the ranges. For a nested array it can be any dimension; 0 selects components. For a dense array
        it must be 1 if the result is jagged.
    start, length : int or int array (B,)
        One number for all slices, or one number for each slice of a dense array. ``length`` is required.
    layout : Layout
        The layout of the result if ``array`` is dense.

    Raises
    ------
    StructureError
        For a negative start or length, for a range that ends beyond the dimension in some component, and for a start or
        length of any other shape.
    DimensionError
        For any other ``dim``.
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
    if x.ndim < 2:
        raise ArgumentError(f"narrow: a dense array needs 2 dimensions or more to be a batch; this array has {x.ndim}.")
    dim = canonical_dim("narrow", dim, x.ndim)
    if not dim and layout is strided:
        return _narrow_nested(as_nested_array(x), dim, start, length)
    if layout is jagged and dim != 1:
        raise DimensionError(
            f"narrow: a jagged result has ranges along dimension 1, not {dim}. Use layout=pn.strided for any other "
            "dimension."
        )
    count = len(x)
    start_bounds, length_bounds = _range_bounds("start", start, count), _range_bounds("length", length, count)
    starts, lengths = _checked_ranges(start_bounds, length_bounds, count, x.shape[dim])
    x = x.contiguous()
    if layout is jagged:
        rows = movement.reshape(x, (count * x.shape[1], *x.shape[2:]))
        offsets = np.append(starts + np.arange(count) * x.shape[1], rows.shape[0])
        return NestedArray(rows, Jagged.from_validated(offsets, lengths))
    flat, structure = slices_as_components(x, count)
    extents = structure.extents.copy()
    extents[:, dim - 1] = length_bounds if length_bounds.size else -1
    offsets = structure.offsets + starts * structure.strides[:, dim - 1]
    offsets = np.where((extents[:count] > 0).all(axis=1), offsets, 0)
    return NestedArray(flat, Strided.from_validated(extents, structure.strides, offsets, x.numel()))


def _narrow_nested(x: NestedArray, dim: int, start: Any, length: Any) -> NestedArray:
    """View a range of components if ``dim`` is 0; otherwise view the same range of each component."""
    dim = canonical_dim("narrow", dim, x.ndim)
    checked_start, count = _range_bounds("start", start, None), _range_bounds("length", length, None)
    entries = slice(int(checked_start), int(checked_start) + int(count))
    if not dim:
        _checked_ranges(checked_start, count, 1, len(x))
        return select_components(x, entries)
    sizes = x.extents[:, dim - 1]
    _checked_ranges(checked_start, count, len(sizes), np.where(sizes < 0, np.iinfo(np.int64).max, sizes))
    return slice_dim(x, dim, entries)


def _range_bounds(argument: str, value: Any, count: int | None) -> Ints:
    """Return the argument ``start`` or ``length`` as int64: one integer, or ``count`` integers unless that is None."""
    expected = "an integer" if count is None else f"an integer, or one for each of the {count} entries"
    if value is None:
        raise ArgumentError(f"narrow: {argument} is missing. Give {expected}.")
    host_value = as_host_array("narrow", argument, value)
    bounds = as_integers("narrow", argument, host_value, host_value.ndim)
    if bounds.shape and bounds.shape != (count,):
        raise StructureError(f"narrow: {argument} has shape {bounds.shape}. Give {expected}.")
    return bounds


def _checked_ranges(starts: Ints, lengths: Ints, count: int, size: int | Ints) -> tuple[Ints, Ints]:
    """Return the start and the length of ``count`` ranges; raise unless each range lies inside its size.

    Even if ``count`` is 0, one start and one length are checked.
    """
    starts, lengths, sizes = (
        np.broadcast_to(numbers if np.size(numbers) else 0, (max(count, 1),)) for numbers in (starts, lengths, size)
    )
    wrong = np.flatnonzero((starts < 0) | (lengths < 0) | (starts > sizes) | (lengths > sizes - starts))
    if wrong.size:
        i = int(wrong[0])
        raise StructureError(
            f"narrow: entry {i}: start ({starts[i]}) + length ({lengths[i]}) is not inside dimension size ({sizes[i]})."
        )
    return starts[:count], lengths[:count]


@operator
def masked_select(array: Dense, mask: Dense) -> NestedArray:
    """Select the elements where ``mask`` is True, one component for each row of ``array``: ``(..., D) -> (B, *)``.

    A row is one slice along the last dimension. The rows become components in C order; the result is jagged. A row
    without a selected element makes an empty component. DTypeError for a mask that is not bool. ShapeError for a mask
    that does not broadcast to the shape of ``array``, and for an ``array`` without dimensions. ArgumentError for a
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
    if not x.ndim or broadcast_shape("masked_select", x.shape, raw_mask.shape) != x.shape:
        raise ShapeError(
            f"masked_select: a mask of shape {raw_mask.shape} does not broadcast to an array of shape {x.shape}."
        )
    lengths, positions = _selected_positions(get_backend(x.device).xp, raw_mask, x.shape)
    return NestedArray(movement.take_rows(movement.reshape(x, (x.numel(),)), positions), Jagged.from_lengths(lengths))


def _selected_positions(xp: Any, mask: Any, shape: tuple[int, ...]) -> tuple[Ints, Any]:
    """Return the number of selected elements of each row, and their positions in C order."""
    full = xp.broadcast_to(mask, shape)
    return to_host(full.reshape(prod(shape[:-1]), shape[-1]).sum(axis=1)), xp.flatnonzero(full)
