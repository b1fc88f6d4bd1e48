"""Launches of products of many matrices of different sizes, and sums of dense arrays."""

from __future__ import annotations

from math import prod

import numpy as np

from ..component_layout import Matrices
from ..dtypes import is_float
from ..segments import Segments
from .instantiations import instantiation
from .launching_backend import RawArray
from .segment import SegmentKernels

SIDE = 32  # of the tile that a block computes: see matmul_components.cu


class ProductKernels(SegmentKernels):
    """Kernels of products and of sums."""

    def matmul_components(self, a: RawArray, b: RawArray, left: Matrices, right: Matrices, /) -> RawArray:
        """Launch matmul_components.cu; the array module computes each large product."""
        dtype = np.result_type(a.dtype, b.dtype)
        a, b = (self.as_contiguous(x).astype(dtype, copy=False) for x in (a, b))
        sizes = left.rows * right.cols
        ends = np.cumsum(sizes)
        out = self.empty((int(sizes.sum()),), dtype)
        is_large = left.rows.astype(float) * left.cols * right.cols >= self.matmul_threshold
        large = np.flatnonzero(is_large & is_float(dtype))
        small = np.setdiff1d(np.flatnonzero(sizes), large)
        for k in large.tolist():
            product = self.xp.matmul(left.matrix(a, k), right.matrix(b, k))
            out[ends.item(k) - product.size : ends.item(k)] = product.reshape(-1)
        columns = left.rows, left.cols, right.cols, left.offsets, right.offsets, ends - sizes
        table = np.stack([column[small] for column in columns], axis=1)
        tiles = -(-table[:, 0] // SIDE) * -(-table[:, 2] // SIDE)
        name = instantiation("matmul_components", dtype)
        args = a, np.int32(left.is_transposed), b, np.int32(right.is_transposed), out
        self.launch_tiles("matmul_components.cu", name, table, tiles, (16, 16), args)
        return out

    def sum_all(self, x: RawArray, /) -> RawArray:
        """Add up one segment."""
        return self.segment_sum(self.flat(x), Segments(np.array([0, x.size]))).reshape(())

    def sum_last(self, x: RawArray, /) -> RawArray:
        """Add up rows, which are segments of one column."""
        count, width = prod(x.shape[:-1]), x.shape[-1]
        rows = Segments(np.arange(count + 1, dtype=np.int64) * width)
        return self.segment_sum(self.flat(x), rows).reshape(x.shape[:-1])
