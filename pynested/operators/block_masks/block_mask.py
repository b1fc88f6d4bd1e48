"""`BlockMask`: the active pairs of queries and keys, as a function of pairs and the state of each block of pairs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import chosen_device
from pynested.backends import get_backend
from pynested.backends.host import from_host
from pynested.construct import nested_array
from pynested.structure import Ints, regular_sizes
from pynested.structure.extents import make_readonly

from .block_mask_indexing import select_blocks
from .block_mask_lists import (
    EMPTY,
    FULL,
    PARTIAL,
    States,
    coarse_states,
    extents_of_blocks,
    lists_of_blocks,
    states_of_lists,
)
from .mask_functions import MASK_PARAMETERS, MaskMod, check_function, checked_block_size, noop_mask

CHARACTERS = np.array(["·", "░", "█"])  # empty, partial, full


def _list_property(state: int, listed: str, is_index: bool) -> Any:
    """Return a property: PyTorch's list of the blocks of keys, or of queries, in a state, as numbers or as indices."""

    def lists(self: BlockMask) -> Any:
        rows = [states if listed == "keys" else states.swapaxes(1, 2) for states in self.states_of_all_heads()]
        return self._array([lists_of_blocks(row == state)[is_index] for row in rows])

    kind, other = "full" if state == FULL else "partial", "keys" if listed == "queries" else "queries"
    text = f"{'Indices' if is_index else 'Number'} of {kind} blocks of {listed} for each block of {other}."
    return property(lists, doc=text)


