"""Quick kernels of segments: many short segments together; few or long segments one after the other, by plain kernels.

Softmax runs on blocks of whole segments, which stay in cache.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import empty
from ..plain import segment as plain
from ..plain.widening import sum_dtype
from ..segments import Segments
from .elementwise import keep_where, where
from .movement import take_rows
from .parallel import as_matrix, maximum_of, minimum_of, rows_in_block, run, widened

RawArray = NDArray[Any]

FEW_SEGMENTS = 8  # so few that a Python call for each costs less than any preparation
LONG_SUM = 4096  # elements of a segment that are worth a Python call; one product with a matrix adds up shorter ones
LONG_REDUCTION = 512  # the same for `reduceat`, which is slower
MANY_TERMS = 64  # rows of a segment; a sum of more rows is computed in float64
# exp of numbers between these and their negatives, and sums of it, are ordinary numbers.
SAFE_EXPONENT = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 300.0}
SEGMENTS_FOR_A_STEP = 4  # times the rows left: so many segments make a step of all cheaper than a call for each
STEP_ELEMENTS = 2048  # so many elements make a step of all segments cheaper than a call for each


def is_loop_quick(rows: RawArray, segments: Segments, long: int) -> bool:
    """Return whether segments are so few, or so long on average, that one call for each is quick."""
    return segments.count <= FEW_SEGMENTS or rows.size >= long * segments.count


def segment_sum(x: RawArray, segments: Segments, /) -> RawArray:
    """Multiply short segments with a sparse matrix of ones, one row for each segment."""
    rows = as_matrix(x)
    if is_loop_quick(rows, segments, LONG_SUM):
        return plain.segment_sum(x, segments)
    is_wide = segments.longest > MANY_TERMS or rows.shape[1] == 1  # for one column it costs no time
    dtype = np.dtype(np.float64) if is_wide else computing_dtype(x.dtype)
    dtype = dtype if x.dtype.kind == "f" else np.dtype(np.int64)
    sums: RawArray = _selector(segments, dtype) @ rows.astype(dtype, copy=False)
    return sums.astype(sum_dtype(x), copy=False).reshape(segments.count, *x.shape[1:])


def _selector(segments: Segments, dtype: np.dtype[Any]) -> Any:
    """Return a CSR matrix (B, N) of ones, which adds up the rows of each segment; the offsets are its indptr."""

    def make() -> Any:
        from scipy import sparse  # which an import of pynested does not wait for

        columns = np.arange(segments.rows, dtype=np.int32 if segments.rows < 2**31 else np.int64)
        parts = np.ones(segments.rows, dtype), columns, segments.offsets.astype(columns.dtype)
        return sparse.csr_array(parts, shape=(segments.count, segments.rows))

    return segments.cached(("selector", dtype), make)


def segment_prod(x: RawArray, segments: Segments, /) -> RawArray:
    """Multiply the rows of short segments by one `reduceat`."""
    dtype = sum_dtype(x)
    rows = as_matrix(x).astype(computing_dtype(dtype), copy=False)
    if is_loop_quick(rows, segments, LONG_REDUCTION):
        return plain.segment_prod(x, segments)
    return _reduceat(np.multiply, rows, segments, 1).astype(dtype, copy=False).reshape(segments.count, *x.shape[1:])


def segment_max(x: RawArray, segments: Segments, /) -> RawArray:
    """Compare the rows of all segments step by step."""
    return _best(np.maximum, x, segments, plain.least(x.dtype))


def segment_min(x: RawArray, segments: Segments, /) -> RawArray:
    """Compare the rows of all segments step by step."""
    return _best(np.minimum, x, segments, plain.greatest(x.dtype))


def _best(better: np.ufunc, x: RawArray, segments: Segments, identity: Any) -> RawArray:
    """(N, ...) -> (B, ...): `numpy.maximum` or `numpy.minimum` of each segment."""
    rows = widened(as_matrix(x))
    reduce = _reduceat if rows.shape[1] == 1 else _reduce_in_steps
    return reduce(better, rows, segments, identity).astype(x.dtype, copy=False).reshape(segments.count, *x.shape[1:])


def _reduce_in_steps(ufunc: np.ufunc, rows: RawArray, segments: Segments, identity: Any) -> RawArray:
    """(N, D) -> (B, D): take the next row of all segments as long as many have one, then each segment's rest alone."""
    order, starts, lengths = _longest_first(segments)
    shape = segments.count, rows.shape[1]
    reduced, taken = empty(shape, rows.dtype), empty(shape, rows.dtype)
    reduced.fill(identity)
    row, left = 0, int(np.count_nonzero(lengths))
    while left >= SEGMENTS_FOR_A_STEP * (segments.longest - row) > 0:
        rows.take(starts[:left] + row, axis=0, out=taken[:left], mode="clip")
        ufunc(reduced[:left], taken[:left], out=reduced[:left])
        row += 1
        left = int(np.searchsorted(-lengths, -row))  # those with more rows
    for place, start, length in zip(range(left), starts.tolist(), lengths.tolist(), strict=False):
        ufunc(reduced[place], ufunc.reduce(rows[start + row : start + length], axis=0), out=reduced[place])
    taken[order] = reduced
    return taken


def _longest_first(segments: Segments) -> tuple[RawArray, RawArray, RawArray]:
    """Return the numbers of the segments, the longest first, and their first rows and lengths in this order."""

    def make() -> tuple[RawArray, RawArray, RawArray]:
        order = np.argsort(-segments.lengths, kind="stable")
        return order, segments.offsets[:-1][order], segments.lengths[order]

    return segments.cached("longest first", make)


