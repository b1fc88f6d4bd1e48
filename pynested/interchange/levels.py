"""Between nested arrays and lists within lists."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.backends.errors import StructureError
from pynested.construct.buffers import nested_array_from_jagged, nested_array_from_strided
from pynested.nested.layout_conversion import elements
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints, Jagged

from .lists import Level, Lists, contiguous, untracked
from .receivers import Receiver, accepted_values, must_copy, received_values


def lists_of(receiver: Receiver, x: NestedArray, copy: bool | None) -> Lists:
    """A nested array as lists within lists, in memory that the receiver accepts.

    There is one level for each dimension up to the last irregular one.

    Jagged along dimension 1 it is one level over its own values, with its holes. Any other takes a level for each
    dimension, and its elements one after another.
    """
    untracked(receiver.function, x)
    structure = x.structure
    if isinstance(structure, Jagged) and structure.ragged_dim == 1:
        return Lists((Level(structure.offsets, structure.lengths),), accepted_values(receiver, x.data, copy), len(x))
    if isinstance(structure, Jagged) or not structure.is_contiguous:
        must_copy(receiver.function, copy, "the elements of a component do not lie one after another")
    return _row_major(x, accepted_values(receiver, elements(x), copy))


def _row_major(x: NestedArray, flat: NDArray[Any]) -> Lists:
    """Lists over the elements of all components in order."""
    sizes, regular = x.component_sizes(), x.regular
    last = max((dim for dim, size in enumerate(regular) if size is None), default=0)
    levels: list[Level | int] = [_one_after_another(sizes[:, 0])]
    counts = sizes[:, 0]
    for dim in range(1, last + 1):
        size = regular[dim]
        levels.append(_one_after_another(np.repeat(sizes[:, dim], counts)) if size is None else size)
        counts = counts * sizes[:, dim]
    behind = [size or 0 for size in regular[last + 1 :]]
    return Lists(tuple(levels), flat.reshape(int(counts.sum()), *behind), len(x))


def _one_after_another(lengths: Ints) -> Level:
    offsets = np.zeros(len(lengths) + 1, np.int64)
    np.cumsum(lengths, out=offsets[1:])
    return Level(offsets)


def array_of(name: str, lists: Lists, copy: bool | None) -> NestedArray | Array:
    """Lists within lists as an array: dense without a `Level`, jagged with one that is outermost, else strided."""
    content, levels = received_values(name, lists.content, copy), lists.levels
    first, sizes = levels[0] if levels else 0, [level for level in levels[1:] if isinstance(level, int)]
    if len(sizes) < len(levels) - 1:
        return _rectangles(name, lists, content, copy)
    if isinstance(first, int):
        return Array.over(content.reshape(lists.count, *levels, *content.shape[1:]))
    rows = len(content) // math.prod(sizes) if 0 not in sizes else first.rows
    return nested_array_from_jagged(content.reshape(rows, *sizes, *content.shape[1:]), first.offsets, first.lengths)


def _rectangles(name: str, lists: Lists, content: NDArray[Any], copy: bool | None) -> NestedArray:
    """Several levels: every component has to be a rectangle, of whatever sizes."""
    columns, owner = [], np.arange(lists.count)
    for dim, level in enumerate(lists.levels, 1):
        lengths = np.full(len(owner), level, np.int64) if isinstance(level, int) else level.counted
        columns.append(_equal_lengths(name, dim, owner, lengths, lists.count, level))
        owner = np.repeat(owner, lengths)
    behind = [np.full(lists.count, size, np.int64) for size in content.shape[1:]]
    sizes = np.stack([*columns, *behind], axis=1)
    return nested_array_from_strided(contiguous(name, content, copy).reshape(-1), sizes)


def _equal_lengths(name: str, dim: int, owner: Ints, lengths: Ints, count: int, level: Level | int) -> Ints:
    """The one length that the lists of each component have, or an error that names a component with two."""
    longest = np.full(count, level if isinstance(level, int) else 0, np.int64)
    np.maximum.at(longest, owner, lengths)
    wrong = np.flatnonzero(lengths != longest[owner])
    if wrong.size:
        at = owner[wrong[0]]
        raise StructureError(
            f"{name}: component {at} is no rectangle: along dimension {dim} it has lists of {lengths[wrong[0]]} and of "
            f"{longest[at]}. A nested array has components of one size each; nest one level less, or pad."
        )
    return longest
