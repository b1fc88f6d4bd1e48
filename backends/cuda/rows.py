"""Launches of the kernels of rows: layer norm and cross entropy."""

from __future__ import annotations

import numpy as np

from ..segments import Segments
from .kernel_device import BLOCK, KernelDevice, RawArray
from .naming import ctype, instantiation, wide_dtype
from .segment import MOST_TILES, reduce_into

WIDE_ROW = 1024  # elements; from there on a block takes a row, below a warp
CHUNK = 256  # rows whose parameter cotangents one block adds


def layer_norm(
    device: KernelDevice, x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
) -> tuple[RawArray, RawArray, RawArray]:
    """Launch layer_norm.cu."""
    rows, wide = device.as_contiguous(x), wide_dtype(x.dtype)
    count, width = rows.shape
    out = device.empty(rows.shape, x.dtype)
    if not out.size:
        nothing = device.xp.full((2, count), np.nan, wide)
        return out, nothing[0], nothing[1]
    mean, std = device.empty((count,), wide), device.empty((count,), wide)
    group, grid = _groups(count, width)
    parameters = _widened(device, weight, wide), _widened(device, bias, wide)
    args = rows, *parameters, np.float64(eps), np.int64(count), np.int64(width), out, mean, std
    device.launch("layer_norm.cu", instantiation("layer_norm", ctype(x.dtype), group), grid, (BLOCK,), args)
    return out, mean, std


def layer_norm_backward(
    device: KernelDevice,
    cotangent: RawArray,
    x: RawArray,
    weight: RawArray | None,
    mean: RawArray,
    std: RawArray,
    /,
    with_bias: bool = True,
) -> tuple[RawArray, RawArray | None, RawArray | None]:
    """Launch two other kernels of layer_norm.cu: for x, and for the parameters."""
    rows, cotangents, wide = device.as_contiguous(x), device.as_contiguous(cotangent), wide_dtype(x.dtype)
    count, width = rows.shape
    means, stds = device.as_contiguous(mean), device.as_contiguous(std)
    out = device.empty(rows.shape, x.dtype)
    wanted = weight is not None, with_bias
    dtypes = x.dtype if weight is None else weight.dtype, x.dtype
    if not out.size:  # zeros that take no memory, as there may be many columns
        zeros = [device.xp.broadcast_to(device.xp.zeros((), dtype), width) for dtype in dtypes]
        return out, zeros[0] if wanted[0] else None, zeros[1] if wanted[1] else None
    group, grid = _groups(count, width)
    numbers = np.int64(count), np.int64(width)
    args = cotangents, rows, _widened(device, weight, wide), means, stds, *numbers, out
    device.launch("layer_norm.cu", instantiation("layer_norm_backward", ctype(x.dtype), group), grid, (BLOCK,), args)
    sums = _parameter_sums(device, cotangents, rows, means, stds, wanted) if any(wanted) else (None, None)
    of_weight, of_bias = (
        None if total is None else total.astype(dtype, copy=False) for total, dtype in zip(sums, dtypes, strict=True)
    )
    return out, of_weight, of_bias


def _parameter_sums(
    device: KernelDevice, cotangents: RawArray, rows: RawArray, mean: RawArray, std: RawArray, wanted: tuple[bool, bool]
) -> tuple[RawArray | None, ...]:
    """The sums over all rows of cotangent * normalized row and of cotangent: chunk by chunk, then of the chunks."""
    (count, width), wide = rows.shape, wide_dtype(rows.dtype)
    chunk = max(CHUNK, -(-count // MOST_TILES))
    chunks = -(-count // chunk)
    partial = [device.empty((chunks, width), wide) if want else None for want in wanted]
    grid = -(-width // 32), chunks
    args = cotangents, rows, mean, std, np.int64(count), np.int64(width), np.int64(chunk), *partial
    device.launch("layer_norm.cu", instantiation("layer_norm_parameters", ctype(rows.dtype)), grid, (32, 8), args)
    whole = Segments(np.array([0, chunks]))
    totals: list[RawArray | None] = []
    for part in partial:
        total = None if part is None else device.empty((1, width), wide)
        if total is not None:
            reduce_into(device, "Sum", part, whole, total)
        totals.append(None if total is None else total[0])
    return tuple(totals)


def cross_entropy(
    device: KernelDevice,
    x: RawArray,
    target: RawArray,
    weight: RawArray | None,
    ignore_index: int,
    label_smoothing: float,
    /,
) -> tuple[RawArray, RawArray]:
    """Launch cross_entropy.cu."""
    rows, wide = device.as_contiguous(x), wide_dtype(x.dtype)
    count, classes = rows.shape
    if not rows.size:
        return device.xp.zeros(count, x.dtype), device.xp.full((2, count), -np.inf, wide)
    loss, scale = device.empty((count,), x.dtype), device.empty((2, count), wide)
    group, grid = _groups(count, classes)
    targets = device.as_contiguous(target).astype(np.int64, copy=False)
    numbers = np.int64(ignore_index), np.float64(label_smoothing), np.int64(count), np.int64(classes)
    args = rows, targets, _widened(device, weight, wide), *numbers, loss, scale
    device.launch("cross_entropy.cu", instantiation("cross_entropy", ctype(x.dtype), group), grid, (BLOCK,), args)
    return loss, scale


def cross_entropy_backward(
    device: KernelDevice,
    cotangent: RawArray,
    x: RawArray,
    target: RawArray,
    weight: RawArray | None,
    ignore_index: int,
    label_smoothing: float,
    scale: RawArray,
    /,
) -> RawArray:
    """Launch the second kernel of cross_entropy.cu."""
    rows, wide = device.as_contiguous(x), wide_dtype(x.dtype)
    out = device.empty(rows.shape, x.dtype)
    if out.size:
        count, classes = rows.shape
        weights = _widened(device, weight, wide)
        total = None
        if weights is not None:
            total = device.empty((1, 1), wide)
            reduce_into(device, "Sum", weights.reshape(classes, 1), Segments(np.array([0, classes])), total)
        targets = device.as_contiguous(target).astype(np.int64, copy=False)
        numbers = np.int64(ignore_index), np.float64(label_smoothing)
        args = device.as_contiguous(cotangent), rows, targets, weights, total, *numbers, device.as_contiguous(scale)
        grid = count, min(MOST_TILES, -(-classes // (4 * BLOCK)))
        name = instantiation("cross_entropy_backward", ctype(x.dtype))
        device.launch("cross_entropy.cu", name, grid, (BLOCK,), (*args, np.int64(count), np.int64(classes), out))
    return out


def _groups(rows: int, width: int) -> tuple[int, tuple[int]]:
    """How many threads share a row, and the grid."""
    group = 32 if width < WIDE_ROW else BLOCK
    return group, (-(-rows // (BLOCK // group)),)


def _widened(device: KernelDevice, parameter: RawArray | None, wide: np.dtype[np.generic]) -> RawArray | None:
    return None if parameter is None else device.as_contiguous(parameter).astype(wide, copy=False)
