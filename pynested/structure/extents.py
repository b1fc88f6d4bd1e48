"""Extents, the tables of component sizes; and read-only arrays of integers.

*Extents* are an int64 table with one row for each component and one column for each axis. An axis is a dimension of the
components: axis 0 is dimension 1 of the nested array. The extents of an empty batch have one row: the sizes that a
component would have, with -1 for an unknown size. A table of strides has the same columns, and no row for an empty
batch.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from pynested.backends import Matrices, strided_index, surely_disjoint

Ints: TypeAlias = NDArray[np.int64]


# ---- read-only arrays -----------------------------------------------------------------------------------------------


def as_readonly(integers: Any) -> Ints:
    """Return ``integers`` as a read-only, C-contiguous int64 array that owns its memory; copy them if needed."""
    array = np.asarray(integers, dtype=np.int64)
    if array.flags.writeable or array.base is not None or not array.flags.c_contiguous:
        array = np.array(array, order="C")
        array.setflags(write=False)
    return array


def make_readonly(integers: Ints) -> Ints:
    """Make an array read-only, without a copy, and return it. The caller must hold the only reference to it."""
    integers.setflags(write=False)
    return integers


def readonly_copy(integers: Ints) -> Ints:
    """Return a read-only copy for users."""
    # The user can make the copy writeable again. A view makes `as_readonly` copy when the user passes it back.
    copy = np.array(integers, order="C")[...]
    copy.setflags(write=False)
    return copy


# ---- sizes of components --------------------------------------------------------------------------------------------


def regular_sizes(extents: Ints) -> tuple[int | None, ...]:
    """Return the size of all components along each axis; None if their sizes differ or are unknown."""
    sizes = extents[0]
    regular_axes = np.logical_and.reduce(extents == sizes, axis=0) & (sizes >= 0)
    pairs = zip(sizes.tolist(), regular_axes.tolist(), strict=True)
    return tuple(size if is_regular else None for size, is_regular in pairs)


def extents_of_regular_sizes(sizes: Sequence[int | None]) -> Ints:
    """Return the extents of an empty batch with these regular sizes; the inverse of `regular_sizes`."""
    return np.array([[-1 if size is None else size for size in sizes]], np.int64)


def component_numels(extents: Ints) -> Ints:
    """Return the number of elements of each component; -1 for an unknown number."""
    return np.where((extents < 0).any(axis=1) & (extents != 0).all(axis=1), -1, abs(extents).prod(axis=1))


def component_matrices(sizes: Ints) -> Matrices:
    """Return the matrices of packed components, which are their last two axes; ``sizes`` is int64 (B, d), d >= 2."""
    rows, cols = sizes[:, -2], sizes[:, -1]
    if sizes.shape[1] > 2:
        count = sizes[:, :-2].prod(axis=1, dtype=np.int64)
        rows, cols = np.repeat(rows, count), np.repeat(cols, count)
    return Matrices.of_sizes(rows, cols)


# ---- columns of a table ---------------------------------------------------------------------------------------------


def replace_columns(table: Ints, start: int, stop: int, columns: Ints) -> Ints:
    """Return the table with ``columns``, (B, k) or one row (k,) for all, instead of ``table[:, start:stop]``."""
    new_stop = start + columns.shape[-1]
    result = np.empty((len(table), table.shape[1] - stop + new_stop), np.int64)
    result[:, :start] = table[:, :start]
    result[:, start:new_stop] = columns
    result[:, new_stop:] = table[:, stop:]
    return make_readonly(result)


def merge_axes(extents: Ints, first: int, last: int) -> Ints:
    """Return the extents with the axes from ``first`` to ``last`` flattened to one."""
    return replace_columns(extents, first, last + 1, component_numels(extents[:, first : last + 1])[:, None])


# ---- memory ---------------------------------------------------------------------------------------------------------


def are_disjoint(sizes: Ints, strides: Ints, offsets: Ints) -> bool:
    """Return whether no two elements share memory. No component may be empty."""
    if surely_disjoint(sizes, strides, offsets):
        return True
    positions = strided_index(sizes, strides, offsets)
    return np.unique(positions).size == positions.size
