"""The definition of `scaled_dot_product_attention`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import Shape, broadcast, each
from pynested.spec.numerics import NDArray, real, shift_along, sum_along, wide


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_p: float = 0.0,
    is_causal: bool = False,
    scale: float | None = None,
    enable_gqa: bool = False,
    generator: Any = None,
) -> Any:
    """SCALED_DOT_PRODUCT_ATTENTION: softmax(scale * q @ k.T + mask) @ v, query by query, of the keys that it meets."""
    draw = np.random.default_rng() if generator is None else generator

    def one(queries: NDArray, keys: NDArray, values: NDArray, mask: NDArray | None) -> NDArray:
        queries, keys, values = wide(queries), wide(keys), wide(values)
        if enable_gqa and keys.shape[-3]:
            group = queries.shape[-3] // keys.shape[-3]
            keys, values = np.repeat(keys, group, axis=-3), np.repeat(values, group, axis=-3)
        lead = np.broadcast_shapes(queries.shape[:-2], keys.shape[:-2], values.shape[:-2])
        rows, columns = queries.shape[-2], keys.shape[-2]
        queries, keys, values = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (queries, keys, values))
        met, added = met_and_added(mask, is_causal, (*lead, rows, columns))
        kept = draw.random(met.shape) >= dropout_p
        factor = scale if scale is not None else 1 / math.sqrt(queries.shape[-1]) if queries.shape[-1] else 1.0
        out = np.zeros((*lead, rows, values.shape[-1]), np.result_type(queries, keys, values, added))
        for place in np.ndindex(*lead, rows):
            head, meets = place[:-1], met[place]
            products = keys[head][meets] * (queries[place] * factor)
            scores = sum_along(products, -1) if products.size else np.zeros(len(products))
            factors = kept[place][meets] / np.float64(1 - dropout_p or 1)
            out[place] = _average(scores + added[place][meets], values[head][meets], factors)
        return out

    shape = *lead_of(query.shape, key.shape, value.shape, enable_gqa), query.shape[-2], value.shape[-1]
    return each(one, query, key, value, attn_mask, shape=shape)


def _average(scores: NDArray, values: NDArray, factors: NDArray) -> Any:
    """The average of values, weighted by the softmax of their scores; zeros where there is none."""
    if not scores.size:
        return np.zeros(values.shape[-1])
    powers = np.exp(scores - shift_along(scores, 0))
    return sum_along((powers / sum_along(powers, 0) * factors)[:, None] * values, 0)


def met_and_added(mask: NDArray | None, is_causal: bool, shape: tuple[int, ...]) -> tuple[NDArray, NDArray]:
    """Which keys each query meets, and what is added to their scores."""
    if mask is None:
        causal = np.tri(shape[-2], shape[-1], dtype=np.bool_) if is_causal else np.True_
        return np.broadcast_to(causal, shape), np.zeros(shape)
    mask = np.broadcast_to(mask, shape)
    if mask.dtype == np.bool_:
        return mask, np.zeros(shape)
    return np.asarray(real(mask) != -np.inf, np.bool_), wide(mask)


def lead_of(query: Shape, key: Shape, value: Shape, grouped: bool) -> Shape:
    """The dimensions before the matrices, in groups those of the queries."""
    if grouped:
        return (*broadcast(query[:-3], key[:-3], value[:-3]), query[-3])
    return broadcast(query[:-2], key[:-2], value[:-2])