def _reduceat(ufunc: np.ufunc, rows: RawArray, segments: Segments, identity: Any) -> RawArray:
    """(N, D) -> (B, D): reduce each segment; an empty one, for which reduceat is wrong, to the identity."""
    reduced = np.full((segments.count, rows.shape[1]), identity, rows.dtype)
    has_rows = segments.lengths > 0
    if has_rows.any():
        reduced[has_rows] = ufunc.reduceat(rows, segments.offsets[:-1][has_rows], axis=0)
    return reduced


def segment_max_backward(cotangent: RawArray, x: RawArray, maximum: RawArray, segments: Segments, /) -> RawArray:
    """Compute the formula of the plain kernel with quick sums, block by block."""
    rows, maxima, cotangents = as_matrix(x), as_matrix(maximum), as_matrix(cotangent)
    out, dtype = empty(rows.shape, cotangent.dtype), computing_dtype(cotangent.dtype)

    def work(place: slice, which: slice, part: Segments) -> None:
        top = spread(maxima[which], part)
        attained = rows[place] == top
        share = cotangents[which] / segment_sum(attained.astype(dtype), part)
        out[place] = keep_where(attained, spread(share.astype(out.dtype, copy=False), part))
        if np.isnan(maxima[which]).any():
            out[place][np.isnan(top)] = np.nan

    run(work, _blocks_of_segments(rows, segments), rows.nbytes)
    return out.reshape(x.shape)


def segment_softmax(x: RawArray, segments: Segments, /) -> RawArray:
    """Subtract maxima only if exp could overflow, or a sum of exps vanish."""
    rows, dtype = as_matrix(x), computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)

    def work(place: slice, _: slice, part: Segments) -> None:
        block = rows[place].astype(dtype, copy=False)
        if not is_exp_safe(block):
            shift = shift_of(segment_min(block, part), segment_max(block, part))
            block = block - spread(shift, part)
        powers = np.exp(block)
        np.divide(powers, spread(segment_sum(powers, part), part), out=out[place], casting="same_kind")

    run(work, _blocks_of_segments(rows, segments), rows.nbytes)
    return out.reshape(x.shape)


def segment_softmax_backward(cotangent: RawArray, y: RawArray, segments: Segments, /) -> RawArray:
    """Compute the formula of the plain kernel with quick sums, block by block."""
    rows, cotangents, dtype = as_matrix(y), as_matrix(cotangent), computing_dtype(y.dtype)
    out = empty(rows.shape, y.dtype)

    def work(place: slice, _: slice, part: Segments) -> None:
        ys, gs = rows[place].astype(dtype, copy=False), cotangents[place].astype(dtype, copy=False)
        total = spread(segment_sum(ys * gs, part), part)
        np.multiply(ys, gs - total, out=out[place], casting="same_kind")

    run(work, _blocks_of_segments(rows, segments), rows.nbytes)
    return out.reshape(y.shape)


def _blocks_of_segments(rows: RawArray, segments: Segments) -> list[tuple[slice, slice, Segments]]:
    """Return the rows of each block of whole segments, and its segments; no block if there are no elements."""
    size = rows_in_block(rows[:1].nbytes)

    def make() -> list[tuple[slice, slice, Segments]]:
        return [
            (slice(start, stop), slice(first, last), Segments(segments.offsets[first : last + 1] - start))
            for start, stop, first, last in segments.spans(size)
        ]

    return segments.cached(("blocks", size), make) if rows.size else []


def is_exp_safe(block: RawArray) -> bool:
    """Return whether exp cannot overflow nor a sum of exps vanish, so that no maximum need be subtracted."""
    limit = SAFE_EXPONENT[block.dtype]
    # NaN compares false, so that a block with a NaN is not safe.
    return not block.size or bool(minimum_of(block) > -limit and maximum_of(block) < limit)


def shift_of(least: RawArray, most: RawArray) -> RawArray:
    """Return what softmax subtracts from each segment: its maximum, but 0 if exp of the segment is safe.

    So the bits of such a segment do not depend on the other segments of its block.
    """
    limit = SAFE_EXPONENT[most.dtype]
    shift: RawArray = where((least > -limit) & (most < limit), most.dtype.type(0), most)
    return shift


def segment_cumsum(x: RawArray, segments: Segments, backwards: bool = False, /) -> RawArray:
    """Add in the order of the plain kernel: the bits of 8-byte numbers are the same."""
    rows, dtype = as_matrix(x), sum_dtype(x)
    if backwards:
        segments = segments.cached("backwards", lambda: Segments.from_lengths(segments.lengths[::-1]))
    sums = np.array(rows[::-1] if backwards else rows, computing_dtype(dtype))
    _accumulate(sums, segments)
    return np.ascontiguousarray(sums[::-1] if backwards else sums, dtype).reshape(x.shape)


def _accumulate(sums: RawArray, segments: Segments) -> None:
    """Go a row further in all segments at a time, the longest first, as long as they are many; then in each alone."""
    _, starts, lengths = _longest_first(segments)
    row = 1
    while (left := int(np.searchsorted(-lengths, -row))) * sums.shape[1] >= STEP_ELEMENTS:
        places = starts[:left] + row
        sums[places] += sums[places - 1]
        row += 1
    for start, length in zip(starts[:left].tolist(), lengths[:left].tolist(), strict=True):
        rest = sums[start + row - 1 : start + length]
        np.add.accumulate(rest, axis=0, out=rest)


def spread(y: RawArray, segments: Segments, /) -> RawArray:
    """Take the entry of each row's segment."""
    return take_rows(y, segments.segment_of_row)
