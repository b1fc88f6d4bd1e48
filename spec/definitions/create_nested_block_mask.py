"""The definition of `create_nested_block_mask`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.mods import MASK_MODS
from pynested.spec.numerics import NDArray


def create_nested_block_mask(mask_mod: str, q_nt: Any, kv_nt: Any = None, BLOCK_SIZE: Any = 128) -> Components:
    """CREATE_NESTED_BLOCK_MASK: for each block of pairs 0 where none of them meet, 2 where all do, 1 otherwise."""
    q_size, kv_size = BLOCK_SIZE if isinstance(BLOCK_SIZE, tuple) else (BLOCK_SIZE, BLOCK_SIZE)

    def one(b: int, queries: NDArray, keys: NDArray) -> NDArray:
        heads, rows, size = math.prod(queries.shape[:-2]), queries.shape[-2], keys.shape[-2]
        found = np.zeros((heads, -(-rows // q_size), -(-size // kv_size)), np.int8)
        for h, i, j in np.ndindex(*found.shape):
            pairs = [
                bool(MASK_MODS[mask_mod](b, h, q_idx, kv_idx))
                for q_idx in range(i * q_size, min((i + 1) * q_size, rows))
                for kv_idx in range(j * kv_size, min((j + 1) * kv_size, size))
            ]
            found[h, i, j] = 2 if all(pairs) else int(any(pairs))
        return found

    keys = q_nt if kv_nt is None else kv_nt
    nested = q_nt if isinstance(q_nt, Components) else keys
    pairs = enumerate(zip(_each(q_nt, nested), _each(keys, nested), strict=True))
    heads = q_nt.shape[1:-2] if len(q_nt.shape) == len(nested.shape) else q_nt.shape[:-2]
    lead = None if None in heads else math.prod(size or 0 for size in heads)
    return Components([one(b, *pair) for b, pair in pairs], (len(nested), lead, None, None), np.int8)


def _each(x: Any, nested: Components) -> Any:
    """What an operand is in each component of a nested one."""
    if isinstance(x, Components):
        return x
    return np.broadcast_to(x, (len(nested), *(x.shape[1:] if x.ndim == len(nested.shape) else x.shape)))
