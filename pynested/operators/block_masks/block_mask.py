"""`BlockMask`: the active pairs of queries and keys, as a function of pairs and the state of each block of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array, array
from pynested.autograd.arguments.operands import chosen_device
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.arguments.shapes import canonical_index_entry, canonical_slice
from pynested.autograd.default_device_and_dtype import checked_device
from pynested.backends.errors import ArgumentError, ShapeError
from pynested.backends.host import from_host
from pynested.construct import nested_array
from pynested.structure import Ints, regular_sizes
from pynested.structure.extents import make_readonly
from pynested.structure.validation import as_integers

from ..indexing.index_parsing import index_entries, is_array_entry, positions, read_array
from .block_mask_lists import EMPTY, FULL, PARTIAL, States, lists_of_blocks, states_of_lists
from .mask_functions import MASK_PARAMETERS, MaskMod, check_mod, checked_size, checked_size_pair, noop_mask

ALL = slice(None)
CHARACTERS = np.array(["·", "░", "█"])  # empty, partial, full


def _list_property(state: int, listed: str, is_index: bool) -> Any:
    """Return the property for one of PyTorch's eight lists: numbers or indices of blocks of keys, or of queries."""

    def lists(self: BlockMask) -> Any:
        rows = [states if listed == "keys" else states.swapaxes(1, 2) for states in self.states_of_all_heads()]
        return self._array([lists_of_blocks(row == state)[is_index] for row in rows])

    return property(lists, doc="See `BlockMask`.")


