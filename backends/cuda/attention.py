"""Attention within components, and its adjoints. The host side."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..segments import Segments
from .device import Array, Device
from .naming import ctype, instance, wide_dtype
from .segment import BLOCK

QUERIES, KEYS, WIDE, THREADS = 16, 32, 64, 128  # a tile: see attention.cuh


def attention(
    device: Device,
    q: Array,
    k: Array,
    v: Array,
    queries: Segments,
    keys: Segments,
    scale: float,
    causal: bool = False,
    /,
) -> tuple[Array, Array]:
    """(N, H, E), (M, H, E) and (M, H, V) -> (N, H, V) and (N, H): softmax(scale q k^T) v in each component and head.

    The second result is the log of the sum of exp(scores), which the adjoint needs. ``causal`` hides key j from query i
    of a component where j > i. A query without keys gives 0 and -inf. No array of scores is made.
    """
    arrays = device.own(q), device.own(k), device.own(v)
    (rows, heads, size), value_size = q.shape, v.shape[2]
    out = device.empty((rows, heads, value_size), q.dtype)
    log_sums = device.empty((rows, heads), wide_dtype(q.dtype))
    meta, starts = _tiles(queries, keys, queries, QUERIES)
    if rows * heads:
        grid = int(starts[-1]), heads, max(1, -(-value_size // WIDE))
        numbers = np.int64(heads), np.int64(size), np.int64(value_size), np.float64(scale), np.int32(causal)
        args = device.upload(meta), device.upload(starts), np.int64(len(meta)), *arrays, *numbers, out, log_sums
        device.launch("attention.cu", instance("attention", ctype(q.dtype)), grid, (THREADS,), args)
    return out, log_sums


def attention_backward(
    device: Device,
    cotangent: Array,
    q: Array,
    k: Array,
    v: Array,
    out: Array,
    log_sums: Array,
    queries: Segments,
    keys: Segments,
    scale: float,
    causal: bool = False,
    /,
) -> tuple[Array, Array, Array]:
    """The cotangents of q, k and v, for (out, log_sums) = attention(q, k, v, ...)."""
    given = tuple(device.own(x) for x in (q, k, v, cotangent))
    (rows, heads, size), value_size = q.shape, v.shape[2]
    results = tuple(device.empty(x.shape, x.dtype) for x in (q, k, v))
    delta = device.empty((rows, heads), wide_dtype(q.dtype))
    if delta.size:
        args = given[3], device.own(out), np.int64(delta.size), np.int64(value_size), delta
        name = instance("attention_delta", ctype(q.dtype))
        device.launch("attention_backward.cu", name, (-(-delta.size // 8),), (BLOCK,), args)
    numbers = np.int64(heads), np.int64(size), np.int64(value_size), np.float64(scale), np.int32(causal)
    shared = *given, device.own(log_sums), delta, *numbers
    passes = ("queries", queries, QUERIES, size, results[:1]), ("keys", keys, KEYS, max(size, value_size), results[1:])
    for what, segments, tile, width, made in passes:
        if not segments.rows * heads * width:
            continue
        meta, starts = _tiles(queries, keys, segments, tile)
        grid = int(starts[-1]), heads, -(-width // WIDE)
        args = device.upload(meta), device.upload(starts), np.int64(len(meta)), *shared, *made
        name = instance(f"attention_backward_{what}", ctype(q.dtype))
        device.launch("attention_backward.cu", name, grid, (THREADS,), args)
    return results[0], results[1], results[2]


def _tiles(
    queries: Segments, keys: Segments, along: Segments, tile: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Where the queries and keys of each component are, and the first tile of each along its queries or its keys."""
    columns = queries.offsets[:-1], queries.lengths, keys.offsets[:-1], keys.lengths
    starts = np.zeros(along.count + 1, np.int64)
    np.cumsum(-(-along.lengths // tile), out=starts[1:])
    return np.stack(columns, axis=1), starts
