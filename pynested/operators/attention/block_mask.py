"""Which queries meet which keys, looked at in blocks: what is empty is not computed, what is full needs no mask."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.default_device import chosen_device
from pynested.backends import get_backend
from pynested.backends.errors import ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.construct import nested_array
from pynested.structure import Ints

from .lists import EMPTY, FULL, PARTIAL, Bools, States, listed, outline_of, sizes_of_blocks, states_of
from .mods import PAIR, Block, MaskMod, function_of, noop_mask, seen
from .picked import Whole, picked
from .pictured import pictured


def _lists(state: int, of_keys: bool, at: int, says: str) -> Any:
    """A property: one of the two lists of blocks in this state."""

    def found(self: BlockMask) -> Any:
        return self._lists(lambda states: states == state, of_keys, at)

    return property(found, doc=says)


class BlockMask:
    """Which blocks of queries and keys are empty, partial or full; made by `create_block_mask` and its like.

    ``mask[components, heads, blocks of queries]`` picks: integers, slices, and vectors of integers or bools, each on
    its own. An integer keeps its dimension, of size 1. Blocks of queries are numbered in each component, and the
    function of what is picked is asked about places there.

    Attributes
    ----------
    mask_mod : callable
        The function that it was made of, which partial blocks ask again. It may be replaced by another one, of which
        the blocks are not worked out again.
    BLOCK_SIZE : tuple of int
        Queries and keys of a block; the last one of a component may have fewer.
    shape : tuple
        Components, heads, queries, keys; None where these differ.
    seq_lengths : tuple
        Queries and keys; None where these differ. Others may be assigned that are as many blocks: then only so many
        queries of the last block, and so many keys, are meant.
    blocks : tuple of int8 arrays
        For each component (heads, blocks of queries, blocks of keys): 0 where empty, 1 partial, 2 full. There is one
        head where all are alike.
    kv_num_blocks, kv_indices : Array or NestedArray
        How many partial blocks of keys each block of queries meets, int32 (B, H, rows), and which these are, int32
        (B, H, rows, columns): they stand first, and the others behind them. With ``full_`` before the name those of
        full blocks, and with ``q`` for ``kv`` the blocks of queries that each block of keys meets.

    Notes
    -----
    It lies on the host, and serves operands of every device.

    After `torch.nn.attention.flex_attention.BlockMask`, whose last blocks are as large as the others.

    Examples
    --------
    >>> mask = pn.create_block_mask(lambda b, h, i, j: i >= j, None, None, 6, 6, BLOCK_SIZE=2)
    >>> mask
    BlockMask(shape=(1, 1, 6, 6), BLOCK_SIZE=(2, 2), 3 full, 3 partial and 3 empty blocks, sparsity=33.33%)
    >>> print(mask.to_string())
    (0, 0)
    ░··
    █░·
    ██░
    >>> print(mask[:, :, 1:].to_string())
    (0, 0)
    █░·
    ██░
    """

    def __init__(
        self, mask_mod: MaskMod, extents: Ints, BLOCK_SIZE: tuple[int, int], blocks: Sequence[States], nested: bool
    ) -> None:
        self.mask_mod, self.BLOCK_SIZE, self.blocks, self.nested = mask_mod, BLOCK_SIZE, tuple(blocks), nested
        self.extents = extents  # heads, queries and keys of each component, those of one also where there is none
        extents.setflags(write=False)
        for one in self.blocks:
            one.setflags(write=False)

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
        """A block mask of lists of blocks: for each row of blocks how many there are, and their columns.

        Parameters
        ----------
        kv_num_blocks, kv_indices : array_like or NestedArray
            Partial blocks: integers (B, H, rows) and (B, H, rows, columns), of which dimensions before the rows may be
            left out, or nested. Of each row so many columns count, from the first on; there are as many blocks of keys
            as columns.
        full_kv_num_blocks, full_kv_indices : array_like or NestedArray, optional
            Full blocks in the same way, which ask no function.
        BLOCK_SIZE : int or tuple of int
            Queries and keys of a block.
        mask_mod : callable, optional
            Which pairs of partial blocks meet; by default all.
        seq_lengths : tuple of int, optional
            Queries and keys, if the last blocks have fewer; for nested lists each may be a number per component.

        Raises
        ------
        ArgumentError
            For one of two lists, a block that is listed twice, and a function that is none.
        ShapeError, IndexOutOfRange, DTypeError
            For lists that do not fit each other or the lengths, columns that there are not, and other than integers.

        Notes
        -----
        After `torch.nn.attention.flex_attention.BlockMask.from_kv_blocks`.

        Examples
        --------
        >>> mask = pn.BlockMask.from_kv_blocks([[1, 2]], [[[0, 1], [1, 0]]], BLOCK_SIZE=2)
        >>> print(mask.to_string())
        (0, 0)
        ░·
        ░░
        """
        op = "from_kv_blocks"
        mod = noop_mask if mask_mod is None else function_of(op, "mask_mod", mask_mod, PAIR)
        sizes = sizes_of_blocks(op, BLOCK_SIZE)
        states, nested = states_of((kv_num_blocks, kv_indices), (full_kv_num_blocks, full_kv_indices))
        return cls(mod, outline_of(op, states, sizes, seq_lengths), sizes, states, nested)

    def __getitem__(self, index: Any) -> BlockMask:
        found = picked(index, Whole(self.mask_mod, self.extents, self.BLOCK_SIZE[0], self.blocks))
        return BlockMask(found.mask_mod, found.extents, self.BLOCK_SIZE, found.blocks, self.nested)

    @property
    def shared(self) -> bool:
        """Whether it serves all components, however many there are."""
        return not self.nested and len(self.blocks) == 1

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Components, heads, queries, keys."""
        known = [column[0].item() if (column == column[0]).all() else None for column in self.extents.T]
        return len(self.blocks), known[0], *(known[1:] if self.blocks or not self.nested else (None, None))

    @property
    def seq_lengths(self) -> tuple[int | None, int | None]:
        """Queries and keys."""
        return self.shape[2], self.shape[3]

    @seq_lengths.setter
    def seq_lengths(self, lengths: Any) -> None:
        states = [self._of_each_head(i, one) for i, one in enumerate(self.blocks)]
        self.extents = outline_of("seq_lengths", states, self.BLOCK_SIZE, lengths)
        self.extents.setflags(write=False)

    def numel(self) -> int:
        """How many pairs of queries and keys there are, of all heads of all components."""
        return int(self.extents[: len(self.blocks)].prod(axis=1).sum())

    def counts(self) -> tuple[int, int, int]:
        """How many blocks are empty, partial and full, of all heads of all components."""
        found = np.zeros(3, np.int64)
        for i, states in enumerate(self.blocks):
            found += np.bincount(self._of_each_head(i, states).ravel(), minlength=3)
        return found.item(EMPTY), found.item(PARTIAL), found.item(FULL)

    def sparsity(self) -> float:
        """The share of the blocks that are empty, in percent; 0 where there are no blocks."""
        counts = self.counts()
        return 100 * counts[EMPTY] / max(1, sum(counts))

    def to(self, device: str) -> BlockMask:
        """The mask itself, which lies on the host and serves operands of every device; what its function uses stays."""
        get_backend(device)
        return self

    def to_dense(self) -> Any:
        """Which blocks are computed, as an array of int32, 1 or 0: (B, H, blocks of queries, blocks of keys)."""
        return self._array([(one != EMPTY).astype(np.int32) for one in self._of_all()], 3)

    kv_num_blocks = _lists(PARTIAL, True, 0, "How many partial blocks of keys each block of queries meets.")
    kv_indices = _lists(PARTIAL, True, 1, "Which partial blocks of keys each block of queries meets, these first.")
    full_kv_num_blocks = _lists(FULL, True, 0, "How many full blocks of keys each block of queries meets.")
    full_kv_indices = _lists(FULL, True, 1, "Which full blocks of keys each block of queries meets, these first.")
    q_num_blocks = _lists(PARTIAL, False, 0, "How many partial blocks of queries each block of keys meets.")
    q_indices = _lists(PARTIAL, False, 1, "Which partial blocks of queries each block of keys meets, these first.")
    full_q_num_blocks = _lists(FULL, False, 0, "How many full blocks of queries each block of keys meets.")
    full_q_indices = _lists(FULL, False, 1, "Which full blocks of queries each block of keys meets, these first.")

    def _lists(self, meant: Callable[[States], Bools], of_keys: bool, at: int) -> Any:
        each = [meant(one) for one in self._of_all()]
        return self._array([listed(one if of_keys else one.swapaxes(1, 2))[at] for one in each], 2 + at)

    def _of_all(self) -> list[States]:
        """The blocks of all heads of each component; those of one that there would be where there is none."""
        if self.blocks:
            return [self._of_each_head(i, states) for i, states in enumerate(self.blocks)]
        heads, *lengths = self.extents[0].tolist()
        return [np.zeros((heads, *(-(-n // size) for n, size in zip(lengths, self.BLOCK_SIZE, strict=True))), np.int8)]

    def _of_each_head(self, component: int, states: States) -> States:
        return np.broadcast_to(states, (self.extents[component, 0], *states.shape[1:]))

    def _array(self, each: list[Any], dims: int) -> Any:
        """What there is of each component, as an array of the default device."""
        device = chosen_device(None)
        if self.nested:
            return nested_array(each, device=device)[: len(self.blocks)]
        return Array(from_host(np.stack(each)[: len(self.blocks)], device), device)

    def of(self, component: int, head: int) -> States:
        """The blocks of queries and keys of one head of a component."""
        found = self.blocks[self._place(component)]
        return np.asarray(found[head if len(found) > 1 else 0])

    def _place(self, component: int) -> int:
        """Where what there is for a component lies, which may be the same for all."""
        return 0 if self.shared else component

    def most_met(self, component: int) -> int:
        """The most blocks of keys that a block of queries of a component meets."""
        met = (self.blocks[self._place(component)] != EMPTY).sum(axis=2)
        return int(met.max(initial=0))

    def of_all_heads(self, component: int) -> bool:
        """Whether the blocks of all heads of a component are the same."""
        return len(self.blocks[self._place(component)]) == 1

    def seen(self, op: str, block: Block, device: str) -> Any:
        """What the function says of the pairs of a block: bools, bare; of one head where it is the same for all."""
        place = self._place(block.component)
        heads = range(1) if self.extents[place, 0] == 1 else block.heads
        return seen(op, self.mask_mod, block._replace(component=place, heads=heads), device)

    def check(self, op: str, sizes: Ints, heads: Ints, nested: bool) -> None:
        """Refuse components with other numbers of queries and keys, int64 (B, 2), or other heads than it is for."""
        kind = StructureError if nested else ShapeError
        if not self.shared and len(self.blocks) != len(sizes):
            raise kind(
                f"{op}: block_mask is for {len(self.blocks)} components, and there are {len(sizes)}. Make one of these "
                "operands."
            )
        for i, (pair, count) in enumerate(zip(sizes.tolist(), heads.tolist(), strict=True)):
            own, own_heads = self.extents[self._place(i), 1:].tolist(), len(self.blocks[self._place(i)])
            if pair != own:
                raise kind(
                    f"{op}: block_mask is for {own[0]} queries and {own[1]} keys in component {i}, which has {pair[0]} "
                    f"and {pair[1]}. Make one of these operands."
                )
            if own_heads not in (1, count):
                raise kind(f"{op}: block_mask has {own_heads} heads in component {i}, which has {count}.")

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture: a character for each block, ``·`` empty, ``░`` partial, ``█`` full.

        Parameters
        ----------
        grid_size : int or tuple of int
            The most rows and columns; a character then stands for several blocks, and is partial unless they are alike.
            -1 for one character for each.
        limit : int
            How many pictures, one for each head of each component.
        """
        rows, columns = (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
        heads = [(i, head) for i, one in enumerate(self.blocks) for head in range(len(one))]
        found = [f"({i}, {head})\n{pictured(self.blocks[i][head], rows, columns)}" for i, head in heads[:limit]]
        more = [f"and {len(heads) - limit} more: to_string(limit={len(heads)})"] if len(heads) > limit else []
        return "\n".join([*found, *more])

    def __str__(self) -> str:
        return f"{self!r}\n{self.to_string()}"

    def __repr__(self) -> str:
        empty, partial, full = self.counts()
        return (
            f"BlockMask(shape={self.shape}, BLOCK_SIZE={self.BLOCK_SIZE}, {full} full, {partial} partial and {empty} "
            f"empty blocks, sparsity={self.sparsity():.2f}%)"
        )
