"""Launches of the kernels of segments: reductions, softmax, running sums and spread."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..dtypes import is_float
from ..segments import Segments
from ..storage import address
from .elementwise import cast
from .kernel_device import BLOCK, KernelDevice, RawArray, in_words
from .naming import ctype, instantiation, wide_dtype

MOST_TILES = 65535  # along the y axis of a grid
SHORT = 1024  # elements of a mean segment; below, a warp takes it, from there on a block
PIECE = 1 << 15  # elements of a piece, where segments are long enough to be cut
KEPT_ROWS = 4  # rows a thread of a softmax keeps in registers


class Shape(NamedTuple):
    """The shape of a launch over segments: see Lanes in segment.cuh."""

    group: int
    lg: np.int32
    grid: tuple[int, int, int]


def launch_shape(count: int, rows: int, columns: int, pack: int = 1) -> Shape:
    """Return the threads of a segment, the lanes along its columns, and the grid; they depend on sizes alone."""
    group = 32 if rows * columns < SHORT * count else BLOCK
    across = -(-columns // pack)
    width = min(group, 1 << max(0, across - 1).bit_length())
    tiles = -(-across // width)
    grid = -(-count // (BLOCK // group)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
    return Shape(group, np.int32(width.bit_length() - 1), grid)


def segment_sum(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_reduce.cu; long segments are added in pieces."""
    return _reduced(device, "Sum", x, segments, x.dtype if is_float(x.dtype) else np.dtype(np.int64))


