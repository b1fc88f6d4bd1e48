"""Extents: int64 tables of shape (components, axes) with the sizes of components; and read-only integer arrays.

An axis is a dimension of components: axis 0 is dimension 1 of the nested array. The extents of an empty batch keep one
row, the sizes that a component would have, with -1 for an unknown size. Tables of strides have the same form.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pynested.backends import Matrices, strided_index, surely_apart

Ints: TypeAlias = NDArray[np.int64]


# ---- read-only arrays -----------------------------------------------------------------------------------------------


def as_frozen(numbers: Any) -> Ints:
    """Return ``numbers`` as a read-only int64 array: the array itself if it is one and owns its memory, else a copy."""
    array = np.asarray(numbers, dtype=np.int64)
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


def freeze(numbers: Ints) -> Ints:
    """Make an array read-only that the caller has just computed and shares with nobody; return it."""
    numbers.setflags(write=False)
    return numbers


def readonly_copy(numbers: Ints) -> Ints:
    """Return a read-only copy for users."""
    # The user may make it writeable again. As a view it is copied by `as_frozen` if it becomes part of a structure.
    copy = np.array(numbers, order="C")[...]
    copy.setflags(write=False)
    return copy


# ---- sizes of components --------------------------------------------------------------------------------------------


def regular_sizes(extents: Ints) -> tuple[int | None, ...]:
    """Return the size along each axis on which all components agree, None for an irregular or unknown one."""
    first = extents[0]
    is_regular = np.logical_and.reduce(extents == first, axis=0) & (first >= 0)
    return tuple(size if regular else None for size, regular in zip(first.tolist(), is_regular.tolist(), strict=True))


def extents_of_regular_sizes(regular: Sequence[int | None]) -> Ints:
    """Return the extents of an empty batch with these regular sizes; the inverse of `regular_sizes`."""
    return np.array([[-1 if size is None else size for size in regular]], np.int64)


def component_numels(extents: Ints) -> Ints:
    """Return the number of elements of each component; -1 if a size is unknown and no size is 0."""
    return np.where((extents < 0).any(axis=1) & (extents != 0).all(axis=1), -1, abs(extents).prod(axis=1))


def component_matrices(sizes: Ints) -> Matrices:
    """Return the matrices (last two axes) of packed components of these sizes: int64 (B, d), d at least 2."""
    rows, cols = sizes[:, -2], sizes[:, -1]
    if sizes.shape[1] > 2:
        count = sizes[:, :-2].prod(axis=1, dtype=np.int64)
        rows, cols = np.repeat(rows, count), np.repeat(cols, count)
    return Matrices.of_sizes(rows, cols)


# ---- columns of a table ---------------------------------------------------------------------------------------------


def replace_columns(table: Ints, start: int, stop: int, columns: Ints) -> Ints:
    """Replace ``table[:, start:stop]`` by ``columns``: (B, k), or one row (k,) for all components."""
    end = start + columns.shape[-1]
    result = np.empty((len(table), table.shape[1] - stop + end), np.int64)
    result[:, :start] = table[:, :start]
    result[:, start:end] = columns
    result[:, end:] = table[:, stop:]
    return freeze(result)


def merge_axes(extents: Ints, first: int, last: int) -> Ints:
    """Return the extents with the axes from ``first`` to ``last`` flattened to one."""
    return replace_columns(extents, first, last + 1, component_numels(extents[:, first : last + 1])[:, None])


# ---- memory ---------------------------------------------------------------------------------------------------------


def are_disjoint(sizes: Ints, strides: Ints, offsets: Ints) -> bool:
    """Return whether no two elements of components share memory; every component has elements."""
    if surely_apart(sizes, strides, offsets):
        return True
    positions = strided_index(sizes, strides, offsets)
    return np.unique(positions).size == positions.size
