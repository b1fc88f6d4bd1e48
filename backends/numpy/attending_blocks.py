"""Blocks of queries and keys of a part: their scores, which of these count, and what of a product that leaves out."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..heads import Heads
from . import attending_parts as parts
from .attending_parts import Part
from .attending_products import Strips, alike, meeting
from .running import scratch, widened

Array = NDArray[Any]

BLOCK_KEYS = 1024
STRIP = 192  # queries, or keys, of which a product leaves out those that none of them meets: few of them cost more


class Block(NamedTuple):
    """Queries of a part, and keys."""

    start: int
    stop: int
    first: int
    last: int

    @property
    def rows(self) -> slice:
        """The queries."""
        return slice(self.start, self.stop)

    @property
    def columns(self) -> slice:
        """The keys."""
        return slice(self.first, self.last)


def row_blocks(part: Part) -> Iterator[tuple[int, int]]:
    """(first query, query after the last) of each block."""
    *every, queries, _ = part.queries.shape
    keys = min(max(part.keys.shape[-2], 1), BLOCK_KEYS)
    step = max(1, 2 * parts.BLOCK_SCORES // (prod(every) * keys))
    yield from ((start, min(start + step, queries)) for start in range(0, queries, step))


def blocks(part: Part, heads: Heads, start: int, stop: int) -> list[Block]:
    """Queries ``start`` to ``stop`` and the keys that they meet, a block of these at a time."""
    end = met(stop, part.keys.shape[-2], heads)
    return [Block(start, stop, first, min(first + BLOCK_KEYS, end)) for first in range(0, end, BLOCK_KEYS)]


def met(stop: int, keys: int, heads: Heads) -> int:
    """How many of the keys are met by queries before ``stop``."""
    return min(keys, stop) if heads.causal else keys


def scaled(queries: Array, heads: Heads) -> Array:
    """The queries of a block, multiplied before their products with keys could overflow."""
    scale = queries.dtype.type(heads.scale)
    return np.asarray(np.multiply(queries, scale, out=alike("queries", queries, queries.dtype)))


def scores_of(queries: Array, part: Part, heads: Heads, block: Block) -> Array:
    """The scores of scaled queries, -inf where a key is not seen; in the memory of weights where these are kept."""
    scores = all_scores(queries, part, heads, block)
    hide(scores, part, heads, block)
    return scores


def all_scores(queries: Array, part: Part, heads: Heads, block: Block) -> Array:
    """The scores, a mask of floats added, before any is hidden."""
    keys, (rows, columns) = widened(part.keys[..., block.columns, :]), (block.rows, block.columns)
    if part.weights is None:
        out = scratch("scores", (*queries.shape[:-1], block.last - block.first), queries.dtype)
    else:
        out = part.weights[..., rows, columns]
    scores = meeting(queries, keys, strips(block, heads), out)
    if part.mask is not None and part.mask.dtype != np.bool_:
        scores += part.mask[..., rows, columns]
    return scores


def hide(scores: Array, part: Part, heads: Heads, block: Block) -> None:
    """Lower the scores of keys that are not seen to -inf."""
    if part.mask is not None:
        seen = seen_of(part, block)
        if not seen.all():
            np.copyto(scores, -np.inf, where=~seen)
    elif heads.causal and block.last > block.start + 1:
        most = scores.dtype.type(np.inf)
        np.fmin(scores, triangle(block, most, -most), out=scores)  # -most wins over a NaN


def masked(part: Part, heads: Heads) -> bool:
    """Whether there are pairs that may not count."""
    return heads.causal or part.mask is not None


def seen_of(part: Part, block: Block) -> Array:
    """Which pairs of a block count, of a part that is masked."""
    if part.mask is None:
        return triangle(block, True, False)
    mask = part.mask[..., block.rows, block.columns]
    return mask if mask.dtype == np.bool_ else mask != -np.inf


def triangle(block: Block, inside: Any, beyond: Any) -> Array:
    """A matrix of what is inside, where a key is not after the query, and what is beyond."""
    rows, columns = block.stop - block.start, block.last - block.first
    line = np.full(rows + columns, beyond)
    line[: max(0, block.stop - block.first)] = inside  # the last row; each row before it is one step behind
    step = line.itemsize
    return np.ndarray((rows, columns), line.dtype, line, (rows - 1) * step, (-step, step)).copy()


def strips(block: Block, heads: Heads, turned: bool = False) -> Strips | None:
    """Queries, and the keys that any of them meets; ``turned``, keys, and the queries; None if these are all."""
    start, stop, first, last = block
    if not heads.causal or last <= start + 1 or stop - start <= STRIP:
        return None
    if turned:
        cuts = [(i, min(i + STRIP, last)) for i in range(first, last, STRIP)]
        return [(slice(i - first, j - first), slice(max(0, i - start), stop - start)) for i, j in cuts]
    cuts = [(i, min(i + STRIP, stop)) for i in range(start, stop, STRIP)]
    return [(slice(i - start, j - start), slice(0, max(0, min(j, last) - first))) for i, j in cuts]
