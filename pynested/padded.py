"""Nested arrays out of dense ones: a piece of each entry, or what a mask selects."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dense.canonical import as_array, broadcast_shape, canonical_dim
from pynested.autograd.dense.comparison import boolean
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import ArgumentError, DimensionError, ShapeError, StructureError
from pynested.operators.slicing import batch_slice

from .construct import as_nested_array, integers
from .layouts import Layout, canonical_layout, jagged, strided
from .nested_array import NestedArray
from .structure import Ints, Jagged, Strided, frozen


def narrow(tensor: Any, dim: int, start: Any = 0, length: Any = None, layout: Layout | None = None) -> NestedArray:
    """Of each entry ``i`` of a dense array, the ``length[i]`` elements from ``start[i]`` on along ``dim``, as a view."""
    chosen = canonical_layout("narrow", layout)
    if type(tensor) is NestedArray:
        return _narrow_nested(tensor, dim, start, length)
    x = as_array("narrow", tensor)
    if x.ndim < 2:
        raise ArgumentError(f"narrow: a dense array needs 2 dimensions or more to be a batch, this one has {x.ndim}.")
    at = canonical_dim("narrow", dim, x.ndim)
    if not at and chosen is strided:
        return _narrow_nested(as_nested_array(x), dim, start, length)
    if not at or (chosen is jagged and at != 1):
        raise DimensionError(
            f"narrow: dimension {at} is refused; the jagged layout narrows dimension 1, the strided one any but the batch."
        )
    starts, lengths = _per_entry("start", start, len(x)), _per_entry("length", length, len(x))
    _check_range(starts, lengths, x.shape[at])
    x = x.contiguous()
    if chosen is jagged:
        rows = moves.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:]))
        offsets = np.append(starts + np.arange(len(x)) * x.shape[1], rows.shape[0])
        return NestedArray(rows, Jagged(frozen(offsets), frozen(lengths)))
    sizes = np.tile(np.array(x.shape[1:], np.int64), (len(x), 1))
    sizes[:, at - 1] = lengths
    strides = np.tile(np.array(x.stride()[1:], np.int64), (len(x), 1))
    offsets = np.arange(len(x)) * x.stride(0) + starts * strides[:, at - 1]
    offsets = np.where(sizes.prod(axis=1) > 0, offsets, 0)
    flat = moves.reshape(x, (x.numel(),))
    return NestedArray(flat, Strided(frozen(sizes), frozen(strides), frozen(offsets), x.numel()))


def _narrow_nested(x: NestedArray, dim: int, start: Any, length: Any) -> NestedArray:
    """The batch dimension of a nested array: some of its components."""
    if canonical_dim("narrow", dim, x.ndim):
        raise DimensionError(
            "narrow: of a nested array only dimension 0 is narrowed, which picks components. Use x[:, a:b]."
        )
    first, count = _per_entry("start", start, 1), _per_entry("length", length, 1)
    _check_range(first, count, len(x))
    return batch_slice(x, slice(int(first[0]), int(first[0] + count[0])))


def _per_entry(what: str, value: Any, count: int) -> Ints:
    """``value``, an integer or one for each entry, as int64 (B,)."""
    if value is None:
        raise ArgumentError(f"narrow: {what} is missing; give an integer, or one for each of the {count} entries.")
    given = np.asarray(value.data if type(value) is Array else value)
    numbers = integers("narrow", what, given, given.ndim)
    if given.dtype == np.bool_ or numbers.ndim > 1 or (numbers.ndim and numbers.shape[0] not in (1, count)):
        raise StructureError(
            f"narrow: {what} of shape {numbers.shape} must be an integer or one for each of the {count} entries."
        )
    return np.broadcast_to(numbers, (count,))


def _check_range(starts: Ints, lengths: Ints, size: int) -> None:
    wrong = np.flatnonzero((starts < 0) | (lengths < 0) | (starts > size) | (lengths > size - starts))
    if wrong.size:
        i = int(wrong[0])
        raise StructureError(
            f"narrow: entry {i}: start ({starts[i]}) + length ({lengths[i]}) is not inside dimension size ({size})."
        )


def masked_select(tensor: Any, mask: Any) -> NestedArray:
    """What ``mask`` selects of each row of the last dimension, as a jagged array with a component for each row."""
    if type(tensor) is NestedArray or type(mask) is NestedArray:
        raise ArgumentError("masked_select: the array and the mask must be dense.")
    x = as_array("masked_select", tensor)
    chosen = boolean("masked_select", "mask", mask)
    if not x.ndim or broadcast_shape("masked_select", x.shape, chosen.shape) != x.shape:
        raise ShapeError(
            f"masked_select: a mask of shape {chosen.shape} does not broadcast to an array of shape {x.shape}."
        )
    full = np.broadcast_to(chosen, x.shape)
    lengths = (
        full.reshape(-1, x.shape[-1]).sum(axis=1) if x.shape[-1] else np.zeros(int(np.prod(x.shape[:-1])), np.int64)
    )
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths)])
    values = moves.take_rows(moves.reshape(x, (x.numel(),)), np.flatnonzero(full))
    return NestedArray(values, Jagged(frozen(offsets)))
