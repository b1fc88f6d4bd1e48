"""Launches of the kernels of rows: layer norm and cross entropy."""

from __future__ import annotations

import numpy as np

from ..segments import Segments
from .kernel_device import BLOCK, RawArray
from .naming import ctype, instantiation, wide_dtype
from .segment import MOST_TILES, SegmentKernels

WIDE_ROW = 1024  # elements; from there on a block takes a row, below a warp
CHUNK = 256  # rows whose parameter cotangents one block adds


class RowKernels(SegmentKernels):
    """Kernels of rows of one length."""

    def layer_norm(
        self, x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
    ) -> tuple[RawArray, RawArray, RawArray]:
        """Launch layer_norm.cu."""
        rows, wide = self.as_contiguous(x), wide_dtype(x.dtype)
        count, width = rows.shape
        out = self.empty(rows.shape, x.dtype)
        if not out.size:
            nothing = self.xp.full((2, count), np.nan, wide)
            return out, nothing[0], nothing[1]
        mean, std = self.empty((count,), wide), self.empty((count,), wide)
        parameters = self._widened(weight, wide), self._widened(bias, wide)
        args = rows, *parameters, np.float64(eps), np.int64(count), np.int64(width), out, mean, std
        self._launch_rows("layer_norm.cu", "layer_norm", rows, args)
        return out, mean, std

    def layer_norm_backward(
        self,
        cotangent: RawArray,
        x: RawArray,
        weight: RawArray | None,
        mean: RawArray,
        std: RawArray,
        /,
        with_bias: bool = True,
    ) -> tuple[RawArray, RawArray | None, RawArray | None]:
        """Launch two other kernels of layer_norm.cu: for x, and for the parameters."""
        rows, cotangents, wide = self.as_contiguous(x), self.as_contiguous(cotangent), wide_dtype(x.dtype)
        means, stds, (count, width) = self.as_contiguous(mean), self.as_contiguous(std), rows.shape
        out = self.empty(rows.shape, x.dtype)
        # A parameter that is wanted has a row of sums for each chunk of rows.
        chunk = max(CHUNK, -(-count // MOST_TILES))
        chunks = -(-count // chunk)
        wanted = weight is not None, with_bias
        sums = [self.empty((chunks, width), wide) if is_wanted else None for is_wanted in wanted]
        if out.size:
            numbers = np.int64(count), np.int64(width)
            args = cotangents, rows, self._widened(weight, wide), means, stds, *numbers, out
            self._launch_rows("layer_norm.cu", "layer_norm_backward", rows, args)
            if any(wanted):
                name = instantiation("layer_norm_parameters", ctype(x.dtype))
                args = cotangents, rows, means, stds, *numbers, np.int64(chunk), *sums
                self.launch("layer_norm.cu", name, (-(-width // 32), chunks), (32, 8), args)
        dtypes = x.dtype if weight is None else weight.dtype, x.dtype
        of_weight, of_bias = (
            None if chunk_sums is None else self._total(chunk_sums, dtype)
            for chunk_sums, dtype in zip(sums, dtypes, strict=True)
        )
        return out, of_weight, of_bias

    def cross_entropy(
        self, x: RawArray, target: RawArray, weight: RawArray | None, ignore_index: int, label_smoothing: float, /
    ) -> tuple[RawArray, RawArray]:
        """Launch cross_entropy.cu."""
        rows, wide = self.as_contiguous(x), wide_dtype(x.dtype)
        count, classes = rows.shape
        if not rows.size:
            return self.xp.zeros(count, x.dtype), self.xp.full((2, count), -np.inf, wide)
        loss, scale = self.empty((count,), x.dtype), self.empty((2, count), wide)
        targets = self.as_contiguous(target).astype(np.int64, copy=False)
        numbers = np.int64(ignore_index), np.float64(label_smoothing), np.int64(count), np.int64(classes)
        args = rows, targets, self._widened(weight, wide), *numbers, loss, scale
        self._launch_rows("cross_entropy.cu", "cross_entropy", rows, args)
        return loss, scale

    def cross_entropy_backward(
        self,
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
        rows = self.as_contiguous(x)
        out = self.empty(rows.shape, x.dtype)
        if out.size:
            count, classes = rows.shape
            weights = self._widened(weight, wide_dtype(x.dtype))
            total = None if weights is None else self.segment_sum(weights, Segments(np.array([0, classes])))
            targets = self.as_contiguous(target).astype(np.int64, copy=False)
            numbers = np.int64(ignore_index), np.float64(label_smoothing)
            args = self.as_contiguous(cotangent), rows, targets, weights, total, *numbers, self.as_contiguous(scale)
            grid = count, min(MOST_TILES, -(-classes // (4 * BLOCK)))
            name = instantiation("cross_entropy_backward", ctype(x.dtype))
            self.launch("cross_entropy.cu", name, grid, (BLOCK,), (*args, np.int64(count), np.int64(classes), out))
        return out

    def _launch_rows(self, file: str, kernel: str, rows: RawArray, args: tuple[object, ...]) -> None:
        """Launch a kernel of which a warp or a block computes a row."""
        count, width = rows.shape
        group = 32 if width < WIDE_ROW else BLOCK
        self.launch(
            file, instantiation(kernel, ctype(rows.dtype), group), (-(-count // (BLOCK // group)),), (BLOCK,), args
        )

    def _widened(self, parameter: RawArray | None, wide: np.dtype[np.generic]) -> RawArray | None:
        return None if parameter is None else self.as_contiguous(parameter).astype(wide, copy=False)

    def _total(self, rows: RawArray, dtype: np.dtype[np.generic]) -> RawArray:
        if not len(rows):  # zeros that take no memory, as there may be many columns
            return self.xp.broadcast_to(self.xp.zeros((), dtype), rows.shape[1])
        total = self.segment_sum(rows, Segments(np.array([0, len(rows)])))[0]
        return total.astype(dtype, copy=False)
