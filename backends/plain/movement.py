"""Plain kernels that move elements without changing them, and their adjoints, which add elements."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..segments import Segments
from .segment import rows_of_segments
from .widening import RawArray, wide


def copy(x: RawArray, /) -> RawArray:
    """Return a C-contiguous copy."""
    return x.copy()


def pad(x: RawArray, segments: Segments, length: int, fill: Any, /) -> RawArray:
    """(N, ...) -> (B, length, ...): the rows of each segment, then ``fill``; no segment is longer than ``length``."""
    out = np.full((segments.count, length, *x.shape[1:]), fill, x.dtype)
    for padded, rows in zip(out, rows_of_segments(x, segments), strict=True):
        padded[: len(rows)] = rows
    return out


def unpad(padded: RawArray, segments: Segments, /) -> RawArray:
    """(B, length, ...) -> (N, ...): the rows that belong to segments; inverse and adjoint of pad."""
    out = np.empty((segments.rows, *padded.shape[2:]), padded.dtype)
    for rows, entry in zip(rows_of_segments(out, segments), padded, strict=True):
        rows[...] = entry[: len(rows)]
    return out


def take_rows(x: RawArray, index: RawArray, /) -> RawArray:
    """(R, ...) -> (M, ...): the rows at ``index``, int64 (M,), each in 0..R-1."""
    return x[index]


def add_rows(x: RawArray, index: RawArray, rows: int, /) -> RawArray:
    """(M, ...) -> (rows, ...): zeros, and each row of x added at its index; the adjoint of take_rows."""
    out = np.zeros((rows, *x.shape[1:]), wide(x).dtype)
    np.add.at(out, index, x)
    return out.astype(x.dtype)


def strided_views(buffer: RawArray, sizes: RawArray, strides: RawArray, offsets: RawArray) -> Iterator[RawArray]:
    """Yield a view of each component in a flat buffer, or in its copy if that is not contiguous."""
    buffer = np.ascontiguousarray(buffer)
    for shape, steps, offset in zip(sizes.tolist(), strides.tolist(), offsets.tolist(), strict=True):
        strides_in_bytes = [step * buffer.itemsize for step in steps]
        yield np.ndarray(shape, buffer.dtype, buffer[offset:], 0, strides_in_bytes)


def gather_components(buffer: RawArray, sizes: RawArray, strides: RawArray, offsets: RawArray, /) -> RawArray:
    """Flat -> flat: the components one after the other, each in row-major order.

    Component ``i`` has the shape ``sizes[i]`` and lies at ``offsets[i]`` with ``strides[i]``, in elements, none
    negative. Sizes and strides are host arrays (B, d), offsets (B,). Components may overlap, and strides may be 0.
    """
    return np.concatenate([buffer[:0], *strided_views(buffer, sizes, strides, offsets)], axis=None)


def scatter_components(
    flat: RawArray, sizes: RawArray, strides: RawArray, offsets: RawArray, buffer_size: int, /
) -> RawArray:
    """Flat -> (buffer_size,): zeros, and each element added where it came from; the adjoint of gather_components."""
    index = gather_components(np.arange(buffer_size), sizes, strides, offsets)
    return add_rows(flat, index, buffer_size)
