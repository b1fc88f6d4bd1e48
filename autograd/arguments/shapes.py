"""Checks of integers, dimensions, indices and shapes. They return ints, counted from the front, and tuples of ints.

Errors begin with ``name``, the name of the public function.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from itertools import pairwise
from math import prod
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError, DimensionError, IndexOutOfRange, ShapeError
from pynested.backends.host import as_raw_array
from pynested.backends.limits import MOST_DIMENSIONS, MOST_ELEMENTS

from .scalars import value_text

_MOST_BITS = 128  # larger integers are refused before they are computed with; sizes and indices have 64 bits


def canonical_int(name: str, argument: str, value: Any) -> int:
    """Return ``value`` as an int; raise ArgumentError for a bool, a float, and an int of more than 128 bits."""
    number: int | None = value if type(value) is int else None
    if number is None and not isinstance(value, bool):
        if isinstance(value, np.ndarray):
            value = as_raw_array(name, value)
        try:
            number = operator.index(value)
        except TypeError:
            number = None
    if number is None:
        raise ArgumentError(f"{name}: {argument} must be an integer, not {value_text(value)}.")
    if number.bit_length() > _MOST_BITS:
        raise ArgumentError(f"{name}: {argument} is {value_text(number)}; no size or index has more than 64 bits.")
    return number


def canonical_index_entry(value: Any) -> int:
    """Return an entry of an index as an int; raise ArgumentError for a list, an array or a mask."""
    if is_sequence(value):
        raise ArgumentError(
            "index: a list, an array or a mask must be the first entry in the index of a nested array, x[[0, 2], 1:], "
            "or follow an integer, x[0, [1, 2]]. To index every component: pn.map_components(function, x)."
        )
    index = canonical_int("index", "an index", value)
    if not -(2**63) <= index < 2**63:
        raise IndexOutOfRange(f"index: {index} is beyond int64, and out of bounds for every dimension.")
    return index


def canonical_index(name: str, index: Any, size: int, dim: int) -> int:
    """Return ``index`` counted from the front, in ``0 .. size - 1``."""
    number = canonical_int(name, "an index", index)
    if not -size <= number < size:
        raise IndexOutOfRange(f"{name}: index {number} is out of bounds for dimension {dim} with size {size}.")
    return number + size if number < 0 else number


def canonical_slice(entry: slice) -> slice:
    """Return a slice of ints or None; raise ArgumentError for a step of 0."""
    numbers = [
        None if number is None else canonical_int("index", "an end of a slice", number)
        for number in (entry.start, entry.stop, entry.step)
    ]
    if numbers[2] == 0:
        raise ArgumentError("index: a slice cannot have step 0.")
    return slice(*numbers)


def canonical_dim(name: str, dim: Any, ndim: int) -> int:
    """Return ``dim`` counted from the front, in ``0 .. ndim - 1``."""
    number = dim if type(dim) is int and -ndim <= dim < ndim else canonical_int(name, "dim", dim)
    if not -ndim <= number < ndim:
        span = f"expected to be in range of [{-ndim}, {ndim - 1}]" if ndim else "the array has no dimensions"
        raise DimensionError(f"{name}: Dimension out of range ({span}, but got {number}).")
    return number + ndim if number < 0 else number


def is_sequence(value: Any) -> bool:
    """Return whether ``value`` is iterable; a str, bytes, a dict and an array without dimensions do not count."""
    return isinstance(value, Iterable) and getattr(value, "ndim", 1) > 0 and not isinstance(value, str | bytes | dict)


def canonical_dims(name: str, dim: Any, ndim: int) -> tuple[int, ...]:
    """Return ``dim`` (None for all, an int or several) as a sorted tuple; a dimension named twice is an error."""
    if dim is None:
        return tuple(range(ndim))
    if type(dim) is int:
        return (canonical_dim(name, dim, ndim),)
    dims = tuple(dim) if is_sequence(dim) else (dim,)
    numbers = sorted(canonical_dim(name, entry, ndim) for entry in dims)
    for number, following in pairwise(numbers):
        if number == following:
            raise DimensionError(f"{name}: dimension {number} is named twice in dim={dims}.")
    return tuple(numbers)


def canonical_order(name: str, dims: Any, ndim: int) -> tuple[int, ...]:
    """Return ``dims`` counted from the front; raise DimensionError unless they name each dimension once."""
    numbers = canonical_ints(name, "dim", (dims,))
    order = tuple(canonical_dim(name, number, ndim) for number in numbers)
    if sorted(order) != list(range(ndim)):
        raise DimensionError(f"{name}: dims={numbers} must name each of the {ndim} dimensions once.")
    return order


def canonical_ints(name: str, argument: str, values: Any) -> tuple[int, ...]:
    """Return ``values``, such as ``(2, 3)`` or ``((2, 3),)``, as a tuple of ints."""
    if len(values) == 1 and (type(values[0]) is tuple or is_sequence(values[0])):
        values = tuple(values[0])
    return tuple([canonical_int(name, argument, value) for value in values])


def canonical_shape(name: str, shape: Any) -> tuple[int, ...]:
    """Return ``shape``, such as ``(2, 3)`` or ``((2, 3),)``, as a tuple of sizes; a size can be -1.

    Raise ShapeError for more dimensions or elements than an array can have.
    """
    return check_possible_shape(name, canonical_ints(name, "a size", shape))


def check_possible_ndim(name: str, ndim: int) -> None:
    """Raise ShapeError for more dimensions than any array can have."""
    if ndim > MOST_DIMENSIONS:
        raise ShapeError(f"{name}: an array has at most {MOST_DIMENSIONS} dimensions, this one would have {ndim}.")


def check_possible_shape(name: str, shape: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape``; raise ShapeError if no array has so many dimensions or elements. Sizes of 0 count as 1."""
    check_possible_ndim(name, len(shape))
    if not 0 < prod(shape) <= MOST_ELEMENTS and prod([size for size in shape if size > 0]) > MOST_ELEMENTS:
        raise ShapeError(
            f"{name}: shape {shape} has too many elements; with sizes of 0 counted as 1, at most {MOST_ELEMENTS:,} are "
            "possible."
        )
    return shape


