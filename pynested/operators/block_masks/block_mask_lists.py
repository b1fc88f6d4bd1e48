"""PyTorch's list form of block masks: for each row of blocks a number of columns, and the indices of columns.

``num_blocks`` (H, rows) and ``indices`` (H, rows, columns) list the blocks of one state, partial or full: of each row
the first ``num_blocks`` indices count. Here the lists are converted to states of blocks and back.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.array import Array, raw
from pynested.backends.errors import ArgumentError, DTypeError, IndexOutOfRange, ShapeError
from pynested.backends.host import to_host
from pynested.nested.nested_array import NestedArray
from pynested.structure import Ints

Bools = NDArray[np.bool_]
States = NDArray[np.int8]
EMPTY, PARTIAL, FULL = 0, 1, 2
OP = "from_kv_blocks"
NAMES = "kv_num_blocks", "kv_indices"


def checked_size(op: str, name: str, size: Any, least: int = 0) -> int:
    """Return a size as an integer of at least ``least``."""
    integer = canonical_int(op, name, size)
    if integer < least:
        raise ArgumentError(f"{op}: {name} must be {least} or more, not {integer}.")
    return integer


def checked_block_size(op: str, block_size: Any) -> tuple[int, int]:
    """Return the queries and keys of a block, from one size or two."""
    sizes = block_size if isinstance(block_size, tuple | list) else (block_size, block_size)
    if len(sizes) != 2:
        raise ArgumentError(f"{op}: BLOCK_SIZE must be one size or two, not {block_size}.")
    return checked_size(op, "BLOCK_SIZE", sizes[0], 1), checked_size(op, "BLOCK_SIZE", sizes[1], 1)


def lists_of_blocks(is_listed: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return the number of listed blocks of each row, and all columns, listed ones first: (H, rows, columns)."""
    return is_listed.sum(axis=2, dtype=np.int32), np.argsort(~is_listed, axis=2, kind="stable").astype(np.int32)


def states_of_lists(partial: tuple[Any, Any], full: tuple[Any, Any]) -> tuple[list[States], bool]:
    """Return the states of the blocks of each component, and whether the lists are nested.

    Each argument is a pair of lists. That of full blocks can be a pair of None.
    """
    are_partial, nested = _read_lists(NAMES, partial)
    if (full[0] is None) != (full[1] is None):
        raise ArgumentError(f"{OP}: full_kv_num_blocks and full_kv_indices are given together, or neither of them.")
    if full[0] is None:
        return [is_partial.astype(np.int8) * PARTIAL for is_partial in are_partial], nested
    are_full, full_nested = _read_lists(("full_kv_num_blocks", "full_kv_indices"), full)
    if nested != full_nested or [x.shape for x in are_partial] != [x.shape for x in are_full]:
        raise ShapeError(f"{OP}: the lists of full blocks must have the shapes of those of partial ones.")
    states = []
    for component, (is_partial, is_full) in enumerate(zip(are_partial, are_full, strict=True)):
        if (is_partial & is_full).any():
            where = _first_place(component, is_partial & is_full)
            raise ArgumentError(f"{OP}: {where} is listed as partial and as full.")
        states.append((is_partial * PARTIAL + is_full * FULL).astype(np.int8))
    return states, nested


