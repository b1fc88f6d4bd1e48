"""Second opinions in Python loops, for what NumPy has no function for."""

from __future__ import annotations

from typing import Any

import numpy as np


def attention(q: Any, k: Any, v: Any, met: Any, added: Any, g: Any, scale: float) -> tuple[Any, ...]:
    """Return the result of one head and the gradients of all operands, as sums over the pairs that meet."""
    out, dq, dk, dv, dm = (np.zeros(x.shape) for x in (g, q, k, v, met))
    for i in range(len(q)):
        keys = np.flatnonzero(met[i])
        if not keys.size:
            continue
        powers = np.exp([scale * np.dot(q[i], k[j]) + added[i, j] for j in keys])
        p = powers / powers.sum()
        out[i] = sum(w * v[j] for w, j in zip(p, keys, strict=True))
        for w, j in zip(p, keys, strict=True):
            slope = w * np.dot(g[i], v[j] - out[i])
            dv[j] += w * g[i]
            dm[i, j] = slope
            dq[i] += scale * slope * k[j]
            dk[j] += scale * slope * q[i]
    return out, dq, dk, dv, dm


def met_pairs(mod: Any, component: int, heads: int, rows: int, keys: int) -> Any:
    """Return which pairs of a component a mask function lets meet, one pair after the other."""
    pairs = np.zeros((heads, rows, keys), bool)
    for h, i, j in np.ndindex(*pairs.shape):
        pairs[h, i, j] = mod(component, h, i, j)
    return pairs


def block_states(met: Any, q_size: int, kv_size: int) -> Any:
    """Return 0 for each block of pairs (heads, queries, keys) where none meet, 2 where all do, 1 otherwise."""
    heads, rows, keys = met.shape
    states = np.zeros((heads, -(-rows // q_size), -(-keys // kv_size)), np.int8)
    for h, i, j in np.ndindex(*states.shape):
        block = met[h, i * q_size : (i + 1) * q_size, j * kv_size : (j + 1) * kv_size]
        states[h, i, j] = 2 if block.all() else int(block.any())
    return states
