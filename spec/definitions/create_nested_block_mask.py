"""The definition of `create_nested_block_mask`."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.spec.components import Components
from pynested.spec.mods import MASK_MODS
from pynested.spec.numerics import NDArray


def create_nested_block_mask(
    mask_mod: str, q_nt: Components, kv_nt: Components | None = None, BLOCK_SIZE: Any = 128
) -> Components:
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

    pairs = zip(q_nt, q_nt if kv_nt is None else kv_nt, strict=True)
    heads = q_nt.shape[1:-2]
    lead = None if None in heads else math.prod(size or 0 for size in heads)
    return Components([one(b, *pair) for b, pair in enumerate(pairs)], (len(q_nt), lead, None, None), np.int8)
