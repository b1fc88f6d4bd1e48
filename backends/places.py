"""Where the elements of components lie in a flat buffer: sizes (B, d), strides (B, d) and offsets (B,), in elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


def same_integers(a: Integers, b: Integers) -> bool:
    """Whether two arrays have one shape and hold the same integers, both int64."""
    return a is b or (a.shape == b.shape and a.tobytes() == b.tobytes())


def packed_strides(sizes: Integers) -> Integers:
    """The strides of row-major components of these sizes: (B, d)."""
    strides = np.empty(sizes.shape, np.int64)
    strides[:, -1:] = 1
    if sizes.shape[1] > 1:
        strides[:, -2::-1] = np.multiply.accumulate(np.maximum(sizes[:, :0:-1], 1), axis=1)
    return strides


def packed_offsets(sizes: Integers) -> Integers:
    """Where components of these sizes begin when they lie one after the other: (B,)."""
    numels: Integers = sizes.prod(axis=1)
    begins: Integers = numels.cumsum() - numels
    return begins


def by_stride(sizes: Integers, strides: Integers) -> tuple[Integers, Integers]:
    """Sizes and strides of components, (B, d), those of each with the smallest stride first."""
    if strides.shape[1] < 2:
        return sizes, strides
    order, rows = strides.argsort(axis=1, kind="stable"), np.arange(len(strides))[:, None]
    return sizes[rows, order], strides[rows, order]


def past_smaller(sizes: Integers, strides: Integers, extents: Integers) -> NDArray[np.bool_]:
    """Where a stride reaches past what the smaller ones, before it, cover: (B, d); one of size 1 need not."""
    past: NDArray[np.bool_] = (strides > np.add.accumulate(extents, axis=1) - extents) | (sizes == 1)
    return past


def surely_without_repeats(sizes: Integers, strides: Integers) -> bool:
    """Return whether the strides show that no component holds a place twice.

    False may also mean that it is not easy to see.
    """
    sizes, strides = by_stride(sizes, strides)
    return bool(past_smaller(sizes, strides, (sizes - 1) * strides).all())


def surely_apart(sizes: Integers, strides: Integers, offsets: Integers) -> bool:
    """Return whether the strides show that components, which all have elements, together hold no place twice.

    False may also mean that it is not easy to see.
    """
    if not surely_without_repeats(sizes, strides):
        return False
    last = offsets + ((sizes - 1) * strides).sum(axis=1)
    by_start = offsets.argsort(kind="stable")
    return bool((last[by_start[:-1]] < offsets[by_start[1:]]).all())


def strided_index(sizes: Integers, strides: Integers, offsets: Integers) -> Integers:
    """Where each element of each component lies: int64, component by component, each in row-major order."""
    (component,) = np.logical_and.reduce(sizes > 0, axis=1).nonzero()  # an empty one may be long in other dims
    index: Integers = offsets[component]
    for dim in range(sizes.shape[1]):
        # Every place so far becomes the first of sizes[component, dim] places, a stride apart.
        lengths = sizes[component, dim]
        steps = np.arange(lengths.sum(), dtype=np.int64) - (lengths.cumsum() - lengths).repeat(lengths)
        index, component = index.repeat(lengths), component.repeat(lengths)
        index += steps * strides[component, dim]
    return index
