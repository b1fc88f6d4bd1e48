"""Attention: a primitive with kernels, and its formula in other primitives, which holds all scores at once.

A pair of a query and a key is *active* if it takes part in the softmax. The other pairs must not change a result, even
if they hold NaN. Two products see to it: `pair_products` of rows with rows is 0 for a pair that is not active, and
`weighted_rows` adds nothing for it. Each product is the adjoint of the other.

The derivatives of second order, and tangents, are those of the formula.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pynested.backends import Heads, Matrices, Segments, get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.backends.heads import HeadMatrices
from pynested.backends.host import from_host

from ..array import Array, raw
from ..tape import grad_mode
from .binary import where
from .derivatives_from_formula import derivatives_of
from .movement import gather, scatter, to_dtype
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
    finite, zero = k.xp.isfinite(rows), rows.dtype.type(0)
    weights = k.where(
        active, weights, zero
    )  # the derivative of a function of scores can be NaN at a pair that is not active
    if finite.all():
        return _multiply(k, weights, rows, left, right)
    sums = _multiply(k, weights, k.where(finite, rows, zero), left, right)
    products = Matrices.of_sizes(left.rows, right.cols)
    infinite = k.where(finite, zero, rows)
    views = map(_views, (sums, infinite, weights, active), (products, right, left, left))
    for total, row, weight, is_active in zip(*views, strict=True):
        for j in range(len(row)):
            if row[j].any():  # true of a NaN, too
                total += k.where(is_active[:, j : j + 1] & (row[j] != 0), weight[:, j : j + 1] * row[j], zero)
    return sums


def _views(flat: Any, matrices: Matrices) -> list[Any]:
    """Return a view of each matrix."""
    views = []
    for offset, rows, cols in matrices.places:
        stored = flat[offset : offset + rows * cols]
        views.append(stored.reshape(cols, rows).T if matrices.is_transposed else stored.reshape(rows, cols))
    return views


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


class PackedOperands(NamedTuple):
    """The matrices of all heads, one after the other, in the dtype that is computed in; the mask is of floats or None.

    Each head of queries has its own copy of the keys and values that it meets. Queries are scaled.
    """

    queries: Any
    keys: Any
    values: Any
    mask: Any


def packed_operands(q: Any, k: Any, v: Any, mask: Any, heads: Heads) -> PackedOperands:
    """Gather the operands of attention from flat buffers."""

    def gathered(x: Any, placed: HeadMatrices) -> Any:
        return to_dtype(gather(x, *placed), computing_dtype(x.dtype))

    bias = None if mask is None or mask.dtype == np.bool_ else gathered(mask, heads.masks)
    queries = gathered(q, heads.queries) * heads.scale
    return PackedOperands(queries, gathered(k, heads.keys), gathered(v, heads.values), bias)


def packed_scores(operands: PackedOperands, heads: Heads, active: Any) -> Any:
    """Return the flat scores of all heads. A pair that is not active has the score 0, plus the mask."""
    queries, keys = _packed(heads.queries), _packed(heads.keys)
    scores = pair_products(operands.queries, operands.keys, queries, keys, active)
    return scores if operands.mask is None else scores + operands.mask


def mixed_values(weights: Any, operands: PackedOperands, heads: Heads, active: Any) -> Any:
    """Return the flat results of all heads, one after the other."""
    return weighted_rows(weights, operands.values, heads.scores, _packed(heads.values), active)


def _packed(placed: HeadMatrices) -> Matrices:
    return Matrices.of_sizes(placed.sizes[:, 0], placed.sizes[:, 1])


def segments_of_queries(heads: Heads) -> Segments:
    """Return the segments of flat scores that belong to one query each."""
    return Segments.from_lengths(np.repeat(heads.scores.cols, heads.scores.rows))


def _active_pairs(mask: Any, heads: Heads, device: str) -> Any:
    """Return which pairs are active, in the order of the scores, as raw bools; None if all are."""
    if heads.causal:
        rows, keys = heads.scores.rows, heads.scores.cols
        pairs = [np.tri(*pair, dtype=np.bool_).ravel() for pair in zip(rows.tolist(), keys.tolist(), strict=True)]
        return from_host(np.concatenate([np.zeros(0, np.bool_), *pairs]), device)
    if mask is None:
        return None
    mask = get_backend(device).gather_components(raw(mask), *heads.masks)
    return mask if mask.dtype == np.bool_ else mask != -np.inf


def softmax_of_active(scores: Any, active: Any, segments: Segments) -> Any:
    """Return the softmax of the active scores of each segment, all scores if ``active`` is None; 0 for the others."""
    if active is None:
        return segment_softmax(scores, segments)
    k = get_backend(scores.device)
    is_inactive_segment = ~k.spread(k.segment_max(active, segments), segments)
    scores = where(where(scores, scores.dtype.type(-np.inf), active), scores.dtype.type(0), ~is_inactive_segment)
    return where(segment_softmax(scores, segments), scores.dtype.type(0), active)


def log_sums_of_active(scores: Any, active: Any, segments: Segments) -> Any:
    """Return the log of the sum of the exponentials of the active scores of each segment; -inf without any."""
    k, lowest = get_backend(scores.device), scores.dtype.type(-np.inf)
    if active is not None:
        scores = where(scores, lowest, active)
    top = k.segment_max(raw(scores), segments)
    base = k.where(k.xp.isfinite(top), top, top.dtype.type(0))
    total = segment_sum(exp(scores - Array(k.spread(base, segments), scores.device)), segments)
    is_positive = raw(total) != 0
    logs = log(where(total, total.dtype.type(1), is_positive)) + Array(base, scores.device)
    return where(logs, lowest, is_positive)


def greatest_of_active(scores: Any, active: Any, segments: Segments) -> Any:
    """Return the greatest active score of each segment, -inf without any; a constant in every derivative."""
    scores = scores.detach() if active is None else where(scores.detach(), scores.dtype.type(-np.inf), active)
    return Array(get_backend(scores.device).segment_max(raw(scores), segments), scores.device)


def composed(q: Any, k: Any, v: Any, mask: Any, heads: Heads, factors: Any = None) -> tuple[Any, Any]:
    """Return attention, computed by other primitives, and its weights; ``factors`` are multiplied into the weights."""
    operands, active = packed_operands(q, k, v, mask, heads), _active_pairs(mask, heads, q.device)
    scores = packed_scores(operands, heads, active)
    weights = softmax_of_active(scores, active, segments_of_queries(heads))
    if factors is not None:
        weights = weights * factors
    mixed = to_dtype(mixed_values(weights, operands, heads, active), q.dtype)
    return scatter(mixed, *heads.results, heads.rows * heads.value_width), to_dtype(weights, q.dtype)


# ---- the primitive --------------------------------------------------------------------------------------------------


def _formula(q: Any, keys: Any, v: Any, mask: Any, heads: Heads, *_: Any) -> Any:
    return composed(q, keys, v, mask, heads)[0]


def _gradients(g: Any, y: Any, q: Any, keys: Any, v: Any, mask: Any, heads: Heads, *_: Any) -> tuple[Any, ...]:
    return tuple(_formula_vjp(g, None, q, keys, v, mask, heads)[:4])


_formula_vjp, _formula_jvp = derivatives_of(_formula)
attention = Primitive(
    "attention",
    lambda k, q, keys, v, mask, heads, with_mask, recorded: k.attention(q, keys, v, mask, heads, recorded),
    vjps=lambda g, y, *args: attention_backward(g, raw(y), *args),
    jvps=_formula_jvp,
    saves=["y q keys v mask"],
    public="scaled_dot_product_attention",
    has_residuals=True,
)
attention_backward: Primitive = Primitive(
    "attention_backward",
    lambda k, g, y, q, keys, v, mask, heads, with_mask, recorded, saved: k.attention_backward(
        g, q, keys, v, mask, y, saved, heads, with_mask
    ),
    *derivatives_of(_gradients),
    saves=["g q keys v mask"],
)


def attended(q: Any, k: Any, v: Any, mask: Any, heads: Heads) -> Any:
    """Return attention of heads; the kernel keeps what its gradient reads if the call is recorded."""
    recorded = bool(grad_mode.current) and any(x is not None and x.tracked for x in (q, k, v, mask))
    return attention(q, k, v, mask, heads, mask is not None and mask.tracked, recorded)
