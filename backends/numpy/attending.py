"""Attention in blocks: scores are there for a block of queries and keys at a time, and a softmax runs along with them.

A block of keys may raise the maximum of a query; what was added before is then scaled down. The adjoint needs maximum
and total of each query, and computes the scores again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..heads import Heads
from ..memory import empty
from . import attending_parts as parts
from .attending_parts import Part, Taken, jobs, parted, places_of, put_back
from .running import ones, quiet, run, scratch, widened

Array = NDArray[Any]

BLOCK_KEYS = 1024
SHORT = 64  # keys, of which a maximum is taken column by column


@quiet
def attention(q: Array, k: Array, v: Array, mask: Array | None, heads: Heads, /) -> tuple[Array, Array]:
    """Flat buffers -> the result, flat, and of each query the maximum of its scores and the total of its weights."""
    out = empty((heads.rows * heads.value_width,), q.dtype)
    saved = np.empty((2, heads.rows), computing_dtype(q.dtype))
    buffers, written = (*_contiguous(q, k, v, mask), out, saved.reshape(-1)), ("results", "saved")

    def work(taken: Taken) -> None:
        places = places_of(heads, taken)
        part = parted(buffers, places, "given", written)
        for start, stop in _row_blocks(part):
            _attend(part, heads, start, stop)
        put_back(part, buffers, places, written)

    run(work, jobs(heads), heads.pairs * q.itemsize)
    return out, saved


def _attend(part: Part, heads: Heads, start: int, stop: int) -> None:
    """The results of a block of queries."""
    rows = slice(start, stop)
    queries, results = _scaled(widened(part.queries[..., rows, :]), heads), part.results[..., rows, :]
    top: Any = part.saved.dtype.type(-np.inf)
    total: Any = 0
    added: Any = 0
    met: Any = False
    low: Any = True
    nothing = True
    for first, last in _key_blocks(part, heads, stop):
        scores, seen = _scores(queries, part, heads, start, first, last)
        new = _greatest(scores)
        if first:
            new = np.maximum(top, new)
        low = new == -np.inf  # nothing that counts so far
        nothing = bool(low.any())
        base = np.where(low, 0, new) if nothing else new
        weights = np.exp(np.subtract(scores, base, out=scores), out=scores)
        sums = _sums(weights)
        made = _alike("product" if first else "added", results, weights.dtype)
        product = mixed(weights, widened(part.values[..., first:last, :]), seen, made)
        if first:
            shrink = np.exp(top - base)
            sums += total * shrink
            added *= shrink
            added += product
        else:
            added = product
        top, total = new, sums
        met = True if seen is None else met | seen.any(axis=-1, keepdims=True)
    if nothing:
        total = np.where(low & met, np.nan, total)  # a softmax of nothing but -inf
    part.saved[:, 0, ..., rows, :], part.saved[:, 1, ..., rows, :] = top, total
    divisor = _alike("divisor", results[..., :1], total.dtype)  # or the pass takes three times as long
    np.copyto(divisor, np.where(total == 0, 1, total) if nothing else total)
    np.divide(added, divisor, out=results, casting="same_kind")


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
    pulled = [empty(x.shape, saved.dtype) for x in (q, k, v)]
    for x, covered in zip(pulled, heads.elements, strict=True):
        if covered < x.size:
            x.fill(0)
    of_mask = np.zeros(mask.shape, saved.dtype) if with_mask and mask is not None else None
    buffers, towards = (*given[:4], *_contiguous(out, saved.reshape(-1))), (*pulled, of_mask, given[4], None)
    written = "queries", "keys", "values"

    def work(taken: Taken) -> None:
        places = places_of(heads, taken)
        part, slopes = parted(buffers, places, "given"), parted(towards, places, "pulled", written)
        _clear_unmet(slopes, heads)
        for start, stop in reversed([*_row_blocks(part)]):  # the last queries meet all keys that any meets
            _pull(part, slopes, heads, start, stop)
        put_back(slopes, towards, places, written)

    run(work, jobs(heads, with_mask), 0 if with_mask else heads.pairs * q.itemsize)  # a mask may be that of several
    of_query, of_key, of_value = (x.astype(q.dtype, copy=False) for x in pulled)
    return of_query, of_key, of_value, None if of_mask is None else of_mask.astype(q.dtype, copy=False)


def _clear_unmet(slopes: Part, heads: Heads) -> None:
    """Zeros for keys that no query meets, and queries where there are no keys; all else is written."""
    queries, keys = slopes.queries.shape[-2], slopes.keys.shape[-2]
    met = _end(queries, keys, heads)
    slopes.keys[..., met:, :] = 0
    slopes.values[..., met:, :] = 0
    if not met:
        slopes.queries[...] = 0


def _pull(part: Part, slopes: Part, heads: Heads, start: int, stop: int) -> None:
    """Add what a block of queries says of all that it met; the cotangent is in the place of the result."""
    rows, first_of_all = slice(start, stop), stop == part.queries.shape[-2]
    g = widened(slopes.results[..., rows, :])
    queries = _scaled(widened(part.queries[..., rows, :]), heads)
    top, total = part.saved[:, 0, ..., rows, :], part.saved[:, 1, ..., rows, :]
    base = np.where(top == -np.inf, 0, top) + np.log(np.where(total == 0, 1, total))  # zeros where no key was met
    products = np.multiply(g, widened(part.results[..., rows, :]), out=_alike("products", g, g.dtype))
    own = _sums(products)
    for first, last in _key_blocks(part, heads, stop):
        columns = slice(first, last)
        keys, values = widened(part.keys[..., columns, :]), widened(part.values[..., columns, :])
        weights, seen = _scores(queries, part, heads, start, first, last)
        weights = np.exp(np.subtract(weights, base, out=weights), out=weights)
        steps = np.matmul(g, values.swapaxes(-1, -2), out=scratch("slopes", weights.shape, weights.dtype))
        steps -= own
        if seen is not None and _finite(base, queries, keys, steps):
            seen = None  # the weights of the others are 0 by now, and nothing makes a NaN of it
        if seen is not None:
            seen = np.broadcast_to(seen, weights.shape)
            np.copyto(weights, 0, where=~seen)
            np.copyto(steps, 0, where=~seen)
        steps *= weights
        if slopes.mask is not None:
            _add(slopes.mask, steps, rows, columns)
        turned = None if seen is None else seen.swapaxes(-1, -2)
        _add_mixed(slopes.queries[..., rows, :], steps, keys, seen, first == 0)
        _add_mixed(slopes.keys[..., columns, :], steps.swapaxes(-1, -2), queries, turned, first_of_all)
        _add_mixed(slopes.values[..., columns, :], weights.swapaxes(-1, -2), g, turned, first_of_all)
    slopes.queries[..., rows, :] *= slopes.queries.dtype.type(heads.scale)  # the queries were scaled for the keys


def _add_mixed(total: Array, weights: Array, rows: Array, seen: Array | None, first: bool) -> None:
    """Add what several heads of queries say of the keys that they share; if it is the first, to nothing."""
    alone = total.shape[2] == weights.shape[2]
    found = mixed(weights, rows, seen, total if first and alone else None)
    if not alone:
        found = found.sum(axis=2, keepdims=True, out=total if first else None)
    if not first:
        total += found


def _sums(x: Array) -> Array:
    """The sums of the rows of an array without gaps, as a product with ones."""
    axes, back = _order(x.strides)
    lying = x.transpose(axes)
    sums: Array = np.matmul(lying.reshape(prod(x.shape[:-1]), x.shape[-1]), ones(x.shape[-1], x.dtype))
    return sums.reshape(*lying.shape[:-1], 1).transpose(back)


def _scaled(queries: Array, heads: Heads) -> Array:
    """The queries of a block, multiplied before their products with keys could overflow."""
    scale = queries.dtype.type(heads.scale)
    return np.asarray(np.multiply(queries, scale, out=_alike("queries", queries, queries.dtype)))


def _alike(slot: str, x: Array, dtype: np.dtype[Any]) -> Array:
    """Memory for an array that lies as x does, so that one pass through both is straight."""
    axes, back = _order(x.strides)
    return scratch(slot, tuple(x.shape[axis] for axis in axes), dtype).transpose(back)


@lru_cache(1024)
def _order(strides: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes as they lie, outermost first, and where each of them is among these; rows are innermost."""
    last = len(strides) - 1
    axes = (*sorted(range(last), key=lambda axis: -strides[axis]), last)
    return axes, tuple(axes.index(axis) for axis in range(len(axes)))


