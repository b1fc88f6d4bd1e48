"""Launches of the kernels of attention within components, and of its adjoints."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..heads import Heads
from .kernel_device import BLOCK, RawArray
from .movement import MovementKernels
from .naming import ctype, instantiation, wide_dtype

QUERIES, KEYS, COLUMNS, THREADS = 16, 32, 64, 128  # of a tile: see attention.cuh


class AttentionKernels(MovementKernels):
    """Kernels of attention."""

    def attention(
        self, q: RawArray, k: RawArray, v: RawArray, mask: RawArray | None, heads: Heads, recorded: bool = True, /
    ) -> tuple[RawArray, RawArray | None]:
        """Flat buffers -> the flat result and, if recorded, the maximum and the sum of exponentials of each query."""
        out = self.empty((heads.rows * heads.value_width,), q.dtype)
        saved = self.empty((2, heads.rows), wide_dtype(q.dtype))
        inputs = *(self.as_contiguous(x) for x in (q, k, v)), *self._masks(mask)
        columns = max(1, heads.value_width)
        self._launch_tiles("attention.cu", "attention", q.dtype, heads, columns, inputs, (out, saved[0], saved[1]))
        return out, saved if recorded else None

    def attention_backward(
        self,
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
        """Return the cotangents of q, k, v and, if ``with_mask``, of a float mask, each as large as its operand."""
        g, saved = self.as_contiguous(cotangent), self.as_contiguous(saved)
        arrays = tuple(self.as_contiguous(x) for x in (q, k, v))
        delta = self.empty((heads.rows,), saved.dtype)
        if heads.rows:
            components = self.upload(_table(heads)), self.upload(heads.first_row), np.int64(len(heads.sizes))
            args = *components, g, self.as_contiguous(out), np.int64(heads.rows), np.int64(heads.value_width), delta
            name = instantiation("attention_delta", ctype(q.dtype))
            self.launch("attention_backward.cu", name, (-(-heads.rows // 8),), (BLOCK,), args)
        inputs = *arrays, *self._masks(mask), g, saved[0], saved[1], delta

        def launch(kernel: str, columns: int, *outputs: RawArray) -> None:
            self._launch_tiles("attention_backward.cu", kernel, q.dtype, heads, columns, inputs, outputs)

        of_query, of_key, of_value = (self.xp.zeros(x.shape, x.dtype) for x in arrays)
        launch("attention_backward_queries", heads.width, of_query)
        launch("attention_backward_keys", max(heads.width, heads.value_width), of_key, of_value)
        of_mask = None
        if with_mask and mask is not None:
            of_scores = self.empty((heads.pairs,), saved.dtype)
            launch("attention_backward_mask", 1, of_scores)
            of_mask = self.scatter_components(of_scores, *heads.masks, mask.size).astype(mask.dtype, copy=False)
        return of_query, of_key, of_value, of_mask

    def _launch_tiles(
        self, file: str, kernel: str, dtype: Any, heads: Heads, columns: int, inputs: Any, outputs: Any
    ) -> None:
        """Launch a kernel that computes ``outputs``, with a block for each tile of rows, head and tile of columns."""
        of_keys = kernel.endswith("keys")
        tiles = -(-heads.num_keys // KEYS) if of_keys else -(-heads.num_queries // QUERIES)
        most_heads = int((heads.sizes[:, 0] if of_keys else heads.query_heads).max(initial=0))
        grid = most_heads, -(-columns // COLUMNS)
        sizes = np.int64(heads.width), np.int64(heads.value_width), np.float64(heads.scale), np.int32(heads.causal)
        if 0 not in grid:
            args = *inputs, *sizes, *outputs
            self.launch_tiles(file, instantiation(kernel, ctype(dtype)), _table(heads), tiles, (THREADS,), args, grid)

    def _masks(self, mask: RawArray | None) -> tuple[RawArray | None, RawArray | None]:
        """Return a mask as the arguments for bools and for floats; the argument of the other kind is None."""
        mask = None if mask is None else self.as_contiguous(mask)
        return (mask, None) if mask is not None and mask.dtype == np.bool_ else (None, mask)


def _table(heads: Heads) -> NDArray[np.int64]:
    """Return a row for each component, as `Part` of attention.cuh reads it: sizes, places, first row, first score."""
    mask = heads.mask if heads.mask is not None else np.zeros((len(heads.sizes), 4), np.int64)
    scores = heads.query_heads * heads.num_queries * heads.num_keys
    starts = heads.first_row[:-1], np.cumsum(scores) - scores
    places = heads.sizes, heads.query, heads.key, heads.value, heads.result, mask
    return np.concatenate([*places, np.stack(starts, axis=1)], axis=1)
