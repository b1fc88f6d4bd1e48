"""Indexing dense arrays: views by integers, slices, ``...`` and None; copies by lists, arrays and masks."""

from __future__ import annotations

from math import prod
from typing import Any

from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange

from .index_arrays import (
    checked,
    entries,
    entry_array,
    filled,
    first_entry,
    has_arrays,
    is_array,
    is_bare_mask,
    is_place,
    is_read,
    places_together,
    span,
)

__all__ = ["of_dense", "without_bare_mask"]

_ALL = slice(None)


def of_dense(x: Array, index: Any) -> Array:
    """A view by integers, slices, ``...`` and None, as in NumPy; a copy where lists, arrays or a mask pick."""
    x, index = without_bare_mask(x, index)
    if has_arrays(index):
        return _picked(x, [entry_array(item, x) if is_array(item) else item for item in entries(index)])
    items = checked(index)
    try:
        return moves.slice_(x, tuple(items))
    except IndexError as error:
        kind = DimensionError if _too_many(items, x.ndim) else IndexOutOfRange
        raise kind(f"index: {error} (the array has shape {x.shape}).") from None


def without_bare_mask(x: Array, index: Any) -> tuple[Array, Any]:
    """An array and an index that means the same, with a new first dimension if it begins with a mask without any."""
    if not is_bare_mask(first_entry(index)):
        return x, index
    mask, *rest = entries(index)
    return moves.slice_(x, (None,)), (entry_array(mask, x).reshape(1), *rest)


def _too_many(items: list[Any], ndim: int) -> bool:
    """Whether there are more entries than dimensions, or a second ``...``."""
    return sum(map(span, items)) > ndim or sum(item is ... for item in items) > 1


def _picked(x: Array, items: list[Any]) -> Array:
    """What arrays pick together of the view that the other entries give.

    It lies where the first array stands if there is no slice between the arrays, and in front if there is one.
    """
    view, dims = _others(x, items if _too_many(items, x.ndim) else filled(items, x.ndim))
    beside = dims == [*range(dims[0], dims[-1] + 1)]
    place = dims[0] if beside else 0
    if place and _apart(items):
        raise ArgumentError(
            "index: an integer stands apart from the lists and arrays, behind a slice. NumPy and PyTorch order the "
            "dimensions of the result differently then; index twice: x[0][:, [1, 2]]."
        )
    chosen, count = _taken(view, dims, [item for item in items if is_read(item)])
    if not place:
        return chosen
    behind = range(count + place, chosen.ndim)
    return moves.transpose(chosen, (*range(count, count + place), *range(count), *behind))


def _taken(view: Array, dims: list[int], arrays: list[NDArray[Any]]) -> tuple[Array, int]:
    """What arrays name along dimensions ``dims``, in front of the others, and how many dimensions that has there."""
    rest = [dim for dim in range(view.ndim) if dim not in dims]
    sizes, left = (tuple(view.shape[dim] for dim in some) for some in (dims, rest))
    at = places_together(arrays, sizes, dims)
    front = view if dims[-1] == len(dims) - 1 else moves.transpose(view, (*dims, *rest))
    rows = front if len(dims) == 1 else moves.reshape(front, (prod(sizes), *left))
    chosen: Array = moves.take_rows(rows, at.reshape(-1))
    return chosen if at.ndim == 1 else moves.reshape(chosen, (*at.shape, *left)), at.ndim


def _others(x: Array, items: list[Any]) -> tuple[Array, list[int]]:
    """The view by all entries but the arrays, and the dimensions of it along which these pick."""
    plain: list[Any] = []
    dims: list[int] = []
    here = 0
    for item in items:
        if is_read(item):
            dims += range(here, here + span(item))
            plain += [_ALL] * span(item)
            here += span(item)
        else:
            plain.append(item)
            here += not is_place(item)
    whole = len(plain) <= x.ndim and all(entry == _ALL for entry in plain)
    return x if whole else of_dense(x, tuple(plain)), dims


def _apart(items: list[Any]) -> bool:
    """Whether there is a slice, None or ``...``, be it for no dimension, between the integers and the arrays."""
    named = [i for i, item in enumerate(items) if is_read(item) or is_place(item)]
    return len(named) <= named[-1] - named[0]