def resolved_shape(name: str, shape: tuple[int, ...], old_shape: tuple[int, ...], source: str = "") -> tuple[int, ...]:
    """Return ``shape`` with the size that its -1 stands for, so that it has as many elements as ``old_shape``."""
    if any(size < -1 for size in shape) or shape.count(-1) > 1:
        raise ShapeError(f"{name}: shape {shape} may hold one -1 and otherwise sizes of 0 or more.")
    numel, known = prod(old_shape), prod([size for size in shape if size != -1])
    if -1 in shape and known and numel % known == 0:
        return tuple(numel // known if size == -1 else size for size in shape)
    if -1 in shape and known == numel:  # no elements
        raise ShapeError(f"{name}: -1 in the shape {shape} could stand for any size. Name the size.")
    if -1 in shape or known != numel:
        raise ShapeError(
            f"{name}: {source or f'an array of shape {old_shape}'} has {numel} elements, which do not fill the shape "
            f"{shape}."
        )
    return shape


def broadcast_shape(name: str, *shapes: tuple[int, ...]) -> tuple[int, ...]:
    """Return the shape to which all of ``shapes`` broadcast."""
    if len(shapes) == 2 and shapes[0][len(shapes[0]) - len(shapes[1]) :] == shapes[1]:
        return shapes[0]  # as for rows and a bias
    try:
        result = np.broadcast_shapes(*shapes)
    except ValueError:
        texts = " and ".join(str(shape) for shape in shapes)
        raise ShapeError(
            f"{name}: shapes {texts} do not broadcast. Aligned at the right, their sizes must be equal or 1, and an "
            "array of the resulting shape must be possible."
        ) from None
    return result if 0 < prod(result) <= MOST_ELEMENTS else check_possible_shape(name, result)
