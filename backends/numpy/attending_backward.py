"""The adjoint of attention, block by block, of weights that were kept or that are worked out again from log sums."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..heads import Heads
from ..memory import empty
from .attending import contiguous, read
from .attending_blocks import Block, blocks, masked, met, row_blocks, scaled, scores_of, seen_of, strips
from .attending_parts import Part, Taken, jobs, parted, places_of, put_back
from .attending_products import Strips, alike, finite, meeting, mixed, sums
from .elementwise import where
from .running import quiet, run, scratch, widened

Array = NDArray[Any]


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
    given = contiguous(q, k, v, mask, cotangent)
    pulled = [empty(x.shape, saved.dtype) for x in (q, k, v)]
    for x, covered in zip(pulled, heads.elements, strict=True):
        if covered < x.size:
            x.fill(0)
    of_mask = np.zeros(mask.shape, saved.dtype) if with_mask and mask is not None else None
    log_sums, weights = read(saved, heads)
    buffers = *given[:4], contiguous(out)[0] if weights is None else None, log_sums, weights
    towards, written = (*pulled, of_mask, given[4], None, None), ("queries", "keys", "values")

    def work(taken: Taken) -> None:
        places = places_of(heads, taken)
        part, slopes = parted(buffers, places, "given"), parted(towards, places, "pulled", written)
        _clear_unmet(slopes, heads)
        for start, stop in reversed([*row_blocks(part)]):  # the last queries meet all keys that any meets
            _pull(part, slopes, heads, start, stop)
        put_back(slopes, towards, places, written)

    run(work, jobs(heads, with_mask), 0 if with_mask else heads.pairs * q.itemsize)  # a mask may be that of several
    of_query, of_key, of_value = (x.astype(q.dtype, copy=False) for x in pulled)
    return of_query, of_key, of_value, None if of_mask is None else of_mask.astype(q.dtype, copy=False)


def _clear_unmet(slopes: Part, heads: Heads) -> None:
    """Zeros for keys that no query meets, and queries where there are no keys; all else is written."""
    queries, keys = slopes.queries.shape[-2], slopes.keys.shape[-2]
    end = met(queries, keys, heads)
    slopes.keys[..., end:, :] = 0
    slopes.values[..., end:, :] = 0
    if not end:
        slopes.queries[...] = 0


def _pull(part: Part, slopes: Part, heads: Heads, start: int, stop: int) -> None:
    """Add what a block of queries says of all that it met; the cotangent is in the place of the result.

    What a step of a score says of its weight is lowered by the mean of these with the weights: where all are there at
    once, that is worked out of them, otherwise it is the product of cotangent and result.
    """
    rows, first_of_all, kept = slice(start, stop), stop == part.queries.shape[-2], part.weights is not None
    g, queries = widened(slopes.results[..., rows, :]), widened(part.queries[..., rows, :])
    mean = None if kept else _summed(g, widened(part.results[..., rows, :]))
    for block in blocks(part, heads, start, stop):
        columns, ahead, back = block.columns, strips(block, heads), strips(block, heads, turned=True)
        keys, values = widened(part.keys[..., columns, :]), widened(part.values[..., columns, :])
        weights, seen = _weights(queries, part, heads, block), None
        steps = meeting(g, values, ahead, scratch("slopes", weights.shape, weights.dtype))
        own = _summed(steps, weights) if mean is None else mean
        if masked(part, heads) and not finite(queries, keys, steps, own):  # or weights of 0 leave out what is to be
            seen = np.broadcast_to(seen_of(part, block), weights.shape)
            weights = where(seen, weights, 0)
            own = _summed(where(seen, steps, 0), weights) if mean is None else mean
        steps -= own
        steps *= weights
        if seen is not None:
            np.copyto(steps, 0, where=~seen)
        if slopes.mask is not None:
            _add(slopes.mask, steps, rows, columns)
        steps *= steps.dtype.type(heads.scale)
        turned = None if seen is None else seen.swapaxes(-1, -2)
        _add_mixed(slopes.queries[..., rows, :], steps, keys, seen, ahead, block.first == 0)
        _add_mixed(slopes.keys[..., columns, :], steps.swapaxes(-1, -2), queries, turned, back, first_of_all)
        _add_mixed(slopes.values[..., columns, :], weights.swapaxes(-1, -2), g, turned, back, first_of_all)


def _summed(a: Array, b: Array) -> Array:
    """The sum of the products in each row."""
    return sums(np.multiply(a, b, out=alike("products", a, a.dtype)))


def _weights(queries: Array, part: Part, heads: Heads, block: Block) -> Array:
    """The weights of a block: those that were kept, or worked out again."""
    if part.weights is not None:
        return part.weights[..., block.rows, block.columns]
    assert part.log_sums is not None
    scores = scores_of(scaled(queries, heads), part, heads, block)
    return np.asarray(np.exp(np.subtract(scores, part.log_sums[..., block.rows, :], out=scores), out=scores))


def _add_mixed(
    total: Array, weights: Array, rows: Array, seen: Array | None, strips: Strips | None, first: bool
) -> None:
    """Add what several heads of queries say of the keys that they share; if it is the first, to nothing."""
    alone = total.shape[2] == weights.shape[2]
    found = mixed(weights, rows, seen, strips, total if first and alone else None)
    if not alone:
        found = found.sum(axis=2, keepdims=True, out=total if first else None)
    if not first:
        total += found


def _add(total: Array, steps: Array, rows: slice, columns: slice) -> None:
    """Add to a mask of floats, once for all that it is the same for."""
    same = tuple(axis for axis, step in enumerate(total.strides) if step == 0)
    once = [slice(1) if axis in same else slice(None) for axis in range(5)]
    place = total[..., slice(1) if 3 in same else rows, slice(1) if 4 in same else columns]
    place[tuple(once)] += steps.sum(axis=same, keepdims=True)
