"""Launches of the kernels of attention within components, and of its adjoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..heads import Heads
from .kernel_device import BLOCK, KernelDevice, RawArray
from .naming import ctype, instantiation, wide_dtype

QUERIES, KEYS, COLUMNS, THREADS = 16, 32, 64, 128  # of a tile: see attention.cuh


def attention(
    device: KernelDevice,
    q: RawArray,
    k: RawArray,
    v: RawArray,
    mask: RawArray | None,
    heads: Heads,
    recorded: bool = True,
    /,
) -> tuple[RawArray, RawArray | None]:
    """Flat buffers -> the flat result and, if recorded, the greatest score and the total of each query."""
    out = device.empty((heads.rows * heads.value_width,), q.dtype)
    saved = device.empty((2, heads.rows), wide_dtype(q.dtype))
    if heads.rows:
        outputs = out, saved[0], saved[1]
        inputs = tuple(device.as_contiguous(x) for x in (q, k, v))
        _launch(device, "attention.cu", "attention", heads, q.dtype, (*inputs, *_masks(device, mask)), outputs)
    return out, saved if recorded else None


def attention_backward(
    device: KernelDevice,
    cotangent: RawArray,
    q: RawArray,
    k: RawArray,
    v: RawArray,
    mask: RawArray | None,
    out: RawArray,
    saved: RawArray,
    heads: Heads,
    with_mask: bool,
    /,
) -> tuple[RawArray, RawArray, RawArray, RawArray | None]:
    """Return the cotangents of q, k and v, and of a mask of floats if ``with_mask``, of the sizes of these buffers."""
    g, rows = device.as_contiguous(cotangent), device.as_contiguous(saved)
    arrays = tuple(device.as_contiguous(x) for x in (q, k, v))
    of_query, of_key, of_value = (device.xp.zeros(x.shape, x.dtype) for x in arrays)
    delta = device.empty((heads.rows,), rows.dtype)
    if heads.rows:
        meta = device.upload(_meta(heads)), device.upload(heads.first_row), np.int64(len(heads.sizes))
        sizes = np.int64(heads.rows), np.int64(heads.value_width)
        name = instantiation("attention_delta", ctype(q.dtype))
        args = *meta, g, device.as_contiguous(out), *sizes, delta
        device.launch("attention_backward.cu", name, (-(-heads.rows // 8),), (BLOCK,), args)
    inputs = *arrays, *_masks(device, mask), g, rows[0], rows[1], delta
    score_cotangents = device.empty((heads.pairs,), rows.dtype) if with_mask else None
    passes = (("queries", (of_query,)), ("keys", (of_key, of_value)), ("mask", (score_cotangents,)))
    for operand, outputs in passes[: 2 + with_mask]:
        _launch(device, "attention_backward.cu", f"attention_backward_{operand}", heads, q.dtype, inputs, outputs)
    of_mask = None
    if score_cotangents is not None and mask is not None:
        of_mask = device.scatter_components(score_cotangents, *heads.masks, mask.size).astype(mask.dtype, copy=False)
    return of_query, of_key, of_value, of_mask


def _launch(
    device: KernelDevice,
    file: str,
    kernel: str,
    heads: Heads,
    dtype: Any,
    inputs: tuple[Any, ...],
    outputs: tuple[Any, ...],
) -> None:
    """Launch a kernel that computes ``outputs``, with a block for each tile of rows, head and tile of columns."""
    of_keys = kernel.endswith("keys")
    tiles = -(-heads.sizes[:, 3] // KEYS) if of_keys else -(-heads.sizes[:, 2] // QUERIES)
    starts = np.zeros(len(tiles) + 1, np.int64)
    np.cumsum(tiles, out=starts[1:])
    widths = {"attention": heads.value_width, "attention_backward_queries": heads.width, "attention_backward_mask": 1}
    columns = widths.get(kernel, max(heads.width, heads.value_width))
    most_heads = int((heads.sizes[:, 0] if of_keys else heads.counts).max(initial=0))
    grid = int(starts[-1]), most_heads, max(-(-columns // COLUMNS), kernel == "attention")
    if 0 in grid:
        return
    sizes = np.int64(heads.width), np.int64(heads.value_width), np.float64(heads.scale), np.int32(heads.causal)
    args = device.upload(_meta(heads)), device.upload(starts), np.int64(len(tiles)), *inputs, *sizes, *outputs
    device.launch(file, instantiation(kernel, ctype(dtype)), grid, (THREADS,), args)


def _masks(device: KernelDevice, mask: RawArray | None) -> tuple[RawArray | None, RawArray | None]:
    """Return the mask as the argument for bools and the argument for floats; the other argument is None."""
    own = None if mask is None else device.as_contiguous(mask)
    return (own, None) if own is not None and own.dtype == np.bool_ else (None, own)


def _meta(heads: Heads) -> NDArray[np.int64]:
    """Return a row for each component, as `Part` of attention.cuh reads it: sizes, places, first row, first score."""
    mask = heads.mask if heads.mask is not None else np.zeros((len(heads.sizes), 4), np.int64)
    scores = heads.counts * heads.sizes[:, 2] * heads.sizes[:, 3]
    starts = heads.first_row[:-1], np.cumsum(scores) - scores
    places = heads.sizes, heads.query, heads.key, heads.value, heads.made, mask
    return np.concatenate([*places, np.stack(starts, axis=1)], axis=1)
