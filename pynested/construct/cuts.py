"""Cuts: a piece of each entry of a dense array or of each component (`narrow`), and masked runs (`masked_select`)."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np

from pynested.autograd.arguments.canonical import boolean
from pynested.autograd.arguments.shapes import broadcast_shape, canonical_dim
from pynested.autograd.default_device import placed
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends import get_backend, packed_strides
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError
from pynested.backends.host import to_host
from pynested.nested.component_views import select_components, slice_dim
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, IntsLike
from pynested.structure import Ints, Jagged, Strided
from pynested.structure.layout import Layout, canonical_layout, jagged, strided
from pynested.structure.validation import as_host_array, as_integers

from . import as_nested_array


@operator
def narrow(
    array: NestedArray | Dense, dim: int, start: IntsLike = 0, length: IntsLike | None = None, layout: Layout = strided
) -> NestedArray:
    """Of each slice, ``length`` elements from ``start`` along ``dim``, as a view: ``(B, L, D) -> (B, *, D)``.

    Parameters
    ----------
    array : Array or NestedArray
        Of any dtype.
    dim : int
        Any of a nested array, 0 picks components. Of a dense array 1 in the jagged layout, in the strided one any.
    start, length : int or int array (B,)
        The same for all, or one for each slice of a dense array; ``length`` has to be given.
    layout : Layout
        Of the result of a dense array.

    Raises
    ------
    StructureError
        For a negative start or length, a range that ends beyond the dimension, in any component, and another shape of
        them.
    DimensionError
        For another ``dim``.
    DTypeError
        For a start or length that is not an integer.
    ArgumentError
        Without a length.

    Notes
    -----
    What lies outside the ranges is a hole. Length 0 makes an empty component, also at the end of the dimension.
    A nested array keeps its layout; a regular dimension stays regular, and an irregular one irregular.
    Gradient: the cotangent goes to the elements that are shown, all others get +0.

    Clauses: NARROW-1 to NARROW-4, NARROW-6 to NARROW-12. After `torch.nested.narrow`.

    Examples
    --------
    >>> pn.narrow(pn.array([[1, 2, 3], [4, 5, 6]]), 1, start=[0, 1], length=[1, 2], layout=pn.jagged).unbind()
    (array([1]), array([5, 6]))
    >>> pn.narrow(pn.nested_array([[1, 2, 3], [4, 5]]), 1, 1, 1).unbind()
    (array([2]), array([5]))
    """
    chosen = canonical_layout("narrow", layout)
    if isinstance(array, NestedArray):
        return _narrow_nested(array, dim, start, length)
    x = placed("narrow", array)
    if x.ndim < 2:
        raise ArgumentError(f"narrow: a dense array needs 2 dimensions or more to be a batch, this one has {x.ndim}.")
    at = canonical_dim("narrow", dim, x.ndim)
    if not at and chosen is strided:
        return _narrow_nested(as_nested_array(x), dim, start, length)
    if not at or (chosen is jagged and at != 1):
        raise DimensionError(
            f"narrow: dimension {at} is refused; the jagged layout narrows dimension 1, the strided one any but the "
            "batch."
        )
    count = len(x)
    firsts, each = _per_entry("start", start, count), _per_entry("length", length, count)
    starts, lengths = _checked_range(firsts, each, count, x.shape[at])
    x = x.contiguous()
    if chosen is jagged:
        rows = moves.reshape(x, (count * x.shape[1], *x.shape[2:]))
        offsets = np.append(starts + np.arange(count) * x.shape[1], rows.shape[0])
        return NestedArray(rows, Jagged.from_valid(offsets, lengths))
    extents = np.tile(np.array(x.shape[1:], np.int64), (max(count, 1), 1))
    extents[:, at - 1] = each if each.size else -1
    steps = packed_strides(np.array([x.shape], np.int64))[0]  # NumPy's can be negative where a size is 1
    strides = np.tile(steps[1:], (count, 1))
    offsets = np.arange(count) * steps[0] + starts * strides[:, at - 1]
    offsets = np.where((extents[:count] > 0).all(axis=1), offsets, 0)
    return NestedArray(moves.reshape(x, (x.numel(),)), Strided.from_valid(extents, strides, offsets, x.numel()))


def _narrow_nested(x: NestedArray, dim: int, start: Any, length: Any) -> NestedArray:
    """Some components along dimension 0, else the same entries of each component."""
    at = canonical_dim("narrow", dim, x.ndim)
    first, each = _per_entry("start", start, None), _per_entry("length", length, None)
    entries = slice(int(first), int(first) + int(each))
    if not at:
        _checked_range(first, each, 1, len(x))
        return select_components(x, entries)
    sizes = x.extents[:, at - 1]
    _checked_range(first, each, len(sizes), np.where(sizes < 0, np.iinfo(np.int64).max, sizes))
    return slice_dim(x, at, entries)


def _per_entry(what: str, value: Any, count: int | None) -> Ints:
    """``value``, an integer or one for each entry, as int64 () or (B,); only an integer without a ``count``."""
    wanted = "an integer" if count is None else f"an integer, or one for each of the {count} entries"
    if value is None:
        raise ArgumentError(f"narrow: {what} is missing. Give {wanted}.")
    given = as_host_array("narrow", what, value)
    numbers = as_integers("narrow", what, given, given.ndim)
    if numbers.shape and numbers.shape != (count,):
        raise StructureError(f"narrow: {what} has shape {numbers.shape}. Give {wanted}.")
    return numbers


def _checked_range(starts: Ints, lengths: Ints, count: int, size: int | Ints) -> tuple[Ints, Ints]:
    """Return the start and the length of each entry, which lie inside its size; of no entries one pair is checked."""
    starts, lengths, sizes = (
        np.broadcast_to(given if np.size(given) else 0, (max(count, 1),)) for given in (starts, lengths, size)
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
    """Of each run along the last dimension, the elements where ``mask`` holds: ``(..., D) -> (B, *)``.

    Parameters
    ----------
    array : Array
        Of any dtype, with one dimension or more.
    mask : Array
        Bools that broadcast against ``array``.

    Raises
    ------
    DTypeError
        For a mask that is not bool.
    ShapeError
        For a mask that does not broadcast to the shape of ``array``, and an ``array`` without dimensions.
    ArgumentError
        For a nested argument.

    Notes
    -----
    The result is jagged, with one component for each run, in C order; a run without a chosen element makes an empty
    one. Gradient: a chosen element gets the cotangent of its place, every other +0.

    Clauses: MASKED_SELECT-1 to MASKED_SELECT-6. After `torch.nested.masked_select`.

    Examples
    --------
    >>> x = pn.array([[1, 2], [3, 4]])
    >>> pn.masked_select(x, x > 1).unbind()
    (array([2]), array([3, 4]))
    """
    if isinstance(array, NestedArray) or isinstance(mask, NestedArray):
        raise ArgumentError("masked_select: the array and the mask must be dense. A nested mask is an index: x[mask].")
    x = placed("masked_select", array)
    chosen = boolean("masked_select", "mask", mask, x)
    if not x.ndim or broadcast_shape("masked_select", x.shape, chosen.shape) != x.shape:
        raise ShapeError(
            f"masked_select: a mask of shape {chosen.shape} does not broadcast to an array of shape {x.shape}."
        )
    lengths, places = _selected(get_backend(x.device).xp, chosen, x.shape)
    return NestedArray(moves.take_rows(moves.reshape(x, (x.numel(),)), places), Jagged.from_lengths(lengths))


def _selected(xp: Any, chosen: Any, shape: tuple[int, ...]) -> tuple[Ints, Any]:
    """How many elements of each run are chosen, and which ones in C order."""
    full = xp.broadcast_to(chosen, shape)
    return to_host(full.reshape(prod(shape[:-1]), shape[-1]).sum(axis=1)), xp.flatnonzero(full)
