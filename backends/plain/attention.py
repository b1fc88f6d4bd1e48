"""Plain kernels of attention: every pair of a query and a key, one head after the other, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np

from ..head_layout import HeadLayout
from .movement import strided_views
from .widening import RawArray, wide


def attention_weights(
    q: RawArray, k: RawArray, mask: RawArray | None, layout: HeadLayout
) -> Iterator[tuple[RawArray, RawArray]]:
    """Yield for each head the softmax of its scores, and which pairs are active: (queries, keys) each."""
    queries_of_heads, keys_of_heads = strided_views(q, *layout.query_matrices), strided_views(k, *layout.key_matrices)
    masks = repeat(np.array(True)) if mask is None else strided_views(mask, *layout.mask_matrices)
    for queries, keys, head_mask in zip(queries_of_heads, keys_of_heads, masks, strict=False):
        scores = layout.scale * (wide(queries) @ wide(keys).T)
        active = np.tri(len(queries), len(keys), dtype=bool) if layout.causal else np.ones(scores.shape, bool)
        if head_mask.dtype == bool:
            active &= head_mask
        else:
            active &= head_mask != -np.inf
            scores += wide(head_mask)
        scores = np.where(active, scores, -np.inf)
        maxima = scores.max(axis=1, initial=-np.inf, keepdims=True)
        exponentials = np.exp(scores - np.where(maxima == -np.inf, 0, maxima))
        totals = exponentials.sum(axis=1, keepdims=True)
        totals = np.where((maxima == -np.inf) & active.any(axis=1, keepdims=True), np.nan, totals)
        yield exponentials / np.where(totals == 0, 1, totals), active


def weighted_rows(weights: RawArray, rows: RawArray, active: RawArray) -> RawArray:
    """Return ``weights @ rows`` over the active pairs, so that NaN and infinities of other pairs do not matter."""
    products: RawArray = np.where(active[:, :, None], weights[:, :, None] * rows[None], 0)
    return np.asarray(products.sum(axis=1))


def attention(
    q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, layout: HeadLayout, needs_gradient: bool = True, /
) -> tuple[RawArray, Any]:
    """Return softmax(scale q k^T + mask) v of each head, in a flat buffer, and ``saved`` for `attention_backward`.

    A mask of bools is true for the active pairs. A mask of floats is added to the scores; -inf makes a pair inactive.
    An inactive key has no influence, even if it is NaN. A query without active keys gives +0.

    The second result is None unless ``needs_gradient``. Each backend chooses what it saves; the plain backend saves
    nothing.
    """
    out = np.empty(layout.result_numel, q.dtype)
    values_of_heads, results = strided_views(v, *layout.value_matrices), strided_views(out, *layout.result_matrices)
    heads = attention_weights(q, k, mask, layout)
    for (weights, active), values, result in zip(heads, values_of_heads, results, strict=True):
        result[...] = weighted_rows(weights, wide(values), active)
    return out, None


def attention_backward(
    g: RawArray,
    q: RawArray,
    k: RawArray,
    v: RawArray,
    mask: RawArray | None,
    out: RawArray,
    saved: Any,
    layout: HeadLayout,
    needs_mask_gradient: bool,
    /,
) -> tuple[RawArray, RawArray, RawArray, RawArray | None]:
    """Return the cotangents of q, k and v, and that of a mask of floats if ``needs_mask_gradient``, otherwise None.

    Each cotangent has the size of its buffer, with 0 for elements that belong to no component. The plain backend
    computes the weights again; other backends read ``saved``.
    """
    operands, matrices = (q, k, v), (layout.query_matrices, layout.key_matrices, layout.value_matrices)
    grads = [np.zeros(x.shape) for x in operands]
    mask_grad = np.zeros(mask.shape) if needs_mask_gradient and mask is not None else None
    mask_grads = repeat(None) if mask_grad is None else strided_views(mask_grad, *layout.mask_matrices)
    for (weights, active), queries, keys, values, d_queries, d_keys, d_values, d_results, d_mask in zip(
        attention_weights(q, k, mask, layout),
        *[strided_views(x, *x_matrices) for x, x_matrices in zip(operands, matrices, strict=True)],
        *[strided_views(grad, *x_matrices) for grad, x_matrices in zip(grads, matrices, strict=True)],
        strided_views(g, *layout.result_matrices),
        mask_grads,
        strict=False,
    ):
        d_values += weighted_rows(weights.T, wide(d_results), active.T)
        d_weights = wide(d_results) @ wide(values).T
        means = np.where(active, weights * d_weights, 0).sum(axis=1, keepdims=True)
        d_scores = np.where(active, weights * (d_weights - means), 0)
        d_queries += layout.scale * weighted_rows(d_scores, wide(keys), active)
        d_keys += layout.scale * weighted_rows(d_scores.T, wide(queries), active.T)
        if d_mask is not None:
            for pair in np.ndindex(*d_scores.shape):  # several pairs can share one element of the mask
                d_mask[pair] += d_scores[pair]
    q_grad, k_grad, v_grad = (grad.astype(q.dtype) for grad in grads)
    return q_grad, k_grad, v_grad, None if mask_grad is None else mask_grad.astype(q.dtype)
