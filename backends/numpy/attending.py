"""Attention in blocks: scores are there for a block of queries and keys at a time, and a softmax runs along with them.

A block of keys may raise the maximum of a query; what was added before is then scaled down. The adjoint needs maximum
and total of each query, and computes the scores again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..heads import Heads
from ..memory import empty
from .running import THREADS, quiet, run, scratch, widened

Array = NDArray[Any]

BLOCK_SCORES = 1 << 18  # of the heads that are taken together: few enough for a cache, enough for BLAS
BLOCK_KEYS = 1024


class Part(NamedTuple):
    """Heads of one component: matrices of queries (K, G, L, E), of which G share keys and values (K, 1, S, ...)."""

    queries: Array
    keys: Array
    values: Array
    mask: Array | None
    results: Array
    maxima: Array  # (K, G, L, 1), as are the totals
    totals: Array


@quiet
def attention(q: Array, k: Array, v: Array, mask: Array | None, heads: Heads, /) -> tuple[Array, Array]:
    """Flat buffers -> the result, flat, and of each query the maximum of its scores and the total of its weights."""
    out = empty((heads.rows * heads.value_width,), q.dtype)
    saved = np.empty((2, heads.rows), computing_dtype(q.dtype))
    buffers = (*_contiguous(q, k, v, mask), out, *saved)

    def work(i: int, first: int, last: int) -> None:
        part = _part(buffers, heads, i, first, last)
        for start, stop in _row_blocks(part):
            _attend(part, heads, start, stop)

    run(work, list(_jobs(heads)), heads.pairs * q.itemsize)
    return out, saved


def _attend(part: Part, heads: Heads, start: int, stop: int) -> None:
    """The results of a block of queries."""
    rows = slice(start, stop)
    queries = widened(part.queries[:, :, rows]) * part.maxima.dtype.type(heads.scale)
    top: Any = part.maxima.dtype.type(-np.inf)
    total: Any = 0
    added: Any = 0
    met: Any = False
    for first, last in _key_blocks(part, heads, stop):
        scores, seen = _scores(queries, part, heads, start, first, last)
        new = np.maximum(top, scores.max(axis=-1, keepdims=True))
        base = np.where(new == -np.inf, 0, new)  # nothing that counts so far
        weights = np.exp(np.subtract(scores, base, out=scores), out=scores)
        shrink = np.exp(top - base)
        total = total * shrink + weights.sum(axis=-1, keepdims=True)
        added = added * shrink + mixed(weights, widened(part.values[:, :, first:last]), seen)
        top, met = new, True if seen is None else met | seen.any(axis=-1, keepdims=True)
    total = np.where((top == -np.inf) & met, np.nan, total)  # a softmax of nothing but -inf
    part.maxima[:, :, rows], part.totals[:, :, rows] = top, total
    part.results[:, :, rows] = added / np.where(total == 0, 1, total)


@quiet
def attention_backward(
    cotangent: Array,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    out: Array,
    saved: Array,
    heads: Heads,
    with_mask: bool,
    /,
) -> tuple[Array, Array, Array, Array | None]:
    """The cotangents of q, k and v, and of a mask of floats where that is wanted, each as long as its buffer."""
    given = _contiguous(q, k, v, mask, cotangent)
    pulled = [np.zeros(x.shape, saved.dtype) for x in (q, k, v)]
    of_mask = np.zeros(mask.shape, saved.dtype) if with_mask and mask is not None else None
    buffers = *given[:4], np.ascontiguousarray(out), *saved

    def work(i: int, first: int, last: int) -> None:
        part = _part(buffers, heads, i, first, last)
        slopes = _part((*pulled, of_mask, given[4], *saved), heads, i, first, last)
        for start, stop in _row_blocks(part):
            _pull(part, slopes, heads, start, stop)
        slopes.keys[...] *= heads.scale

    run(work, list(_jobs(heads)), 0 if with_mask else heads.pairs * q.itemsize)  # a mask may be that of several
    of_query, of_key, of_value = (x.astype(q.dtype, copy=False) for x in pulled)
    return of_query, of_key, of_value, None if of_mask is None else of_mask.astype(q.dtype, copy=False)


def _pull(part: Part, slopes: Part, heads: Heads, start: int, stop: int) -> None:
    """Add what a block of queries says of all that it met; the cotangent is in the place of the result."""
    rows, scale = slice(start, stop), part.maxima.dtype.type(heads.scale)
    queries = widened(part.queries[:, :, rows])
    top, total = part.maxima[:, :, rows], part.totals[:, :, rows]
    top, total = np.where(top == -np.inf, 0, top), np.where(total == 0, 1, total)  # where no key was met
    g = widened(slopes.results[:, :, rows]) / total  # instead of every weight
    own = (g * widened(part.results[:, :, rows])).sum(axis=-1, keepdims=True)
    for first, last in _key_blocks(part, heads, stop):
        columns = slice(first, last)
        keys, values = widened(part.keys[:, :, columns]), widened(part.values[:, :, columns])
        weights, seen = _scores(queries * scale, part, heads, start, first, last)
        weights = np.exp(np.subtract(weights, top, out=weights), out=weights)
        if seen is not None:
            seen = np.broadcast_to(seen, weights.shape)
            np.copyto(weights, 0, where=~seen)  # also where the maximum is NaN
        turned = None if seen is None else seen.swapaxes(-1, -2)
        slopes.values[:, :, columns] += _of_group(mixed(weights.swapaxes(-1, -2), g, turned))
        steps = np.matmul(g, values.swapaxes(-1, -2), out=scratch("slopes", weights.shape, weights.dtype))
        steps -= own
        steps *= weights
        if seen is not None:
            np.copyto(steps, 0, where=~seen)
        if slopes.mask is not None:
            _add(slopes.mask, steps, rows, columns)
        slopes.queries[:, :, rows] += mixed(steps, keys, seen) * scale
        slopes.keys[:, :, columns] += _of_group(mixed(steps.swapaxes(-1, -2), queries, turned))


def _add(total: Array, steps: Array, rows: slice, columns: slice) -> None:
    """Add to a mask of floats, once for all that it is the same for."""
    same = tuple(axis for axis, step in enumerate(total.strides) if step == 0)
    once = [slice(1) if axis in same else slice(None) for axis in range(4)]
    place = total[:, :, slice(1) if 2 in same else rows, slice(1) if 3 in same else columns]
    place[tuple(once)] += steps.sum(axis=same, keepdims=True)


def _of_group(x: Array) -> Array:
    """What several heads of queries say of the keys that they share."""
    return x if x.shape[1] == 1 else x.sum(axis=1, keepdims=True)


def _scores(queries: Array, part: Part, heads: Heads, start: int, first: int, last: int) -> tuple[Array, Array | None]:
    """The scores of scaled queries and keys ``first`` to ``last``, and which are seen: None if all of them are."""
    keys, rows = widened(part.keys[:, :, first:last]), queries.shape[2]
    shape = (*queries.shape[:3], last - first)
    scores = np.matmul(queries, keys.swapaxes(-1, -2), out=scratch("scores", shape, queries.dtype))
    seen = None
    if part.mask is not None:
        mask = part.mask[:, :, start : start + rows, first:last]
        if mask.dtype == np.bool_:
            seen = mask
        else:
            scores += mask
            seen = mask != -np.inf
    elif heads.causal and last > start + 1:
        seen = np.arange(first, last) <= np.arange(start, start + rows)[:, None]
    if seen is None or seen.all():
        return scores, None
    np.copyto(scores, -np.inf, where=~seen)
    return scores, seen


def mixed(weights: Array, rows: Array, seen: Array | None) -> Array:
    """``weights @ rows``, in which a row that is not seen takes no part, whatever it holds."""
    finite = np.isfinite(rows) if seen is not None else np.array(True)
    if seen is None or finite.all():
        return np.asarray(np.matmul(weights, rows))
    found: Array = np.matmul(weights, np.where(finite, rows, 0))
    seen = np.broadcast_to(seen, weights.shape)
    for j in np.flatnonzero(~finite.all(axis=(0, 1, 3))).tolist():
        wild = np.where(finite[:, :, j : j + 1], 0, rows[:, :, j : j + 1])
        column = slice(j, j + 1)
        found += np.where(seen[..., column] & (wild != 0), weights[..., column] * wild, 0)
    return found


# ---- parts ----------------------------------------------------------------------------------------------------------


def _contiguous(*buffers: Array | None) -> tuple[Any, ...]:
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def _jobs(heads: Heads) -> Iterator[tuple[int, int, int]]:
    """A component, and the heads of keys that are taken together; those of a single component for all threads."""
    alone = THREADS if len(heads.sizes) == 1 else 1
    for i, (count, group, queries, keys) in enumerate(heads.sizes.tolist()):
        step = max(1, min(BLOCK_SCORES // max(1, group * queries * keys), -(-count // alone)))
        if queries:
            yield from ((i, first, min(first + step, count)) for first in range(0, count, step))


def _part(buffers: tuple[Any, ...], heads: Heads, i: int, first: int, last: int) -> Part:
    """Views of some heads of a component; of no buffer there is none."""
    _, group, queries, keys = heads.sizes[i].tolist()
    count, row = last - first, heads.first_row.item(i) + first * group * queries
    of_queries, of_keys = (count, group, queries), (count, 1, keys)

    def view(buffer: Array | None, places: Any, shape: tuple[int, ...]) -> Any:
        if buffer is None:
            return None
        offset, head, *steps = [place * buffer.itemsize for place in places[i].tolist()]
        apart = head * shape[1]
        strides = apart, head, *steps, buffer.itemsize
        start = offset + first * apart if 0 not in shape else 0
        return np.ndarray(shape, buffer.dtype, buffer, start, strides[:4])

    def saved(rows: Array) -> Array:
        return rows[row : row + count * group * queries].reshape(*of_queries, 1)

    q, k, v, mask, made, maxima, totals = buffers
    return Part(
        view(q, heads.query, (*of_queries, heads.width)),
        view(k, heads.key, (*of_keys, heads.width)),
        view(v, heads.value, (*of_keys, heads.value_width)),
        view(mask, heads.mask, (*of_queries, keys)),
        view(made, heads.made, (*of_queries, heads.value_width)),
        saved(maxima),
        saved(totals),
    )


def _row_blocks(part: Part) -> Iterator[tuple[int, int]]:
    """(first query, query after the last) of each block."""
    count, group, queries, _ = part.queries.shape
    keys = min(max(part.keys.shape[2], 1), BLOCK_KEYS)
    step = max(1, 2 * BLOCK_SCORES // (count * group * keys))
    yield from ((start, min(start + step, queries)) for start in range(0, queries, step))


def _key_blocks(part: Part, heads: Heads, stop: int) -> Iterator[tuple[int, int]]:
    """(first key, key after the last) of each block that queries before ``stop`` meet."""
    keys = part.keys.shape[2]
    end = min(keys, stop) if heads.causal else keys
    yield from ((first, min(first + BLOCK_KEYS, end)) for first in range(0, end, BLOCK_KEYS))
