"""Launches of the kernels of segments: reductions, softmax, running sums and spread."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from ..dtypes import computing_dtype, is_float
from ..segments import Segments
from ..storage import address
from .elementwise import ElementwiseKernels
from .instantiations import instantiation
from .launching_backend import BLOCK, MAX_GRID, Dim3, RawArray, widest_word

MOST_TILES = MAX_GRID[1]  # along the y axis of a grid
SHORT = 1024  # elements; if segments are shorter on average, a warp computes a segment, otherwise a block
PIECE = 1 << 15  # elements of a piece of a long segment


@dataclass(frozen=True, eq=False)
class DeviceSegments:
    """Segments whose offsets were computed on the device."""

    offsets: RawArray
    count: int
    rows: int


def launch_shape(count: int, rows: int, columns: int, pack: int = 1) -> tuple[int, np.int32, Dim3]:
    """Return the number of threads of a segment, the binary logarithm of the number of lanes, and the grid.

    The lanes of a segment lie side by side over its columns, ``pack`` columns each: see Lanes in segment.cuh. `_pack`
    depends on the alignment of memory, so equal operands can have sums that differ in the last bits.
    """
    threads_of_segment = 32 if rows * columns < SHORT * count else BLOCK
    columns_of_lanes = -(-columns // pack)
    lanes = min(threads_of_segment, 1 << max(0, columns_of_lanes - 1).bit_length())
    tiles = -(-columns_of_lanes // lanes)
    grid = -(-count // (BLOCK // threads_of_segment)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
    return threads_of_segment, np.int32(lanes.bit_length() - 1), grid


def reduction(functor: str) -> Any:
    """Return a kernel that reduces each segment; long segments are added, or their maxima are found, in pieces."""

    def kernel(self: SegmentKernels, x: RawArray, segments: Segments, /) -> RawArray:
        dtype = x.dtype if functor in ("Max", "Min") or is_float(x.dtype) else np.dtype(np.int64)
        rows_of_piece = max(1, PIECE // max(1, prod(x.shape[1:])))
        if functor in ("Sum", "Max") and segments.longest > 2 * rows_of_piece:
            pieces, segments = cut_segments(segments, rows_of_piece)
            x = self.reduce_segments(functor, x, pieces, dtype if functor == "Max" else computing_dtype(dtype))
        return self.reduce_segments(functor, x, segments, dtype)

    return kernel


def arg_reduction(functor: str) -> Any:
    """Return a kernel that launches segment_arg.cu."""

    def kernel(self: SegmentKernels, x: RawArray, segments: Segments, /) -> RawArray:
        out = self.empty((segments.count, *x.shape[1:]), np.int64)
        return self.launch_segments("segment_arg.cu", ("segment_arg", functor, x.dtype), (x,), segments, out)

    return kernel


class SegmentKernels(ElementwiseKernels):
    """Kernels of segments, and softmax of dense rows."""

    segment_sum = reduction("Sum")
    segment_prod = reduction("Prod")
    segment_max = reduction("Max")
    segment_min = reduction("Min")
    segment_argmax = arg_reduction("Max")
    segment_argmin = arg_reduction("Min")

    def segment_max_backward(
        self, cotangent: RawArray, x: RawArray, maximum: RawArray, segments: Segments, /
    ) -> RawArray:
        """Launch segment_max_backward.cu."""
        name, out = ("segment_max_backward", x.dtype), self.empty(x.shape, x.dtype)
        return self.launch_segments("segment_max_backward.cu", name, (cotangent, x, maximum), segments, out)

    def segment_softmax(self, x: RawArray, segments: Segments, /) -> RawArray:
        """Launch segment_softmax.cu."""
        return self._softmax("segment_softmax", segments, x)

    def segment_softmax_backward(self, cotangent: RawArray, y: RawArray, segments: Segments, /) -> RawArray:
        """Launch the second kernel of segment_softmax.cu."""
        return self._softmax("segment_softmax_backward", segments, cotangent, y)

    def softmax_last(self, x: RawArray, /) -> RawArray:
        """Launch segment_softmax.cu; each row is a segment of one column."""
        return self._softmax("segment_softmax", self._each_row(x), self.flat(x)).reshape(x.shape)

    def softmax_last_backward(self, cotangent: RawArray, y: RawArray, /) -> RawArray:
        """Launch the second kernel of segment_softmax.cu; each row is a segment of one column."""
        operands = self.flat(cotangent), self.flat(y)
        return self._softmax("segment_softmax_backward", self._each_row(y), *operands).reshape(y.shape)

    def segment_cumsum(self, x: RawArray, segments: Segments, backwards: bool = False, /) -> RawArray:
        """Launch segment_cumsum.cu."""
        rows = self.as_contiguous(x) if is_float(x.dtype) else self.cast(x, np.dtype(np.int64))
        out, columns = self.empty(rows.shape, rows.dtype), prod(x.shape[1:])
        _, log2_lanes, grid = launch_shape(segments.count, 0, columns)  # without rows: a warp even for a long segment
        args = rows, self.offsets(segments), segments.count, columns, log2_lanes, np.bool_(backwards), out
        self.launch("segment_cumsum.cu", instantiation("segment_cumsum", out.dtype), grid, (BLOCK,), args)
        return out

    def spread(self, y: RawArray, segments: Segments, /) -> RawArray:
        """Launch spread.cu."""
        entries, out = self.as_contiguous(y), self.empty((segments.rows, *y.shape[1:]), y.dtype)
        word, row_words = widest_word(entries, out)
        return self.launch_segments("spread.cu", ("spread", word), (entries,), segments, out, row_words)

    def reduce_segments(self, functor: str, x: RawArray, segments: Segments, dtype: np.dtype[Any]) -> RawArray:
        """Launch segment_reduce.cu, which reduces each segment to an entry of ``dtype``."""
        rows, out = self.as_contiguous(x), self.empty((segments.count, *x.shape[1:]), dtype)
        pack = _pack(rows, out) if functor in ("Sum", "Max") else 1
        name = "segment_reduce", functor, x.dtype, dtype, pack
        return self.launch_segments("segment_reduce.cu", name, (rows,), segments, out, pack=pack)

    def launch_segments(
        self,
        file: str,
        name: tuple[Any, ...],
        operands: tuple[RawArray, ...],
        segments: Segments | DeviceSegments,
        out: RawArray,
        columns: int | None = None,
        pack: int = 1,
    ) -> RawArray:
        """Launch a kernel that computes ``out`` from ``operands``, and return ``out``.

        ``name`` is the name of the kernel and its template arguments without the last one, the number of threads of a
        segment, which is added here. ``columns`` is the number of columns if they are not those of ``out``.
        """
        if not out.size:  # there may be billions of columns
            return out
        columns = prod(out.shape[1:]) if columns is None else columns
        threads, log2_lanes, grid = launch_shape(segments.count, segments.rows, columns, pack)
        offsets = self.offsets(segments) if isinstance(segments, Segments) else segments.offsets
        args = *map(self.as_contiguous, operands), offsets, segments.count, columns, log2_lanes, out
        self.launch(file, instantiation(*name, threads), grid, (BLOCK,), args)
        return out

    def _softmax(self, kernel: str, segments: Segments | DeviceSegments, *operands: RawArray) -> RawArray:
        out = self.empty(operands[0].shape, operands[0].dtype)
        return self.launch_segments("segment_softmax.cu", (kernel, out.dtype), operands, segments, out)

    def _each_row(self, x: RawArray) -> DeviceSegments:
        """Return a segment for each row of a dense array, computed on the device; none for rows without elements."""
        width = x.shape[-1]
        count = prod(x.shape[:-1]) if x.size else 0
        return DeviceSegments(self.xp.arange(count + 1, dtype=np.int64) * width, count, x.size)


def cut_segments(segments: Segments, rows: int) -> tuple[Segments, Segments]:
    """Cut segments into pieces of at most ``rows`` rows; an empty segment is one empty piece.

    Return the pieces, as segments of rows, and the original segments, as segments of pieces.
    """

    def make() -> tuple[Segments, Segments]:
        pieces_of_segments = Segments.from_lengths(np.maximum(1, -(-segments.lengths // rows)))
        segment = pieces_of_segments.segment_of_row  # of each piece
        index_in_segment = np.arange(segment.size) - pieces_of_segments.offsets[segment]
        starts = segments.offsets[segment] + index_in_segment * rows
        return Segments(np.append(starts, segments.rows)), pieces_of_segments

    return segments.cached(("pieces", rows), make)


def _pack(rows: RawArray, out: RawArray) -> int:
    """Return the number of columns of a lane: those of 16 bytes if rows are wide and aligned, otherwise 1."""
    if not is_float(rows.dtype):
        return 1
    columns = prod(rows.shape[1:])
    pack: int = 16 // max(rows.dtype.itemsize, out.dtype.itemsize)
    is_wide = columns % pack == 0 and columns // pack >= 32
    is_aligned = not any(address(x) % (pack * x.dtype.itemsize) for x in (rows, out))
    return pack if is_wide and is_aligned else 1