class BlockMask:
    """The active pairs of queries and keys, by blocks, each empty, partial or full; `create_block_mask` makes one.

    ``mask[components, heads, blocks of queries]`` selects. An entry is an integer, a slice, or a vector of integers or
    bools. An integer keeps its dimension, of size 1. Blocks of queries are numbered in each component. The function of
    the result gets indices into what was selected. A block mask is stored on the host, and serves operands on every
    device.

    Attributes
    ----------
    mask_mod : callable
        The function of the mask, which is called again for partial blocks. If it is replaced, the states of the blocks
        stay.
    BLOCK_SIZE : tuple of int
        Queries and keys of a block; the last one of a component may have fewer.
    shape : tuple
        Components, heads, queries, keys; None for sizes that differ.
    seq_lengths : tuple
        Queries and keys; None for lengths that differ. Other lengths can be assigned if they have as many blocks.
    blocks : tuple of int8 arrays
        The states of the blocks of each component, (heads, blocks of queries, blocks of keys): 0 for empty, 1 for
        partial, 2 for full. If all heads have the same states, there is one head.
    kv_num_blocks, kv_indices : Array or NestedArray
        The number of partial blocks of keys for each block of queries, int32 (B, H, rows), and the indices of all
        blocks of keys, int32 (B, H, rows, columns), those of partial blocks first. The names that begin with ``full_``
        are the lists of full blocks. The names with ``q`` instead of ``kv`` list blocks of queries for each block of
        keys.

    Notes
    -----
    After `torch.nn.attention.flex_attention.BlockMask`, whose last blocks are as large as the others.

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
        self.extents = make_readonly(extents)  # heads, queries and keys of each component; one row without components
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
        """Return the block mask of two lists of blocks: the number of blocks in each row, and their columns.

        Parameters
        ----------
        kv_num_blocks, kv_indices : array_like or NestedArray
            The partial blocks: integers (B, H, rows) and (B, H, rows, columns), dense or nested. B and H can be left
            out. The first ``kv_num_blocks`` indices of a row are listed, the others are ignored. The number of columns
            is the number of blocks of keys.
        full_kv_num_blocks, full_kv_indices : array_like or NestedArray, optional
            Full blocks in the same way: all of their pairs are active.
        BLOCK_SIZE : int or tuple of int
            Queries and keys of a block.
        mask_mod : callable, optional
            The active pairs of partial blocks; by default all.
        seq_lengths : tuple of int, optional
            Queries and keys, if the last blocks have fewer; for nested lists each may be a number per component.

        Raises
        ------
        ArgumentError
            For one of two lists, a block that is listed twice, and a ``mask_mod`` that is not a function.
        ShapeError, IndexOutOfRange, DTypeError
            For lists that do not fit each other or the lengths, indices out of range, and dtypes that are not integers.

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
        check_function(op, "mask_mod", mask_mod, MASK_PARAMETERS)
        block_size = checked_block_size(op, BLOCK_SIZE)
        states, is_nested = states_of_lists(
            {"kv_num_blocks": kv_num_blocks, "kv_indices": kv_indices},
            {"full_kv_num_blocks": full_kv_num_blocks, "full_kv_indices": full_kv_indices},
        )
        return cls(mask_mod, extents_of_blocks(op, states, block_size, seq_lengths), block_size, states, is_nested)

    def __getitem__(self, index: Any) -> BlockMask:
        mask_mod, extents, blocks = select_blocks(index, self.mask_mod, self.extents, self.BLOCK_SIZE[0], self.blocks)
        return BlockMask(mask_mod, extents, self.BLOCK_SIZE, blocks, self.is_nested)

    # ---- sizes and lists ----

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Components, heads, queries, keys; None for sizes that differ."""
        return len(self.blocks), *regular_sizes(self.extents)

    @property
    def seq_lengths(self) -> tuple[int | None, int | None]:
        """Queries and keys; None for lengths that differ."""
        return self.shape[2], self.shape[3]

    @seq_lengths.setter
    def seq_lengths(self, lengths: Any) -> None:
        states = self.states_of_all_heads() if self.blocks else []
        self.extents = make_readonly(extents_of_blocks("seq_lengths", states, self.BLOCK_SIZE, lengths))

    def numel(self) -> int:
        """Return the number of pairs of queries and keys, of all heads of all components."""
        return int(self.extents[: len(self.blocks)].prod(axis=1).sum())

    def counts(self) -> tuple[int, int, int]:
        """Return the numbers of empty, partial and full blocks, of all heads of all components."""
        states = [states.ravel() for states in self.states_of_all_heads()[: len(self.blocks)]]
        empty, partial, full = np.bincount(np.concatenate([np.zeros(0, np.int8), *states]), minlength=3).tolist()
        return empty, partial, full

    def sparsity(self) -> float:
        """Return the share of the blocks that are empty, in percent; 0 without blocks."""
        counts = self.counts()
        return 100 * counts[EMPTY] / max(1, sum(counts))

    def to(self, device: str) -> BlockMask:
        """Return the mask itself, which serves operands on every device; arrays that its function uses stay."""
        get_backend(device)
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
        """Return (heads, rows, columns) for each component; without components, for one without active pairs."""
        blocks = self.blocks
        if not blocks:
            rows, columns = (-(-self.extents[0, 1:] // self.BLOCK_SIZE)).tolist()
            blocks = (np.zeros((1, rows, columns), np.int8),)
        heads = self.extents[:, 0].tolist()
        return [np.broadcast_to(x, (count, *x.shape[1:])) for x, count in zip(blocks, heads, strict=True)]

    def _array(self, components: list[Any]) -> Any:
        """Return an array of the default device, nested if the mask is."""
        device = chosen_device(None)
        if self.is_nested:
            return nested_array(components, device=device)[: len(self.blocks)]
        return Array(from_host(np.stack(components)[: len(self.blocks)], device), device)

    # ---- text ----

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """Return a picture: a character for each block, ``·`` empty, ``░`` partial, ``█`` full.

        Parameters
        ----------
        grid_size : int or tuple of int
            The greatest numbers of rows and columns. A character can stand for several blocks; it is partial unless
            they have the same state. With -1 each block has a character.
        limit : int
            The number of pictures, one for each head of each component.
        """
        most = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        grids = [(f"({i}, {head})", grid) for i, heads in enumerate(self.blocks) for head, grid in enumerate(heads)]
        lines = []
        for title, grid in grids[:limit]:
            rows = ["".join(row) for row in CHARACTERS[coarse_states(grid, *most)]]
            lines += [title, *(rows or [""])]
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
