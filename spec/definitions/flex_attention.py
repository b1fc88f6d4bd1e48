"""The definition of `flex_attention`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import Components, each, stacked
from pynested.spec.mods import mask_mod as met_by
from pynested.spec.mods import score_mod as changed_by
from pynested.spec.numerics import NDArray, constant, maximum_along, real, shift_along, sum_along, wide

from .scaled_dot_product_attention import lead_of


def flex_attention(
    query: Any,
    key: Any,
    value: Any,
    score_mod: Any = None,
    block_mask: Any = None,
    scale: float | None = None,
    enable_gqa: bool = False,
    return_lse: bool = False,
    *,
    return_aux: tuple[bool, bool] | None = None,
) -> Any:
    """FLEX_ATTENTION: softmax(mod(scale * q @ k.T)) @ v, query by query, of the keys that mask and function leave."""

    def one(number: NDArray, queries: NDArray, keys: NDArray, values: NDArray) -> tuple[NDArray, NDArray, NDArray]:
        queries, keys, values = wide(queries), wide(keys), wide(values)
        if enable_gqa and keys.shape[-3]:
            group = queries.shape[-3] // keys.shape[-3]
            keys, values = np.repeat(keys, group, axis=-3), np.repeat(values, group, axis=-3)
        lead = np.broadcast_shapes(queries.shape[:-2], keys.shape[:-2], values.shape[:-2])
        queries, keys, values = (np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (queries, keys, values))
        factor = scale if scale is not None else 1 / math.sqrt(queries.shape[-1]) if queries.shape[-1] else 1.0
        dtype = np.result_type(queries, keys, values, score_mod if isinstance(score_mod, np.ndarray) else np.float64)
        out, sums = np.zeros((*lead, queries.shape[-2], values.shape[-1]), dtype), np.zeros(queries.shape[:-1], dtype)
        greatest = np.full(sums.shape, -np.inf, constant(sums).dtype)
        for place in np.ndindex(*sums.shape):
            head = place[:-1]
            h = int(np.ravel_multi_index(head, lead)) if lead else 0
            scores, meets = _scores(queries[place] * factor, keys[head], (int(number), h, place[-1]))
            out[place], sums[place] = _average(scores, values[head][meets])
            greatest[place] = maximum_along(constant(scores), 0, keepdims=True)[0] if scores.size else -np.inf
        return out, sums, greatest

    def _scores(row: NDArray, keys: NDArray, at: tuple[int, int, int]) -> tuple[NDArray, NDArray]:
        """The scores of one query, and of which keys they are."""
        meets = np.flatnonzero(met(*at, np.arange(len(keys))))
        products = keys[meets] * row
        scores = sum_along(products, -1) if products.size else np.zeros(len(meets))
        changed = np.asarray(changes(scores, *at, meets))
        counts = np.asarray(real(changed) != -np.inf, np.bool_)
        counts = counts if counts.any() else np.asarray(real(scores) == -np.inf, np.bool_)
        return changed[counts], meets[counts]

    changes, met = changed_by(score_mod), met_by(block_mask)
    shape = *lead_of(query.shape, key.shape, value.shape, enable_gqa), query.shape[-2], value.shape[-1]
    operands = numbered(query, key, value)
    asked = (return_lse, False) if return_aux is None else return_aux
    found = [each(lambda *parts, at=at: one(*parts)[at], *operands, shape=own)
             for at, own in enumerate((shape, shape[:-1], shape[:-1])) if not at or asked[at - 1]]  # fmt: skip
    if isinstance(operands[0], Components) and not any(isinstance(x, Components) for x in (query, key, value)):
        found = [stacked(one) for one in found]
    return found if return_lse or return_aux is not None else found[0]


def numbered(*operands: Any) -> tuple[Any, ...]:
    """The number of each component, and the operands; of dense ones the first of four dimensions or more is the batch.

    Dense operands that are a batch come back as components.
    """
    nested = [len(x) for x in operands if isinstance(x, Components)]
    rank = max(len(x.shape) for x in operands)
    if not nested and rank < 4:
        return np.array(0), *operands
    if not nested:
        (count,) = np.broadcast_shapes(*[x.shape[:1] for x in operands if x.ndim == rank])
        return numbered(*[_slices(x, count) if x.ndim == rank else x for x in operands])
    return Components(map(np.array, range(nested[0])), nested[:1], np.int64), *operands


def _slices(x: NDArray, count: int) -> Components:
    parts = np.broadcast_to(x, (count, *x.shape[1:]))
    return Components(parts, parts.shape, x.dtype)


def _average(scores: NDArray, values: NDArray) -> tuple[Any, Any]:
    """The average of values, weighted by the softmax of their scores, and the logarithm of the sum of exponentials."""
    if not scores.size:
        return np.zeros(values.shape[-1]), -np.inf
    top = shift_along(scores, 0)[0]
    powers = np.exp(scores - top)
    total = sum_along(powers, 0)
    base = top if abs(real(top)) < np.inf else 0.0  # a difference of infinities would be NaN
    return sum_along((powers / total)[:, None] * values, 0), base + np.log(sum_along(np.exp(scores - base), 0))
