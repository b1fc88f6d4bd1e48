"""Attention of operands of every kind: these checked, what meets worked out, and the rule called."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from pynested.autograd import Array, random
from pynested.autograd.arguments.scalars import canonical_real
from pynested.autograd.rules import attention as of_heads
from pynested.autograd.rules.movement import to_dtype
from pynested.backends.dtypes import computing_dtype, is_float, promoted
from pynested.backends.errors import ArgumentError
from pynested.backends.host import from_host

from .given import operands_of, scale_of
from .meeting import meeting

NAME = "scaled_dot_product_attention"


class Asked(NamedTuple):
    """What is asked for besides the operands."""

    dropout_p: float = 0.0
    is_causal: bool = False
    scale: float | None = None
    enable_gqa: bool = False
    generator: np.random.Generator | None = None


def attended(query: Any, key: Any, value: Any, mask: Any, asked: Asked, need_weights: bool = False) -> tuple[Any, Any]:
    """The result, and the weights of all heads, after dropout, where they are wanted; otherwise None."""
    share = canonical_real(NAME, "dropout_p", asked.dropout_p, 0, 1)
    if mask is not None and asked.is_causal:
        raise ArgumentError(f"{NAME}: is_causal=True is a mask, and attn_mask another one; give one of them.")
    arrays, mask = operands_of(NAME, query, key, value, mask)
    met = meeting(NAME, arrays, mask, asked.is_causal, scale_of(NAME, asked.scale), asked.enable_gqa)
    dtype = promoted(*[x.dtype for x in (*arrays, mask) if x is not None and is_float(x.dtype)])
    q, k, v = (to_dtype(x, dtype) for x in met.buffers[:3])
    own = met.buffers[3]
    own = own if own is None or own.dtype == np.bool_ else to_dtype(own, dtype)
    if share or need_weights:
        kept = _kept(met.heads.pairs, share, q, asked.generator) if share else None
        result, weights = of_heads.composed(q, k, v, own, met.heads, kept)
        return met.wrapped(result), met.wrapped_scores(weights) if need_weights else None
    return met.wrapped(of_heads.attended(q, k, v, own, met.heads)), None


def _kept(count: int, share: float, like: Array, generator: np.random.Generator | None) -> Array:
    """What the weights are multiplied by where some are dropped."""
    kept = random.default(generator).random(count) >= share
    factors = kept.astype(computing_dtype(like.dtype)) / (1 - share if share < 1 else 1)
    return Array(from_host(factors, like.device), like.device)
