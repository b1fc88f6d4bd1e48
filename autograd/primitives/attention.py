"""Attention: a primitive with kernels, and its formula in other primitives, which holds all scores at once.

A pair of a query and a key is *active* if it takes part in the softmax. The other pairs must not change a result, even
if they hold NaN. Two products leave them out: `pair_products` of rows with rows is 0 for a pair that is not active, and
`weighted_rows` adds nothing for it. Each product is the adjoint of the other.

The derivatives of second order, and tangents, are those of the formula. ``k`` has the kernels of a backend, ``g`` is
the cotangent of a result ``y``, and ``t`` a tangent.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends import HeadLayout, Matrices, Segments, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.backends.head_layout import HeadMatrices
from pynested.backends.host import from_host

from ..array import Array, raw
from ..tape import grad_mode
from .binary import where
from .derivatives_from_formula import derivatives_of
from .movement import gather, reshape, scatter, to_dtype
from .primitive import Primitive
from .segment import segment_softmax, segment_sum
from .unary import exp, log

# ---- products of active pairs ---------------------------------------------------------------------------------------


def _multiply(k: Any, a: Any, b: Any, left: Matrices, right: Matrices) -> Any:
    return k.matmul_components(a.reshape(-1), b.reshape(-1), left, right)


def _pair_products(k: Any, a: Any, b: Any, left: Matrices, right: Matrices, active: Any) -> Any:
    products = _multiply(k, a, b, left, right.transposed)
    return products if active is None else k.where(active, products, products.dtype.type(0))


def _weighted_rows(k: Any, weights: Any, rows: Any, left: Matrices, right: Matrices, active: Any) -> Any:
    if active is None:
        return _multiply(k, weights, rows, left, right)
    # Weights of inactive pairs need not be 0: the derivative of a function of scores can be NaN there.
    is_finite, zero = k.xp.isfinite(rows), rows.dtype.type(0)
    weights = k.where(active, weights, zero)
    if is_finite.all():
        return _multiply(k, weights, rows, left, right)
    sums = _multiply(k, weights, k.where(is_finite, rows, zero), left, right)
    infinite_rows, sum_matrices = k.where(is_finite, zero, rows), Matrices.of_sizes(left.rows, right.cols)
    for number in range(left.count):
        head_sums, head_rows = sum_matrices.matrix(sums, number), right.matrix(infinite_rows, number)
        head_weights, head_active = left.matrix(weights, number), left.matrix(active, number)
        for j in range(len(head_rows)):
            row, column = head_rows[j], slice(j, j + 1)
            if row.any():  # true of a NaN, too
                head_sums += k.where(head_active[:, column] & (row != 0), head_weights[:, column] * row, zero)
    return sums


def _weights_vjp(g: Any, y: Any, weights: Any, rows: Any, left: Matrices, right: Matrices, active: Any) -> Any:
    sums = Matrices.of_sizes(left.rows, right.cols)
    if left.is_transposed:
        return pair_products(rows, g, right, sums, active)
    return pair_products(g, rows, sums, right, active)


pair_products: Primitive = Primitive(
    "pair_products",
    _pair_products,
    vjps=[
        lambda g, y, a, b, left, right, active: weighted_rows(
            g, b, Matrices.of_sizes(left.rows, right.rows), right, active
        ),
        lambda g, y, a, b, left, right, active: weighted_rows(
            g, a, Matrices.of_sizes(left.rows, right.rows).transposed, left, active
        ),
    ],
    jvps=[
        lambda t, y, a, b, left, right, active: pair_products(t, b, left, right, active),
        lambda t, y, a, b, left, right, active: pair_products(a, t, left, right, active),
    ],
    saves=["b", "a"],
)
weighted_rows: Primitive = Primitive(
    "weighted_rows",
    _weighted_rows,
    vjps=[
        _weights_vjp,
        lambda g, y, weights, rows, left, right, active: weighted_rows(
            weights, g, left.transposed, Matrices.of_sizes(left.rows, right.cols), active
        ),
    ],
    jvps=[
        lambda t, y, weights, rows, left, right, active: weighted_rows(t, rows, left, right, active),
        lambda t, y, weights, rows, left, right, active: weighted_rows(weights, t, left, right, active),
    ],
    saves=["rows", "weights"],
)


# ---- attention as a formula of primitives ---------------------------------------------------------------------------


def packed_heads(x: Any, matrices: HeadMatrices) -> Any:
    """Return matrices of a buffer in any shape, one after the other, in the dtype that is computed in."""
    return to_dtype(gather(reshape(x, (x.numel(),)), *matrices), computing_dtype(x.dtype))


def packed_scores(q: Any, keys: Any, layout: HeadLayout, active: Any) -> Any:
    """Return the flat scores of all heads, without a mask. The score of a pair that is not active is 0."""
    queries, keys = packed_heads(q, layout.query_matrices) * layout.scale, packed_heads(keys, layout.key_matrices)
    left, right = _adjacent_matrices(layout.query_matrices), _adjacent_matrices(layout.key_matrices)
    return pair_products(queries, keys, left, right, active)


def packed_results(weights: Any, v: Any, layout: HeadLayout, active: Any) -> Any:
    """Return the flat results of all heads, one after the other: their values, multiplied by the weights."""
    values = packed_heads(v, layout.value_matrices)
    return weighted_rows(weights, values, layout.score_matrices, _adjacent_matrices(layout.value_matrices), active)


def _adjacent_matrices(matrices: HeadMatrices) -> Matrices:
    """Return matrices of the same sizes that follow each other."""
    return Matrices.of_sizes(matrices.sizes[:, 0], matrices.sizes[:, 1])


def segments_of_queries(layout: HeadLayout) -> Segments:
    """Return a segment of the flat scores for each query."""
    return Segments.from_lengths(np.repeat(layout.score_matrices.cols, layout.score_matrices.rows))


def _active_pairs(mask: Any, layout: HeadLayout, device: str) -> Any:
    """Return which pairs are active, in the order of the scores, as raw bools; None if all are."""
    if layout.causal:
        sizes = zip(layout.score_matrices.rows.tolist(), layout.score_matrices.cols.tolist(), strict=True)
        pairs = [np.tri(rows, cols, dtype=np.bool_).ravel() for rows, cols in sizes]
        return from_host(np.concatenate([np.zeros(0, np.bool_), *pairs]), device)
    if mask is None:
        return None
    mask = get_backend(device).gather_components(raw(mask).reshape(-1), *layout.mask_matrices)
    return mask if mask.dtype == np.bool_ else mask != -np.inf


def softmax_of_active(scores: Any, active: Any, segments: Segments) -> Any:
    """Return the softmax of the active scores of each segment, and 0 for the others.

    If ``active`` is None, all scores are active.
    """
    if active is None:
        return segment_softmax(scores, segments)
    k, zero = get_backend(scores.device), scores.dtype.type(0)
    has_active = k.spread(k.segment_max(active, segments), segments)
    scores = where(_masked_scores(scores, active), zero, has_active)
    return where(segment_softmax(scores, segments), zero, active)


def log_sums_of_active(scores: Any, active: Any, segments: Segments) -> Any:
    """Return the log of the sum of the exponentials of the active scores of each segment; -inf without any."""
    k, dtype = get_backend(scores.device), scores.dtype
    scores = _masked_scores(scores, active)
    maxima = k.segment_max(raw(scores), segments)
    base = k.where(k.xp.isfinite(maxima), maxima, dtype.type(0))
    totals = segment_sum(exp(scores - Array(k.spread(base, segments), scores.device)), segments)
    is_positive = raw(totals) != 0
    logs = log(where(totals, dtype.type(1), is_positive)) + Array(base, scores.device)
    return where(logs, dtype.type(-np.inf), is_positive)


def maxima_of_active(scores: Any, active: Any, segments: Segments) -> Any:
    """Return the greatest active score of each segment, -inf without any; a constant in every derivative."""
    scores = _masked_scores(scores.detach(), active)
    return Array(get_backend(scores.device).segment_max(raw(scores), segments), scores.device)


def _masked_scores(scores: Any, active: Any) -> Any:
    """Return the scores, with -inf for pairs that are not active."""
    return scores if active is None else where(scores, scores.dtype.type(-np.inf), active)


def attention_by_formula(
    q: Any, keys: Any, v: Any, mask: Any, layout: HeadLayout, drop: Callable[[Any], Any] | None = None
) -> tuple[Any, Any]:
    """Return attention and its weights, computed by other primitives; the function ``drop`` drops some weights."""
    active = _active_pairs(mask, layout, q.device)
    scores = packed_scores(q, keys, layout, active)
    if mask is not None and mask.dtype != np.bool_:
        scores = scores + packed_heads(mask, layout.mask_matrices)
    weights = softmax_of_active(scores, active, segments_of_queries(layout))
    if drop is not None:
        weights = drop(weights)
    results = to_dtype(packed_results(weights, v, layout, active), q.dtype)
    flat = scatter(results, *layout.result_matrices, layout.result_numel)
    return flat, to_dtype(weights, q.dtype)


# ---- the primitive --------------------------------------------------------------------------------------------------


def _result_by_formula(q: Any, keys: Any, v: Any, mask: Any, layout: HeadLayout, *_: Any) -> Any:
    return attention_by_formula(q, keys, v, mask, layout)[0]


def _gradients(g: Any, y: Any, q: Any, keys: Any, v: Any, mask: Any, layout: HeadLayout, *_: Any) -> tuple[Any, ...]:
    return tuple(_result_vjp(g, None, q, keys, v, mask, layout)[:4])


def _flat(*buffers: Any) -> list[Any]:
    return [None if x is None else x.reshape(-1) for x in buffers]


def _attention_backward(
    k: Any, g: Any, y: Any, q: Any, keys: Any, v: Any, mask: Any, layout: HeadLayout,
    needs_mask_gradient: bool, needs_gradient: bool, saved: Any,
) -> tuple[Any, ...]:  # fmt: skip
    grads = k.attention_backward(g, *_flat(q, keys, v, mask), y, saved, layout, needs_mask_gradient)
    buffers = zip(grads, (q, keys, v, mask), strict=True)
    return tuple([None if grad is None else grad.reshape(x.shape) for grad, x in buffers])


_result_vjp, _result_jvp = derivatives_of(_result_by_formula)
attention = Primitive(
    "attention",
    lambda k, q, keys, v, mask, layout, needs_mask_gradient, needs_gradient: k.attention(
        *_flat(q, keys, v, mask), layout, needs_gradient
    ),
    vjps=lambda g, y, *args: attention_backward(g, raw(y), *args),
    jvps=_result_jvp,
    saves=["y q keys v mask"],
    public="scaled_dot_product_attention",
    has_residuals=True,
)
attention_backward: Primitive = Primitive(
    "attention_backward",
    _attention_backward,
    *derivatives_of(_gradients),
    saves=["g q keys v mask"],
)


def attention_by_kernel(q: Any, keys: Any, v: Any, mask: Any, layout: HeadLayout) -> Any:
    """Return attention, which is flat, of buffers in any shape.

    The kernel saves what its gradient reads only if there can be a gradient.
    """
    needs_gradient = bool(grad_mode.current) and any(x is not None and x.tracked for x in (q, keys, v, mask))
    return attention(q, keys, v, mask, layout, mask is not None and mask.tracked, needs_gradient)
