"""Launches of products of many matrices of different sizes, and totals."""

from __future__ import annotations

from math import prod

import numpy as np

from ..dtypes import is_float
from ..matrices import Matrices
from ..segments import Segments
from .kernel_device import RawArray
from .naming import ctype, instantiation
from .segment import SegmentKernels

SIDE = 32  # of the tile that a block makes: see matmul_components.cu


class ProductKernels(SegmentKernels):
    """Kernels of products and totals."""

    def matmul_components(self, a: RawArray, b: RawArray, left: Matrices, right: Matrices, /) -> RawArray:
        """Launch matmul_components.cu; each large product is a call of the vendor's library."""
        dtype = np.result_type(a.dtype, b.dtype)
        first, second = (self.as_contiguous(x).astype(dtype, copy=False) for x in (a, b))
        sizes = left.rows * right.cols
        ends = np.cumsum(sizes)
        out = self.empty((int(ends[-1]) if left.count else 0,), dtype)
        is_large = left.rows.astype(float) * left.cols * right.cols >= self.blas_from
        large = np.flatnonzero(is_large & is_float(dtype))
        small = np.setdiff1d(np.flatnonzero(sizes), large)
        for k in large.tolist():
            product = self.xp.matmul(left.matrix(first, k), right.matrix(second, k))
            out[ends.item(k) - product.size : ends.item(k)] = product.reshape(-1)
        if small.size:
            columns = left.rows, left.cols, right.cols, left.offsets, right.offsets, ends - sizes
            table = np.stack([column[small] for column in columns], axis=1)
            tiles = -(-table[:, 0] // SIDE) * -(-table[:, 2] // SIDE)
            args = first, np.int32(left.is_transposed), second, np.int32(right.is_transposed), out
            self.launch_tiles(
                "matmul_components.cu", instantiation("matmul_components", ctype(dtype)), table, tiles, (16, 16), args
            )
        return out

    def sum_all(self, x: RawArray, /) -> RawArray:
        """Add up one segment."""
        return self.segment_sum(self.as_contiguous(x).reshape(-1), Segments(np.array([0, x.size]))).reshape(())

    def sum_last(self, x: RawArray, /) -> RawArray:
        """Add up rows, which are segments of one column."""
        count, width = prod(x.shape[:-1]), x.shape[-1]
        rows = Segments(np.arange(count + 1, dtype=np.int64) * width)
        return self.segment_sum(self.as_contiguous(x).reshape(count * width), rows).reshape(x.shape[:-1])
