"""Launches of the kernels of attention and of its gradient."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..head_layout import HeadLayout
from .instantiations import instantiation
from .launching_backend import BLOCK, RawArray
from .movement import MovementKernels

TILE_QUERIES, TILE_KEYS, TILE_COLUMNS, THREADS = 16, 32, 64, 128  # QUERIES, KEYS, WIDE, THREADS of attention.cuh


class AttentionKernels(MovementKernels):
    """Kernels of attention."""

    def attention(
        self,
        q: RawArray,
        k: RawArray,
        v: RawArray,
        mask: RawArray | None,
        layout: HeadLayout,
        needs_gradient: bool = True,
        /,
    ) -> tuple[RawArray, RawArray | None]:
        """Launch attention.cu, which saves the maximum and the sum of exponentials of each row of scores: (2, rows)."""
        out = self.empty((layout.result_numel,), q.dtype)
        saved = self.empty((2, layout.query_segments.rows), computing_dtype(q.dtype))
        inputs = *(self.as_contiguous(x) for x in (q, k, v)), *self._mask_arguments(mask)
        columns = max(1, layout.value_width)
        self._launch_for_heads("attention.cu", "attention", q.dtype, layout, columns, inputs, (out, saved[0], saved[1]))
        return out, saved if needs_gradient else None

    def attention_backward(
        self,
        g: RawArray,
        q: RawArray,
        k: RawArray,
        v: RawArray,
        mask: RawArray | None,
        out: RawArray,
        saved: RawArray,
        layout: HeadLayout,
        needs_mask_gradient: bool,
        /,
    ) -> tuple[RawArray, RawArray, RawArray, RawArray | None]:
        """Launch the kernels of attention_backward.cu, one after the other."""
        g, saved = self.as_contiguous(g), self.as_contiguous(saved)
        q, k, v = (self.as_contiguous(x) for x in (q, k, v))
        queries = layout.query_segments
        delta = self.empty((queries.rows,), saved.dtype)  # the sum of each row of g * out
        tables = self.upload(_component_table(layout)), self.offsets(queries), queries.count
        args = *tables, g, self.as_contiguous(out), queries.rows, layout.value_width, delta
        name = instantiation("attention_delta", q.dtype)
        self.launch("attention_backward.cu", name, (-(-queries.rows // 8),), (BLOCK,), args)
        inputs = q, k, v, *self._mask_arguments(mask), g, saved[0], saved[1], delta

        def compute(kernel: str, columns: int, *outputs: RawArray) -> None:
            self._launch_for_heads("attention_backward.cu", kernel, q.dtype, layout, columns, inputs, outputs)

        q_grad, k_grad, v_grad = (self.xp.zeros(x.shape, x.dtype) for x in (q, k, v))
        compute("attention_backward_queries", layout.width, q_grad)
        compute("attention_backward_keys", max(layout.width, layout.value_width), k_grad, v_grad)
        mask_grad = None
        if needs_mask_gradient and mask is not None:
            score_grads = self.empty((layout.total_scores,), saved.dtype)
            compute("attention_backward_mask", 1, score_grads)
            mask_grad = self.scatter_components(score_grads, *layout.mask_matrices, mask.size)
            mask_grad = mask_grad.astype(mask.dtype, copy=False)
        return q_grad, k_grad, v_grad, mask_grad

    def _launch_for_heads(
        self, file: str, kernel: str, dtype: Any, layout: HeadLayout, columns: int, inputs: Any, outputs: Any
    ) -> None:
        """Launch a kernel with a block of threads for each tile of rows and columns of each head.

        The rows are keys for the kernel that computes the cotangents of keys and values, and queries for the others.
        """
        rows_are_keys = kernel == "attention_backward_keys"
        tiles = -(-layout.num_keys // TILE_KEYS) if rows_are_keys else -(-layout.num_queries // TILE_QUERIES)
        most_heads = int((layout.sizes[:, 0] if rows_are_keys else layout.num_query_heads).max(initial=0))
        grid = most_heads, -(-columns // TILE_COLUMNS)
        numbers = layout.width, layout.value_width, np.float64(layout.scale), np.int32(layout.causal)
        name, args = instantiation(kernel, dtype), (*inputs, *numbers, *outputs)
        self.launch_tiles(file, name, _component_table(layout), tiles, (THREADS,), args, grid)

    def _mask_arguments(self, mask: RawArray | None) -> tuple[RawArray | None, RawArray | None]:
        """Return the mask as one of two arguments: the first if it is of bools, the second if it is of floats."""
        mask = None if mask is None else self.as_contiguous(mask)
        return (mask, None) if mask is not None and mask.dtype == np.bool_ else (None, mask)


def _component_table(layout: HeadLayout) -> NDArray[np.int64]:
    """Return a row for each component, as `Part` of attention.cuh reads it: sizes, places, first row, first score."""
    mask_places = np.zeros((len(layout.sizes), 4), np.int64) if layout.mask_places is None else layout.mask_places
    firsts = np.stack([layout.query_segments.offsets[:-1], np.cumsum(layout.num_scores) - layout.num_scores], axis=1)
    tables = layout.query_places, layout.key_places, layout.value_places, layout.result_places
    places = [table[:, :3] for table in tables]  # the kernels rely on adjacent elements of a row
    return np.concatenate([layout.sizes, *places, mask_places, firsts], axis=1)
