"""Launches of products of many matrices of different sizes, and totals."""

from __future__ import annotations

from math import prod

import numpy as np

from ..dtypes import is_float
from ..matrices import Matrices
from ..segments import Segments
from .kernel_device import KernelDevice, RawArray
from .naming import ctype, instantiation

SIDE = 32  # of the tile that a block makes: see matmul_components.cu


def matmul_components(device: KernelDevice, a: RawArray, b: RawArray, left: Matrices, right: Matrices, /) -> RawArray:
    """Launch matmul_components.cu; each large product is a call of the vendor's library."""
    dtype = np.result_type(a.dtype, b.dtype)
    first, second = (device.as_contiguous(x).astype(dtype, copy=False) for x in (a, b))
    sizes = left.rows * right.cols
    ends = np.cumsum(sizes)
    out = device.empty((int(ends[-1]) if left.count else 0,), dtype)
    single = np.flatnonzero(_large(device, left, right, dtype))
    small = np.setdiff1d(np.flatnonzero(sizes), single)
    for k in single.tolist():  # worth a call of the vendor's library each
        pair = _matrix(first, left, k), _matrix(second, right, k)
        place = slice(int(ends[k] - sizes[k]), int(ends[k]))
        out[place] = device.xp.matmul(*pair).reshape(-1)
    if small.size:
        columns = left.rows, left.cols, right.cols, left.offsets, right.offsets, ends - sizes
        meta = np.stack([column[small] for column in columns], axis=1).astype(np.int64, copy=False)
        starts = np.zeros(len(meta) + 1, np.int64)
        np.cumsum(-(-meta[:, 0] // SIDE) * -(-meta[:, 2] // SIDE), out=starts[1:])
        operands = first, np.int32(left.is_transposed), second, np.int32(right.is_transposed)
        args = device.upload(meta), device.upload(starts), np.int64(len(meta)), *operands, out
        name = instantiation("matmul_components", ctype(dtype))
        device.launch("matmul_components.cu", name, (int(starts[-1]),), (16, 16), args)
    return out


def sum_all(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Add up one segment."""
    return device.segment_sum(device.as_contiguous(x).reshape(-1), Segments(np.array([0, x.size]))).reshape(())


def sum_last(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Add up rows, which are segments of one column."""
    count, width = prod(x.shape[:-1]), x.shape[-1]
    rows = Segments(np.arange(count + 1, dtype=np.int64) * width)
    return device.segment_sum(device.as_contiguous(x).reshape(count * width), rows).reshape(x.shape[:-1])


def _large(device: KernelDevice, left: Matrices, right: Matrices, dtype: np.dtype[np.generic]) -> np.ndarray:
    """Which products go to the vendor's library: float ones with more multiplications than the device says."""
    if device.blas_from is None or not is_float(dtype):
        return np.zeros(left.count, bool)
    large: np.ndarray = left.rows.astype(float) * left.cols * right.cols >= device.blas_from
    return large


def _matrix(flat: RawArray, matrices: Matrices, k: int) -> RawArray:
    offset, rows, cols = matrices.places[k]
    stored = flat[offset : offset + rows * cols]
    return stored.reshape(cols, rows).T if matrices.is_transposed else stored.reshape(rows, cols)
