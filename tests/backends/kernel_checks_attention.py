"""The check of attention and its adjoint: heads in any places, alone and in groups, with every kind of mask."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np

from pynested.backends import Heads

from .kernel_checks import FLOATS, ROUNDING, check, close, drawn, plain

MASKS = None, "causal", "bool", "float"
# Heads of keys, heads of queries for each, queries and keys of components; the elements of a query, and of a value.
BATCHES = (
    (((2, 1, 3, 5), (2, 1, 0, 4), (2, 1, 20, 40)), 8, 8),
    (((1, 2, 17, 33), (2, 2, 2, 0), (1, 1, 1, 1)), 40, 70),
    (((1, 3, 40, 40),), 70, 5),
    ((), 2, 2),
)


def places(heads: Any, rows: Any, width: int, gap: int, by_rows: bool) -> tuple[np.ndarray, int]:
    """Matrices one after the other, or the heads of a row side by side, with a gap before; and where they end."""
    numels = heads * rows * width
    steps = (np.full_like(rows, width), heads * width) if by_rows else (rows * width, np.full_like(rows, width))
    return np.stack([np.cumsum(numels) - numels + gap, *steps], axis=1), int(numels.sum()) + gap


def masked(rng: np.random.Generator, kind: str | None, sizes: np.ndarray, dtype: str) -> tuple[Any, Any]:
    """A mask for all heads of a component, or for each, and where it lies."""
    if kind not in ("bool", "float"):
        return None, None
    (heads, group, queries, keys), shared = sizes.T, kind == "bool"
    counts = queries * keys * (1 if shared else heads * group)
    where = np.stack([np.cumsum(counts) - counts, 0 * keys if shared else queries * keys, keys, keys**0], axis=1)
    each_key = [np.zeros(0, bool)]
    each_key += [np.tile(np.arange(k) % 4 == 2, n // max(k, 1)) for k, n in zip(keys, counts, strict=True)]
    left_out = (rng.random(int(counts.sum())) < 0.3) | np.concatenate(each_key)  # some for all queries
    if kind == "bool":
        return ~left_out, where
    mask = drawn(rng, left_out.shape, dtype, 1)
    mask[left_out] = -np.inf
    return mask, where


def poison(mask: Any, heads: Heads, *buffers: np.ndarray) -> None:
    """Write NaN into the keys and values that no query meets."""
    for which, buffer in zip((heads.keys, heads.values), buffers, strict=True):
        for number in range(len(which.offsets)):
            rows, columns = heads.queries.sizes[number, 0], which.sizes[number, 0]
            at = heads.masks.offsets[number] + np.add.outer(
                np.arange(rows) * heads.masks.strides[number, 0], np.arange(columns) * heads.masks.strides[number, 1]
            )
            seen = mask[at] if mask.dtype == bool else mask[at] != -np.inf
            for j in np.flatnonzero(~seen.any(axis=0)):
                start = which.offsets[number] + j * which.strides[number, 0]
                buffer[start : start + which.sizes[number, 1]] = np.nan


@check(*FLOATS)
def attention(backend: Any, dtype: str) -> None:
    for number, ((components, width, value_width), kind) in enumerate(product(BATCHES, MASKS)):
        rng = np.random.default_rng(number)
        sizes = np.array(components, np.int64).reshape(-1, 4)
        counts = sizes[:, 0] * sizes[:, 1]
        query, n = places(counts, sizes[:, 2], width, 3, number % 2 == 0)
        key, m = places(sizes[:, 0], sizes[:, 3], width, 0, number % 3 == 0)
        value, w = places(sizes[:, 0], sizes[:, 3], value_width, 5, number % 3 == 1)
        made, made_size = places(counts, sizes[:, 2], value_width, 0, number % 2 == 1)
        mask, where = masked(rng, kind, sizes, dtype)
        heads = Heads(sizes, query, key, value, made, where, width, value_width, 0.4, kind == "causal")
        q, k, v, g = (drawn(rng, (size,), dtype, 1) for size in (n, m, w, made_size))
        if mask is not None and (sizes[:, 1] == 1).all():
            poison(mask, heads, k, v)
        out, saved = backend.attention(q, k, v, mask, heads)
        with_mask = kind == "float"
        results = out, *backend.attention_backward(g, q, k, v, mask, out, saved, heads, with_mask)
        wide = [x if x is None or x.dtype == bool else x.astype(np.float64) for x in (q, k, v, mask)]
        expected = plain.attention(*wide, heads)
        pulled = plain.attention_backward(g.astype(np.float64), *wide, *expected, heads, with_mask)
        lost = max(1, ROUNDING[dtype][1] / ROUNDING[dtype][0])  # the adjoint is given the output as it was stored
        for got, due, terms in zip(results, (expected[0], *pulled), (8, *[32 * lost] * 4), strict=True):
            assert (got is None) == (due is None)
            if got is not None:
                close(got, due.astype(got.dtype), terms, 4)
