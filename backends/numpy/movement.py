"""Quick kernels that move elements.

Many short segments, or small components, are moved by one call with an array of indices, and long ones by a loop. The
memory of large results comes from the caching allocator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import LARGE, empty
from ..component_layout import Integers, strided_index, surely_without_repeats
from ..dtypes import computing_dtype
from ..plain import movement as plain_kernels
from ..plain.segment import rows_of_segments
from ..plain.widening import wide
from ..segments import Segments
from .blocks import as_matrix, rows_as_elements, run_shares, widened
from .products import LONGEST_SUM

FEW_ELEMENTS = 256  # up to this number, adding elements one by one costs less than a sparse matrix
FEW_COMPONENTS = 8  # up to this number, a Python call for each component costs less than an index of all elements
LONG_SEGMENT_BYTES = 16 * 1024  # a longer segment is worth a Python call of its own
LONG_COMPONENT = 256  # rows; if components have as many on average, each is worth a Python call of its own
LONG_ROW = 1024 * 1024  # elements; components with such rows are each worth a Python call, too


def copy(x: NDArray[Any], /) -> NDArray[Any]:
    """Copy on all threads."""
    if x.nbytes < LARGE:
        return x.copy()
    out = empty(x.shape, x.dtype)
    run_shares(lambda start, stop: np.copyto(out[start:stop], x[start:stop]), len(x), x.nbytes)
    return out


def concatenate(arrays: Sequence[NDArray[Any]], axis: int = 0, /) -> NDArray[Any]:
    """Call `numpy.concatenate`; along an inner dimension on all threads."""
    if sum(x.nbytes for x in arrays) < LARGE:
        return np.concatenate(arrays, axis=axis)
    shape = list(arrays[0].shape)
    shape[axis] = sum(x.shape[axis] for x in arrays)
    out = empty(tuple(shape), np.result_type(*arrays))

    def work(start: int, stop: int) -> None:
        np.concatenate([x[start:stop] for x in arrays], axis=axis, out=out[start:stop])

    if axis <= 0:
        return np.concatenate(arrays, axis=axis, out=out)
    run_shares(work, len(out), out.nbytes)
    return out


def pad(x: NDArray[Any], segments: Segments, length: int, fill: Any, /) -> NDArray[Any]:
    """Copy long segments one after the other, or all rows by one index."""
    rows = as_matrix(x)
    padded = empty((segments.count, length, rows.shape[1]), x.dtype)
    if x.nbytes >= LONG_SEGMENT_BYTES * segments.count:
        for entry, segment_rows in zip(padded, rows_of_segments(rows, segments), strict=True):
            entry[: len(segment_rows)] = segment_rows
            entry[len(segment_rows) :] = fill
    else:
        padded.fill(fill)
        padded.reshape(segments.count * length, rows.shape[1])[_padded_positions(segments, length)] = rows
    return padded.reshape(segments.count, length, *x.shape[1:])


def unpad(padded: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """Copy long segments one after the other, or all rows by one index."""
    length, inner = padded.shape[1], padded.shape[2:]
    rows = empty((segments.rows, *inner), padded.dtype)
    if padded.nbytes >= LONG_SEGMENT_BYTES * segments.count:
        for entry, segment_rows in zip(padded, rows_of_segments(rows, segments), strict=True):
            segment_rows[...] = entry[: len(segment_rows)]
        return rows
    all_rows = np.ascontiguousarray(padded).reshape(segments.count * length, *inner)
    return all_rows.take(_padded_positions(segments, length), axis=0, out=rows, mode="clip")


def _padded_positions(segments: Segments, length: int) -> NDArray[np.int64]:
    """Return the position of each row among all rows of the padded array."""

    def make() -> NDArray[np.int64]:
        shift = np.arange(segments.count, dtype=np.int64) * length - segments.offsets[:-1]
        return np.arange(segments.rows, dtype=np.int64) + np.repeat(shift, segments.lengths)

    return segments.cached(("padded positions", length), make)


def take_rows(x: NDArray[Any], index: NDArray[np.int64], /) -> NDArray[Any]:
    """Call `numpy.take`."""
    # Every index is in range. With the mode "clip", `numpy.take` does not check this, and needs no buffer for ``out``.
    return x.take(index, axis=0, out=empty((len(index), *x.shape[1:]), x.dtype), mode="clip")


def add_rows(x: NDArray[Any], index: NDArray[np.int64], rows: int, /) -> NDArray[Any]:
    """Add row j of x to row ``index[j]`` of zeros: one by one, or many floats by a product with a sparse matrix."""
    shape = (rows, *x.shape[1:])
    if x.dtype.kind != "f" or x.size <= FEW_ELEMENTS:
        sums = np.zeros(shape, computing_dtype(x.dtype))
        np.add.at(sums, index, x)
        return sums.astype(x.dtype, copy=False)
    terms = as_matrix(x)
    terms = wide(terms) if np.bincount(index).max() > LONGEST_SUM else widened(terms)
    if terms.shape[1] == 1:
        sums = np.bincount(index, terms[:, 0], rows)
    else:
        from scipy import sparse  # here, since this import is slow

        columns = np.arange(len(index) + 1)
        ones = np.ones(len(index), terms.dtype)
        sums = sparse.csc_array((ones, index, columns), shape=(rows, len(index))) @ terms
    return sums.astype(x.dtype, copy=False).reshape(shape)


def gather_components(buffer: NDArray[Any], sizes: Integers, strides: Integers, offsets: Integers, /) -> NDArray[Any]:
    """Copy few or long components in a loop, and many short ones row by contiguous row, with one array of indices."""
    width, outer_sizes, outer_strides = _split_contiguous_dims(sizes, strides)
    if _is_loop_quick(width, outer_sizes):
        return plain_kernels.gather_components(buffer, sizes, strides, offsets)
    if not width:
        return np.zeros(0, buffer.dtype)
    index = strided_index(outer_sizes, outer_strides, offsets)
    if width == 1:
        return buffer.take(index)
    return rows_as_elements(np.ascontiguousarray(buffer), width)[index].view(buffer.dtype)


def scatter_components(
    flat: NDArray[Any], sizes: Integers, strides: Integers, offsets: Integers, buffer_size: int, /
) -> NDArray[Any]:
    """Add few or long components in a loop, and many short ones row by contiguous row, with one array of indices."""
    width, outer_sizes, outer_strides = _split_contiguous_dims(sizes, strides)
    if _is_loop_quick(width, outer_sizes) and surely_without_repeats(sizes, strides).all():
        sums, start = np.zeros(buffer_size, computing_dtype(flat.dtype)), 0
        for view in plain_kernels.strided_views(sums, sizes, strides, offsets):
            view += flat[start : start + view.size].reshape(view.shape)
            start += view.size
        return sums.astype(flat.dtype, copy=False)
    index = strided_index(outer_sizes, outer_strides, offsets)
    if width > 1 and buffer_size % width == 0 and not (index % width).any():
        return add_rows(flat.reshape(-1, width), index // width, buffer_size // width).reshape(buffer_size)
    index = (index[:, None] + np.arange(width)).reshape(-1)
    return add_rows(flat, index, buffer_size)


def _is_loop_quick(width: int, outer_sizes: Integers) -> bool:
    """Return whether a Python call for each component is quicker than an index of all their rows."""
    count = len(outer_sizes)
    has_many_rows = int(outer_sizes.prod(axis=1).sum()) >= LONG_COMPONENT * count
    return count <= FEW_COMPONENTS or width >= LONG_ROW or has_many_rows


def _split_contiguous_dims(sizes: Integers, strides: Integers) -> tuple[int, Integers, Integers]:
    """Return the number of elements in a contiguous row, and the sizes and strides of the dimensions before it.

    A row consists of the last dimensions, as many as have equal sizes and are contiguous in all components.
    """
    width, dims = 1, sizes.shape[1]
    while dims and len(sizes) and not np.count_nonzero(sizes[:, dims - 1] != sizes[0, dims - 1]):
        if np.count_nonzero(strides[:, dims - 1] != width):
            break
        dims -= 1
        width *= int(sizes[0, dims])
    return width, sizes[:, :dims], strides[:, :dims]
