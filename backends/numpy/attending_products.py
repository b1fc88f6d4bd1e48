"""Products, sums and maxima of blocks of attention: matrices (K, C, G, rows, columns), which lie in any order."""

from __future__ import annotations

from functools import lru_cache
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elementwise import where
from .running import ones, scratch

Array = NDArray[Any]
Strips = list[tuple[slice, slice]]  # rows of a result, and what else they are made of: columns, or rows of the other

MILD = 60.0  # scores up to here, and down to its negative: e^60 is about 1e26
SHORT = 64  # keys, of which a maximum is taken column by column


def meeting(rows: Array, columns: Array, strips: Strips | None, out: Array) -> Array:
    """``rows @ columns^T``; of strips what they name, and zeros."""
    turned = columns.swapaxes(-1, -2)
    if strips is None:
        return np.asarray(np.matmul(rows, turned, out=out))
    for own, met in strips:
        np.matmul(rows[..., own, :], turned[..., met], out=out[..., own, met])
        out[..., own, met.stop :] = 0
    return out


def mixed(weights: Array, rows: Array, seen: Array | None, strips: Strips | None, out: Array | None = None) -> Array:
    """``weights @ rows``, in which a row that is not seen takes no part, whatever it holds; the weight of it is 0."""
    if seen is not None and not finite(rows):
        return _mixed_of_wild(weights, rows, seen, strips, out)
    if strips is None:
        return np.asarray(np.matmul(weights, rows, out=out))
    if out is None:
        out = np.empty((*weights.shape[:-1], rows.shape[-1]), weights.dtype)
    for own, met in strips:
        np.matmul(weights[..., own, met], rows[..., met, :], out=out[..., own, :])
    return out


def _mixed_of_wild(weights: Array, rows: Array, seen: Array, strips: Strips | None, out: Array | None) -> Array:
    """The same of rows that hold infinities or NaN."""
    calm = np.isfinite(rows)
    found = mixed(weights, where(calm, rows, rows.dtype.type(0)), None, strips, out)
    seen = np.broadcast_to(seen, weights.shape)
    for j in np.flatnonzero(~calm.all(axis=(0, 1, 2, 4))).tolist():
        wild = where(calm[..., j : j + 1, :], 0, rows[..., j : j + 1, :])
        column = slice(j, j + 1)
        np.add(found, weights[..., column] * wild, out=found, where=seen[..., column] & (wild != 0))
    return found


def sums(x: Array) -> Array:
    """The sums of the rows, as a product with ones."""
    axes, back = _order(x.strides)
    lying = x.transpose(axes)
    found: Array = np.matmul(lying.reshape(prod(x.shape[:-1]), x.shape[-1]), ones(x.shape[-1], x.dtype))
    return found.reshape(*lying.shape[:-1], 1).transpose(back)


def greatest(scores: Array) -> Array:
    """The greatest score of each query, NaN where there is one; a reduction has to begin anew for each of them."""
    if scores.shape[-1] > SHORT:
        return np.asarray(scores.max(axis=-1, keepdims=True))
    found = scores[..., :1].copy()
    for j in range(1, scores.shape[-1]):
        np.maximum(found, scores[..., j : j + 1], out=found)
    return found


def mild(scores: Array) -> Array:
    """Return the heads, (K, C, G, 1, 1), whose scores are all small: their exponentials are added as they are.

    A head whose scores contain a NaN is not mild.
    """
    lying = _lying(scores)
    if lying.min(initial=0) > -MILD and lying.max(initial=0) < MILD:
        return np.ones((*scores.shape[:3], 1, 1), np.bool_)
    least, most = (extreme.reduce(scores, (3, 4), keepdims=True, initial=0) for extreme in (np.minimum, np.maximum))
    return np.asarray((least > -MILD) & (most < MILD))


def finite(*arrays: Array) -> bool:
    """Whether all numbers are finite, so that the sum of their squares is; False also where that is too large."""
    return all(np.isfinite(np.vdot(x, x)) for x in map(_lying, arrays))


def alike(slot: str, x: Array, dtype: np.dtype[Any]) -> Array:
    """Memory for an array that lies as x does, so that one pass through both is straight."""
    axes, back = _order(x.strides)
    return scratch(slot, tuple(x.shape[axis] for axis in axes), dtype).transpose(back)


def _lying(x: Array) -> Array:
    """The array with its axes as they lie, so that one pass through it is straight."""
    return x.transpose(_order(x.strides)[0])


@lru_cache(1024)
def _order(strides: tuple[int, ...]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The axes as they lie, outermost first, and where each of them is among these; rows are innermost."""
    last = len(strides) - 1
    axes = (*sorted(range(last), key=lambda axis: -strides[axis]), last)
    return axes, tuple(axes.index(axis) for axis in range(len(axes)))
