"""Plain kernels of attention: every pair of a query and a key, one head after the other, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat

import numpy as np

from ..dtypes import computing_dtype
from ..heads import Heads
from .movement import strided_views
from .widening import RawArray, wide


def attention_weights(
    q: RawArray, k: RawArray, mask: RawArray | None, heads: Heads
) -> Iterator[tuple[RawArray, RawArray, RawArray, RawArray]]:
    """Yield for each head the softmax of the scores, their maxima, their totals, and which pairs are active."""
    masks = repeat(np.array(True)) if mask is None else strided_views(mask, *heads.masks)
    for queries, keys, bias in zip(
        strided_views(q, *heads.queries), strided_views(k, *heads.keys), masks, strict=False
    ):
        active = np.tri(len(queries), len(keys), dtype=bool) if heads.causal else np.array(True)
        active = active & (bias if bias.dtype == bool else bias != -np.inf)
        scores = heads.scale * (wide(queries) @ wide(keys).T) + (0 if bias.dtype == bool else wide(bias))
        active = np.broadcast_to(active, scores.shape)
        scores = np.where(active, scores, -np.inf)
        maximum = scores.max(axis=1, initial=-np.inf, keepdims=True)
        exponentials = np.exp(scores - np.where(maximum == -np.inf, 0, maximum))
        total = exponentials.sum(axis=1, keepdims=True)
        total = np.where((maximum == -np.inf) & active.any(axis=1, keepdims=True), np.nan, total)
        yield exponentials / np.where(total == 0, 1, total), maximum, total, active


def product_of_pairs(x: RawArray, y: RawArray, active: RawArray) -> RawArray:
    """``x @ y`` over the active pairs, so that NaN and infinities of other pairs do not matter."""
    products: RawArray = np.where(active[:, :, None], x[:, :, None] * y[None], 0)
    return np.asarray(products.sum(axis=1))


def attention(
    q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, heads: Heads, recorded: bool = True, /
) -> tuple[RawArray, RawArray | None]:
    """Flat buffers -> softmax(scale q k^T + mask) v of each head, flat, and what the gradient of this backend needs.

    A mask of bools is true for the active pairs. A mask of floats is added to the scores, and is -inf for the pairs
    that do not count. A key that is not active for a query takes no part, whatever it holds. A query without keys
    gives +0. A recorded call of this backend saves the maxima and totals of all queries, (2, rows), any other call
    None.
    """
    out, saved = np.empty(heads.rows * heads.value_width, q.dtype), [np.empty((2, 0))]
    values, results = strided_views(v, *heads.values), strided_views(out, *heads.results)
    for value, result, weights in zip(values, results, attention_weights(q, k, mask, heads), strict=True):
        p, maximum, total, active = weights
        result[...] = product_of_pairs(p, wide(value), active)
        saved.append(np.stack([maximum[:, 0], total[:, 0]]))
    return out, np.concatenate(saved, axis=1).astype(computing_dtype(q.dtype)) if recorded else None


def attention_backward(
    cotangent: RawArray,
    q: RawArray,
    k: RawArray,
    v: RawArray,
    mask: RawArray | None,
    out: RawArray,
    saved: RawArray,
    heads: Heads,
    with_mask: bool,
    /,
) -> tuple[RawArray, RawArray, RawArray, RawArray | None]:
    """Return the cotangents of q, k, v and, if ``with_mask``, of a mask of floats, of the sizes of these buffers.

    Elements of a buffer that belong to no component get 0. The weights are computed again.
    """
    of_q, of_k, of_v = grads = [np.zeros(x.shape) for x in (q, k, v)]
    of_mask = np.zeros(mask.shape) if with_mask and mask is not None else None
    layouts = heads.queries, heads.keys, heads.values
    arrays = zip((q, k, v, *grads), layouts * 2, strict=True)
    masks = repeat(None) if of_mask is None else strided_views(of_mask, *heads.masks)
    for queries, keys, values, dq, dk, dv, g, d_mask, (p, _, _, active) in zip(
        *[strided_views(x, *layout) for x, layout in arrays],
        strided_views(cotangent, *heads.results),
        masks,
        attention_weights(q, k, mask, heads),
        strict=False,
    ):
        dv += product_of_pairs(p.T, wide(g), active.T)
        dp = wide(g) @ wide(values).T
        d_scores = p * (dp - np.where(active, p * dp, 0).sum(axis=1, keepdims=True))
        d_scores = np.where(active, d_scores, 0)
        dq += heads.scale * product_of_pairs(d_scores, wide(keys), active)
        dk += heads.scale * product_of_pairs(d_scores.T, wide(queries), active.T)
        if d_mask is not None:
            for pair in np.ndindex(*d_scores.shape):  # several pairs can share one element of the mask
                d_mask[pair] += d_scores[pair]
    of_mask = None if of_mask is None else of_mask.astype(q.dtype)
    return of_q.astype(q.dtype), of_k.astype(q.dtype), of_v.astype(q.dtype), of_mask