def segment_prod(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_reduce.cu."""
    return _reduced(device, "Prod", x, segments, x.dtype if is_float(x.dtype) else np.dtype(np.int64))


def segment_max(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_reduce.cu; long segments are compared in pieces."""
    return _reduced(device, "Max", x, segments, x.dtype)


def segment_min(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_reduce.cu."""
    return _reduced(device, "Min", x, segments, x.dtype)


def segment_argmax(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_arg.cu."""
    return _argument(device, "Max", x, segments)


def segment_argmin(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_arg.cu."""
    return _argument(device, "Min", x, segments)


def segment_max_backward(
    device: KernelDevice, cotangent: RawArray, x: RawArray, maximum: RawArray, segments: Segments, /
) -> RawArray:
    """Launch segment_max_backward.cu."""
    rows = device.matrix(x)
    out = device.empty(rows.shape, x.dtype)
    if out.size:
        shape = launch_shape(segments.count, *rows.shape)
        name = instantiation("segment_max_backward", ctype(x.dtype), shape.group)
        arrays = device.matrix(cotangent), rows, device.matrix(maximum), device.offsets(segments)
        numbers = np.int64(segments.count), np.int64(rows.shape[1]), shape.lg
        device.launch("segment_max_backward.cu", name, shape.grid, (BLOCK,), (*arrays, *numbers, out))
    return out.reshape(x.shape)


def segment_softmax(device: KernelDevice, x: RawArray, segments: Segments, /) -> RawArray:
    """Launch segment_softmax.cu."""
    rows = device.matrix(x)
    return softmax_of(device, (rows,), "segment_softmax", device.offsets(segments), segments.count).reshape(x.shape)


def segment_softmax_backward(device: KernelDevice, cotangent: RawArray, y: RawArray, segments: Segments, /) -> RawArray:
    """Launch the second kernel of segment_softmax.cu."""
    pair = device.matrix(cotangent), device.matrix(y)
    offsets = device.offsets(segments)
    return softmax_of(device, pair, "segment_softmax_backward", offsets, segments.count).reshape(y.shape)


def softmax_of(
    device: KernelDevice, arrays: tuple[RawArray, ...], kernel: str, offsets: RawArray, count: int
) -> RawArray:
    """Launch a softmax kernel on segments of the rows of matrices of one shape."""
    rows, columns = arrays[0].shape
    out = device.empty((rows, columns), arrays[0].dtype)
    if out.size:
        shape = launch_shape(count, rows, columns)
        name = instantiation(kernel, ctype(out.dtype), KEPT_ROWS, shape.group)
        args = *arrays, offsets, np.int64(count), np.int64(columns), shape.lg, out
        device.launch("segment_softmax.cu", name, shape.grid, (BLOCK,), args)
    return out


def softmax_last(device: KernelDevice, x: RawArray, /) -> RawArray:
    """Launch segment_softmax.cu; rows are segments of one column."""
    return _softmax_of_rows(device, (x,), "segment_softmax")


def softmax_last_backward(device: KernelDevice, cotangent: RawArray, y: RawArray, /) -> RawArray:
    """Launch the second kernel of segment_softmax.cu; rows are segments of one column."""
    return _softmax_of_rows(device, (cotangent, y), "segment_softmax_backward")


def _softmax_of_rows(device: KernelDevice, arrays: tuple[RawArray, ...], kernel: str) -> RawArray:
    x = arrays[0]
    width = x.shape[-1]
    count = x.size // max(1, width)
    offsets = device.xp.arange(count + 1, dtype=np.int64) * width
    flat = tuple(device.as_contiguous(one).reshape(x.size, 1) for one in arrays)
    return softmax_of(device, flat, kernel, offsets, count).reshape(x.shape)


def spread(device: KernelDevice, y: RawArray, segments: Segments, /) -> RawArray:
    """Launch spread.cu."""
    entries = device.matrix(y)
    out = device.empty((segments.rows, entries.shape[1]), y.dtype)
    if out.size:
        word, columns = in_words(device, entries.shape[1] * y.dtype.itemsize, entries, out)
        shape = launch_shape(segments.count, segments.rows, columns)
        numbers = np.int64(segments.count), np.int64(columns), shape.lg
        args = entries, device.offsets(segments), *numbers, out
        device.launch("spread.cu", instantiation("spread", word, shape.group), shape.grid, (BLOCK,), args)
    return out.reshape(segments.rows, *y.shape[1:])


def _reduced(device: KernelDevice, op: str, x: RawArray, segments: Segments, dtype: np.dtype[Any]) -> RawArray:
    rows = device.matrix(x)
    out = device.empty((segments.count, rows.shape[1]), dtype)
    if not out.size:
        return out.reshape(segments.count, *x.shape[1:])
    long = max(1, PIECE // rows.shape[1])
    if segments.longest > 2 * long and op in ("Sum", "Max"):
        pieces, starts = pieces_of(segments, long)
        between = dtype if op == "Max" else wide_dtype(dtype)
        partial = device.empty((pieces.count, rows.shape[1]), between)
        reduce_into(device, op, rows, pieces, partial)
        reduce_into(device, op, partial, starts, out)
    else:
        reduce_into(device, op, rows, segments, out)
    return out.reshape(segments.count, *x.shape[1:])


def pieces_of(segments: Segments, rows: int) -> tuple[Segments, Segments]:
    """Return segments cut into pieces of at most ``rows`` rows, and the pieces of each segment."""

    def make() -> tuple[Segments, Segments]:
        pieces = np.maximum(1, -(-segments.lengths // rows))
        starts = np.concatenate([np.zeros(1, np.int64), np.cumsum(pieces)])
        number: NDArray[np.int64] = np.arange(starts[-1]) - np.repeat(starts[:-1], pieces)
        cuts = np.repeat(segments.offsets[:-1], pieces) + number * rows
        return Segments(np.append(cuts, segments.rows)), Segments(starts)

    return segments.cached(("pieces", rows), make)


def reduce_into(device: KernelDevice, op: str, rows: RawArray, segments: Segments, out: RawArray) -> None:
    """Reduce the segments of ``rows`` into ``out`` by one launch."""
    columns = rows.shape[1]
    pack = _pack(device, rows, out) if op in ("Sum", "Max") else 1
    shape = launch_shape(segments.count, segments.rows, columns, pack)
    name = instantiation("segment_reduce", op, ctype(rows.dtype), ctype(out.dtype), pack, shape.group)
    args = rows, device.offsets(segments), np.int64(segments.count), np.int64(columns), shape.lg, out
    device.launch("segment_reduce.cu", name, shape.grid, (BLOCK,), args)


def _pack(device: KernelDevice, rows: RawArray, out: RawArray) -> int:
    """Return the number of neighbours that one access moves: 16 bytes if rows are wide and aligned, otherwise 1."""
    if not is_float(rows.dtype):
        return 1
    pack: int = 16 // max(rows.dtype.itemsize, out.dtype.itemsize)
    wide = rows.shape[1] % pack == 0 and rows.shape[1] // pack >= 32
    aligned = not any(address(x) % (pack * x.dtype.itemsize) for x in (rows, out))
    return pack if wide and aligned else 1


def _argument(device: KernelDevice, op: str, x: RawArray, segments: Segments) -> RawArray:
    rows = device.matrix(x)
    out = device.empty((segments.count, rows.shape[1]), np.int64)
    if out.size:
        shape = launch_shape(segments.count, *rows.shape)
        name = instantiation("segment_arg", op, ctype(x.dtype), shape.group)
        numbers = np.int64(segments.count), np.int64(rows.shape[1]), shape.lg
        args = rows, device.offsets(segments), *numbers, out
        device.launch("segment_arg.cu", name, shape.grid, (BLOCK,), args)
    return out.reshape(segments.count, *x.shape[1:])


def segment_cumsum(device: KernelDevice, x: RawArray, segments: Segments, backwards: bool = False, /) -> RawArray:
    """Launch segment_cumsum.cu."""
    rows = device.matrix(x if is_float(x.dtype) else cast(device, x, np.dtype(np.int64)))
    out = device.empty(rows.shape, rows.dtype)
    if out.size:
        # A warp for each segment, however long: each row waits for the row before it.
        shape = launch_shape(segments.count, 0, rows.shape[1])
        numbers = np.int64(segments.count), np.int64(rows.shape[1]), shape.lg, np.bool_(backwards)
        args = rows, device.offsets(segments), *numbers, out
        device.launch(
            "segment_cumsum.cu", instantiation("segment_cumsum", ctype(out.dtype)), shape.grid, (BLOCK,), args
        )
    return out.reshape(x.shape)
