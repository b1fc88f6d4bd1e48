"""Strides and offsets of components and matrices in a flat buffer, and the places of their elements.

The place of an element is its index in the flat buffer. Sizes and strides (B, d), and offsets (B,), count elements.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def same_integers(a: Integers, b: Integers) -> bool:
    """Return whether two int64 arrays have the same shape and hold the same integers."""
    return a is b or (a.shape == b.shape and a.tobytes() == b.tobytes())


def packed_strides(sizes: Integers) -> Integers:
    """Return the strides of row-major components: (B, d)."""
    strides = np.empty(sizes.shape, np.int64)
    strides[:, -1:] = 1
    if sizes.shape[1] > 1:
        strides[:, -2::-1] = np.multiply.accumulate(np.maximum(sizes[:, :0:-1], 1), axis=1)
    return strides


def packed_offsets(sizes: Integers) -> Integers:
    """Return the offsets of components that lie one after the other: (B,)."""
    numels: Integers = sizes.prod(axis=1)
    offsets: Integers = numels.cumsum() - numels
    return offsets


def surely_without_repeats(sizes: Integers, strides: Integers) -> NDArray[np.bool_]:
    """Return for each component True if its elements surely have different places: (B,).

    The test is that each stride is larger than the extent of all dimensions of smaller strides together. A component
    that fails the test can still be without repeats.
    """
    if strides.shape[1] > 1:
        order = strides.argsort(axis=1, kind="stable")
        sizes, strides = (np.take_along_axis(x, order, axis=1) for x in (sizes, strides))
    extents = (sizes - 1) * strides
    inner_extents = np.add.accumulate(extents, axis=1) - extents  # of all dimensions of smaller strides
    result: NDArray[np.bool_] = ((strides > inner_extents) | (sizes == 1)).all(axis=1)
    return result


def surely_disjoint(sizes: Integers, strides: Integers, offsets: Integers) -> bool:
    """Return True if all elements of all components surely have different places. No component may be empty.

    If the result is False, the elements can still have different places.
    """
    if not surely_without_repeats(sizes, strides).all():
        return False
    last_places = offsets + ((sizes - 1) * strides).sum(axis=1)
    by_offset = offsets.argsort(kind="stable")
    return bool((last_places[by_offset[:-1]] < offsets[by_offset[1:]]).all())


def strided_index(sizes: Integers, strides: Integers, offsets: Integers) -> Integers:
    """Return the place of each element: int64, component by component, each in row-major order."""
    components = np.flatnonzero((sizes > 0).all(axis=1))  # an empty component may be long in other dimensions
    index: Integers = offsets[components]
    for dim in range(sizes.shape[1]):
        # Each place of the index is replaced by as many places as the component has along ``dim``, a stride apart.
        lengths = sizes[components, dim]
        steps = np.arange(lengths.sum(), dtype=np.int64) - (lengths.cumsum() - lengths).repeat(lengths)
        index, components = index.repeat(lengths), components.repeat(lengths)
        index += steps * strides[components, dim]
    return index


def groups_of_equal_rows(table: Integers) -> list[Integers]:
    """Return the row indices of a table (N, d), d > 0, in groups: the rows of a group are equal."""
    order = np.lexsort(table.T)
    columns = table.T[:, order]
    is_first = (columns[:, 1:] != columns[:, :-1]).any(axis=0)
    return np.split(order, np.flatnonzero(is_first) + 1) if len(table) else []


@dataclass(frozen=True, eq=False)
class Matrices:
    """The positions and shapes of K contiguous matrices in a flat buffer, in any order; they can overlap.

    Matrix ``k`` has the logical shape ``(rows[k], cols[k])`` and begins at ``offsets[k]``. It is stored row by row, or
    column by column if ``is_transposed``; that is, row by row with the shape ``(cols[k], rows[k])``.
    """

    offsets: Integers
    rows: Integers
    cols: Integers
    is_transposed: bool = False

    @classmethod
    def of_sizes(cls, rows: Integers, cols: Integers) -> Matrices:
        """Return matrices that lie one after the other, row by row, as in the result of a product."""
        offsets = np.zeros(len(rows), np.int64)
        np.add.accumulate(rows[:-1] * cols[:-1], out=offsets[1:])
        return cls(offsets, rows, cols)

    @cached_property
    def transposed(self) -> Matrices:
        """The transposed matrices, in the same memory."""
        return Matrices(self.offsets, self.cols, self.rows, not self.is_transposed)

    @cached_property
    def count(self) -> int:
        """The number of matrices, K."""
        return self.offsets.size

    def matrix(self, flat: Any, k: int) -> Any:
        """Return a view of matrix ``k`` in the flat buffer, with its logical shape."""
        offset, rows, cols = self.offsets.item(k), self.rows.item(k), self.cols.item(k)
        stored = flat[offset : offset + rows * cols]
        return stored.reshape(cols, rows).T if self.is_transposed else stored.reshape(rows, cols)
