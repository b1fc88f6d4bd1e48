"""Integers, dimensions and shapes in the form in which primitives take them, or a clear error."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange, ShapeError
from pynested.backends.host import as_bare
from pynested.backends.limits import MOST_DIMENSIONS, MOST_ELEMENTS

from .scalars import number_text

_SLICE_ENDS = frozenset((int, type(None)))
_MOST_BITS = 128  # of an integer that is read in a message; no size and no place has more than half as many


def canonical_int(name: str, what: str, value: Any) -> int:
    """``value`` as an int; a bool or a float is refused, and what is too long to be read in a message."""
    given = value if type(value) is int else _index(name, what, value)
    if given.bit_length() > _MOST_BITS:
        raise ArgumentError(f"{name}: {what} is {number_text(given)}, which is more than anything can be.")
    return given


def _index(name: str, what: str, value: Any) -> int:
    if isinstance(value, np.ndarray):
        value = as_bare(name, value)
    if isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: {what} must be an integer, not {value!r}.")
    try:
        return operator.index(value)
    except TypeError:
        raise ArgumentError(f"{name}: {what} must be an integer, not {value!r}.") from None


def canonical_index_entry(value: Any) -> int:
    """``value``, an entry of an index, as an int; lists, arrays and masks are none."""
    if is_sequence(value):
        raise ArgumentError(
            "index: in the index of a nested array a list, an array or a mask is the first entry, x[[0, 2], 1:], or "
            "stands behind an integer, x[0, [1, 2]]. Pick in every component: pn.map_components(function, x)."
        )
    place = canonical_int("index", "an index", value)
    if not -(2**63) <= place < 2**63:
        raise IndexOutOfRange(f"index: {place} is beyond int64, and out of bounds for every dimension.")
    return place


def canonical_index(name: str, index: Any, size: int, dim: int) -> int:
    """``index`` counted from the front, in ``0 .. size - 1``."""
    given = canonical_int(name, "an index", index)
    if not -size <= given < size:
        raise IndexOutOfRange(f"{name}: index {given} is out of bounds for dimension {dim} with size {size}.")
    return given + size if given < 0 else given


def canonical_slice(part: slice) -> slice:
    """A slice of ints or None whose step is not 0."""
    ends = part.start, part.stop, part.step
    if {*map(type, ends)} <= _SLICE_ENDS and part.step != 0:
        return part
    start, stop, step = [None if end is None else canonical_int("index", "an end of a slice", end) for end in ends]
    if step == 0:
        raise ArgumentError("index: a slice cannot have step 0.")
    return slice(start, stop, step)


def canonical_dim(name: str, dim: Any, ndim: int) -> int:
    """``dim`` counted from the front, in ``0 .. ndim - 1``."""
    given = dim if type(dim) is int and -ndim <= dim < ndim else canonical_int(name, "dim", dim)
    if not -ndim <= given < ndim:
        span = f"expected to be in range of [{-ndim}, {ndim - 1}]" if ndim else "the array has no dimensions"
        raise DimensionError(f"{name}: Dimension out of range ({span}, but got {given}).")
    return given + ndim if given < 0 else given


def is_sequence(value: Any) -> bool:
    """Whether ``value`` holds numbers, and is not itself one, an array without dimensions say."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0 and not isinstance(value, str | bytes | dict)


def canonical_dims(name: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """``dim`` (None, an int or several) as a sorted tuple without duplicates; None means every dimension."""
    if dim is None:
        return tuple(range(ndim))
    if type(dim) is int:
        return (canonical_dim(name, dim, ndim),)
    given = tuple(dim) if is_sequence(dim) else (dim,)
    dims = sorted(canonical_dim(name, one, ndim) for one in given)
    for one, following in pairwise(dims):
        if one == following:
            raise DimensionError(f"{name}: dimension {one} is named twice in dim={tuple(given)}.")
    return tuple(dims)


def canonical_order(name: str, dims: Any, ndim: int) -> tuple[int, ...]:
    """``dims``, which name each dimension once, counted from the front."""
    given = canonical_ints(name, "dim", (dims,))
    order = tuple(canonical_dim(name, dim, ndim) for dim in given)
    if sorted(order) != list(range(ndim)):
        raise DimensionError(f"{name}: dims={given} must name each of the {ndim} dimensions once.")
    return order


def canonical_ints(name: str, what: str, given: Any) -> tuple[int, ...]:
    """``given``, as ``((2, 3),)`` or as ``(2, 3)``, as a tuple of ints."""
    if len(given) == 1 and (type(given[0]) is tuple or is_sequence(given[0])):
        given = tuple(given[0])
    return tuple([canonical_int(name, what, one) for one in given])


def canonical_shape(name: str, shape: Any) -> tuple[int, ...]:
    """``shape``, given as ``(2, 3)`` or as ``2, 3``, as a tuple of sizes that an array can have, or -1."""
    return check_possible_shape(name, canonical_ints(name, "a size", shape))


def check_possible_ndim(name: str, ndim: int) -> None:
    """Raise ShapeError for more dimensions than any array can have."""
    if ndim > MOST_DIMENSIONS:
        raise ShapeError(f"{name}: an array has at most {MOST_DIMENSIONS} dimensions, this one would have {ndim}.")


def check_possible_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape``; raise ShapeError if no array has so many dimensions or elements. Sizes of 0 count as 1."""
    check_possible_ndim(name, len(shape))
    if not 0 < prod(shape) <= MOST_ELEMENTS and prod([size for size in shape if size > 0]) > MOST_ELEMENTS:
        raise ShapeError(f"{name}: shape {shape} has too many elements to be counted, also with 1 for sizes of 0.")
    return shape


def resolved_shape(name: str, shape: tuple[int, ...], numel: int, old: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with its one -1, if any, worked out so that ``numel`` elements fit."""
    if any(size < -1 for size in shape) or shape.count(-1) > 1:
        raise ShapeError(f"{name}: shape {shape} may hold one -1 and otherwise sizes of 0 or more.")
    known = prod([size for size in shape if size != -1])
    if -1 in shape and known and numel % known == 0:
        return tuple(numel // known if size == -1 else size for size in shape)
    if -1 in shape or known != numel:
        raise ShapeError(f"{name}: an array of shape {old} has {numel} elements, which do not fill the shape {shape}.")
    return shape


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that all of ``shapes`` broadcast to."""
    if len(shapes) == 2 and shapes[0][len(shapes[0]) - len(shapes[1]) :] == shapes[1]:
        return shapes[0]  # as that of rows and a bias
    try:
        found = np.broadcast_shapes(*shapes)
    except ValueError:
        given = " and ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"{name}: shapes {given} do not broadcast; aligned at the right, sizes must be equal or 1, and the result "
            "an array that can exist."
        ) from None
    return found if 0 < prod(found) <= MOST_ELEMENTS else check_possible_shape(name, found)
