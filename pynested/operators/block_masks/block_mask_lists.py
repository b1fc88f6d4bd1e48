"""Conversion of block masks from and to PyTorch's list form; states of merged blocks for pictures.

Two lists have the blocks of one state, partial or full: ``num_blocks`` (H, rows) and ``indices`` (H, rows, columns).
The first ``num_blocks`` of the indices of a row are the columns of the listed blocks; the other indices are ignored.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import zip_longest
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.arguments.scalars import value_text
from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints
from pynested.structure.validation import as_integers

Bools = NDArray[np.bool_]
States = NDArray[np.int8]
EMPTY, PARTIAL, FULL = 0, 1, 2
OP = "from_kv_blocks"


def lists_of_blocks(is_listed: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the number of listed blocks of each row, and all columns, those of listed blocks first."""
    return is_listed.sum(axis=2, dtype=np.int32), np.argsort(~is_listed, axis=2, kind="stable").astype(np.int32)


def states_of_lists(partial: dict[str, Any], full: dict[str, Any]) -> tuple[list[States], bool]:
    """Return the states of the blocks of each component, and whether the lists are nested.

    Each argument has the numbers and the indices by their names. Both lists of full blocks can be None.
    """
    has_full = [x is not None for x in full.values()]
    if any(has_full) != all(has_full):
        raise ArgumentError(f"{OP}: {' and '.join(full)} are given together, or neither of them.")
    pairs = [partial, full] if all(has_full) else [partial]
    are_nested = {type(x) is NestedArray for lists in pairs for x in lists.values()}
    if len(are_nested) > 1:
        raise ArgumentError(f"{OP}: {' and '.join(partial | full)} must all be nested, or all be dense.")
    all_counts = [_counts_of_components(lists) for lists in pairs]
    if [x.shape for x in all_counts[0]] != [x.shape for x in all_counts[-1]]:
        raise ShapeError(f"{OP}: the lists of full blocks must have the shapes of those of partial ones.")
    blocks = []
    for component, counts in enumerate(zip(*all_counts, strict=True)):
        repeated = np.argwhere(sum(counts) > 1)
        if len(repeated):
            head, row, column = repeated[0]
            raise ArgumentError(
                f"{OP}: component {component}, head {head}, row {row} lists column {column} more than once."
            )
        states = sum(state * count for state, count in zip((PARTIAL, FULL), counts, strict=False))
        blocks.append(np.asarray(states, np.int8))
    return blocks, are_nested.pop()


def _counts_of_components(lists: dict[str, Any]) -> list[Ints]:
    """Return how often each block of each component is listed: an array (H, rows, columns) for each component."""
    (numbers_name, numbers), (indices_name, indices) = lists.items()
    counts, pairs = [], zip_longest(_components(numbers_name, numbers, 2), _components(indices_name, indices, 3))
    for component, (number, index) in enumerate(pairs):
        if number is None or index is None or number.shape != index.shape[:-1]:
            shapes = ["missing" if x is None else f"of shape {x.shape}" for x in (number, index)]
            raise ShapeError(
                f"{OP}: component {component} is {shapes[0]} in {numbers_name} and {shapes[1]} in {indices_name}; the "
                "shapes must be (heads, rows) and (heads, rows, columns)."
            )
        columns = index.shape[2]
        is_listed = np.arange(columns) < number[..., None]
        wrong_numbers = number[(number < 0) | (number > columns)]
        wrong_indices = index[is_listed & ((index < 0) | (index >= columns))]
        for name, wrong in ((numbers_name, wrong_numbers), (indices_name, wrong_indices)):
            if wrong.size:
                raise IndexOutOfRange(f"{OP}: {name} has {wrong[0]} in component {component}, of {columns} columns.")
        heads, rows, _ = is_listed.nonzero()
        counts.append(np.zeros(index.shape, np.int64))
        np.add.at(counts[-1], (heads, rows, index[is_listed]), 1)
    return counts


def _components(name: str, numbers: Any, ndim: int) -> list[Ints]:
    """Return a list as an array of integers for each component; dimensions before the rows can be left out."""
    if type(numbers) is NestedArray:
        return [as_integers(OP, name, component, ndim) for component in numbers.unbind()]
    integers = as_integers(OP, name, numbers)
    if not ndim - 1 <= integers.ndim <= ndim + 1:
        raise ShapeError(
            f"{OP}: {name} has shape {integers.shape}; it must be (B, H, rows{', columns' * (ndim == 3)})."
        )
    return [*integers.reshape((1,) * (ndim + 1 - integers.ndim) + integers.shape)]


def extents_of_blocks(op: str, states: Sequence[States], block_size: tuple[int, int], seq_lengths: Any) -> Ints:
    """Return the heads, queries and keys of each component, int64 (B, 3).

    If ``seq_lengths`` is None, the last blocks are as large as the others.
    """
    if not states:
        return np.zeros((1, 3), np.int64)
    blocks = np.array([state.shape for state in states], np.int64)
    extents = np.asarray(blocks * np.array([1, *block_size]))
    if seq_lengths is None:
        return extents
    if not isinstance(seq_lengths, Sequence) or len(seq_lengths) != 2:
        raise ArgumentError(
            f"{op}: seq_lengths must be a pair, of queries and of keys, not {value_text(seq_lengths)}; for nested "
            "lists each of the two may have a number for each component."
        )
    for axis, numbers in enumerate(seq_lengths, 1):
        lengths = as_integers(op, "seq_lengths", numbers)
        if lengths.shape not in ((), (len(blocks),)):
            raise ShapeError(f"{op}: seq_lengths has shape {lengths.shape} for {len(blocks)} components.")
        extents[:, axis] = lengths
    needed_blocks = -(-extents[:, 1:] // block_size)
    wrong = np.argwhere((extents[:, 1:] < 0) | (needed_blocks != blocks[:, 1:]))
    if len(wrong):
        i, axis = wrong[0]
        size = f"{extents[i, axis + 1]} {('queries', 'keys')[axis]}"
        raise ShapeError(
            f"{op}: {size} are {needed_blocks[i, axis]} blocks of {block_size[axis]}, and component {i} has "
            f"{blocks[i, axis + 1]}."
        )
    return extents


def coarse_states(states: States, rows: int, columns: int) -> States:
    """Return the states of merged blocks, in at most so many rows and columns; -1 merges no blocks.

    Blocks of the same state keep it when they are merged; other blocks become partial.
    """
    if not states.size:
        return states[:0]
    least = most = states
    for axis, limit in enumerate((rows, columns)):
        size = states.shape[axis]
        starts = np.arange(0, size, 1 if limit < 0 else -(-size // max(1, limit)))
        least, most = np.minimum.reduceat(least, starts, axis), np.maximum.reduceat(most, starts, axis)
    return np.where(least == most, least, PARTIAL).astype(np.int8)
