"""Places of the elements of components in a flat buffer.

Sizes (B, d), strides (B, d) and offsets (B,) count elements.
"""

from __future__ import annotations

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
    """Return for each component whether its strides show that it holds no place twice: (B,).

    They do if each step along a dimension reaches past the elements along all dimensions of smaller strides. False may
    also mean that it is not easy to see.
    """
    if strides.shape[1] > 1:
        order, rows = strides.argsort(axis=1, kind="stable"), np.arange(len(strides))[:, None]
        sizes, strides = sizes[rows, order], strides[rows, order]
    extents = (sizes - 1) * strides
    smaller = np.add.accumulate(extents, axis=1) - extents
    result: NDArray[np.bool_] = ((strides > smaller) | (sizes == 1)).all(axis=1)
    return result


def surely_apart(sizes: Integers, strides: Integers, offsets: Integers) -> bool:
    """Return whether the strides show that components, which all have elements, together hold no place twice.

    False may also mean that it is not easy to see.
    """
    if not surely_without_repeats(sizes, strides).all():
        return False
    last = offsets + ((sizes - 1) * strides).sum(axis=1)
    by_start = offsets.argsort(kind="stable")
    return bool((last[by_start[:-1]] < offsets[by_start[1:]]).all())


def strided_index(sizes: Integers, strides: Integers, offsets: Integers) -> Integers:
    """Return the place of each element: int64, component by component, each in row-major order."""
    (component,) = np.logical_and.reduce(sizes > 0, axis=1).nonzero()  # an empty component may be long in other dims
    index: Integers = offsets[component]
    for dim in range(sizes.shape[1]):
        # Each place becomes the first of sizes[component, dim] places, a stride apart.
        lengths = sizes[component, dim]
        steps = np.arange(lengths.sum(), dtype=np.int64) - (lengths.cumsum() - lengths).repeat(lengths)
        index, component = index.repeat(lengths), component.repeat(lengths)
        index += steps * strides[component, dim]
    return index


def groups_of_equal_rows(table: Integers) -> list[Integers]:
    """Return the row numbers of a table, (N, d), in groups: the rows of a group are equal."""
    order = np.lexsort(table.T)
    is_first = (table[order[1:]] != table[order[:-1]]).any(axis=1)
    return np.split(order, np.flatnonzero(is_first) + 1) if len(table) else []
