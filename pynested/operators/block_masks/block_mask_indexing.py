"""Indexing of block masks: the components, heads and blocks of queries that an index picks."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import number_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.array import raw
from pynested.backends.errors import ArgumentError, IndexOutOfRange
from pynested.backends.host import from_host, to_host
from pynested.structure import Ints

from ..indexing.index_parsing import index_entries
from .block_mask_lists import States
from .mask_functions import MaskMod

ALL = slice(None)


def pick_blocks(
    index: Any, mask_mod: MaskMod, extents: Ints, q_size: int, blocks: tuple[States, ...]
) -> tuple[MaskMod, Ints, list[States]]:
    """Return function, extents and states of what an index picks; an integer keeps its dimension, of size 1."""
    entries = index_entries(index)
    if len(entries) > 3:
        raise ArgumentError(
            f"a block mask is indexed by components, heads and blocks of queries, not by {len(entries)} entries."
        )
    component_entry, head_entry, row_entry = (*entries, ALL, ALL)[:3]
    components = _positions(component_entry, len(blocks), "components")
    if not len(components):
        return mask_mod, extents[:1], []
    heads = [_positions(head_entry, extents.item(i, 0), f"heads of component {i}") for i in components]
    rows = [_positions(row_entry, blocks[i].shape[1], f"blocks of queries of component {i}") for i in components]
    picked_extents, picked_blocks = [], []
    for i, head, row in zip(components.tolist(), heads, rows, strict=True):
        num_heads, queries, keys = extents[i].tolist()
        is_same = len(blocks[i]) == 1 != num_heads
        picked_blocks.append((blocks[i][: len(head)] if is_same else blocks[i][head])[:, row])
        picked_extents.append((len(head), _num_queries(row, queries, q_size, i), keys))
    picks = zip((component_entry, head_entry, row_entry), ([components], heads, rows), strict=True)
    tables = [None if isinstance(entry, slice) and entry == ALL else positions for entry, positions in picks]
    return _picked_function(mask_mod, tables, q_size), np.array(picked_extents, np.int64), picked_blocks


def _positions(entry: Any, size: int, what: str) -> Ints:
    """Return the positions that an entry of an index picks of ``size``."""
    if isinstance(entry, slice):
        return np.arange(size)[entry]
    host = to_host(raw(entry)) if type(entry) is Array else entry
    if entry is None or entry is ... or np.ndim(host) > 1:
        raise ArgumentError(
            f"an index of a block mask has integers, slices, and vectors of integers or bools, not "
            f"{number_text(entry)}."
        )
    if not np.ndim(host):
        host = [canonical_int("index", "an entry of a block mask's", host)]
    positions = np.asarray(host)
    if positions.dtype == np.bool_:
        if len(positions) != size:
            raise IndexOutOfRange(f"an index of a block mask has {len(positions)} bools for {size} {what}.")
        return positions.nonzero()[0]
    if positions.dtype.kind not in "iu" and positions.size:
        raise ArgumentError(f"an index of a block mask has integers or bools, not {positions.dtype}.")
    positions = positions.astype(np.int64)
    outside = positions[(positions < -size) | (positions >= size)]
    if outside.size:
        raise IndexOutOfRange(f"index {outside[0]} of a block mask is outside its {size} {what}.")
    return np.where(positions < 0, positions + size, positions)


def _num_queries(rows: Ints, queries: int, q_size: int, component: int) -> int:
    """Return the number of queries of some blocks; a last block that is shorter can only be picked last."""
    missing = -queries % q_size
    last = -(-queries // q_size) - 1
    if missing and (rows[:-1] == last).any():
        raise ArgumentError(
            f"block {last} of queries of component {component} has {q_size - missing} queries, the others {q_size}: an "
            "index of a block mask can have it at its end only."
        )
    return len(rows) * q_size - (missing if len(rows) and rows[-1] == last else 0)


def _picked_function(mod: MaskMod, tables: list[list[Ints] | None], q_size: int) -> MaskMod:
    """Return the function that replaces its indices by those before picking; a table of None changes no index."""
    components, heads, rows = tables

    def mask_mod(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        component = b if components is None else _look_up(components, 0, b)
        head = h if heads is None else _look_up(heads, b, h)
        query = q_idx if rows is None else _look_up(rows, b, q_idx // q_size) * q_size + q_idx % q_size
        return mod(component, head, query, kv_idx)

    return mod if components is heads is rows is None else mask_mod


def _look_up(positions: list[Ints], component: Any, index: Array) -> Array:
    """Return ``positions[component][index]``, for arrays on any device."""
    starts = np.cumsum([0, *map(len, positions[:-1])])
    flat, first = (Array(from_host(x, index.device), index.device) for x in (np.concatenate(positions), starts))
    return flat[first[component] + index]
