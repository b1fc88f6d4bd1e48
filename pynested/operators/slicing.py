"""Slices of nested arrays: of the batch, and of each component."""

from __future__ import annotations

import numpy as np

from pynested.autograd.rules import movement as moves
from pynested.backends import strided_index
from pynested.nested_array import NestedArray
from pynested.packing import along
from pynested.structure import Ints, Jagged, Strided, frozen


def batch_slice(x: NestedArray, part: slice) -> NestedArray:
    """The components that ``part`` names, as a view."""
    structure = x.structure
    if isinstance(structure, Strided):
        made = Strided(
            frozen(structure.sizes[part]),
            frozen(structure.strides[part]),
            frozen(structure.offsets[part]),
            structure.buffer_size,
        )
        return NestedArray(moves.alias(x.data), made)
    start, stop, step = part.indices(len(x))
    if step == 1 and structure.lengths is None:
        stop = max(start, stop)
        first, last = int(structure.offsets[start]), int(structure.offsets[stop])
        index = (slice(None),) * (structure.ragged_dim - 1) + (slice(first, last),)
        offsets = frozen(structure.offsets[start : stop + 1] - first)
        return NestedArray(moves.slice_(x.data, index), Jagged(offsets, None, structure.ragged_dim))
    starts, lengths = structure.offsets[:-1][part], structure.component_lengths[part]
    return with_holes(x, structure, starts, lengths)


def with_holes(x: NestedArray, structure: Jagged, starts: Ints, lengths: Ints) -> NestedArray:
    """A view of a jagged array whose components begin at ``starts`` and have ``lengths``."""
    end = int((starts + lengths).max(initial=0))
    offsets = frozen(np.append(starts, end))
    return NestedArray(moves.alias(x.data), Jagged(offsets, frozen(lengths), structure.ragged_dim))


def slice_dim(x: NestedArray, dim: int, part: slice) -> NestedArray:
    """The entries along ``dim`` (canonical, not the batch) that ``part`` names in each component."""
    if part == slice(None):
        return x
    structure = x.structure
    if isinstance(structure, Jagged) and dim != structure.ragged_dim:
        return NestedArray(moves.slice_(x.data, (slice(None),) * (dim - 1) + (part,)), structure)
    sizes = x.lengths_along(dim)
    starts, counts, step = _sliced(part, sizes)
    if isinstance(structure, Strided):
        return _slice_strided(x, structure, dim - 1, starts, counts, step)
    if step == 1:
        return with_holes(x, structure, structure.offsets[:-1] + starts, counts)
    rows = strided_index(counts[:, None], np.full((len(x), 1), step), structure.offsets[:-1] + starts)
    offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    return NestedArray(along(x.data, dim - 1, rows), Jagged(frozen(offsets), None, dim))


def _sliced(part: slice, sizes: Ints) -> tuple[Ints, Ints, int]:
    """Where ``part`` begins in each component, how many entries it names there, and its step."""
    found: dict[int, tuple[int, int]] = {}
    step = 1
    for size in np.unique(sizes).tolist():
        start, stop, step = part.indices(size)
        found[size] = (start, len(range(start, stop, step)))
    pairs = np.array([found[size] for size in sizes.tolist()], np.int64).reshape(len(sizes), 2)
    return np.where(pairs[:, 1] > 0, pairs[:, 0], 0), pairs[:, 1], step if len(sizes) else 1


def _slice_strided(x: NestedArray, structure: Strided, k: int, starts: Ints, counts: Ints, step: int) -> NestedArray:
    sizes, strides = structure.sizes.copy(), structure.strides.copy()
    offsets = structure.offsets + starts * strides[:, k]
    sizes[:, k] = counts
    strides[:, k] *= step
    if step < 0:
        index = strided_index(sizes, strides, offsets)
        return NestedArray(moves.take_rows(x.data, index), Strided.of_packed(sizes))
    offsets = np.where(sizes.prod(axis=1) > 0, offsets, 0)
    return NestedArray(
        moves.alias(x.data), Strided(frozen(sizes), frozen(strides), frozen(offsets), structure.buffer_size)
    )
