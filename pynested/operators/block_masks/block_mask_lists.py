"""Conversion of block masks from and to PyTorch's list form; states of merged blocks for pictures.

PyTorch has two arrays for the partial blocks, and two for the full ones: ``num_blocks`` (H, rows) and ``indices`` (H,
rows, columns). The first ``num_blocks`` of the indices of a row are the columns of its listed blocks; the other indices
are ignored.
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
CALLER = "from_kv_blocks"  # for error messages


def lists_of_blocks(is_listed: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the number of listed blocks of each row, and all columns, those of listed blocks first."""
    return is_listed.sum(axis=2, dtype=np.int32), np.argsort(~is_listed, axis=2, kind="stable").astype(np.int32)


def states_of_lists(partial: dict[str, Any], full: dict[str, Any]) -> tuple[list[States], bool]:
    """Return the states of the blocks of each component, and whether the lists are nested.

    Each dict has ``num_blocks`` and ``indices`` by the names of the arguments. Those of full blocks can both be None.
    """
    has_full = [x is not None for x in full.values()]
    if any(has_full) != all(has_full):
        raise ArgumentError(f"{CALLER}: {' and '.join(full)} are given together, or neither of them.")
    lists = [partial, full] if all(has_full) else [partial]
    are_nested = {type(x) is NestedArray for arguments in lists for x in arguments.values()}
    if len(are_nested) > 1:
        raise ArgumentError(f"{CALLER}: {' and '.join(partial | full)} must all be nested, or all be dense.")
    all_counts = [_times_listed(*arguments.items()) for arguments in lists]
    if [x.shape for x in all_counts[0]] != [x.shape for x in all_counts[-1]]:
        raise ShapeError(f"{CALLER}: the lists of full blocks must have the shapes of those of partial ones.")
    blocks = []
    for component, counts in enumerate(zip(*all_counts, strict=True)):
        repeated = np.argwhere(sum(counts) > 1)
        if len(repeated):
            head, row, column = repeated[0]
            raise ArgumentError(
                f"{CALLER}: component {component}, head {head}, row {row} lists column {column} more than once."
            )
        states = sum(state * count for state, count in zip((PARTIAL, FULL), counts, strict=False))
        blocks.append(np.asarray(states, np.int8))
    return blocks, are_nested.pop()


def _times_listed(num_blocks_argument: tuple[str, Any], indices_argument: tuple[str, Any]) -> list[Ints]:
    """Return the number of times that each block of each component is listed: an array (H, rows, columns) for each."""
    num_name, indices_name = num_blocks_argument[0], indices_argument[0]
    components = zip_longest(_component_arrays(*num_blocks_argument, 2), _component_arrays(*indices_argument, 3))
    counts = []
    for component, (num_blocks, indices) in enumerate(components):
        if num_blocks is None or indices is None or num_blocks.shape != indices.shape[:-1]:
            shapes = ["missing" if x is None else f"of shape {x.shape}" for x in (num_blocks, indices)]
            raise ShapeError(
                f"{CALLER}: component {component} is {shapes[0]} in {num_name} and {shapes[1]} in {indices_name}; the "
                "shapes must be (heads, rows) and (heads, rows, columns)."
            )
        columns = indices.shape[2]
        is_listed = np.arange(columns) < num_blocks[..., None]
        wrong_numbers = num_blocks[(num_blocks < 0) | (num_blocks > columns)]
        wrong_indices = indices[is_listed & ((indices < 0) | (indices >= columns))]
        for name, wrong in ((num_name, wrong_numbers), (indices_name, wrong_indices)):
            if wrong.size:
                raise IndexOutOfRange(
                    f"{CALLER}: {name} has {wrong[0]} in component {component}, of {columns} columns."
                )
        heads, rows, _ = is_listed.nonzero()
        counts.append(np.zeros(indices.shape, np.int64))
        np.add.at(counts[-1], (heads, rows, indices[is_listed]), 1)
    return counts


def _component_arrays(name: str, argument: Any, ndim: int) -> list[Ints]:
    """Return an argument as integers (H, rows) or (H, rows, columns) for each component; B and H can be left out."""
    if type(argument) is NestedArray:
        return [as_integers(CALLER, name, component, ndim) for component in argument.unbind()]
    integers = as_integers(CALLER, name, argument)
    if not ndim - 1 <= integers.ndim <= ndim + 1:
        raise ShapeError(
            f"{CALLER}: {name} has shape {integers.shape}; it must be (B, H, rows{', columns' * (ndim == 3)})."
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
    expected_blocks = -(-extents[:, 1:] // block_size)
    wrong = np.argwhere((extents[:, 1:] < 0) | (expected_blocks != blocks[:, 1:]))
    if len(wrong):
        i, axis = wrong[0]
        size = f"{extents[i, axis + 1]} {('queries', 'keys')[axis]}"
        raise ShapeError(
            f"{op}: {size} are {expected_blocks[i, axis]} blocks of {block_size[axis]}, and component {i} has "
            f"{blocks[i, axis + 1]}."
        )
    return extents


def coarse_states(states: States, rows: int, columns: int) -> States:
    """Return states in at most ``rows`` rows and ``columns`` columns, of blocks that are merged with their neighbours.

    Blocks of the same state keep it when they are merged; other blocks become partial. With -1, all rows or columns
    stay.
    """
    if not states.size:
        return states[:0]
    least = most = states
    for axis, limit in enumerate((rows, columns)):
        size = states.shape[axis]
        starts = np.arange(0, size, 1 if limit < 0 else -(-size // max(1, limit)))
        least, most = np.minimum.reduceat(least, starts, axis), np.maximum.reduceat(most, starts, axis)
    return np.where(least == most, least, PARTIAL).astype(np.int8)
