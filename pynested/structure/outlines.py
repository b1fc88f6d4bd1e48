"""Outlines: the sizes of components as integers, (B, d), one column for each of their axes; strides are like them.

An axis is a dimension of components, so the batch does not count among them.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pynested.backends import strided_index, surely_apart

from .metadata import Ints, sealed


def regular_sizes(outline: Ints) -> tuple[int | None, ...]:
    """The size of each dimension in which components do not differ, None for the others and where it is unknown."""
    first = outline[0]
    equal = np.logical_and.reduce(outline == first, axis=0) & (first >= 0)
    return tuple(size if one else None for size, one in zip(first.tolist(), equal.tolist(), strict=True))


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
    """Whether no place is used twice by components that all have elements."""
    if surely_apart(sizes, strides, offsets):
        return True
    places = strided_index(sizes, strides, offsets)
    return np.unique(places).size == places.size
