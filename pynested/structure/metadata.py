"""Offsets, lengths, sizes and strides that come from outside: copied, checked and frozen, once.

Whatever is made of them lies where they say, and every sum and product of them can be counted in int64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import numpy_array
from pynested.backends import Matrices
from pynested.backends.errors import DTypeError, PynestedError, StructureError
from pynested.backends.host import to_host
from pynested.backends.limits import MOST_DIMENSIONS, MOST_ELEMENTS

Ints: TypeAlias = NDArray[np.int64]

# What float64 says is below this fits into int64, so that integer arithmetic may be trusted.
_COUNTABLE = 2.0**62
_LARGEST = np.iinfo(np.int64).max
_EMPTY_LIST = np.dtype(np.float64)  # what NumPy makes of a list without entries


def frozen(numbers: Any) -> Ints:
    """``numbers`` as int64 that nobody can change: the array itself if it is already so, else a copy."""
    array = np.asarray(numbers, dtype=np.int64)
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


def sealed(numbers: Ints) -> Ints:
    """``numbers``, which were just worked out and nobody else holds, so that nobody can change them from here on."""
    numbers.setflags(write=False)
    return numbers


def matrices_of(sizes: Ints) -> Matrices:
    """The matrices, row-major and one after the other, of components of these sizes: int64 (B, d), d at least 2."""
    rows, cols = sizes[:, -2], sizes[:, -1]
    if sizes.shape[1] > 2:
        count = sizes[:, :-2].prod(axis=1, dtype=np.int64)
        rows, cols = np.repeat(rows, count), np.repeat(cols, count)
    return Matrices.of_sizes(rows, cols)


def handed_out(numbers: Ints) -> Ints:
    """A read-only copy of ``numbers``: whoever gets it cannot change a structure, by whatever means."""
    copy = np.array(numbers, order="C")[...]
    copy.setflags(write=False)
    return copy


def plain(name: str, what: str, value: Any) -> Any:
    """``value`` as a NumPy array; lists whose entries differ in length, or are beyond int64, are refused."""
    try:
        return to_host(value.data) if type(value) is Array else numpy_array(name, value)
    except PynestedError:
        raise
    except OverflowError:
        raise StructureError(f"{name}: {what} holds an integer that is beyond int64.") from None
    except ValueError:
        raise StructureError(f"{name}: {what} must be an array of integers; the entries differ in length.") from None


def integers(name: str, what: str, value: Any, ndim: int) -> Ints:
    """``value`` as a frozen int64 array of ``ndim`` dimensions; anything but integers is refused."""
    given = plain(name, what, value)
    if given.dtype.kind not in "iu" and (given.size or given.dtype != _EMPTY_LIST):
        raise DTypeError(f"{name}: {what} must be integers, these are {given.dtype}.")
    if given.ndim != ndim:
        raise StructureError(f"{name}: {what} must have {ndim} dimension{'s' if ndim > 1 else ''}, not {given.ndim}.")
    if given.dtype == np.uint64 and given.size and int(given.max()) > _LARGEST:
        raise StructureError(f"{name}: {what} holds {given.max()}, which is beyond int64.")
    return frozen(given.astype(np.int64, copy=False)[...])  # a view, so copied: the caller may unfreeze his own


def given_outline(name: str, dims: int, regular: Sequence[int | None] | None) -> Ints:
    """The outline of no components of what a caller says to be regular."""
    sizes = [None] * dims if regular is None else list(regular)
    if len(sizes) != dims:
        raise StructureError(f"{name}: {len(sizes)} regular sizes are given for components of {dims} dimensions.")
    return integers(name, "regular sizes", [[-1 if size is None else size for size in sizes]], 2)


def check_lengths(name: str, lengths: Ints) -> None:
    """No length is negative, and all together can be counted."""
    negative = lengths < 0
    if np.count_nonzero(negative):
        i = int(negative.argmax())
        raise StructureError(f"{name}: component {i} has length {lengths[i]}; no length is below 0.")
    if np.add.reduce(lengths, dtype=np.float64) >= _COUNTABLE:
        i = int(lengths.argmax())
        raise StructureError(f"{name}: component {i} of length {lengths[i]} is longer than anything in memory.")


def check_offsets(name: str, offsets: Ints, lengths: Ints | None) -> None:
    """Offsets of runs one after the other from 0; or with lengths, of runs that begin anywhere."""
    if not offsets.size:
        raise StructureError(f"{name}: offsets are empty; they have one entry more than there are components.")
    if lengths is None:
        down = offsets[1:] < offsets[:-1]
        if np.count_nonzero(down):
            i = int(down.argmax())
            raise StructureError(f"{name}: offsets decrease at component {i}: {offsets[i]} to {offsets[i + 1]}.")
        if offsets[0] != 0:
            raise StructureError(
                f"{name}: offsets run from {offsets[0]} to {offsets[-1]}; without lengths they must run from 0 to the "
                "rows of values. Slice the values, or give lengths."
            )
        return
    if lengths.size != offsets.size - 1:
        raise StructureError(
            f"{name}: offsets and lengths batch sizes must match: offsets.shape[0] - 1 = {offsets.size - 1}, "
            f"lengths.shape[0] = {lengths.size}."
        )
    check_lengths(name, lengths)
    outside = (offsets[:-1] < 0) | (offsets[:-1] > _LARGEST - lengths)
    if np.count_nonzero(outside):
        i = int(outside.argmax())
        raise StructureError(
            f"{name}: component {i} begins at {offsets[i]} and has length {lengths[i]}, which no values can hold."
        )


def check_outline(name: str, outline: Ints, count: int) -> None:
    """Sizes of components that can be made and counted; of no components, -1 says unknown."""
    negative = outline < (0 if count else -1)
    if np.count_nonzero(negative):
        i, axis = divmod(int(negative.argmax()), outline.shape[1])
        raise StructureError(f"{name}: component {i} has the negative size {outline[i, axis]}.")
    check_possible(name, outline)


def check_possible(name: str, outline: Ints) -> None:
    """No component has more dimensions or elements than an array can have, nor have all together.

    With strides of 0 a small buffer could show any number. Sizes of 0 count as 1, as in the shapes of NumPy's arrays.
    """
    if outline.shape[1] >= MOST_DIMENSIONS:
        raise StructureError(
            f"{name}: components of {outline.shape[1]} dimensions make {outline.shape[1] + 1} with the batch, and an "
            f"array has at most {MOST_DIMENSIONS}."
        )
    if int(outline.max(initial=0)) ** outline.shape[1] * len(outline) <= MOST_ELEMENTS:
        return
    with np.errstate(over="ignore"):
        counts = np.maximum(outline, 1).prod(axis=1, dtype=np.float64)
    full = np.where((outline > 0).all(axis=1), counts, 0.0)
    too_many = MOST_ELEMENTS + 1  # a power of two, which a float can be
    if counts.max(initial=0) >= too_many or full.sum() >= too_many:
        i = int(counts.argmax())
        raise StructureError(
            f"{name}: component {i} of sizes {outline[i].tolist()} has too many elements to be counted, also with 1 "
            "for sizes of 0."
        )


def placed_inside(name: str, sizes: Ints, strides: Ints, offsets: Ints, buffer_size: int) -> tuple[Ints, Ints]:
    """Strides and offsets with which every element of every component lies in the buffer.

    Strides along which there is no second element, and offsets of empty components, say nothing. They come back as
    numbers within the buffer, so that nothing that is computed with them can overflow.
    """
    live = np.logical_and.reduce(sizes > 0, axis=1)
    _check_places(name, sizes, strides, offsets, buffer_size, live)
    if np.count_nonzero(live) < live.size:
        offsets = sealed(np.where(live, offsets, _within(offsets, buffer_size)))
    told = live[:, None] & (sizes > 1)
    if np.count_nonzero(told) < told.size:
        strides = sealed(np.where(told, strides, _within(strides, buffer_size)))
    return strides, offsets


def _within(places: Ints, size: int) -> Ints:
    """The nearest numbers from 0 to ``size``."""
    return np.minimum(np.maximum(places, 0), min(size, _LARGEST))


def _check_places(name: str, sizes: Ints, strides: Ints, offsets: Ints, size: int, live: Any) -> None:
    """The first and the last element of each component that is ``live``, for it has some, are in the buffer."""
    before = sizes - 1
    reach = np.add.reduce(before * strides.astype(np.float64), axis=1) + offsets
    last = offsets + np.add.reduce(before * strides, axis=1)
    below = np.logical_or.reduce(strides < 0, axis=1) | (offsets < 0)
    wrong = live & (below | (reach >= _COUNTABLE) | (last >= size))
    if np.count_nonzero(wrong):
        i = int(wrong.argmax())
        raise StructureError(
            f"{name}: component {i} of sizes {sizes[i].tolist()}, strides {strides[i].tolist()} and offset "
            f"{offsets[i]} leaves the buffer of {size} elements; strides and offsets are 0 or more, and its last "
            f"element is at {reach[i]:.0f}."
        )