def _finite(*arrays: Array) -> bool:
    """Whether all numbers are finite, so that the sum of their squares is; False also where that is too large."""
    lying = [x.transpose(_order(x.strides)[0]) for x in arrays]
    return all(np.isfinite(np.vdot(x, x)) for x in lying)


def _greatest(scores: Array) -> Array:
    """The greatest score of each query, NaN where there is one; a reduction has to begin anew for each of them."""
    if scores.shape[-1] > SHORT:
        return np.asarray(scores.max(axis=-1, keepdims=True))
    found = scores[..., :1].copy()
    for j in range(1, scores.shape[-1]):
        np.maximum(found, scores[..., j : j + 1], out=found)
    return found


def _add(total: Array, steps: Array, rows: slice, columns: slice) -> None:
    """Add to a mask of floats, once for all that it is the same for."""
    same = tuple(axis for axis, step in enumerate(total.strides) if step == 0)
    once = [slice(1) if axis in same else slice(None) for axis in range(5)]
    place = total[..., slice(1) if 3 in same else rows, slice(1) if 4 in same else columns]
    place[tuple(once)] += steps.sum(axis=same, keepdims=True)


def _scores(queries: Array, part: Part, heads: Heads, start: int, first: int, last: int) -> tuple[Array, Array | None]:
    """The scores of scaled queries and keys ``first`` to ``last``, and which are seen: None if all of them are."""
    keys, rows = widened(part.keys[..., first:last, :]), queries.shape[-2]
    shape = (*queries.shape[:-1], last - first)
    scores = np.matmul(queries, keys.swapaxes(-1, -2), out=scratch("scores", shape, queries.dtype))
    seen = None
    if part.mask is not None:
        mask = part.mask[..., start : start + rows, first:last]
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


