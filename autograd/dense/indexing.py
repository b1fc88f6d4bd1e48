"""What an index picks of a dense array: views by integers and slices, copies by lists, arrays and masks."""

from __future__ import annotations

from math import prod
from types import EllipsisType, NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError, StructureError
from pynested.backends.host import to_host, written_to
from pynested.backends.memory import with_room

from ..array import Array
from ..rules import movement as rules
from ..rules.kinds import same_device
from .canonical import as_array, numpy_array
from .shapes import broadcast_shape, canonical_dim, canonical_int, canonical_slice, index_entry, several
from .writing import checked_value, held, label, write

__all__ = ["getitem", "select"]

_PLAIN_ENTRIES = frozenset((int, slice, NoneType, EllipsisType))


def canonical_index(name: str, index: Any, size: int, dim: int) -> int:
    """``index`` counted from the front, in ``0 .. size - 1``."""
    given = canonical_int(name, "an index", index)
    if not -size <= given < size:
        raise IndexOutOfRange(f"{name}: index {given} is out of bounds for dimension {dim} with size {size}.")
    return given + size if given < 0 else given


def select(self: Any, dim: int, index: int) -> Array:
    """A view without dimension ``dim``, at ``index`` of it."""
    x = as_array("select", self)
    at = canonical_dim("select", dim, x.ndim)
    return rules.slice_(x, (*[slice(None)] * at, canonical_index("select", index, x.shape[at], at)))


def getitem(self: Any, index: Any) -> Array:
    """A view by integers, slices, ``...`` and None, as in NumPy; a copy where a list, an array or a mask is first."""
    x = as_array("index", self)
    items = list(index) if isinstance(index, tuple) else [index]
    if items and is_array(items[0]):
        picked = _taken(x, items[0])
        return getitem(picked, (slice(None), *items[1:])) if items[1:] else picked
    for i, item in enumerate(items):
        if isinstance(item, slice):
            items[i] = canonical_slice(item)
        elif item is not None and item is not Ellipsis:
            items[i] = index_entry(item)
    try:
        return rules.slice_(x, tuple(items))
    except IndexError as error:
        raise IndexOutOfRange(f"index: {error} (the array has shape {x.shape}).") from None


def is_array(entry: Any) -> bool:
    """Whether an entry of an index is a list or an array of places, or a mask."""
    return type(entry) not in _PLAIN_ENTRIES and several(entry)


def first_entry(index: Any) -> Any:
    """What an index begins with; None if it is empty."""
    return index if not isinstance(index, tuple) else index[0] if index else None


def _taken(x: Array, entry: Any) -> Array:
    """The entries along dimension 0 at the places of ``entry``; of a mask of m dimensions along the first m."""
    chosen = entry_array(entry, x)
    if chosen.dtype == np.bool_ and chosen.ndim > 1:
        sizes = x.shape[: chosen.ndim]
        if chosen.shape != sizes:
            raise IndexOutOfRange(f"index: a mask of shape {chosen.shape} picks from an array of shape {x.shape}.")
        x = rules.reshape(x, (prod(sizes), *x.shape[chosen.ndim :]))
        chosen = chosen.reshape(-1)
    if not x.ndim:
        raise IndexOutOfRange("index: an array without dimensions has nothing to pick from.")
    result: Array = rules.take_rows(x, places("an array", chosen, x.shape[0]))
    return result


def entry_array(entry: Any, indexed: Array) -> NDArray[Any]:
    """A list or an array of integers or bools in an index, on the host; one of ours lies where ``indexed`` does."""
    if getattr(entry, "is_nested", False):
        raise StructureError("index: a nested mask picks from a nested array, this one is dense. Nest it first.")
    if type(entry) is Array:
        same_device("index", (indexed, entry))
        given: NDArray[Any] = to_host(entry.data)
    else:
        try:
            given = numpy_array("index", entry)
        except ValueError as error:
            raise ArgumentError(f"index: a list in an index holds integers, or bools ({error}).") from None
        given = given if given.size or not isinstance(entry, list) else given.astype(np.int64)
    if given.dtype.kind not in "biu":
        raise ArgumentError(
            f"index: an array in an index holds integers, or bools, not {given.dtype}. Convert it: a.to(pn.int64)."
        )
    return given


def places(what: str, chosen: NDArray[Any], size: int) -> NDArray[np.int64]:
    """The entries, counted from the front, of ``what`` of ``size`` entries that a vector of integers or bools names."""
    if chosen.ndim != 1:
        raise ArgumentError(
            f"index: an array in an index has one dimension, not {chosen.ndim}; only a mask has more, of a dense array."
        )
    if chosen.dtype == np.bool_:
        if len(chosen) != size:
            raise IndexOutOfRange(f"index: a mask of {len(chosen)} entries picks from {what} of {size}.")
        return np.flatnonzero(chosen)
    wrong = np.flatnonzero((chosen < -size) | (chosen >= size))
    if wrong.size:
        raise IndexOutOfRange(
            f"index: {chosen[wrong[0]]}, at place {wrong[0]} of the index, is out of bounds for {what} of {size}."
        )
    given = chosen.astype(np.int64)
    return np.where(given < 0, given + size, given)


def assign(self: Any, index: Any, value: Any) -> None:
    """Write ``value``, which broadcasts, to what ``index`` names, be it a view or not."""
    if not is_array(first_entry(index)):
        write(getitem(self, index), "assignment", value)
        return
    given = checked_value("assignment", value, self)
    xp = get_backend(self.device).xp
    counted = Array(xp.arange(self.numel(), dtype=np.int64).reshape(self.shape), self.device)
    write_at("assignment", self, getitem(counted, index), given)


@with_room
def write_at(name: str, target: Array, where: Array, value: Array) -> None:
    """Write ``value``, which broadcasts, to the elements of ``target`` whose numbers in C order are ``where``."""
    if broadcast_shape(name, where.shape, value.shape) != where.shape:
        raise ShapeError(f"{name}: a value of shape {value.shape} does not fit into the shape {where.shape}.")
    xp = get_backend(target.device).xp
    if xp.unique(where.data).size != where.numel():
        raise StructureError(
            f"{name}: one place would be written twice, as components overlap, or the index names it twice; clone the "
            "array first, and name each place once."
        )
    written_to(target.data)[xp.unravel_index(where.data, target.shape)] = held(label(name), value, target.dtype)
    target.storage.wrote()