class BlockMask:
    """The active pairs of queries and keys, by blocks, each empty, partial or full; `create_block_mask` makes one.

    ``mask[components, heads, blocks of queries]`` selects. An entry is an integer, a slice, or a vector of integers or
    bools. An integer keeps its dimension, of size 1. Blocks of queries are counted in each component from 0. The
    function of the result gets indices that count within the selection. A mask serves operands on every device.

    Attributes
    ----------
    mask_mod : callable
        The function of the mask. Attention calls it again, and uses what it returns for the pairs of partial blocks. If
        it is replaced, the states of the blocks stay.
    BLOCK_SIZE : tuple of int
        The numbers of queries and of keys in a block; the last block of a component may have fewer.
    extents : int64 (components, 3)
        The numbers of heads, queries and keys of each component.
    is_nested : bool
        Whether the mask was made for nested arrays; its lists are nested then.
    blocks : tuple of int8 arrays
        The states of the blocks of each component, (heads, blocks of queries, blocks of keys): 0 for empty, 1 for
        partial, 2 for full. There is one head if the function ignores the head.
    kv_num_blocks, kv_indices : Array or NestedArray
        For each block of queries the number of partial blocks of keys, int32 (B, H, rows), and the indices of all
        blocks of keys, int32 (B, H, rows, columns), of which the first ``kv_num_blocks`` are those of partial blocks.
        Names with ``full_`` list full blocks; names with ``q`` instead of ``kv`` list blocks of queries for each block
        of keys.

    Notes
    -----
    After `torch.nn.attention.flex_attention.BlockMask`; there, the last blocks cannot be smaller than the others.

    Examples
    --------
    >>> mask = pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, BLOCK_SIZE=2)
    >>> mask
    BlockMask(shape=(1, 1, 6, 6), BLOCK_SIZE=(2, 2), 3 full, 3 partial and 3 empty blocks, sparsity=33.33%)
    >>> print(mask[:, :, 1:].to_string())
    (0, 0)
    █░·
    ██░
    """

    def __init__(
        self, mask_mod: MaskMod, extents: Ints, BLOCK_SIZE: tuple[int, int], blocks: Sequence[States], is_nested: bool
    ) -> None:
        self.mask_mod, self.BLOCK_SIZE, self.blocks, self.is_nested = mask_mod, BLOCK_SIZE, tuple(blocks), is_nested
        self.extents = make_readonly(extents)  # heads, queries and keys of each component; one row if there are none
        for states in self.blocks:
            states.setflags(write=False)

    @classmethod
    def from_kv_blocks(
        cls,
        kv_num_blocks: Any,
        kv_indices: Any,
        full_kv_num_blocks: Any = None,
        full_kv_indices: Any = None,
        BLOCK_SIZE: int | tuple[int, int] = 128,
        mask_mod: MaskMod | None = None,
        seq_lengths: Any = None,
    ) -> BlockMask:
        """Return the block mask with these partial and full blocks; each row lists the columns of its blocks.

        Parameters
        ----------
        kv_num_blocks, kv_indices : array_like or NestedArray
            The partial blocks: integers (B, H, rows) and (B, H, rows, columns), dense or nested, with a column for each
            block of keys. B and H can be left out. Of a row, the first ``kv_num_blocks`` indices are used.
        full_kv_num_blocks, full_kv_indices : array_like or NestedArray, optional
            Full blocks in the same way: all of their pairs are active.
        BLOCK_SIZE : int or tuple of int
            The numbers of queries and of keys in a block.
        mask_mod : callable, optional
            The active pairs of partial blocks; by default all.
        seq_lengths : tuple, optional
            The numbers of queries and of keys, if the last blocks are smaller: each an integer, or for nested lists a
            sequence with a number for each component.

        Raises
        ------
        ArgumentError
            For one list of full blocks without the other, a block that is listed twice, and a ``mask_mod`` that is not
            a function.
        ShapeError, IndexOutOfRange, DTypeError, StructureError
            For lists that do not fit each other or the lengths, indices that are no columns, integers beyond int64, and
            anything but integers.

        Examples
        --------
        >>> mask = pn.BlockMask.from_kv_blocks([[1, 2]], [[[0, 1], [1, 0]]], BLOCK_SIZE=2)
        >>> print(mask.to_string())
        (0, 0)
        ░·
        ░░
        """
        op = "from_kv_blocks"
        mask_mod = noop_mask if mask_mod is None else mask_mod
        check_mod(op, "mask_mod", mask_mod, MASK_PARAMETERS)
        block_size = q_size, kv_size = checked_size_pair(op, "BLOCK_SIZE", BLOCK_SIZE, 1)
        blocks, is_nested = states_of_lists(kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices)
        shapes = [states.shape for states in blocks] or [(0, 0, 0)]
        extents = [(heads, rows * q_size, columns * kv_size) for heads, rows, columns in shapes]
        mask = cls(mask_mod, as_integers(op, "the shape by BLOCK_SIZE", extents), block_size, blocks, is_nested)
        if seq_lengths is not None:
            mask._set_lengths(op, seq_lengths)
        return mask

    def __getitem__(self, index: Any) -> BlockMask:
        entries = index_entries(index)
        if len(entries) > 3 or any(entry is None or entry is ... for entry in entries):
            raise ArgumentError(
                "a block mask is indexed by components, heads and blocks of queries, with integers, slices and vectors "
                f"of integers or bools, not by {value_text(index)}."
            )
        of_components, of_heads, of_rows = entries = [*entries, ALL, ALL][:3]
        components = _selected(of_components, len(self.blocks), "the components of a block mask")
        if not len(components):
            return BlockMask(self.mask_mod, self.extents[:1], self.BLOCK_SIZE, [], self.is_nested)
        q_size, selected = self.BLOCK_SIZE[0], []
        for i in components.tolist():
            states, (num_heads, num_queries, num_keys) = self.blocks[i], self.extents[i].tolist()
            heads = _selected(of_heads, num_heads, f"the heads of component {i} of a block mask")
            rows = _selected(of_rows, states.shape[1], f"the blocks of queries of component {i} of a block mask")
            last, size_of_last = states.shape[1] - 1, num_queries % q_size or q_size
            if size_of_last < q_size and last in rows[:-1]:
                raise ArgumentError(
                    f"block {last} of queries of component {i} has {size_of_last} queries, the others {q_size}: it can "
                    "only be the last one that an index of a block mask selects."
                )
            queries = (rows[:, None] * q_size + np.arange(min(q_size, num_queries))).reshape(-1)
            queries = queries[queries < num_queries]
            if not _is_all(of_heads):
                states = np.broadcast_to(states, (num_heads, *states.shape[1:]))[heads]
            selected.append((heads, queries, (len(heads), len(queries), num_keys), states[:, rows]))
        all_heads, all_queries, extents, blocks = zip(*selected, strict=True)
        mask_mod = self.mask_mod
        if not all(map(_is_all, entries)):
            heads_or_all = None if _is_all(of_heads) else all_heads
            mask_mod = _function_of_selected(mask_mod, components, heads_or_all, all_queries)
        return BlockMask(mask_mod, np.array(extents, np.int64), self.BLOCK_SIZE, blocks, self.is_nested)

    # ---- sizes and lists ----

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Components, heads, queries, keys; None for sizes that differ."""
        return len(self.blocks), *regular_sizes(self.extents)

    @property
    def seq_lengths(self) -> tuple[int | None, int | None]:
        """The numbers of queries and keys; None if components differ. Lengths with as many blocks can be assigned."""
        return self.shape[2], self.shape[3]

    @seq_lengths.setter
    def seq_lengths(self, lengths: Any) -> None:
        self._set_lengths("BlockMask", lengths)

    def _set_lengths(self, op: str, lengths: Any) -> None:
        count = len(self.blocks)
        if not isinstance(lengths, Sequence) or len(lengths) != 2:
            raise ArgumentError(
                f"{op}: seq_lengths must be a pair, of queries and of keys, not {value_text(lengths)}; for nested "
                "lists each of the two may have a number for each component."
            )
        extents = self.extents.copy()
        for axis, (unit, size) in enumerate(zip(("queries", "keys"), self.BLOCK_SIZE, strict=True), 1):
            numbers = as_integers(op, "seq_lengths", lengths[axis - 1])
            if numbers.shape not in ((), (count,)):
                raise ShapeError(f"{op}: seq_lengths has shape {numbers.shape} for {count} components.")
            extents[:count, axis] = numbers
            old_blocks, new_blocks = (-(-table[:count, axis] // size) for table in (self.extents, extents))
            wrong = np.flatnonzero((extents[:count, axis] < 0) | (new_blocks != old_blocks))
            if wrong.size:
                i = wrong[0]
                raise ShapeError(
                    f"{op}: seq_lengths has {extents[i, axis]} {unit} for component {i}; they must make "
                    f"{old_blocks[i]} blocks of {size}."
                )
        self.extents = make_readonly(extents)

    def numel(self) -> int:
        """Return the number of pairs of queries and keys, of all heads of all components."""
        return sum(map(prod, self.extents[: len(self.blocks)].tolist()))

    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of empty, partial and full blocks, of all heads of all components."""
        blocks = self.states_of_all_heads()[: len(self.blocks)]
        empty, partial, full = [sum(int((x == state).sum()) for x in blocks) for state in (EMPTY, PARTIAL, FULL)]
        return empty, partial, full

    def sparsity(self) -> float:
        """Return the share of the blocks that are empty, in percent; 0 without blocks."""
        counts = self.counts()
        return 100 * counts[EMPTY] / max(1, sum(counts))

    def to(self, device: str) -> BlockMask:
        """Return the mask itself, which serves operands on every device; arrays that its function uses stay."""
        checked_device("to", device)
        return self

    def to_dense(self) -> Any:
        """Return 0 for empty blocks and 1 for others: int32 (B, H, blocks of queries, blocks of keys)."""
        return self._array([(states != EMPTY).astype(np.int32) for states in self.states_of_all_heads()])

    kv_num_blocks = _list_property(PARTIAL, "keys", is_index=False)
    kv_indices = _list_property(PARTIAL, "keys", is_index=True)
    full_kv_num_blocks = _list_property(FULL, "keys", is_index=False)
    full_kv_indices = _list_property(FULL, "keys", is_index=True)
    q_num_blocks = _list_property(PARTIAL, "queries", is_index=False)
    q_indices = _list_property(PARTIAL, "queries", is_index=True)
    full_q_num_blocks = _list_property(FULL, "queries", is_index=False)
    full_q_indices = _list_property(FULL, "queries", is_index=True)

    def states_of_all_heads(self) -> list[States]:
        """Return the states of each component, (heads, rows, columns). No components count as one of empty blocks."""
        sizes = np.maximum(self.extents, 0)  # unknown sizes are -1
        blocks = self.blocks or [np.zeros((1, *-(-sizes[0, 1:] // self.BLOCK_SIZE)), np.int8)]
        return [np.broadcast_to(x, (heads, *x.shape[1:])) for x, heads in zip(blocks, sizes[:, 0], strict=True)]

    def _array(self, components: list[Any]) -> Any:
        """Return an array of the default device, nested if the mask is."""
        device = chosen_device("BlockMask", None)
        if self.is_nested:
            return nested_array(components, device=device)[: len(self.blocks)]
        return Array(from_host(np.stack(components)[: len(self.blocks)], device), device)

    # ---- text ----

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Return a picture: a character for each block, ``·`` empty, ``░`` partial, ``█`` full.

        A picture has at most ``grid_size`` rows and columns. A character can stand for several blocks; it is partial
        unless they have the same state. With -1 each block has a character. ``limit`` is the greatest number of
        pictures: one for each head of each component, or one for all heads if `blocks` has one.
        """
        most = checked_size_pair("to_string", "grid_size", grid_size, -1)
        limit = checked_size("to_string", "limit", limit)
        grids = [(f"({i}, {head})", grid) for i, heads in enumerate(self.blocks) for head, grid in enumerate(heads)]
        lines = []
        for title, grid in grids[:limit]:
            rows = ["".join(row) for row in CHARACTERS[coarse_states(grid, *most)]]
            lines += [title, *(rows if grid.size else [""])]
        if len(grids) > limit:
            lines.append(f"and {len(grids) - limit} more: to_string(limit={len(grids)})")
        return "\n".join(lines)

    def __str__(self) -> str:
        return f"{self!r}\n{self.to_string()}"

    def __repr__(self) -> str:
        empty, partial, full = self.counts()
        return (
            f"BlockMask(shape={self.shape}, BLOCK_SIZE={self.BLOCK_SIZE}, {full} full, {partial} partial and {empty} "
            f"empty blocks, sparsity={self.sparsity():.2f}%)"
        )


def coarse_states(states: States, max_rows: int, max_columns: int) -> States:
    """Merge adjacent blocks until there are at most so many rows and columns of states; -1 keeps all."""
    limits = zip(states.shape, (max_rows, max_columns), strict=True)
    return merged_states(states, *[1 if limit < 0 else -(-size // max(1, limit)) for size, limit in limits])


def merged_states(states: States, rows_per_block: int, columns_per_block: int) -> States:
    """Merge blocks of adjacent states; a merged state is partial unless all states in the block are equal."""
    for axis, size in (-1, columns_per_block), (-2, rows_per_block):
        starts = np.arange(0, states.shape[axis], max(1, size))
        least, most = np.minimum.reduceat(states, starts, axis), np.maximum.reduceat(states, starts, axis)
        states = np.where(least == most, least, np.int8(PARTIAL))
    return states


# ---- indices --------------------------------------------------------------------------------------------------------


def _selected(entry: Any, size: int, axis_text: str) -> Ints:
    """Return the positions that an entry of an index selects along an axis of this size."""
    if isinstance(entry, slice):
        return np.arange(size)[canonical_slice(entry)]
    vector = entry if is_array_entry(entry) else [canonical_index_entry(entry)]
    return positions(axis_text, read_array(vector, entry), size)


def _is_all(entry: Any) -> bool:
    return isinstance(entry, slice) and entry == ALL


def _function_of_selected(
    mod: MaskMod, components: Ints, heads: Sequence[Ints] | None, queries: Sequence[Ints]
) -> MaskMod:
    """Return the function of selected pairs: it calls ``mod`` with their indices in the whole mask.

    ``heads`` and ``queries`` have a vector of indices for each selected component; None stands for all heads, also
    those of operands that have more heads than the mask.
    """
    component_table: Any = array(components)
    head_table: Any = None if heads is None else nested_array(heads)
    query_table: Any = nested_array(queries)

    def mask_mod(b: Array, h: Array, q_idx: Array, kv_idx: Array) -> Array:
        if head_table is not None:
            h = head_table.to(device=b.device)[b, h]
        return mod(component_table.to(device=b.device)[b], h, query_table.to(device=b.device)[b, q_idx], kv_idx)

    return mask_mod