def mixed(weights: Array, rows: Array, seen: Array | None, out: Array | None = None) -> Array:
    """``weights @ rows``, in which a row that is not seen takes no part, whatever it holds."""
    if seen is None or _finite(rows):
        return np.asarray(np.matmul(weights, rows, out=out))
    finite = np.isfinite(rows)
    found: Array = np.matmul(weights, np.where(finite, rows, 0), out=out)
    seen = np.broadcast_to(seen, weights.shape)
    for j in np.flatnonzero(~finite.all(axis=(0, 1, 2, 4))).tolist():
        wild = np.where(finite[..., j : j + 1, :], 0, rows[..., j : j + 1, :])
        column = slice(j, j + 1)
        found += np.where(seen[..., column] & (wild != 0), weights[..., column] * wild, 0)
    return found


def _contiguous(*buffers: Array | None) -> tuple[Any, ...]:
    return tuple([None if x is None else np.ascontiguousarray(x) for x in buffers])


def _row_blocks(part: Part) -> Iterator[tuple[int, int]]:
    """(first query, query after the last) of each block."""
    *every, queries, _ = part.queries.shape
    keys = min(max(part.keys.shape[-2], 1), BLOCK_KEYS)
    step = max(1, 2 * parts.BLOCK_SCORES // (prod(every) * keys))
    yield from ((start, min(start + step, queries)) for start in range(0, queries, step))


def _end(stop: int, keys: int, heads: Heads) -> int:
    """How many of the keys are met by queries before ``stop``."""
    return min(keys, stop) if heads.causal else keys


def _key_blocks(part: Part, heads: Heads, stop: int) -> Iterator[tuple[int, int]]:
    """(first key, key after the last) of each block that queries before ``stop`` meet."""
    end = _end(stop, part.keys.shape[-2], heads)
    yield from ((first, min(first + BLOCK_KEYS, end)) for first in range(0, end, BLOCK_KEYS))
