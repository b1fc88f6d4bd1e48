"""Slices of nested arrays: of the batch, and of each component."""

from __future__ import annotations

import numpy as np

from pynested.autograd.rules import movement as moves
from pynested.backends import strided_index
from pynested.components.packing import along
from pynested.nested.array import NestedArray
from pynested.structure import Ints, Jagged, Strided, outline_of


def batch_slice(x: NestedArray, part: slice) -> NestedArray:
    """The components that ``part`` names, as a view."""
    structure = x.structure
    if isinstance(structure, Strided):
        sizes, strides, offsets = structure.sizes[part], structure.strides[part], structure.offsets[part]
        outline = sizes if offsets.size else outline_of(structure.regular)
        return NestedArray(moves.alias(x.data), Strided.derived(outline, strides, offsets, structure.buffer_size))
    start, stop, step = part.indices(len(x))
    if step == 1 and structure.lengths is None:
        stop = max(start, stop)
        first, last = int(structure.offsets[start]), int(structure.offsets[stop])
        index = (slice(None),) * (structure.ragged_dim - 1) + (slice(first, last),)
        shifted = Jagged.derived(structure.offsets[start : stop + 1] - first, None, structure.ragged_dim)
        return NestedArray(moves.slice_(x.data, index), shifted)
    starts, lengths = structure.offsets[:-1][part], structure.component_lengths[part]
    return with_holes(x, structure, starts, lengths)


def with_holes(x: NestedArray, structure: Jagged, starts: Ints, lengths: Ints) -> NestedArray:
    """A view of a jagged array whose components begin at ``starts`` and have ``lengths``."""
    end = int((starts + lengths).max(initial=0))
    made = Jagged.derived(np.append(starts, end), lengths, structure.ragged_dim)
    made.__dict__["rows"] = end
    return NestedArray(moves.alias(x.data), made)


def slice_dim(x: NestedArray, dim: int, part: slice) -> NestedArray:
    """The entries along ``dim`` (canonical, not the batch) that ``part`` names in each component."""
    if part == slice(None):
        return x
    structure = x.structure
    if isinstance(structure, Strided):
        return _slice_strided(x, structure, dim - 1, part)
    if dim != structure.ragged_dim:
        return NestedArray(moves.slice_(x.data, (slice(None),) * (dim - 1) + (part,)), structure)
    starts, counts, step = _sliced(part, structure.component_lengths)
    if step == 1:
        return with_holes(x, structure, structure.offsets[:-1] + starts, counts)
    rows = strided_index(counts[:, None], np.full((len(x), 1), step), structure.offsets[:-1] + starts)
    return NestedArray(along(x.data, dim - 1, rows), Jagged.of_lengths(counts, dim))


def _sliced(part: slice, sizes: Ints) -> tuple[Ints, Ints, int]:
    """Where ``part`` begins in each component, how many entries it names there, and its step; -1 of unknown sizes."""
    step = part.indices(0)[2]
    found = {-1: (0, -1)}
    for size in np.unique(sizes).tolist():
        if size >= 0:
            start, stop, _ = part.indices(size)
            found[size] = (start, len(range(start, stop, step)))
    pairs = np.array([found[size] for size in sizes.tolist()], np.int64).reshape(len(sizes), 2)
    longest = max(*found, 1)
    step = min(max(step, -longest), longest)  # a longer one leads out of every component as well
    return np.where(pairs[:, 1] > 0, pairs[:, 0], 0), pairs[:, 1], step


def _slice_strided(x: NestedArray, structure: Strided, k: int, part: slice) -> NestedArray:
    count, outline, strides = structure.count, structure.outline.copy(), structure.strides.copy()
    starts, outline[:, k], step = _sliced(part, outline[:, k])
    offsets = structure.offsets + starts[:count] * strides[:, k]
    strides[:, k] *= step
    sizes = outline[:count]
    if step < 0:
        index = strided_index(sizes, strides, offsets)
        return NestedArray(moves.take_rows(x.data, index), Strided.of_packed(outline, count))
    offsets = np.where((sizes > 0).all(axis=1), offsets, 0)
    return NestedArray(moves.alias(x.data), Strided.derived(outline, strides, offsets, structure.buffer_size))
