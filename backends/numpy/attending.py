"""Attention in blocks: scores are there for a block of queries and keys at a time, and a softmax runs along with them.

A block of keys may raise the maximum of a query; what was added before is then scaled down. Where all weights of a call
that is recorded are few, they are kept for the adjoint, which otherwise works them out again.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..heads import Heads
from ..memory import empty
from . import attending_blocks as blockwise
from .attending_blocks import Block, all_scores, blocks, hide, masked, row_blocks, scaled, scores_of, seen_of, strips
from .attending_parts import Part, Taken, jobs, parted, places_of, put_back
from .attending_products import alike, finite, greatest, mild, mixed, sums
from .elementwise import where
from .running import quiet, run, widened

Array = NDArray[Any]

KEPT_WEIGHTS = 64 * 1024 * 1024  # bytes, of a call


@quiet
def attention(
    q: Array, k: Array, v: Array, mask: Array | None, heads: Heads, recorded: bool = True, /
) -> tuple[Array, Array | None]:
    """Flat buffers -> the result, flat, and of a call that is recorded what the adjoint needs.

    That is all weights, if they are kept, otherwise of each query the logarithm of the sum of its exponentials.
    """
    out, saved, dtype = empty((heads.rows * heads.value_width,), q.dtype), None, computing_dtype(q.dtype)
    if recorded:
        saved = empty((heads.pairs if _keeps(heads, dtype) else heads.rows,), dtype)
    buffers, written = (*contiguous(q, k, v, mask), out, *read(saved, heads)), ("results", "log_sums")

    def work(taken: Taken) -> None:
        places = places_of(heads, taken)
        part = parted(buffers, places, "given", written)
        for start, stop in row_blocks(part):
            _attend(part, heads, start, stop)
        put_back(part, buffers, places, written)

    run(work, jobs(heads), heads.pairs * q.itemsize)
    return out, saved


def contiguous(*buffers: Array | None) -> tuple[Any, ...]:
    """The buffers, or copies of them, without gaps."""
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def read(saved: Array | None, heads: Heads) -> tuple[Array | None, Array | None]:
    """Log sums, weights: one of them is saved, or nothing is."""
    if saved is None:
        return None, None
    return (None, saved) if _keeps(heads, saved.dtype) else (saved, None)


def _keeps(heads: Heads, dtype: np.dtype[Any]) -> bool:
    """Whether weights are kept: where they are few, and the keys of each component are one block."""
    one = heads.sizes[:, 3].max(initial=0) <= blockwise.BLOCK_KEYS
    return bool(one) and heads.pairs * dtype.itemsize <= KEPT_WEIGHTS


def _attend(part: Part, heads: Heads, start: int, stop: int) -> None:
    """The results of a block of queries."""
    rows = slice(start, stop)
    queries, results = scaled(widened(part.queries[..., rows, :]), heads), part.results[..., rows, :]
    found, log_sums = blocks(part, heads, start, stop), None
    if len(found) > 1:
        log_sums = _attend_by_blocks(queries, results, part, heads, found)
    elif found:
        log_sums = _attend_at_once(queries, results, part, heads, found[0])
    else:
        results[...] = 0
    if part.log_sums is not None and log_sums is not None:
        part.log_sums[..., rows, :] = log_sums


def _attend_at_once(queries: Array, results: Array, part: Part, heads: Heads, block: Block) -> Array | None:
    """The results of queries that meet one block of keys, and log sums where they are saved."""
    scores, base = all_scores(queries, part, heads, block), np.asarray(0, queries.dtype)
    small = mild(scores)
    hide(scores, part, heads, block)
    if not small.all():
        base = where(small, scores.dtype.type(0), _base(greatest(scores)))
        scores -= base
    weights = np.exp(scores, out=scores)
    total = _divisor(sums(weights), part, heads, block)
    weights /= total
    same = results.dtype == weights.dtype
    found = _mixed_values(weights, part, heads, block, results if same else None)
    if not same:
        np.copyto(results, found, casting="same_kind")
    return None if part.log_sums is None else np.asarray(base + np.log(total))


def _attend_by_blocks(queries: Array, results: Array, part: Part, heads: Heads, found: list[Block]) -> Array:
    """The results of queries that meet several blocks of keys, divided at the end, and log sums."""
    top: Any = queries.dtype.type(-np.inf)
    base: Any = 0
    total: Any = 0
    added: Any = 0
    for block in found:
        scores = scores_of(queries, part, heads, block)
        new = np.maximum(top, greatest(scores))
        base = _base(new)
        weights = np.exp(np.subtract(scores, base, out=scores), out=scores)
        shrink = np.exp(top - base)
        total = sums(weights) + total * shrink
        made = alike("product" if block.first else "added", results, weights.dtype)
        product = _mixed_values(weights, part, heads, block, made)
        if block.first:
            added *= shrink
            added += product
        else:
            added = product
        top = new
    total = _divisor(total, part, heads, found[-1]._replace(first=0))
    divisor = alike("divisor", results[..., :1], total.dtype)  # or the pass takes three times as long
    np.copyto(divisor, total)
    np.divide(added, divisor, out=results, casting="same_kind")
    return np.asarray(base + np.log(total))


def _base(top: Array) -> Array:
    """What scores are lowered by before they are exponentiated: their maximum, a number where nothing counts so far."""
    return np.asarray(np.maximum(top, np.finfo(top.dtype).min))


def _divisor(total: Array, part: Part, heads: Heads, block: Block) -> Array:
    """The sums of exponentials; instead of 0, 1 of queries that meet no key, NaN where they meet nothing but -inf."""
    if total.all():
        return total
    met = not masked(part, heads) or seen_of(part, block).any(axis=-1, keepdims=True)
    divisor: Array = where(total == 0, where(met, np.nan, 1).astype(total.dtype), total)
    return divisor


def _mixed_values(weights: Array, part: Part, heads: Heads, block: Block, out: Array | None) -> Array:
    """The values of a block of keys, mixed by the weights of a block of queries."""
    values = widened(part.values[..., block.columns, :])
    seen = seen_of(part, block) if masked(part, heads) and not finite(values) else None
    return mixed(weights, values, seen, strips(block, heads), out)
