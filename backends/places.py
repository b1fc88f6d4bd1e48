"""Where the elements of components lie in a flat buffer: sizes (B, d), strides (B, d) and offsets (B,), in elements."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .memory import with_room

Integers = NDArray[np.int64]


def packed_strides(sizes: Integers) -> Integers:
    """The strides of row-major components of these sizes: (B, d)."""
    strides = np.ones_like(sizes)
    if sizes.shape[1] > 1:
        strides[:, :-1] = np.cumprod(np.maximum(sizes[:, :0:-1], 1), axis=1)[:, ::-1]
    return strides


def packed_offsets(sizes: Integers) -> Integers:
    """Where components of these sizes begin when they lie one after the other: (B,)."""
    numels: Integers = sizes.prod(axis=1)
    begins: Integers = np.cumsum(numels) - numels
    return begins


def surely_apart(sizes: Integers, strides: Integers, offsets: Integers) -> bool:
    """Whether sorted strides and extents show that components, which all have elements, use no place twice.

    False may also mean that it is not easy to see.
    """
    order = np.argsort(strides, axis=1, kind="stable")
    steps, counts = np.take_along_axis(strides, order, 1), np.take_along_axis(sizes, order, 1)
    steps = np.where(counts == 1, 0, steps)
    reach = np.cumsum((counts - 1) * steps, axis=1)
    covered = np.concatenate([np.zeros((len(steps), 1), np.int64), reach[:, :-1]], axis=1)
    last = offsets + (reach[:, -1] if reach.shape[1] else 0)
    by_start = np.argsort(offsets, kind="stable")
    within = (counts == 1) | (steps > covered)  # each stride has to reach past what the smaller ones cover
    return bool(within.all()) and bool((last[by_start][:-1] < offsets[by_start][1:]).all())


@with_room
def strided_index(sizes: Integers, strides: Integers, offsets: Integers) -> Integers:
    """Where each element of each component lies: int64, component by component, each in row-major order."""
    component = np.flatnonzero((sizes > 0).all(axis=1))  # an empty one may be long in other dims
    index = offsets[component]
    for dim in range(sizes.shape[1]):
        # Every place so far becomes the first of a run of sizes[component, dim] places, a stride apart.
        lengths = sizes[component, dim]
        steps = np.arange(lengths.sum(), dtype=np.int64) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        index = np.repeat(index, lengths)
        component = np.repeat(component, lengths)
        index += steps * strides[component, dim]
    return index
