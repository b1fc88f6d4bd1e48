"""Quick kernels of segments: many short segments together, few or long segments one after the other.

Softmax and the adjoints of softmax and of maxima compute blocks of whole segments, which stay in the cache.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..caching_allocator import empty
from ..component_layout import groups_of_equal_rows
from ..dtypes import computing_dtype
from ..plain import segment as plain_kernels
from ..plain.widening import RawArray, sum_dtype
from ..segments import Segments
from .blocks import as_matrix, rows_in_block, widened
from .elementwise import keep_where
from .movement import take_rows
from .parallel import run
from .products import LONGEST_SUM

FEW_SEGMENTS = 8  # up to this number, a Python call for each segment costs less than a sparse matrix
LONG_SEGMENT = 4096  # elements; the sum of a longer segment is worth a Python call
MANY_ROWS = 64  # if the longest segment has more rows, sums are computed in float64
FEW_COLUMNS, SHORT_SEGMENT = 8, 20  # `reduceat` is quick for at most 8 columns, and more than 20 rows on average
SHORT_ELEMENTS = 8192  # of a segment; up to this number, segments of one length are gathered and reduced in one call
STEP_ELEMENTS = 2048  # of `segment_cumsum`; a step for fewer elements costs more than a call for each segment
# For numbers between a limit and its negative, exp and sums of exp neither overflow nor vanish.
SAFE_EXPONENT = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 300.0}


def segment_sum(x: RawArray, segments: Segments, /) -> RawArray:
    """Multiply short segments with a sparse matrix of ones, one row for each segment."""
    rows = as_matrix(x)
    if segments.count <= FEW_SEGMENTS or rows.size >= LONG_SEGMENT * segments.count:
        return plain_kernels.segment_sum(x, segments)
    in_float64 = segments.longest > MANY_ROWS or rows.shape[1] == 1  # for one column float64 costs no time
    dtype = np.dtype(np.float64) if in_float64 else computing_dtype(x.dtype)
    dtype = dtype if x.dtype.kind == "f" else np.dtype(np.int64)
    sums: RawArray = _matrix_of_ones(segments, dtype) @ rows.astype(dtype, copy=False)
    return sums.astype(sum_dtype(x), copy=False).reshape(segments.count, *x.shape[1:])


def _matrix_of_ones(segments: Segments, dtype: np.dtype[Any]) -> Any:
    """Return a CSR matrix (B, N) that adds up the rows of each segment; its row pointers are the offsets."""

    def make() -> Any:
        from scipy import sparse  # here, since this import is slow

        columns = np.arange(segments.rows, dtype=np.int32 if segments.rows < 2**31 else np.int64)
        entries = np.ones(segments.rows, dtype), columns, segments.offsets.astype(columns.dtype)
        return sparse.csr_array(entries, shape=(segments.count, segments.rows))

    return segments.cached(("matrix of ones", dtype), make)


def segment_prod(x: RawArray, segments: Segments, /) -> RawArray:
    """Call `reduceat`, or reduce all segments of one length in one call."""
    return _reduce(np.multiply, x, segments, 1, sum_dtype(x))


def segment_max(x: RawArray, segments: Segments, /) -> RawArray:
    """Call `reduceat`, or reduce all segments of one length in one call."""
    return _reduce(np.maximum, x, segments, plain_kernels.least(x.dtype), x.dtype)


def segment_min(x: RawArray, segments: Segments, /) -> RawArray:
    """Call `reduceat`, or reduce all segments of one length in one call."""
    return _reduce(np.minimum, x, segments, plain_kernels.greatest(x.dtype), x.dtype)


def _reduce(ufunc: np.ufunc, x: RawArray, segments: Segments, identity: Any, dtype: np.dtype[Any]) -> RawArray:
    """(N, ...) -> (B, ...): reduce each segment by the ufunc; an empty segment gives the identity."""
    rows = as_matrix(x).astype(computing_dtype(dtype), copy=False)
    reduced = empty((segments.count, rows.shape[1]), rows.dtype)
    reduced.fill(identity)
    if rows.shape[1] <= FEW_COLUMNS and segments.rows > SHORT_SEGMENT * segments.count:
        has_rows = segments.lengths > 0  # `reduceat` is wrong for an empty segment
        reduced[has_rows] = ufunc.reduceat(rows, segments.offsets[:-1][has_rows], axis=0)
    else:
        for indices in segments.cached("by length", lambda: groups_of_equal_rows(segments.lengths[:, None])):
            _reduce_equally_long(ufunc, rows, segments, indices, reduced)
    return reduced.astype(dtype, copy=False).reshape(segments.count, *x.shape[1:])


def _reduce_equally_long(
    ufunc: np.ufunc, rows: RawArray, segments: Segments, indices: RawArray, reduced: RawArray
) -> None:
    """Reduce the segments at ``indices``, which have the same length: all together if they are short."""
    starts, length = segments.offsets[indices], segments.lengths.item(indices[0])
    if len(indices) > 1 and 0 < length * rows.shape[1] <= SHORT_ELEMENTS:
        # The rows (L, K) of K segments of length L.
        table = segments.cached(("rows by length", length), lambda: np.arange(length)[:, None] + starts)
        reduced[indices] = ufunc.reduce(rows.take(table, axis=0, mode="clip"), axis=0)
    elif length:
        for index, start in zip(indices.tolist(), starts.tolist(), strict=True):
            ufunc.reduce(rows[start : start + length], axis=0, out=reduced[index])


def _longest_first(segments: Segments) -> tuple[RawArray, RawArray]:
    """Return the first rows and the lengths of the segments, the longest first."""

    def make() -> tuple[RawArray, RawArray]:
        order = np.argsort(-segments.lengths, kind="stable")
        return segments.offsets[:-1][order], segments.lengths[order]

    return segments.cached("longest first", make)


def segment_max_backward(cotangent: RawArray, x: RawArray, maximum: RawArray, segments: Segments, /) -> RawArray:
    """Compute the formula of the plain kernel with quick sums, block by block."""
    x_rows, maxima, cotangents = as_matrix(x), as_matrix(maximum), as_matrix(cotangent)

    def work(out: RawArray, row_range: slice, segment_range: slice, block: Segments) -> None:
        maximum_of_row = spread(maxima[segment_range], block)
        is_attained = x_rows[row_range] == maximum_of_row
        num_attained = segment_sum(is_attained.astype(computing_dtype(x.dtype)), block)
        shares = (cotangents[segment_range] / num_attained).astype(x.dtype, copy=False)
        keep_where(is_attained, spread(shares, block), out)
        if np.isnan(maxima[segment_range]).any():
            out[np.isnan(maximum_of_row)] = np.nan

    return _compute_blocks(work, x_rows, segments).reshape(x.shape)


def segment_softmax(x: RawArray, segments: Segments, /) -> RawArray:
    """Subtract maxima only if exp could overflow, or a sum of exps vanish."""
    x_rows = as_matrix(x)

    def work(out: RawArray, row_range: slice, _: slice, block: Segments) -> None:
        rows = widened(x_rows[row_range])
        if not is_exp_safe(rows):
            rows = rows - spread(softmax_shift(segment_min(rows, block), segment_max(rows, block)), block)
        exponentials = np.exp(rows)
        np.divide(exponentials, spread(segment_sum(exponentials, block), block), out=out, casting="same_kind")

    return _compute_blocks(work, x_rows, segments).reshape(x.shape)


def segment_softmax_backward(cotangent: RawArray, y: RawArray, segments: Segments, /) -> RawArray:
    """Compute the formula of the plain kernel with quick sums, block by block."""
    y_rows, cotangents = as_matrix(y), as_matrix(cotangent)

    def work(out: RawArray, row_range: slice, _: slice, block: Segments) -> None:
        ys, gs = widened(y_rows[row_range]), widened(cotangents[row_range])
        sums = spread(segment_sum(ys * gs, block), block)
        np.multiply(ys, gs - sums, out=out, casting="same_kind")

    return _compute_blocks(work, y_rows, segments).reshape(y.shape)


def _compute_blocks(
    work: Callable[[RawArray, slice, slice, Segments], None], x: RawArray, segments: Segments
) -> RawArray:
    """Return an array of the shape and dtype of x, (N, D), that ``work`` fills in blocks of whole segments.

    The arguments of ``work`` are the rows of the result that it writes, the slice of these among all rows, the slice
    of the segments of the block among all segments, and the `Segments` of the block alone.
    """
    out = empty(x.shape, x.dtype)
    if x.size:
        block_list = segments.blocks(rows_in_block(x[:1].nbytes))
        run(work, [(out[row_range], row_range, *block) for row_range, *block in block_list], x.nbytes)
    return out


def is_exp_safe(block: RawArray) -> bool:
    """Return whether softmax can skip subtracting maxima: no exp can overflow, and no sum of exps can vanish."""
    limit = SAFE_EXPONENT[block.dtype]
    # NaN compares false, so that a block with a NaN is not safe.
    return bool(block.min(initial=0) > -limit and block.max(initial=0) < limit)


def softmax_shift(minimum: RawArray, maximum: RawArray) -> RawArray:
    """Return what softmax subtracts from each segment: its maximum, or 0 if exp of the segment is safe.

    So a segment that is not safe does not change what is subtracted from the others of its block.
    """
    limit = SAFE_EXPONENT[maximum.dtype]
    return np.asarray(np.where((minimum > -limit) & (maximum < limit), maximum.dtype.type(0), maximum))


def segment_cumsum(x: RawArray, segments: Segments, backwards: bool = False, /) -> RawArray:
    """Add in the order of the plain kernel, with the same bits if elements have 8 bytes; long segments in float64.

    Step r adds row r - 1, which is a running sum already, to row r of all segments that are so long, in one call. When
    few such segments are left, `np.add.accumulate` finishes each of them.
    """
    rows, dtype = as_matrix(x), sum_dtype(x)
    if backwards:
        segments = segments.cached("backwards", lambda: Segments.from_lengths(segments.lengths[::-1]))
    is_long = segments.longest > LONGEST_SUM and dtype.kind == "f"
    sums = np.array(rows[::-1] if backwards else rows, np.float64 if is_long else computing_dtype(dtype))
    starts, lengths = _longest_first(segments)
    row = 1
    while (count := int(np.searchsorted(-lengths, -row))) * sums.shape[1] >= STEP_ELEMENTS:
        positions = starts[:count] + row
        sums[positions] += sums[positions - 1]
        row += 1
    for start, length in zip(starts[:count].tolist(), lengths[:count].tolist(), strict=True):
        rest = sums[start + row - 1 : start + length]
        np.add.accumulate(rest, axis=0, out=rest)
    return np.ascontiguousarray(sums[::-1] if backwards else sums, dtype).reshape(x.shape)


def spread(y: RawArray, segments: Segments, /) -> RawArray:
    """Take the entry of each row's segment."""
    return take_rows(y, segments.segment_of_row)
