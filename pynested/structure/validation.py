"""Validation of offsets, lengths, sizes and strides from a caller, which are copied, checked and made read-only.

Valid integers place every component inside its values, and no sum or product of them overflows int64. *Extents* are
the table of component sizes, which has one row for an empty batch (see `extents.py`). In all functions, ``name`` is the
operator, and ``argument`` its parameter, that error messages name.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import numpy_array
from pynested.backends.errors import ArgumentError, DTypeError, PynestedError, StructureError
from pynested.backends.host import to_host
from pynested.backends.limits import MOST_DIMENSIONS, MOST_ELEMENTS

from .extents import Ints, as_readonly, make_readonly

# A sum that is below this limit in float64 also fits into int64, in spite of rounding.
_MAX_FLOAT_SUM = 2.0**62
_MAX_INT64 = np.iinfo(np.int64).max


def as_integers(name: str, argument: str, value: Any, ndim: int | None = None) -> Ints:
    """Return an argument as a read-only int64 array; raise unless it holds integers, in ``ndim`` dimensions if set."""
    if getattr(value, "is_nested", False):
        raise ArgumentError(f"{name}: {argument} must be dense. Take lengths from a nested array: x.lengths_along(1).")
    try:
        array = to_host(value.data) if type(value) is Array else numpy_array(name, value)
    except PynestedError:
        raise
    except OverflowError:
        raise StructureError(f"{name}: {argument} holds an integer that is beyond int64.") from None
    except ValueError:
        raise StructureError(
            f"{name}: {argument} must be an array of integers. Its entries differ in length."
        ) from None
    if array.dtype.kind not in "iu" and (array.size or array.dtype != np.float64):  # np.array([]) is float64
        raise DTypeError(f"{name}: {argument} must be integers, not {array.dtype}.")
    if ndim is not None and array.ndim != ndim:
        raise StructureError(
            f"{name}: {argument} must have {ndim} dimension{'s' if ndim > 1 else ''}, not {array.ndim}."
        )
    if array.dtype == np.uint64 and array.size and int(array.max()) > _MAX_INT64:
        raise StructureError(f"{name}: {argument} holds {array.max()}, which is beyond int64.")
    # Pass a view, so that `as_readonly` copies even a read-only array: its owner could make it writeable.
    return as_readonly(array.astype(np.int64, copy=False)[...])


def empty_batch_extents(name: str, num_axes: int, sizes_if_given: Sequence[int | None] | None) -> Ints:
    """Return the extents of an empty batch: one row, the sizes that a component would have; None is an unknown size."""
    sizes = [None] * num_axes if sizes_if_given is None else list(sizes_if_given)
    if len(sizes) != num_axes:
        raise StructureError(f"{name}: {len(sizes)} regular sizes are given for components of {num_axes} dimensions.")
    return as_integers(name, "regular sizes", [[-1 if size is None else size for size in sizes]], 2)


def check_lengths(name: str, lengths: Ints) -> None:
    """Check that no length is negative, and that their sum fits into int64."""
    negative = lengths < 0
    if np.count_nonzero(negative):
        i = int(negative.argmax())
        raise StructureError(f"{name}: component {i} has length {lengths[i]}. Lengths must be 0 or more.")
    if np.add.reduce(lengths, dtype=np.float64) >= _MAX_FLOAT_SUM:
        i = int(lengths.argmax())
        raise StructureError(f"{name}: component {i} has length {lengths[i]}, which is more than memory can hold.")


def check_offsets(name: str, offsets: Ints, lengths: Ints | None) -> None:
    """Check the offsets and the lengths of a jagged structure."""
    if not offsets.size:
        raise StructureError(f"{name}: offsets are empty. B components need B + 1 offsets; [0] is a batch of none.")
    if lengths is None:
        decreases = offsets[1:] < offsets[:-1]
        if np.count_nonzero(decreases):
            i = int(decreases.argmax())
            raise StructureError(f"{name}: offsets decrease at component {i}: {offsets[i]} to {offsets[i + 1]}.")
        if offsets[0] != 0:
            raise StructureError(
                f"{name}: offsets run from {offsets[0]} to {offsets[-1]}; without lengths they must run from 0 to the "
                "number of rows of the values. Slice the values, or give lengths."
            )
        return
    if lengths.size != offsets.size - 1:
        raise StructureError(
            f"{name}: offsets and lengths batch sizes must match: offsets.shape[0] - 1 = {offsets.size - 1}, "
            f"lengths.shape[0] = {lengths.size}."
        )
    check_lengths(name, lengths)
    outside = (offsets[:-1] < 0) | (offsets[:-1] > _MAX_INT64 - lengths)
    if np.count_nonzero(outside):
        i = int(outside.argmax())
        raise StructureError(
            f"{name}: component {i} begins at {offsets[i]} and has length {lengths[i]}, which no values can hold."
        )


def check_extents(name: str, extents: Ints, count: int) -> None:
    """Check the sizes of ``count`` components. The unknown size -1 is valid only in an empty batch."""
    negative = extents < (0 if count else -1)
    if np.count_nonzero(negative):
        i, axis = divmod(int(negative.argmax()), extents.shape[1])
        raise StructureError(f"{name}: component {i} has the negative size {extents[i, axis]}.")
    check_size_limits(name, extents)


def check_size_limits(name: str, extents: Ints) -> None:
    """Check that no component, and no batch, has more dimensions or elements than an array can have.

    The size of the buffer is no limit on the elements, as strides can be 0. A size of 0 counts as 1, as in NumPy.
    """
    if extents.shape[1] >= MOST_DIMENSIONS:
        raise StructureError(
            f"{name}: components of {extents.shape[1]} dimensions make {extents.shape[1] + 1} with the batch, and an "
            f"array has at most {MOST_DIMENSIONS}."
        )
    if int(extents.max(initial=0)) ** extents.shape[1] * len(extents) <= MOST_ELEMENTS:
        return
    with np.errstate(over="ignore"):
        counts = np.maximum(extents, 1).prod(axis=1, dtype=np.float64)
    numels = np.where((extents > 0).all(axis=1), counts, 0.0)
    too_many = MOST_ELEMENTS + 1  # a power of two, which float64 represents exactly
    if counts.max(initial=0) >= too_many or numels.sum() >= too_many:
        i = int(counts.argmax())
        subject = f"component {i} of sizes {extents[i].tolist()}" if counts[i] >= too_many else "the batch"
        raise StructureError(f"{name}: {subject} has too many elements to be counted; sizes of 0 count as 1.")


def validate_placement(name: str, sizes: Ints, strides: Ints, offsets: Ints, buffer_size: int) -> tuple[Ints, Ints]:
    """Check that every element of every component lies in the buffer; return the strides and the offsets.

    Some integers are never used: the stride along a size of 1, and all strides and the offset of an empty component.
    They can have any value, and are returned clamped to the buffer, so that arithmetic on them cannot overflow.
    """
    nonempty = np.logical_and.reduce(sizes > 0, axis=1)
    _check_bounds(name, sizes, strides, offsets, buffer_size, nonempty)
    largest = min(buffer_size, _MAX_INT64)
    if np.count_nonzero(nonempty) < nonempty.size:
        offsets = make_readonly(np.where(nonempty, offsets, np.clip(offsets, 0, largest)))
    is_used = nonempty[:, None] & (sizes > 1)
    if np.count_nonzero(is_used) < is_used.size:
        strides = make_readonly(np.where(is_used, strides, np.clip(strides, 0, largest)))
    return strides, offsets


def _check_bounds(name: str, sizes: Ints, strides: Ints, offsets: Ints, size: int, nonempty: NDArray[np.bool_]) -> None:
    """Check the first and the last element of each component that has elements."""
    last_index = sizes - 1
    # The int64 arithmetic can overflow. The same index in float64 cannot, and shows whether the int64 index is valid.
    rounded_last = np.add.reduce(last_index * strides.astype(np.float64), axis=1) + offsets
    last = offsets + np.add.reduce(last_index * strides, axis=1)
    below = np.logical_or.reduce(strides < 0, axis=1) | (offsets < 0)
    wrong = nonempty & (below | (rounded_last >= _MAX_FLOAT_SUM) | (last >= size))
    if np.count_nonzero(wrong):
        i = int(wrong.argmax())
        reach = f"leaves the buffer of {size} elements: its last element would be at {rounded_last[i]:.0f}"
        raise StructureError(
            f"{name}: component {i} of sizes {sizes[i].tolist()}, strides {strides[i].tolist()} and offset "
            f"{offsets[i]} {'is invalid: strides and offsets must be 0 or more' if below[i] else reach}."
        )
