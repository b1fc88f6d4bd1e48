"""PyTorch's list form of block masks: for each row of blocks a number of columns, and the indices of columns.

``num_blocks`` (H, rows) and ``indices`` (H, rows, columns) list the blocks of one state, partial or full: of each row
the first ``num_blocks`` indices count. Here the lists are converted to states of blocks and back, and states are merged
for pictures.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.arguments.scalars import number_text
from pynested.backends.errors import ArgumentError, IndexOutOfRange, ShapeError
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints
from pynested.structure.validation import as_integers

Bools = NDArray[np.bool_]
States = NDArray[np.int8]
EMPTY, PARTIAL, FULL = 0, 1, 2
OP = "from_kv_blocks"


def lists_of_blocks(is_listed: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the number of listed blocks of each row, and all columns, listed ones first: (H, rows, columns)."""
    return is_listed.sum(axis=2, dtype=np.int32), np.argsort(~is_listed, axis=2, kind="stable").astype(np.int32)


def states_of_lists(partial: dict[str, Any], full: dict[str, Any]) -> tuple[list[States], bool]:
    """Return the states of the blocks of each component, and whether the lists are nested.

    Each argument has two lists by name, the numbers and the indices. Those of full blocks can be None.
    """
    has_full = [x is not None for x in full.values()]
    if any(has_full) != all(has_full):
        raise ArgumentError(f"{OP}: {' and '.join(full)} are given together, or neither of them.")
    lists = partial | full if all(has_full) else partial
    are_nested = [type(x) is NestedArray for x in lists.values()]
    if any(are_nested) != all(are_nested):
        raise ArgumentError(f"{OP}: {' and '.join(lists)} must all be nested, or all be dense.")
    are_partial = _listed_blocks(partial)
    are_full = _listed_blocks(full) if all(has_full) else [np.zeros_like(x) for x in are_partial]
    if [x.shape for x in are_partial] != [x.shape for x in are_full]:
        raise ShapeError(f"{OP}: the lists of full blocks must have the shapes of those of partial ones.")
    for component, both in enumerate(map(np.logical_and, are_partial, are_full)):
        if both.any():
            raise ArgumentError(f"{OP}: {_first_place(component, both)} is listed as partial and as full.")
    states = [
        np.where(is_full, FULL, PARTIAL * is_partial) for is_partial, is_full in zip(are_partial, are_full, strict=True)
    ]
    return [x.astype(np.int8) for x in states], all(are_nested)


def _listed_blocks(lists: dict[str, Any]) -> list[Bools]:
    """Return for each component which blocks are listed: (H, rows, columns)."""
    names = [*lists]
    counts, indices = (_components(name, x, ndim) for (name, x), ndim in zip(lists.items(), (2, 3), strict=True))
    if len(counts) != len(indices):
        raise ShapeError(f"{OP}: {' and '.join(names)} have {len(counts)} and {len(indices)} components.")
    return [_listed_of_component(names, i, *pair) for i, pair in enumerate(zip(counts, indices, strict=True))]


def _components(name: str, x: Any, ndim: int) -> list[Ints]:
    """Return a list as an array of integers for each component; dimensions before the rows can be left out."""
    if type(x) is NestedArray:
        return [as_integers(OP, name, component, ndim) for component in x.unbind()]
    integers = as_integers(OP, name, x)
    if not ndim - 1 <= integers.ndim <= ndim + 1:
        raise ShapeError(
            f"{OP}: {name} has shape {integers.shape}; it must be (B, H, rows{', columns' * (ndim == 3)})."
        )
    return [*integers.reshape((1,) * (ndim + 1 - integers.ndim) + integers.shape)]


def _listed_of_component(names: list[str], component: int, counts: Ints, indices: Ints) -> Bools:
    """Return which blocks of a component are listed: (H, rows, columns)."""
    if counts.shape != indices.shape[:-1]:
        raise ShapeError(
            f"{OP}: {names[0]} has shape {counts.shape} and {names[1]} {indices.shape} in component {component}; they "
            "must be (heads, rows) and (heads, rows, columns)."
        )
    columns = indices.shape[2]
    is_counted = np.arange(columns) < counts[..., None]
    wrong_counts = counts[(counts < 0) | (counts > columns)]
    wrong_indices = indices[is_counted & ((indices < 0) | (indices >= columns))]
    for name, wrong in zip(names, (wrong_counts, wrong_indices), strict=True):
        if wrong.size:
            raise IndexOutOfRange(f"{OP}: {name} has {wrong[0]} in component {component}, of {columns} columns.")
    is_listed = np.zeros(indices.shape, np.bool_)
    heads, rows, _ = is_counted.nonzero()
    is_listed[heads, rows, indices[is_counted]] = True
    if (wrong_rows := is_listed.sum(axis=2) != counts).any():
        raise ArgumentError(f"{OP}: {names[1]} has a column twice in {_first_place(component, wrong_rows)}.")
    return is_listed


def _first_place(component: int, wrong: Bools) -> str:
    """Describe the first true element of ``wrong`` by component, head and row; a block also has a column."""
    first = np.argwhere(wrong)[0].tolist()
    places = (f"{name} {i}" for name, i in zip(("head", "row", "column"), first, strict=False))
    return ", ".join([f"component {component}", *places])


def extents_of_blocks(op: str, states: Sequence[States], block_size: tuple[int, int], seq_lengths: Any) -> Ints:
    """Return the heads, queries and keys of each component, int64 (B, 3); without lengths, blocks are whole."""
    if not states:
        return np.zeros((1, 3), np.int64)
    blocks = np.array([state.shape for state in states], np.int64)
    if seq_lengths is None:
        return np.asarray(blocks * np.array([1, *block_size]))
    if not isinstance(seq_lengths, Sequence) or len(seq_lengths) != 2:
        raise ArgumentError(
            f"{op}: seq_lengths must be a pair, of queries and of keys, not {number_text(seq_lengths)}; for nested "
            "lists each of the two may have a number for each component."
        )
    extents = blocks.copy()
    for axis, name in ((1, "queries"), (2, "keys")):
        lengths = as_integers(op, "seq_lengths", seq_lengths[axis - 1])
        if lengths.shape not in ((), (len(blocks),)):
            raise ShapeError(f"{op}: seq_lengths has shape {lengths.shape} for {len(blocks)} components.")
        extents[:, axis] = lengths
        due = -(-extents[:, axis] // block_size[axis - 1])
        wrong = np.flatnonzero((extents[:, axis] < 0) | (due != blocks[:, axis]))
        if wrong.size:
            i = wrong[0]
            raise ShapeError(
                f"{op}: {extents[i, axis]} {name} are {due[i]} blocks of {block_size[axis - 1]}, and component {i} has "
                f"{blocks[i, axis]}."
            )
    return extents


def coarse_states(states: States, rows: int, columns: int) -> States:
    """Return at most so many rows and columns, -1 for all; blocks that are merged to one are partial or alike."""
    if not states.size:
        return states[:0]
    least = most = states
    for axis, limit in enumerate((rows, columns)):
        size = states.shape[axis]
        starts = np.arange(0, size, 1 if limit < 0 else -(-size // max(1, limit)))
        least, most = np.minimum.reduceat(least, starts, axis), np.maximum.reduceat(most, starts, axis)
    return np.where(least == most, least, PARTIAL).astype(np.int8)
