"""Launches of the kernels of dense rows: layer norm and cross entropy."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..dtypes import computing_dtype
from ..segments import Segments
from .instantiations import instantiation
from .launching_backend import BLOCK, RawArray
from .products import ProductKernels
from .segment import MOST_TILES

WIDE_ROW = 1024  # elements; a block computes a row from this width on, and a warp computes a narrower one
CHUNK = 256  # rows; one block adds what they contribute to the cotangents of weight and bias


class NormalizationKernels(ProductKernels):
    """Kernels of rows of one length."""

    def layer_norm(
        self, x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
    ) -> tuple[RawArray, RawArray, RawArray]:
        """Launch layer_norm.cu."""
        accumulator = computing_dtype(x.dtype)
        parameters = self._astype(weight, accumulator), self._astype(bias, accumulator)
        out = self.empty(x.shape, x.dtype)
        mean, std = self.empty(x.shape[:1], accumulator), self.empty(x.shape[:1], accumulator)
        inputs = self.as_contiguous(x), *parameters, np.float64(eps)
        self._launch_rows("layer_norm.cu", "layer_norm", x, inputs, (out, mean, std))
        return out, mean, std

    def layer_norm_backward(
        self,
        cotangent: RawArray,
        x: RawArray,
        weight: RawArray | None,
        mean: RawArray,
        std: RawArray,
        /,
    ) -> tuple[RawArray, RawArray | None, RawArray]:
        """Launch the other two kernels of layer_norm.cu: for the cotangent of x, and for those of the parameters."""
        rows, cotangents, means, stds = (self.as_contiguous(operand) for operand in (x, cotangent, mean, std))
        (count, width), accumulator = x.shape, computing_dtype(x.dtype)
        out = self.empty(x.shape, x.dtype)
        inputs = cotangents, rows, self._astype(weight, accumulator), means, stds
        self._launch_rows("layer_norm.cu", "layer_norm_backward", x, inputs, (out,))
        # The sums of each chunk of rows, which add up to the cotangent of a parameter; None without a weight.
        rows_per_chunk = max(CHUNK, -(-count // MOST_TILES))
        num_chunks = -(-count // rows_per_chunk)
        weight_sums = None if weight is None else self.empty((num_chunks, width), accumulator)
        bias_sums = self.empty((num_chunks, width), accumulator)
        name = instantiation("layer_norm_parameters", x.dtype)
        args = cotangents, rows, means, stds, count, width, rows_per_chunk, weight_sums, bias_sums
        self.launch("layer_norm.cu", name, (-(-width // 32), num_chunks), (32, 8), args)
        weight_gradient = None if weight is None else self._total(weight_sums, weight.dtype)
        return out, weight_gradient, self._total(bias_sums, x.dtype)

    def cross_entropy(
        self, x: RawArray, target: RawArray, weight: RawArray | None, ignore_index: int, label_smoothing: float, /
    ) -> tuple[RawArray, RawArray]:
        """Launch cross_entropy.cu."""
        accumulator = computing_dtype(x.dtype)
        targets, weights = self._astype(target, np.dtype(np.int64)), self._astype(weight, accumulator)
        loss, max_and_log_sum = self.empty(x.shape[:1], x.dtype), self.empty((2, len(x)), accumulator)
        inputs = self.as_contiguous(x), targets, weights, np.int64(ignore_index), np.float64(label_smoothing)
        self._launch_rows("cross_entropy.cu", "cross_entropy", x, inputs, (loss, max_and_log_sum))
        return loss, max_and_log_sum

    def cross_entropy_backward(
        self,
        cotangent: RawArray,
        x: RawArray,
        target: RawArray,
        weight: RawArray | None,
        ignore_index: int,
        label_smoothing: float,
        max_and_log_sum: RawArray,
        /,
    ) -> RawArray:
        """Launch the second kernel of cross_entropy.cu."""
        count, classes = x.shape
        targets, weights = self._astype(target, np.dtype(np.int64)), self._astype(weight, computing_dtype(x.dtype))
        total_weight = None if weights is None else self.sum_all(weights)
        operands = self.as_contiguous(cotangent), self.as_contiguous(x), targets, weights, total_weight
        options = np.int64(ignore_index), np.float64(label_smoothing)
        out = self.empty(x.shape, x.dtype)
        args = *operands, *options, self.as_contiguous(max_and_log_sum), count, classes, out
        grid = count, min(MOST_TILES, -(-classes // (4 * BLOCK)))
        self.launch("cross_entropy.cu", instantiation("cross_entropy_backward", x.dtype), grid, (BLOCK,), args)
        return out

    def _launch_rows(self, file: str, kernel: str, x: RawArray, inputs: Any, outputs: Any) -> None:
        """Launch a kernel whose warps or blocks compute a row of ``x`` each."""
        count, width = x.shape
        threads_per_row = 32 if width < WIDE_ROW else BLOCK
        grid = (-(-count // (BLOCK // threads_per_row)),)
        name, args = instantiation(kernel, x.dtype, threads_per_row), (*inputs, count, width, *outputs)
        self.launch(file, name, grid, (BLOCK,), args)

    def _astype(self, x: RawArray | None, dtype: np.dtype[np.generic]) -> RawArray | None:
        return None if x is None else self.as_contiguous(x).astype(dtype, copy=False)

    def _total(self, sums: RawArray, dtype: np.dtype[np.generic]) -> RawArray:
        """Return the sum of the rows of ``sums``."""
        if not len(sums):  # zeros that take no memory, as there may be many columns
            return self.xp.broadcast_to(self.xp.zeros((), dtype), sums.shape[1])
        return self.segment_sum(sums, Segments(np.array([0, len(sums)])))[0].astype(dtype, copy=False)
