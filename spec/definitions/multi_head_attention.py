"""The definition of `multi_head_attention`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import each
from pynested.spec.numerics import NDArray, mean_along, shift_along, sum_along, wide

from .scaled_dot_product_attention import met_and_added


def multi_head_attention(
    query: Any,
    key: Any,
    value: Any,
    num_heads: int,
    in_proj_weight: Any,
    in_proj_bias: Any,
    out_proj_weight: Any,
    out_proj_bias: Any = None,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    need_weights: bool = False,
    average_attn_weights: bool = True,
    q_proj_weight: Any = None,
    k_proj_weight: Any = None,
    v_proj_weight: Any = None,
    generator: Any = None,
) -> Any:
    """MULTI_HEAD_ATTENTION: project, attend head by head and query by query, and project what all heads found."""
    draw = np.random.default_rng() if generator is None else generator
    width = out_proj_weight.shape[0]
    apart = (q_proj_weight, k_proj_weight, v_proj_weight)
    projections = apart if in_proj_weight is None else np.split(in_proj_weight, 3)
    biases = [None] * 3 if in_proj_bias is None else np.split(in_proj_bias, 3)

    def one(*rows: NDArray) -> tuple[NDArray, NDArray]:
        q, k, v = (_linear(*given) for given in zip(rows[:3], projections, biases, strict=True))
        met, added = met_and_added(rows[3] if len(rows) > 3 else None, is_causal, (num_heads, len(q), len(k)))
        found = np.zeros((len(q), width), np.result_type(q, k, v, added))
        weights = np.zeros(met.shape, found.dtype)
        for h, i in np.ndindex(num_heads, len(q)):
            own, meets = slice(h * width // num_heads, (h + 1) * width // num_heads), np.flatnonzero(met[h, i])
            if meets.size:
                scores = _products(k[meets, own], q[i, own]) / math.sqrt(width // num_heads) + added[h, i, meets]
                powers = np.exp(scores - shift_along(scores, 0))
                kept = draw.random(meets.size) >= dropout_p
                weights[h, i, meets] = powers / sum_along(powers, 0) * (kept / np.float64(1 - dropout_p or 1))
                found[i, own] = _products(v[meets, own].T, weights[h, i, meets])
        return _linear(found, out_proj_weight, out_proj_bias), weights

    operands = [query, key, value, *([] if attn_mask is None else [attn_mask])]
    lead = query.shape[:-2]
    shapes = (*lead, query.shape[-2], width), (*lead, num_heads, query.shape[-2], key.shape[-2])
    if not need_weights:
        return each(lambda *parts: one(*parts)[0], *operands, shape=shapes[0])
    both = [each(lambda *parts, at=at: one(*parts)[at], *operands, shape=shape) for at, shape in enumerate(shapes)]
    return [both[0], _averaged(both[1]) if average_attn_weights else both[1]]


def _averaged(weights: Any) -> Any:
    """The mean of all heads."""
    shape = (*weights.shape[:-3], *weights.shape[-2:])
    return each(lambda x: mean_along(x, -3), weights, shape=shape)


def _products(rows: NDArray, row: NDArray) -> NDArray:
    """The sum of the products of each row with one."""
    sums = [sum_along(other * row, 0)[()] if row.size else 0.0 for other in rows]
    return np.array(sums, np.result_type(rows, row)) if sums else np.zeros(0)


def _linear(x: NDArray, weight: NDArray, bias: NDArray | None) -> NDArray:
    """Each row times the weight, plus the bias."""
    found = np.array([_products(wide(weight), row) for row in wide(x)]).reshape(len(x), len(weight))
    return found if bias is None else found + wide(bias)
