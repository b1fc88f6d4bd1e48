"""Attention in a few lines: every pair of a query and a key, one head after the other, in float64."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..heads import Heads, Placed

Array = NDArray[Any]


def in_place(flat: Array, placed: Placed) -> Iterator[Array]:
    """A view of the matrix of each head."""
    for shape, steps, offset in zip(*[part.tolist() for part in placed], strict=True):
        yield as_strided(flat[offset:], shape, [step * flat.itemsize for step in steps])


def weights(q: Array, k: Array, mask: Array | None, heads: Heads) -> Iterator[tuple[Array, Array, Array, Array]]:
    """Of each head the softmax of the scores, their maxima, the totals, and which pairs count."""
    masks = repeat(np.array(True)) if mask is None else in_place(mask, heads.masks)
    for a, b, own in zip(in_place(q, heads.queries), in_place(k, heads.keys), masks, strict=False):
        seen = (own if own.dtype == bool else own != -np.inf) & np.ones((len(a), len(b)), bool)
        seen &= np.tri(len(a), len(b), dtype=bool) | (not heads.causal)
        scores = heads.scale * (a.astype(float) @ b.T.astype(float)) + (0 if own.dtype == bool else own.astype(float))
        scores = np.where(seen, scores, -np.inf)
        top = scores.max(axis=1, initial=-np.inf, keepdims=True)
        powers = np.exp(scores - np.where(top == -np.inf, 0, top))
        total = powers.sum(axis=1, keepdims=True)
        total = np.where((top == -np.inf) & seen.any(axis=1, keepdims=True), np.nan, total)
        yield powers / np.where(total == 0, 1, total), top, total, seen


def product(x: Array, y: Array, counts: Array) -> Array:
    """``x @ y`` of the pairs that count."""
    products: Array = np.where(counts[:, :, None], x[:, :, None] * y[None], 0)
    return np.asarray(products.sum(axis=1))


def attention(q: Array, k: Array, v: Array, mask: Array | None, heads: Heads) -> tuple[Array, Array]:
    """What `attention` of the interface says."""
    out, saved = np.empty(heads.rows * heads.value_width, q.dtype), [np.empty((2, 0))]
    each = zip(in_place(v, heads.values), in_place(out, heads.results), weights(q, k, mask, heads), strict=True)
    for values, result, (p, top, total, counts) in each:
        result[...] = product(p, values.astype(float), counts)
        saved.append(np.stack([top[:, 0], total[:, 0]]))
    return out, np.concatenate(saved, axis=1).astype(computing_dtype(q.dtype))


def attention_backward(
    cotangent: Array,
    q: Array,
    k: Array,
    v: Array,
    mask: Array | None,
    out: Array,
    saved: Array,
    heads: Heads,
    with_mask: bool,
) -> tuple[Array, Array, Array, Array | None]:
    """What `attention_backward` of the interface says; what is saved is worked out again."""
    made = [np.zeros(x.shape) for x in (q, k, v)]
    places = heads.queries, heads.keys, heads.values
    of_mask = np.zeros(mask.shape) if with_mask and mask is not None else None
    given = [in_place(x, placed) for x, placed in zip((q, k, v, *made), places * 2, strict=True)]
    masks = repeat(None) if of_mask is None else in_place(of_mask, heads.masks)
    for a, b, c, dq, dk, dv, g, dm, (p, _, _, counts) in zip(
        *given, in_place(cotangent, heads.results), masks, weights(q, k, mask, heads), strict=False
    ):
        a, b, c, g = (x.astype(float) for x in (a, b, c, g))
        dv += product(p.T, g, counts.T)
        steps = p * (g @ c.T - np.where(counts, p * (g @ c.T), 0).sum(axis=1, keepdims=True))
        steps = np.where(counts, steps, 0)
        dq += heads.scale * product(steps, b, counts)
        dk += heads.scale * product(steps.T, a, counts.T)
        if dm is not None:
            for place in np.ndindex(*steps.shape):  # one element of the mask may be that of several
                dm[place] += steps[place]
    dq, dk, dv = (x.astype(q.dtype) for x in made)
    return dq, dk, dv, None if of_mask is None else of_mask.astype(q.dtype)
