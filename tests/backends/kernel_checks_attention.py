"""Check of attention and its adjoint: heads in any place, alone and in groups, with every kind of mask."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np

from pynested.backends import HeadLayout

from .kernel_checks import FLOATS, ROUNDING, check, close, drawn, plain

MASKS = None, "causal", "bool", "float"
# Heads of keys, heads of queries for each, queries and keys of components; the elements of a query, and of a value.
BATCHES = (
    (((2, 1, 3, 5), (2, 1, 0, 4), (2, 1, 20, 40)), 8, 8), (((1, 2, 17, 33), (2, 2, 2, 0), (1, 1, 1, 1)), 40, 70),
    (((1, 3, 40, 40),), 70, 5), (((2, 1, 3, 4), (1, 2, 5, 3)) * 3, 3, 2), (((2, 1, 4, 6), (1, 1, 0, 3)) * 3, 8, 16),
    (((1, 2, 6, 8), (1, 2, 2, 0)) * 2, 0, 3), ((), 2, 2),
)  # fmt: skip

SCORES = 1, 59, 61, 400  # the greatest of a call: e^89 is beyond float32


def places(heads: Any, rows: Any, width: int, gap: int, by_rows: bool) -> tuple[np.ndarray, int]:
    """Return places of matrices behind a gap, in order or with the heads of a row side by side, and their end."""
    numels = heads * rows * width
    steps = (np.full_like(rows, width), heads * width) if by_rows else (rows * width, np.full_like(rows, width))
    return np.stack([np.cumsum(numels) - numels + gap, *steps, np.ones_like(rows)], axis=1), int(numels.sum()) + gap


def masked(rng: np.random.Generator, kind: str | None, sizes: np.ndarray, dtype: str) -> tuple[Any, Any]:
    """Return a mask for all heads of a component, or for each head, and its places."""
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


def poison(mask: Any, heads: HeadLayout, *buffers: np.ndarray) -> None:
    """Write NaN into the keys and values that no query meets."""
    for which, buffer in zip((heads.key_matrices, heads.value_matrices), buffers, strict=True):
        for number in range(len(which.offsets)):
            rows, columns = heads.query_matrices.sizes[number, 0], which.sizes[number, 0]
            at = heads.mask_matrices.offsets[number] + np.add.outer(
                np.arange(rows) * heads.mask_matrices.strides[number, 0],
                np.arange(columns) * heads.mask_matrices.strides[number, 1],
            )
            seen = mask[at] if mask.dtype == bool else mask[at] != -np.inf
            for j in np.flatnonzero(~seen.any(axis=0)):
                start = which.offsets[number] + j * which.strides[number, 0]
                buffer[start : start + which.sizes[number, 1]] = np.nan


def attention_operands(
    number: int, components: Any, width: int, value_width: int, kind: str | None, dtype: str
) -> tuple[list[Any], HeadLayout]:
    """Return queries, keys, values, mask and cotangent, and their heads; every second call has some NaN."""
    rng = np.random.default_rng(number)
    sizes = np.array(components, np.int64).reshape(-1, 4)
    counts = sizes[:, 0] * sizes[:, 1]
    query, n = places(counts, sizes[:, 2], width, 3, number % 2 == 0)
    key, m = places(sizes[:, 0], sizes[:, 3], width, 0, number % 3 == 0)
    value, w = places(sizes[:, 0], sizes[:, 3], value_width, 5, number % 3 == 1)
    made, made_size = places(counts, sizes[:, 2], value_width, 0, number % 2 == 1)
    mask, where = masked(rng, kind, sizes, dtype)
    heads = HeadLayout(sizes, query, key, value, made, where, width, value_width, 0.4, kind == "causal")
    q, k, v, g = (drawn(rng, (size,), dtype, 1) for size in (n, m, w, made_size))
    if mask is not None and (sizes[:, 1] == 1).all():
        poison(mask, heads, k, v)
    if (number + number // len(MASKS)) % 2:
        for buffer in (q, k, v):
            buffer[rng.random(buffer.size) < 0.05] = np.nan
    return [q, k, v, mask, g], heads


def compute_attention(backend: Any, operands: list[Any], heads: HeadLayout) -> list[Any]:
    """Return the output and the gradients of all operands; None is that of no mask of floats."""
    *inputs, g = operands
    mask = inputs[3]
    out, saved = backend.attention(*inputs, heads)
    with_mask = mask is not None and mask.dtype != bool
    return [out, *backend.attention_backward(g, *inputs, out, saved, heads, with_mask)]


def compare_attention(backend: Any, operands: list[Any], heads: HeadLayout, terms: float, least: float) -> None:
    """Compare with arithmetic in float64; terms that cancel in a sum may be as large as the largest result."""
    wide = [x if x is None or x.dtype == bool else x.astype(np.float64) for x in operands]
    dtype = operands[0].dtype.name
    lost = max(1, ROUNDING[dtype][1] / ROUNDING[dtype][0])  # the adjoint is given the output as it was stored
    results, expected = (compute_attention(*args, heads) for args in ((backend, operands), (plain, wide)))
    for got, due, errors in zip(results, expected, (terms, *[4 * terms * lost] * 4), strict=True):
        assert (got is None) == (due is None)
        if got is not None:
            largest = np.abs(due[np.isfinite(due)]).max(initial=least)
            close(got, due.astype(got.dtype), errors, largest)


@check(*FLOATS)
def attention(backend: Any, dtype: str) -> None:
    for number, (batch, kind) in enumerate(product(BATCHES, MASKS)):
        compare_attention(backend, *attention_operands(number, *batch, kind, dtype), terms=8, least=4)
    for most, ends, kind in product(SCORES, ([-1.0, 1.0], [1.0], [-1.0]), MASKS):
        rng = np.random.default_rng([most, MASKS.index(kind)])
        (q, k, *others), heads = attention_operands(0, [[1, 2, 5, 6]], 1, 1, kind, dtype)
        q[...] = rng.choice(ends, q.size) * rng.choice([0.25, 1.0], q.size)
        k[...] = np.sort(rng.uniform(0.9, 1, k.size)) * most
        compare_attention(backend, [q, k, *others], replace(heads, scale=1.0), terms=most, least=1)
    # All scores of a query are equal, and so large that the logarithm of a sum, added to them, is lost.
    for kind in MASKS:
        (q, k, v, mask, g), heads = attention_operands(0, [[1, 2, 5, 6]], 1, 1, kind, dtype)
        q[...], k[...] = np.array([-250, 200], dtype)[np.arange(q.size) % 2], 250
        if kind == "float":
            mask[mask != -np.inf] = 0
        compare_attention(backend, [q, k, v, mask, g], replace(heads, scale=1.0), terms=8, least=250)
