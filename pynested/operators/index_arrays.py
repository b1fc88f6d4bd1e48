"""Lists, arrays and masks in an index: what they name."""

from __future__ import annotations

from types import EllipsisType, NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import numpy_array
from pynested.autograd.arguments.shapes import canonical_slice, index_entry, several
from pynested.autograd.rules.kinds import same_device
from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError, StructureError
from pynested.backends.host import to_host

_PLAIN_ENTRIES = frozenset((int, slice, NoneType, EllipsisType))


def is_array(entry: Any) -> bool:
    """Whether an entry of an index is a list or an array of places, or a mask."""
    return type(entry) not in _PLAIN_ENTRIES and several(entry)


def has_arrays(index: Any) -> bool:
    """Return whether an index holds a list or an array, or begins with a mask without dimensions."""
    if is_bare_mask(first_entry(index)):
        return True
    return any(map(is_array, index)) if isinstance(index, tuple) else is_array(index)


def is_bare_mask(entry: Any) -> bool:
    """Return whether an entry of an index is a mask without dimensions, such as the result of ``x[0] < 1``."""
    return isinstance(entry, (Array, np.ndarray, np.bool_)) and entry.ndim == 0 and entry.dtype == np.bool_


def is_place(entry: Any) -> bool:
    """Whether an entry of an index is, or should be, an integer."""
    return not (isinstance(entry, slice) or entry is None or entry is Ellipsis or is_array(entry))


def is_read(entry: Any) -> bool:
    """Whether an entry of an index is an array that `entry_array` has read."""
    return isinstance(entry, np.ndarray) and entry.ndim > 0


def span(entry: Any) -> int:
    """How many dimensions an entry of an index is about; 0 for ``...``, which takes what is left."""
    if is_read(entry) and entry.dtype == np.bool_:
        return int(entry.ndim)
    return int(entry is not None and entry is not Ellipsis)


def entries(index: Any) -> list[Any]:
    """The entries of an index, which may be one alone."""
    return list(index) if isinstance(index, tuple) else [index]


def checked(index: Any) -> list[Any]:
    """The entries of ``index``; slices and integers are checked, and lists and arrays are refused."""
    items = entries(index)
    for i, item in enumerate(items):
        if isinstance(item, slice):
            items[i] = canonical_slice(item)
        elif item is not None and item is not Ellipsis:
            items[i] = index_entry(item)
    return items


def filled(items: list[Any], ndim: int) -> list[Any]:
    """The entries with ``...`` as the slices it stands for; there is one at most."""
    missing = ndim - sum(map(span, items))
    return [entry for item in items for entry in ([slice(None)] * missing if item is ... else [item])]


def first_entry(index: Any) -> Any:
    """What an index begins with; None if it is empty."""
    return index if not isinstance(index, tuple) else index[0] if index else None


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
        except OverflowError:
            raise IndexOutOfRange("index: a list names a place beyond int64, which no dimension has.") from None
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
            f"index: an array that picks from {what} has one dimension, not {chosen.ndim}; more are for dense arrays."
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


def places_together(arrays: list[NDArray[Any]], sizes: tuple[int, ...], dims: list[int]) -> NDArray[np.int64]:
    """What arrays name together of dimensions ``dims`` of such sizes: broadcast, the places in these in C order.

    One array of bools is of all these dimensions, and names the places where it is True.
    """
    first = arrays[0]
    if len(arrays) > 1 and any(one.dtype == np.bool_ for one in arrays):
        raise ArgumentError("index: a mask in an index stands alone, beside slices; pick with integers instead.")
    if first.dtype == np.bool_ and first.ndim > 1:
        if first.shape != sizes:
            raise IndexOutOfRange(f"index: a mask of shape {first.shape} picks from sizes {sizes} of an array.")
        return np.flatnonzero(first)
    try:
        shape = np.broadcast_shapes(*[one.shape for one in arrays])
    except ValueError:
        shapes = " and ".join(str(one.shape) for one in arrays)
        raise ShapeError(f"index: arrays of shapes {shapes} do not broadcast against each other.") from None
    if len(arrays) > 1 and 0 in shape:  # beside an empty one the others name nothing, so nothing that is not there
        return np.zeros(shape, np.int64)
    found = np.zeros((), np.int64)
    for one, size, dim in zip(arrays, sizes, dims, strict=True):
        named = places(f"dimension {dim} of an array", one.reshape(-1), size)
        found = found * size + (named if one.dtype == np.bool_ else named.reshape(one.shape))
    return found
