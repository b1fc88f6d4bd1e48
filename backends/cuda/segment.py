"""Launches of the kernels of segments: reductions, softmax, running sums and spread."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dtypes import is_float
from ..segments import Segments
from ..storage import address
from .elementwise import ElementwiseKernels
from .kernel_device import BLOCK, RawArray, in_words
from .naming import ctype, instantiation, wide_dtype

MOST_TILES = 65535  # along the y axis of a grid
SHORT = 1024  # elements of a segment on average; a warp computes a shorter segment, a block a longer one
PIECE = 1 << 15  # elements of a piece, where segments are long enough to be cut
KEPT_ROWS = 4  # rows a thread of a softmax keeps in registers


@dataclass(frozen=True, eq=False)
class DeviceSegments:
    """Segments whose offsets lie on the device."""

    offsets: RawArray
    count: int
    rows: int


class LaunchShape(NamedTuple):
    """The shape of a launch over segments: see Lanes in segment.cuh."""

    group: int
    lg: np.int32
    grid: tuple[int, int, int]


def launch_shape(count: int, rows: int, columns: int, pack: int = 1) -> LaunchShape:
    """Return the threads of a segment, the lanes along its columns, and the grid; they depend on sizes alone."""
    group = 32 if rows * columns < SHORT * count else BLOCK
    across = -(-columns // pack)
    width = min(group, 1 << max(0, across - 1).bit_length())
    tiles = -(-across // width)
    grid = -(-count // (BLOCK // group)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
    return LaunchShape(group, np.int32(width.bit_length() - 1), grid)


def reduction(functor: str) -> Any:
    """Return a kernel that reduces each segment; long segments are added, or their maxima are found, in pieces."""

    def kernel(self: SegmentKernels, x: RawArray, segments: Segments, /) -> RawArray:
        rows = self.matrix(x)
        dtype = x.dtype if functor in ("Max", "Min") or is_float(x.dtype) else np.dtype(np.int64)
        out = self.empty((segments.count, rows.shape[1]), dtype)
        long = max(1, PIECE // max(1, rows.shape[1]))
        if functor in ("Sum", "Max") and segments.longest > 2 * long:
            pieces, pieces_of_segments = cut_segments(segments, long)
            partial = self.empty((pieces.count, rows.shape[1]), dtype if functor == "Max" else wide_dtype(dtype))
            self.reduce_into(functor, rows, pieces, partial)
            self.reduce_into(functor, partial, pieces_of_segments, out)
        else:
            self.reduce_into(functor, rows, segments, out)
        return out.reshape(segments.count, *x.shape[1:])

    return kernel


def first_position(functor: str) -> Any:
    """Return a kernel that launches segment_arg.cu."""

    def kernel(self: SegmentKernels, x: RawArray, segments: Segments, /) -> RawArray:
        rows = self.matrix(x)
        out = self.empty((segments.count, rows.shape[1]), np.int64)
        kernel = "segment_arg", functor, ctype(x.dtype)
        self.launch_segments("segment_arg.cu", kernel, (rows,), self.on_device(segments), out)
        return out.reshape(segments.count, *x.shape[1:])

    return kernel


class SegmentKernels(ElementwiseKernels):
    """Kernels of segments, and softmax of rows, which are segments of one column."""

    segment_sum = reduction("Sum")
    segment_prod = reduction("Prod")
    segment_max = reduction("Max")
    segment_min = reduction("Min")
    segment_argmax = first_position("Max")
    segment_argmin = first_position("Min")

    def segment_max_backward(
        self, cotangent: RawArray, x: RawArray, maximum: RawArray, segments: Segments, /
    ) -> RawArray:
        """Launch segment_max_backward.cu."""
        arrays = self.matrix(cotangent), self.matrix(x), self.matrix(maximum)
        out = self.empty(arrays[1].shape, x.dtype)
        kernel = "segment_max_backward", ctype(x.dtype)
        self.launch_segments("segment_max_backward.cu", kernel, arrays, self.on_device(segments), out)
        return out.reshape(x.shape)

    def segment_softmax(self, x: RawArray, segments: Segments, /) -> RawArray:
        """Launch segment_softmax.cu."""
        return self._softmax("segment_softmax", (self.matrix(x),), self.on_device(segments)).reshape(x.shape)

    def segment_softmax_backward(self, cotangent: RawArray, y: RawArray, segments: Segments, /) -> RawArray:
        """Launch the second kernel of segment_softmax.cu."""
        pair = self.matrix(cotangent), self.matrix(y)
        return self._softmax("segment_softmax_backward", pair, self.on_device(segments)).reshape(y.shape)

    def softmax_last(self, x: RawArray, /) -> RawArray:
        """Launch segment_softmax.cu; rows are segments of one column."""
        return self._softmax("segment_softmax", (self._column(x),), self._each_row(x)).reshape(x.shape)

    def softmax_last_backward(self, cotangent: RawArray, y: RawArray, /) -> RawArray:
        """Launch the second kernel of segment_softmax.cu; rows are segments of one column."""
        pair = self._column(cotangent), self._column(y)
        return self._softmax("segment_softmax_backward", pair, self._each_row(y)).reshape(y.shape)

    def segment_cumsum(self, x: RawArray, segments: Segments, backwards: bool = False, /) -> RawArray:
        """Launch segment_cumsum.cu."""
        rows = self.matrix(x if is_float(x.dtype) else self.cast(x, np.dtype(np.int64)))
        out = self.empty(rows.shape, rows.dtype)
        if out.size:
            # A warp for each segment, however long: each row waits for the row before it.
            shape = launch_shape(segments.count, 0, rows.shape[1])
            numbers = np.int64(segments.count), np.int64(rows.shape[1]), shape.lg, np.bool_(backwards)
            name = instantiation("segment_cumsum", ctype(out.dtype))
            args = rows, self.offsets(segments), *numbers, out
            self.launch("segment_cumsum.cu", name, shape.grid, (BLOCK,), args)
        return out.reshape(x.shape)

    def spread(self, y: RawArray, segments: Segments, /) -> RawArray:
        """Launch spread.cu."""
        entries = self.matrix(y)
        out = self.empty((segments.rows, entries.shape[1]), y.dtype)
        if out.size:
            word, columns = in_words(entries.shape[1] * y.dtype.itemsize, entries, out)
            self.launch_segments("spread.cu", ("spread", word), (entries,), self.on_device(segments), out, columns)
        return out.reshape(segments.rows, *y.shape[1:])

    def reduce_into(self, functor: str, rows: RawArray, segments: Segments, out: RawArray) -> None:
        """Reduce the segments of ``rows`` into ``out`` by one launch."""
        pack = _pack(rows, out) if functor in ("Sum", "Max") else 1
        kernel = "segment_reduce", functor, ctype(rows.dtype), ctype(out.dtype), pack
        self.launch_segments("segment_reduce.cu", kernel, (rows,), self.on_device(segments), out, pack=pack)

    def on_device(self, segments: Segments) -> DeviceSegments:
        """Return the segments with offsets on the device."""
        return DeviceSegments(self.offsets(segments), segments.count, segments.rows)

    def launch_segments(
        self,
        file: str,
        kernel: tuple[Any, ...],
        arrays: tuple[RawArray, ...],
        segments: DeviceSegments,
        out: RawArray,
        columns: int | None = None,
        pack: int = 1,
    ) -> None:
        """Launch ``kernel``, a name and template arguments before the group, which computes ``out`` from ``arrays``."""
        if out.size:
            columns = out.shape[1] if columns is None else columns
            shape = launch_shape(segments.count, segments.rows, columns, pack)
            numbers = np.int64(segments.count), np.int64(columns), shape.lg
            args = *arrays, segments.offsets, *numbers, out
            self.launch(file, instantiation(*kernel, shape.group), shape.grid, (BLOCK,), args)

    def _softmax(self, kernel: str, arrays: tuple[RawArray, ...], segments: DeviceSegments) -> RawArray:
        out = self.empty(arrays[0].shape, arrays[0].dtype)
        name = kernel, ctype(out.dtype), KEPT_ROWS
        self.launch_segments("segment_softmax.cu", name, arrays, segments, out)
        return out

    def _each_row(self, x: RawArray) -> DeviceSegments:
        width = x.shape[-1]
        count = x.size // max(1, width)
        return DeviceSegments(self.xp.arange(count + 1, dtype=np.int64) * width, count, x.size)

    def _column(self, x: RawArray) -> RawArray:
        return self.as_contiguous(x).reshape(x.size, 1)


def cut_segments(segments: Segments, rows: int) -> tuple[Segments, Segments]:
    """Return pieces of at most ``rows`` rows, and segments of pieces: those into which each segment was cut."""

    def make() -> tuple[Segments, Segments]:
        pieces = np.maximum(1, -(-segments.lengths // rows))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(pieces)])
        number: NDArray[np.int64] = np.arange(starts[-1]) - np.repeat(starts[:-1], pieces)
        cuts = np.repeat(segments.offsets[:-1], pieces) + number * rows
        return Segments(np.append(cuts, segments.rows)), Segments(starts)

    return segments.cached(("pieces", rows), make)


def _pack(rows: RawArray, out: RawArray) -> int:
    """Return the number of neighbours that one access moves: 16 bytes if rows are wide and aligned, otherwise 1."""
    if not is_float(rows.dtype):
        return 1
    pack: int = 16 // max(rows.dtype.itemsize, out.dtype.itemsize)
    is_wide = rows.shape[1] % pack == 0 and rows.shape[1] // pack >= 32
    is_aligned = not any(address(x) % (pack * x.dtype.itemsize) for x in (rows, out))
    return pack if is_wide and is_aligned else 1
