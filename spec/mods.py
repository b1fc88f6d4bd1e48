"""Functions of pairs by name: what vectors say where a program gives a function, for any language.

A function of scores gets a score, and a function of masks does not; both get `b`, the number of the component, `h`,
the head of the query, `q_idx` and `kv_idx`, the places of query and key within their component. Here a query meets
several keys at a time: `score` and `kv_idx` are vectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .numerics import NDArray

__all__ = ["MASK_MODS", "SCORE_MODS", "added", "mask_mod", "score_mod"]

Function = Callable[..., Any]

SCORE_MODS: Mapping[str, Function] = {
    "causal": lambda score, b, h, q_idx, kv_idx: np.where(kv_idx > q_idx, -np.inf, score),
    "alibi": lambda score, b, h, q_idx, kv_idx: score + (kv_idx - q_idx) * 0.5 ** (h + 1),
    "marked": lambda score, b, h, q_idx, kv_idx: score * (h + 1) + b,
    # What is refused: the scores of the first key alone, bools, and nothing at all.
    "first": lambda score, b, h, q_idx, kv_idx: score[:1],
    "compared": lambda score, b, h, q_idx, kv_idx: score > 0,
    "forgotten": lambda score, b, h, q_idx, kv_idx: None,
}
MASK_MODS: Mapping[str, Function] = {
    "causal": lambda b, h, q_idx, kv_idx: kv_idx <= q_idx,
    "near": lambda b, h, q_idx, kv_idx: abs(q_idx - kv_idx) < 2,
    "checkered": lambda b, h, q_idx, kv_idx: (b + h + q_idx + kv_idx) % 2 == 0,
    "nothing": lambda b, h, q_idx, kv_idx: kv_idx < 0,
    "distance": lambda b, h, q_idx, kv_idx: q_idx - kv_idx,  # which is refused
    "alone": lambda b, h, q_idx, kv_idx: kv_idx <= q_idx,  # refused where it was made for queries and meets other keys
}


def score_mod(given: Function | str | NDArray | None) -> Function:
    """Return a function of scores: itself, of a name, of a vector of slopes, one for each head, or the identity."""
    if given is None:
        return lambda score, b, h, q_idx, kv_idx: score
    if callable(given):
        return given
    if isinstance(given, str):
        return SCORE_MODS[given]
    return lambda score, b, h, q_idx, kv_idx: score + (kv_idx - q_idx) * given[h]


def mask_mod(given: str | None) -> Function:
    """Return a function of masks: of a name, or of None, by which all pairs meet."""
    return (lambda b, h, q_idx, kv_idx: kv_idx >= 0) if given is None else MASK_MODS[given]


def added(score: Function | str | NDArray | None, mask: str | None, b: int, h: int, shape: tuple[int, int]) -> NDArray:
    """Return what is added to the scores of a head, a matrix; -inf where a pair does not meet."""
    rows, keys = shape
    places, zeros, changed, met = np.arange(keys), np.zeros(keys), score_mod(score), mask_mod(mask)
    found = [np.where(met(b, h, i, places), changed(zeros, b, h, i, places), -np.inf) for i in range(rows)]
    return np.array(found).reshape(shape)
