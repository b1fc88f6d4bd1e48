"""Indexing of block masks by components, heads and blocks of queries."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.arguments.shapes import canonical_index_entry, canonical_slice
from pynested.backends.errors import ArgumentError
from pynested.backends.host import from_host
from pynested.structure import Ints

from ..indexing.index_parsing import index_entries, is_array_entry, positions, read_array
from .block_mask_lists import States
from .mask_functions import MaskMod

ALL = slice(None)


def select_blocks(
    index: Any, mask_mod: MaskMod, extents: Ints, q_size: int, blocks: tuple[States, ...]
) -> tuple[MaskMod, Ints, list[States]]:
    """Return function, extents and states of the selected blocks; an integer keeps its dimension, of size 1.

    ``q_size`` is the number of queries of a block.
    """
    entries = index_entries(index)
    if len(entries) > 3:
        raise ArgumentError(
            f"a block mask is indexed by components, heads and blocks of queries, not by {len(entries)} entries."
        )
    entries = [*entries, ALL, ALL][:3]
    components = _selected(entries[0], len(blocks), "the components of a block mask")
    if not len(components):
        return mask_mod, extents[:1], []
    all_heads, all_rows, selected_extents, selected_blocks = [], [], [], []
    for i in components.tolist():
        num_heads, queries, keys = extents[i].tolist()
        heads = _selected(entries[1], num_heads, f"the heads of component {i} of a block mask")
        num_rows = blocks[i].shape[1]
        rows = _selected(entries[2], num_rows, f"the blocks of queries of component {i} of a block mask")
        is_same_for_heads = len(blocks[i]) == 1 != num_heads
        selected_blocks.append(blocks[i][slice(len(heads)) if is_same_for_heads else heads][:, rows])
        selected_extents.append((len(heads), _num_queries(rows, queries, q_size, i), keys))
        all_heads.append(heads)
        all_rows.append(rows)
    if any(not isinstance(entry, slice) or entry != ALL for entry in entries):
        mask_mod = _function_of_selected(mask_mod, components, all_heads, all_rows, q_size)
    return mask_mod, np.array(selected_extents, np.int64), selected_blocks


def _selected(entry: Any, size: int, axis_text: str) -> Ints:
    """Return the positions that an entry of an index selects along an axis of this size."""
    if isinstance(entry, slice):
        return np.arange(size)[canonical_slice(entry)]
    if entry is None or entry is ...:
        raise ArgumentError(
            f"an index of a block mask has integers, slices and vectors of integers or bools, not {value_text(entry)}."
        )
    vector = entry if is_array_entry(entry) else [canonical_index_entry(entry)]
    return positions(axis_text, read_array(vector, entry), size)


def _num_queries(rows: Ints, queries: int, q_size: int, component: int) -> int:
    """Return the number of queries of the selected blocks.

    If the last block of the component has fewer queries than the others, it must be the last one that is selected.
    """
    missing = -queries % q_size
    last = -(-queries // q_size) - 1
    if missing and (rows[:-1] == last).any():
        raise ArgumentError(
            f"block {last} of queries of component {component} has {q_size - missing} queries, the others {q_size}: an "
            "index of a block mask can have it at its end only."
        )
    return len(rows) * q_size - (missing if len(rows) and rows[-1] == last else 0)


def _function_of_selected(
    mod: MaskMod, components: Ints, all_heads: list[Ints], all_rows: list[Ints], q_size: int
) -> MaskMod:
    """Return the function that calls ``mod`` with the indices that selected pairs have in the whole mask.

    The selected heads and rows of blocks are vectors for each selected component.
    """

    def mask_mod(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        query = _look_up(all_rows, b, q_idx // q_size) * q_size + q_idx % q_size
        return mod(_look_up([components], 0, b), _look_up(all_heads, b, h), query, kv_idx)

    return mask_mod


def _look_up(vectors: list[Ints], component: Any, index: Array) -> Array:
    """Return ``vectors[component][index]``, for arrays on any device."""
    starts = np.cumsum([0, *map(len, vectors[:-1])])
    flat, first = (Array(from_host(x, index.device), index.device) for x in (np.concatenate(vectors), starts))
    return flat[first[component] + index]