def extents_of_blocks(op: str, states: Sequence[States], block_size: tuple[int, int], seq_lengths: Any) -> Ints:
    """Return the heads, queries and keys of each component, int64 (B, 3); without lengths, blocks are whole."""
    if not states:
        return np.zeros((1, 3), np.int64)
    blocks = np.array([state.shape for state in states], np.int64)
    if seq_lengths is None:
        whole: Ints = blocks * np.array([1, *block_size])
        return whole
    if not isinstance(seq_lengths, Sequence) or len(seq_lengths) != 2:
        raise ArgumentError(
            f"{op}: seq_lengths must be a pair, of queries and of keys, not {number_text(seq_lengths)}; for nested "
            "lists each of the two may have a number for each component."
        )
    extents = blocks.copy()
    for axis, name in ((1, "queries"), (2, "keys")):
        extents[:, axis] = _lengths(op, seq_lengths[axis - 1], len(blocks))
        due = -(-extents[:, axis] // block_size[axis - 1])
        wrong = np.flatnonzero((extents[:, axis] < 0) | (due != blocks[:, axis]))
        if wrong.size:
            i = wrong[0]
            raise ShapeError(
                f"{op}: {extents[i, axis]} {name} are {due[i]} blocks of {block_size[axis - 1]}, and component {i} has "
                f"{blocks[i, axis]}."
            )
    return extents


def _lengths(op: str, lengths: Any, count: int) -> Any:
    if not np.ndim(_host(lengths)):
        return canonical_int(op, "a length of seq_lengths", lengths)
    integers = _integers(op, "seq_lengths", lengths)
    if integers.shape != (count,):
        raise ShapeError(f"{op}: seq_lengths has shape {integers.shape} for {count} components.")
    return integers


# ---- reading of lists -----------------------------------------------------------------------------------------------


def _host(x: Any) -> Any:
    return to_host(raw(x)) if type(x) is Array else x


def _integers(op: str, name: str, x: Any) -> Ints:
    integers = np.asarray(_host(x))
    if integers.dtype.kind not in "iu" and integers.size:
        raise DTypeError(f"{op}: {name} is {integers.dtype}; it must hold integers.")
    return integers.astype(np.int64)


def _read_lists(names: tuple[str, str], lists: tuple[Any, Any]) -> tuple[list[Bools], bool]:
    """Return for each component which blocks are listed, (H, rows, columns), and whether the lists are nested."""
    are_nested = [type(x) is NestedArray for x in lists]
    if are_nested[0] != are_nested[1]:
        raise ArgumentError(f"{OP}: {' and '.join(names)} must both be nested, or both dense.")
    counts: Any
    indices: Any
    if are_nested[0]:
        counts, indices = ([_integers(OP, name, x) for x in xs] for name, xs in zip(names, lists, strict=True))
        if len(counts) != len(indices):
            raise ShapeError(f"{OP}: {names[0]} and {names[1]} have {len(counts)} and {len(indices)} components.")
    else:
        counts, indices = (_integers(OP, name, x) for name, x in zip(names, lists, strict=True))
        if not 2 <= indices.ndim <= 4:
            raise ShapeError(f"{OP}: {names[1]} has shape {indices.shape}; it must be (B, H, rows, columns).")
        if counts.shape != indices.shape[:-1]:
            raise _shape_error(names, 0, counts, indices)
        missing = tuple(range(4 - indices.ndim))
        counts, indices = np.expand_dims(counts, missing), np.expand_dims(indices, missing)
    pairs = zip(counts, indices, strict=True)
    return [_listed_blocks(names, i, *pair) for i, pair in enumerate(pairs)], are_nested[0]


def _shape_error(names: tuple[str, str], component: int, counts: Ints, indices: Ints) -> ShapeError:
    return ShapeError(
        f"{OP}: {names[0]} has shape {counts.shape} and {names[1]} {indices.shape} in component {component}; they "
        "must be (heads, rows) and (heads, rows, columns)."
    )


def _listed_blocks(names: tuple[str, str], component: int, counts: Ints, indices: Ints) -> Bools:
    """Return which blocks of a component are listed: (H, rows, columns)."""
    if indices.ndim != 3 or counts.shape != indices.shape[:-1]:
        raise _shape_error(names, component, counts, indices)
    columns = indices.shape[2]
    counts_here = np.arange(columns) < counts[..., None]
    wrong_counts = counts[(counts < 0) | (counts > columns)]
    wrong_indices = indices[counts_here & ((indices < 0) | (indices >= columns))]
    for name, wrong in zip(names, (wrong_counts, wrong_indices), strict=True):
        if wrong.size:
            raise IndexOutOfRange(f"{OP}: {name} has {wrong[0]} in component {component}, of {columns} columns.")
    is_listed = np.zeros(indices.shape, np.bool_)
    heads, rows, _ = counts_here.nonzero()
    is_listed[heads, rows, indices[counts_here]] = True
    if (wrong := is_listed.sum(axis=2) != counts).any():
        raise ArgumentError(f"{OP}: {names[1]} has a column twice in {_first_place(component, wrong)}.")
    return is_listed


def _first_place(component: int, wrong: Bools) -> str:
    """Describe the first true element of ``wrong`` by component, head and row; a block also has a column."""
    names = ("head", "row", "column")[: wrong.ndim]
    places = (f"{name} {axis[0]}" for name, axis in zip(names, wrong.nonzero(), strict=True))
    return ", ".join([f"component {component}", *places])
