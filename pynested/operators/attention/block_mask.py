"""Which queries meet which keys, looked at in blocks: what is empty is not computed, what is full needs no mask."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.backends.errors import ShapeError, StructureError
from pynested.structure import Ints

from .mods import Block, MaskMod, seen

EMPTY, PARTIAL, FULL = 0, 1, 2
PICTURE = np.array(["·", "░", "█"])
States = NDArray[np.int8]


class BlockMask:
    """Which blocks of queries and keys are empty, partial or full; made by `create_block_mask` and its like.

    Attributes
    ----------
    mask_mod : callable
        The function that it was made of, which partial blocks ask again.
    BLOCK_SIZE : tuple of int
        Queries and keys of a block; the last one of a component may have fewer.
    shape : tuple
        Components, heads (1 if the mask is the same for all), queries, keys; None where these differ.
    blocks : tuple of int8 arrays
        For each component (heads, blocks of queries, blocks of keys): 0 where empty, 1 partial, 2 full.

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
    """

    def __init__(
        self, mask_mod: MaskMod, sizes: Ints, BLOCK_SIZE: tuple[int, int], blocks: tuple[States, ...], shared: bool
    ) -> None:
        self.mask_mod, self.sizes, self.BLOCK_SIZE, self.blocks = mask_mod, sizes, BLOCK_SIZE, blocks
        self.shared = shared  # by all components, however many there are
        sizes.setflags(write=False)
        for one in blocks:
            one.setflags(write=False)

    @property
    def shape(self) -> tuple[int | None, ...]:
        """Components, heads, queries, keys."""
        heads, *pair = (set(column) for column in ([len(one) for one in self.blocks], *self.sizes.T.tolist()))
        return len(self.blocks), max(heads, default=1), *[one.pop() if len(one) == 1 else None for one in pair]

    def counts(self) -> tuple[int, int, int]:
        """How many blocks are empty, partial and full."""
        found = sum((np.bincount(one.ravel(), minlength=3) for one in self.blocks), start=np.zeros(3, np.int64))
        return found.item(EMPTY), found.item(PARTIAL), found.item(FULL)

    def sparsity(self) -> float:
        """The share of the blocks that are empty, in percent; 0 where there are no blocks."""
        counts = self.counts()
        return 100 * counts[EMPTY] / max(1, sum(counts))

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
        heads = range(1) if self.of_all_heads(block.component) else block.heads
        asked = block._replace(component=self._place(block.component), heads=heads)
        return seen(op, self.mask_mod, asked, device)

    def check(self, op: str, sizes: Ints, heads: Ints, nested: bool) -> None:
        """Refuse components with other numbers of queries and keys, int64 (B, 2), or other heads than it is for."""
        kind = StructureError if nested else ShapeError
        if not self.shared and len(self.blocks) != len(sizes):
            raise kind(
                f"{op}: block_mask is for {len(self.blocks)} components, and there are {len(sizes)}. Make one of these "
                "operands."
            )
        for i, (pair, count) in enumerate(zip(sizes.tolist(), heads.tolist(), strict=True)):
            own, own_heads = self.sizes[self._place(i)].tolist(), len(self.blocks[self._place(i)])
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
        found = [f"({i}, {head})\n{_picture(self.blocks[i][head], rows, columns)}" for i, head in heads[:limit]]
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


def _picture(states: States, rows: int, columns: int) -> str:
    return "\n".join("".join(line) for line in PICTURE[reduced(states, rows, columns)])


def reduced(states: States, rows: int, columns: int) -> States:
    """At most so many rows and columns, -1 for as many as there are; blocks that become one are partial or alike."""
    pairs = zip(states.shape, (rows, columns), strict=True)
    steps = [1 if most < 0 else -(-size // max(1, most)) or 1 for size, most in pairs]
    starts = [np.arange(0, size, step) for size, step in zip(states.shape, steps, strict=True)]
    if not states.size:
        return states[:0]
    least, most = (
        f.reduceat(f.reduceat(states, starts[0], axis=0), starts[1], axis=1) for f in (np.minimum, np.maximum)
    )
    return np.where(least == most, least, PARTIAL).astype(np.int8)
