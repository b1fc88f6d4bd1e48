"""Blocks in lists, as PyTorch has them: for each row of blocks how many are meant, and their columns, these first."""

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


def size_of(op: str, name: str, given: Any, least: int = 0) -> int:
    """A number of queries, keys or the like, of at least so many."""
    found = canonical_int(op, name, given)
    if found < least:
        raise ArgumentError(f"{op}: {name} must be {least} or more, not {found}.")
    return found


def sizes_of_blocks(op: str, given: Any) -> tuple[int, int]:
    """The queries and keys of a block, of one size or two."""
    sizes = given if isinstance(given, tuple | list) else (given, given)
    if len(sizes) != 2:
        raise ArgumentError(f"{op}: BLOCK_SIZE must be one size or two, not {given}.")
    queries, keys = (size_of(op, "BLOCK_SIZE", one, 1) for one in sizes)
    return queries, keys


def listed(met: Bools) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """(heads, rows, columns) -> how many blocks of each row are meant, and all columns, those of these blocks first."""
    return met.sum(axis=2, dtype=np.int32), np.argsort(~met, axis=2, kind="stable").astype(np.int32)


def states_of(partial: tuple[Any, Any], full: tuple[Any, Any]) -> tuple[list[States], bool]:
    """The states of the blocks of each component, of lists of partial ones and of full ones, and whether it is nested.

    Lists of full blocks are a pair of None where there are none.
    """
    names = "kv_num_blocks", "kv_indices"
    some, nested = _read(names, partial)
    if (full[0] is None) != (full[1] is None):
        raise ArgumentError(f"{OP}: full_kv_num_blocks and full_kv_indices are given together, or neither of them.")
    if full[0] is None:
        return [np.where(met, PARTIAL, EMPTY).astype(np.int8) for met in some], nested
    whole, also_nested = _read(tuple(f"full_{name}" for name in names), full)
    shapes = [[met.shape for met in each] for each in (some, whole)]
    if nested != also_nested or shapes[0] != shapes[1]:
        raise ShapeError(f"{OP}: the lists of full blocks must have the shapes of those of partial ones.")
    for i, (one, other) in enumerate(zip(some, whole, strict=True)):
        if (one & other).any():
            raise ArgumentError(f"{OP}: {_place(i, one & other)} is listed as partial and as full.")
    pairs = zip(some, whole, strict=True)
    return [np.where(other, FULL, one * PARTIAL).astype(np.int8) for one, other in pairs], nested


def outline_of(op: str, states: Sequence[States], block_size: tuple[int, int], seq_lengths: Any) -> Ints:
    """The heads, queries and keys of each component, int64; lengths are those of whole blocks where none are given."""
    if not states:
        return np.zeros((1, 3), np.int64)
    blocks = np.array([one.shape for one in states], np.int64)
    if seq_lengths is None:
        whole: Ints = blocks * np.array([1, *block_size])
        return whole
    if not isinstance(seq_lengths, Sequence) or len(seq_lengths) != 2:
        raise ArgumentError(
            f"{op}: seq_lengths must be a pair, of queries and of keys, not {number_text(seq_lengths)}; for nested "
            "lists each of the two may have a number for each component."
        )
    found = blocks.copy()
    for at, name in ((0, "queries"), (1, "keys")):
        found[:, at + 1] = _lengths(op, seq_lengths[at], len(blocks))
        for i, (length, count) in enumerate(zip(found[:, at + 1].tolist(), blocks[:, at + 1].tolist(), strict=True)):
            due = -(-length // block_size[at])
            if length < 0 or due != count:
                raise ShapeError(
                    f"{op}: {length} {name} are {due} blocks of {block_size[at]}, and component {i} has {count}."
                )
    return found


def _lengths(op: str, given: Any, count: int) -> Any:
    if not np.ndim(_bare(given)):
        return canonical_int(op, "a length of seq_lengths", given)
    found = _integers(op, "seq_lengths", given)
    if found.shape != (count,):
        raise ShapeError(f"{op}: seq_lengths has shape {found.shape} for {count} components.")
    return found


def _bare(given: Any) -> Any:
    return to_host(raw(given)) if type(given) is Array else given


def _integers(op: str, name: str, given: Any) -> Ints:
    found = np.asarray(_bare(given))
    if found.dtype.kind not in "iu" and found.size:
        raise DTypeError(f"{op}: {name} is {found.dtype}; it must hold integers.")
    return found.astype(np.int64)


def _read(names: tuple[str, ...], lists: tuple[Any, Any]) -> tuple[list[Bools], bool]:
    """Which blocks are listed: bools (heads, rows, columns) for each component."""
    nested = [type(one) is NestedArray for one in lists]
    if nested[0] != nested[1]:
        raise ArgumentError(f"{OP}: {' and '.join(names)} must both be nested, or both dense.")
    if nested[0]:
        parts = [one.unbind() for one in lists]
        if len(parts[0]) != len(parts[1]):
            raise ShapeError(f"{OP}: {names[0]} and {names[1]} have {len(parts[0])} and {len(parts[1])} components.")
        pairs = [
            tuple(_integers(OP, *pair) for pair in zip(names, one, strict=True)) for one in zip(*parts, strict=True)
        ]
    else:
        counts, indices = (_integers(OP, *pair) for pair in zip(names, lists, strict=True))
        if not 2 <= indices.ndim <= 4:
            raise ShapeError(f"{OP}: {names[1]} has shape {indices.shape}; it must be (B, H, rows, columns).")
        lead = (1,) * (4 - indices.ndim)
        if counts.shape == indices.shape[:-1]:
            counts, indices = counts.reshape(lead + counts.shape), indices.reshape(lead + indices.shape)
        pairs = list(zip(counts, indices, strict=True)) if counts.ndim == 3 else [(counts, indices)]
    return [_met(names, i, *pair) for i, pair in enumerate(pairs)], nested[0]


def _met(names: tuple[str, ...], component: int, counts: Ints, indices: Ints) -> Bools:
    if indices.ndim != 3 or counts.shape != indices.shape[:-1]:
        raise ShapeError(
            f"{OP}: {names[0]} has shape {counts.shape} and {names[1]} {indices.shape} in component {component}; they "
            "must be (heads, rows) and (heads, rows, columns)."
        )
    columns = indices.shape[2]
    if (wrong := (counts < 0) | (counts > columns)).any():
        value = counts[wrong][0]
        raise IndexOutOfRange(f"{OP}: {names[0]} has {value} in component {component}, of {columns} columns.")
    listed_first = np.arange(columns) < counts[..., None]
    if (wrong := listed_first & ((indices < 0) | (indices >= columns))).any():
        value = indices[wrong][0]
        raise IndexOutOfRange(f"{OP}: {names[1]} has {value} in component {component}, of {columns} columns.")
    found = np.zeros(indices.shape, np.bool_)
    heads, rows, _ = listed_first.nonzero()
    found[heads, rows, indices[listed_first]] = True
    if (wrong := found.sum(axis=2) != counts).any():
        raise ArgumentError(f"{OP}: {names[1]} has a column twice in {_place(component, wrong)}.")
    return found


def _place(component: int, wrong: Bools) -> str:
    """The first place in words: component, head, row and, of a block, its column."""
    head, row, *column = (int(one[0]) for one in wrong.nonzero())
    return f"component {component}, head {head}, row {row}" + "".join(f", column {one}" for one in column)
