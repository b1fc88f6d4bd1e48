"""Parsing of an index: its entries, and the integer positions that lists, arrays and masks select.

An entry is an integer, a slice, ``...``, None, or array-like: a list, an array or a mask. A *parsed array* is the NumPy
array to which `read_array` converts an array-like entry.
"""

from __future__ import annotations

from types import EllipsisType, NoneType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import numpy_array
from pynested.autograd.arguments.shapes import canonical_index_entry, canonical_slice, is_sequence
from pynested.autograd.primitives.primitive import common_device
from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange, ShapeError, StructureError
from pynested.backends.host import to_host

_TYPES_WITHOUT_ARRAYS = frozenset((int, slice, NoneType, EllipsisType))


# ---- kinds of entries -----------------------------------------------------------------------------------------------


def is_array_entry(entry: Any) -> bool:
    """Return whether an entry is array-like: a list, an array or a mask."""
    return type(entry) not in _TYPES_WITHOUT_ARRAYS and is_sequence(entry)


def is_scalar_mask(entry: Any) -> bool:
    """Return whether an entry is a mask without dimensions, such as the result of ``x[0] < 1``."""
    return isinstance(entry, (Array, np.ndarray, np.bool_)) and entry.ndim == 0 and entry.dtype == np.bool_


def is_scalar_entry(entry: Any) -> bool:
    """Return whether an entry selects one position: an integer, or an object that `checked_entries` refuses."""
    return not (isinstance(entry, slice) or entry is None or entry is Ellipsis or is_array_entry(entry))


def is_parsed_array(entry: Any) -> bool:
    """Return whether an entry is the result of `read_array`."""
    return isinstance(entry, np.ndarray) and entry.ndim > 0


def has_arrays(index: Any) -> bool:
    """Return whether an index has an array-like entry, or begins with a mask without dimensions."""
    if is_scalar_mask(first_entry(index)):
        return True
    return any(map(is_array_entry, index)) if isinstance(index, tuple) else is_array_entry(index)


# ---- entries of an index --------------------------------------------------------------------------------------------


def index_entries(index: Any) -> list[Any]:
    """Return the entries of an index, which need not be a tuple."""
    return list(index) if isinstance(index, tuple) else [index]


def first_entry(index: Any) -> Any:
    """Return the first entry of an index; None if it is empty."""
    return index if not isinstance(index, tuple) else index[0] if index else None


def checked_entries(index: Any) -> list[Any]:
    """Return the entries of an index, with validated integers and slices. Array-like entries are refused."""
    entries = index_entries(index)
    for i, entry in enumerate(entries):
        if isinstance(entry, slice):
            entries[i] = canonical_slice(entry)
        elif entry is not None and entry is not Ellipsis:
            entries[i] = canonical_index_entry(entry)
    return entries


def num_indexed_dims(entry: Any) -> int:
    """Return the number of dimensions that an entry indexes: 0 for None, and for ``...`` before it is expanded."""
    if is_parsed_array(entry) and entry.dtype == np.bool_:
        return int(entry.ndim)
    return int(entry is not None and entry is not Ellipsis)


def check_num_indexed(entries: list[Any], ndim: int) -> int:
    """Return the number of indexed dimensions; raise if it is greater than ``ndim``, and for a second ``...``."""
    num_indexed = sum(map(num_indexed_dims, entries))
    if num_indexed > ndim:
        raise DimensionError(f"index: {num_indexed} indices are too many for an array of {ndim} dimensions.")
    if sum(entry is Ellipsis for entry in entries) > 1:
        raise DimensionError("index: an index can have only one ellipsis (...).")
    return num_indexed


def expand_ellipsis(entries: list[Any], ndim: int) -> list[Any]:
    """Replace ``...`` by full slices. Raise DimensionError as `check_num_indexed` does."""
    missing = ndim - check_num_indexed(entries, ndim)
    return [part for entry in entries for part in ([slice(None)] * missing if entry is ... else [entry])]


# ---- array-like entries ---------------------------------------------------------------------------------------------


def read_array(entry: Any, indexed: Array) -> NDArray[Any]:
    """Return an array-like entry as a NumPy array of integers or bools. An Array must lie where ``indexed`` does."""
    if getattr(entry, "is_nested", False):
        raise StructureError("index: the mask is nested and the array is dense. Nest the array first.")
    if type(entry) is Array:
        common_device("index", (indexed, entry))
        parsed: NDArray[Any] = to_host(entry.data)
    else:
        try:
            parsed = numpy_array("index", entry)
        except OverflowError:
            raise IndexOutOfRange("index: a list has an integer beyond int64, which is out of bounds.") from None
        except ValueError as error:
            raise ArgumentError(f"index: a list in an index must hold integers or bools ({error}).") from None
        parsed = parsed if parsed.size or not isinstance(entry, list) else parsed.astype(np.int64)
    if parsed.dtype.kind not in "biu":
        advice = " Convert it: a.to(pn.int64)." if parsed.dtype.kind == "f" else ""
        kind = type(parsed.item(0)).__name__ if parsed.size and not advice else parsed.dtype
        raise ArgumentError(f"index: an array in an index must hold integers or bools, not {kind}.{advice}")
    return parsed


def positions(source: str, index: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return the positions, 0 or more, that a vector of integers or bools selects from ``source`` of this size."""
    if index.ndim != 1:
        raise ArgumentError(f"index: an array that selects from {source} must have one dimension, not {index.ndim}.")
    if index.dtype == np.bool_:
        if len(index) != size:
            raise IndexOutOfRange(f"index: a mask of {len(index)} entries selects from {source} of {size}.")
        return np.flatnonzero(index)
    wrong = np.flatnonzero((index < -size) | (index >= size))
    if wrong.size:
        raise IndexOutOfRange(
            f"index: {index[wrong[0]]}, at position {wrong[0]} of the index, is out of bounds for {source} of {size}."
        )
    signed = index.astype(np.int64)
    return np.where(signed < 0, signed + size, signed)


def flat_positions(indices: list[NDArray[Any]], sizes: tuple[int, ...], dim_names: list[str]) -> NDArray[np.int64]:
    """Return the flat C-order positions that several arrays select together from dimensions of these ``sizes``.

    Arrays of integers, one for each dimension, broadcast against each other. One array of bools covers all dimensions.
    """
    if len(indices) > 1 and any(index.dtype == np.bool_ for index in indices):
        raise ArgumentError(
            "index: a mask cannot be combined with other lists and arrays in an index. Use integers instead."
        )
    mask = indices[0]  # if it holds bools
    if mask.dtype == np.bool_ and mask.ndim > 1:
        if mask.shape != sizes:
            raise IndexOutOfRange(f"index: a mask of shape {mask.shape} selects from sizes {sizes} of an array.")
        return np.flatnonzero(mask)
    try:
        shape = np.broadcast_shapes(*[index.shape for index in indices])
    except ValueError:
        shapes = " and ".join(str(index.shape) for index in indices)
        raise ShapeError(f"index: arrays of shapes {shapes} do not broadcast against each other.") from None
    # An empty broadcast shape selects nothing, so the entries of the other arrays cannot be out of bounds.
    if len(indices) > 1 and 0 in shape:
        return np.zeros(shape, np.int64)
    flat = np.zeros((), np.int64)
    for index, size, name in zip(indices, sizes, dim_names, strict=True):
        selected = positions(name, index.reshape(-1), size)
        flat = flat * size + (selected if index.dtype == np.bool_ else selected.reshape(index.shape))
    return flat
