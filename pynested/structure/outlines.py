"""Outlines: the sizes of components as integers, (B, d), one column for each of their axes; strides are like them.

An axis is a dimension of components, so the batch does not count among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pynested.backends import strided_index

from .metadata import Ints, sealed


def packed_strides(sizes: Ints) -> Ints:
    """The strides of row-major components of these sizes: (B, d)."""
    strides = np.ones_like(sizes)
    if sizes.shape[1] > 1:
        strides[:, :-1] = np.cumprod(np.maximum(sizes[:, :0:-1], 1), axis=1)[:, ::-1]
    return strides


def regular_sizes(outline: Ints) -> tuple[int | None, ...]:
    """The size of each dimension in which components do not differ, None for the others and where it is unknown."""
    first = outline[0]
    alike = (outline == first).all(axis=0) & (first >= 0)
    return tuple(size if one else None for size, one in zip(first.tolist(), alike.tolist(), strict=True))


def outline_of(regular: Sequence[int | None]) -> Ints:
    """The outline of no components of these regular sizes."""
    return np.array([[-1 if size is None else size for size in regular]], np.int64)


def numels_of(outline: Ints) -> Ints:
    """The number of elements of each component; -1 where a size is unknown and no other one is 0."""
    return np.where((outline < 0).any(axis=1) & (outline != 0).all(axis=1), -1, abs(outline).prod(axis=1))


def replaced(columns: Ints, start: int, stop: int, new: Ints) -> Ints:
    """``columns`` with ``new`` ones, (B, k) or a row (k,) for all, in place of those from ``start`` to ``stop``."""
    end = start + new.shape[-1]
    made = np.empty((len(columns), columns.shape[1] - stop + end), np.int64)
    made[:, :start] = columns[:, :start]
    made[:, start:end] = new
    made[:, end:] = columns[:, stop:]
    return sealed(made)


def merged_axes(outline: Ints, first: int, last: int) -> Ints:
    """``outline`` with the axes from ``first`` to ``last`` as one."""
    return replaced(outline, first, last + 1, numels_of(outline[:, first : last + 1])[:, None])


def disjoint(sizes: Ints, strides: Ints, offsets: Ints) -> bool:
    """Whether no place is used twice by components that all have elements.

    Sorted strides and extents tell it at once in all usual cases.
    """
    order = np.argsort(strides, axis=1, kind="stable")
    s, n = np.take_along_axis(strides, order, 1), np.take_along_axis(sizes, order, 1)
    s = np.where(n == 1, 0, s)
    reach = np.cumsum((n - 1) * s, axis=1)
    within = (n == 1) | (s > np.concatenate([np.zeros((len(s), 1), np.int64), reach[:, :-1]], axis=1))
    last = offsets + (reach[:, -1] if reach.shape[1] else 0)
    by_start = np.argsort(offsets, kind="stable")
    if bool(within.all()) and bool((last[by_start][:-1] < offsets[by_start][1:]).all()):
        return True
    places = strided_index(sizes, strides, offsets)
    return np.unique(places).size == places.size
