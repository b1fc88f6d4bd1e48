"""Attention: a primitive with kernels, and its formula in other primitives, which holds all scores at once.

A pair of a query and a key is *active* if it takes part in the softmax. The other pairs must not change a result, even
if they hold NaN. Two products of matrices leave them out: `pair_products` of rows with rows is 0 for a pair that is not
active, and `weighted_rows` adds nothing for it. The vjps of each are written in these two products. Matrices have the
shape (heads, rows, columns). ``active`` has raw bools, which broadcast against the scores (heads, queries, keys), or
is None if all pairs are active.

The derivatives of second order, and tangents, are those of the formula. ``k`` has the kernels of a backend, ``g`` is
the cotangent of a result ``y``, and ``t`` a tangent.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.backends import HeadLayout, get_backend, packed_offsets, packed_strides
from pynested.backends.component_layout import Integers, groups_of_equal_rows
from pynested.backends.dtypes import computing_dtype
from pynested.backends.head_layout import HeadMatrices
from pynested.backends.host import from_host

from ..array import raw
from ..tape import grad_mode
from .binary import where
from .derivatives_from_formula import derivatives_of
from .movement import components, concatenate, gather, reshape, scatter, to_dtype
from .primitive import Primitive
from .products import swapped
from .segment import softmax_last

# ---- products of active pairs ---------------------------------------------------------------------------------------


def _pair_products(k: Any, a: Any, b: Any, active: Any) -> Any:
    products = k.matmul(a, b.transpose(0, 2, 1))
    return products if active is None else k.where(active, products, products.dtype.type(0))


def _weighted_rows(k: Any, weights: Any, rows: Any, active: Any) -> Any:
    if active is None:
        return k.matmul(weights, rows)
    # Weights of inactive pairs need not be 0: the derivative of a function of scores can be NaN there.
    is_finite, zero = k.xp.isfinite(rows), rows.dtype.type(0)
    weights = k.where(active, weights, zero)
    if is_finite.all():
        return k.matmul(weights, rows)
    sums, nonfinite_rows = k.matmul(weights, k.where(is_finite, rows, zero)), k.where(is_finite, zero, rows)
    for j in range(rows.shape[1]):
        row, column = nonfinite_rows[:, j : j + 1], slice(j, j + 1)
        if row.any():  # true of a NaN, too
            sums = sums + k.where(active[..., column] & (row != 0), weights[..., column] * row, zero)
    return sums


def _swapped(active: Any) -> Any:
    return None if active is None else active.transpose(0, 2, 1)


pair_products: Primitive = Primitive(
    "pair_products",
    _pair_products,
    vjps=[
        lambda g, y, a, b, active: weighted_rows(g, b, active),
        lambda g, y, a, b, active: weighted_rows(swapped(g), a, _swapped(active)),
    ],
    jvps=[
        lambda t, y, a, b, active: pair_products(t, b, active),
        lambda t, y, a, b, active: pair_products(a, t, active),
    ],
    saves=["b", "a"],
)
weighted_rows: Primitive = Primitive(
    "weighted_rows",
    _weighted_rows,
    vjps=[
        lambda g, y, weights, rows, active: pair_products(g, rows, active),
        lambda g, y, weights, rows, active: weighted_rows(swapped(weights), g, _swapped(active)),
    ],
    jvps=[
        lambda t, y, weights, rows, active: weighted_rows(t, rows, active),
        lambda t, y, weights, rows, active: weighted_rows(weights, t, active),
    ],
    saves=["rows", "weights"],
)


# ---- attention as a formula of primitives ---------------------------------------------------------------------------


def stacked_heads(x: Any, matrices: HeadMatrices, groups: Sequence[Integers], scale: float = 1.0) -> list[Any]:
    """Return a stack (heads, rows, width) for each group of heads of equal sizes, scaled, in the computing dtype."""
    packed = gather(reshape(x, (x.numel(),)), *matrices.select(np.concatenate(groups)))
    packed = to_dtype(packed, computing_dtype(x.dtype))
    sizes = np.array([(len(group), *matrices.sizes[group].max(axis=0, initial=0)) for group in groups], np.int64)
    packed = packed if scale == 1 else packed * scale
    return components(packed, sizes, packed_strides(sizes), packed_offsets(sizes))  # type: ignore[no-any-return]


def active_scores(scores: Any, active: Any) -> Any:
    """Return scores with -inf for pairs that are not active, but 0 for all pairs of a query without active pairs."""
    if active is None:
        return scores
    masked, has_active = where(scores, scores.dtype.type(-np.inf), active), active.any(axis=-1, keepdims=True)
    return masked if has_active.all() else where(masked, scores.dtype.type(0), has_active)


def attention_by_formula(
    q: Any, keys: Any, v: Any, mask: Any, layout: HeadLayout,
    drop: Callable[[Any], Any] | None = None, needs_weights: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Return attention by other primitives, and its weights if they are needed.

    ``drop(weights)`` applies dropout to them. Heads with equal numbers of queries and keys are computed together.
    """
    groups = groups_of_equal_rows(layout.score_matrices.sizes) or [np.zeros(0, np.int64)]
    operands = zip(
        groups,
        stacked_heads(q, layout.query_matrices, groups, layout.scale),
        stacked_heads(keys, layout.key_matrices, groups),
        stacked_heads(v, layout.value_matrices, groups),
        [None] * len(groups) if not _has_floats(mask) else stacked_heads(mask, layout.mask_matrices, groups),
        strict=True,
    )
    results, all_weights = [], []
    for group, group_queries, group_keys, group_values, group_mask in operands:
        active = _active_pairs(mask, layout, group, q.device)
        scores = pair_products(group_queries, group_keys, active)
        weights = softmax_last(active_scores(scores if group_mask is None else scores + group_mask, active))
        weights = weights if drop is None else drop(weights)
        results.append(weighted_rows(weights, group_values, active))
        if needs_weights:
            all_weights.append(weights if active is None else where(weights, weights.dtype.type(0), active))

    def scattered(stacks: list[Any], matrices: HeadMatrices, numel: int) -> Any:
        flat = to_dtype(concatenate([reshape(stack, (stack.numel(),)) for stack in stacks], 0), q.dtype)
        return scatter(flat, *matrices.select(np.concatenate(groups)), numel)

    flat_result = scattered(results, layout.result_matrices, layout.result_numel)
    return flat_result, scattered(all_weights, layout.score_matrices, layout.total_scores) if needs_weights else None


def _has_floats(mask: Any) -> bool:
    return mask is not None and mask.dtype != np.bool_


def _active_pairs(mask: Any, layout: HeadLayout, group: Integers, device: str) -> Any:
    """Return which pairs of heads of equal sizes are active, as raw bools; None if all are."""
    sizes = layout.score_matrices.sizes[group].max(axis=0, initial=0).tolist()
    if layout.causal:
        return from_host(np.tri(*sizes, dtype=np.bool_)[None], device)
    if mask is None:
        return None
    matrices = layout.mask_matrices.select(group)
    pairs = get_backend(device).gather_components(raw(mask).reshape(-1), *matrices).reshape(len(group), *sizes)
    return pairs != -np.inf if _has_floats(mask) else pairs


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
    """Return flat attention of buffers of any shape. It saves what its gradient reads only if an operand is tracked."""
    needs_gradient = bool(grad_mode.value) and any(x is not None and x.tracked for x in (q, keys, v, mask))
    return attention(q, keys, v, mask, layout, mask is not None and mask.tracked, needs_gradient)
