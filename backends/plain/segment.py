"""Plain reductions, softmax and running sums of segments, and their derivatives."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Any

import numpy as np

from ..segments import Segments
from .widening import RawArray, sum_dtype, wide


def rows_of_segments(x: RawArray, segments: Segments) -> Iterator[RawArray]:
    """Yield the rows of each segment."""
    for start, stop in pairwise(segments.offsets.tolist()):
        yield x[start:stop]


def reduce_segments(function: Callable[[RawArray], Any], x: RawArray, segments: Segments, dtype: Any) -> RawArray:
    """(N, ...) -> (B, ...): apply ``function`` to the rows of each segment."""
    out = np.empty((segments.count, *x.shape[1:]), dtype)
    for i, rows in enumerate(rows_of_segments(x, segments)):
        out[i] = function(rows)
    return out


def least(dtype: np.dtype[Any]) -> Any:
    """Return the least value of a dtype: -inf, the least integer, or False."""
    return -np.inf if dtype.kind == "f" else False if dtype.kind == "b" else np.iinfo(dtype).min


def greatest(dtype: np.dtype[Any]) -> Any:
    """Return the greatest value of a dtype: inf, the greatest integer, or True."""
    return np.inf if dtype.kind == "f" else True if dtype.kind == "b" else np.iinfo(dtype).max


def segment_sum(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> (B, ...): the sum of each segment, +0 for an empty one; int64 for bools and integers."""
    return reduce_segments(lambda rows: wide(rows).sum(axis=0), x, segments, sum_dtype(x))


def segment_prod(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> (B, ...): the product of each segment, 1 for an empty one; int64 for bools and integers."""
    return reduce_segments(lambda rows: wide(rows).prod(axis=0), x, segments, sum_dtype(x))


def segment_max(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> (B, ...): the maximum of each segment; NaN wins; an empty one has the least value of the dtype."""
    return reduce_segments(lambda rows: rows.max(axis=0, initial=least(x.dtype)), x, segments, x.dtype)


def segment_min(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> (B, ...): the minimum of each segment; NaN wins; an empty one has the greatest value of the dtype."""
    return reduce_segments(lambda rows: rows.min(axis=0, initial=greatest(x.dtype)), x, segments, x.dtype)


def segment_argmax(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> int64 (B, ...): the first row with the maximum, counted within its segment; -1 for an empty one."""
    return reduce_segments(lambda rows: rows.argmax(axis=0) if len(rows) else -1, x, segments, np.int64)


def segment_argmin(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> int64 (B, ...): the first row with the minimum, counted within its segment; -1 for an empty one."""
    return reduce_segments(lambda rows: rows.argmin(axis=0) if len(rows) else -1, x, segments, np.int64)


def segment_max_backward(cotangent: RawArray, x: RawArray, maximum: RawArray, segments: Segments, /) -> RawArray:
    """(B, ...) -> (N, ...): the cotangent of each maximum, or minimum, shared equally by the rows that attain it."""
    is_attained = x == spread(maximum, segments)
    share = np.where(is_attained, spread(wide(cotangent) / segment_sum(is_attained, segments), segments), 0)
    return np.where(np.isnan(spread(maximum, segments)), np.nan, share).astype(cotangent.dtype)


def segment_softmax(x: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> (N, ...): exp(x - max) / sum; NaN in a column of a segment with NaN, +inf, or -inf alone."""
    exponentials = np.exp(wide(x) - spread(segment_max(wide(x), segments), segments))
    return (exponentials / spread(segment_sum(exponentials, segments), segments)).astype(x.dtype)


def segment_softmax_backward(cotangent: RawArray, y: RawArray, segments: Segments, /) -> RawArray:
    """(N, ...) -> (N, ...): ``y * g - y * (sum of y * g over the segment)``, with y the softmax, g the cotangent."""
    weighted = wide(cotangent) * wide(y)
    return (weighted - wide(y) * spread(segment_sum(weighted, segments), segments)).astype(y.dtype)


def segment_cumsum(x: RawArray, segments: Segments, backwards: bool = False, /) -> RawArray:
    """(N, ...) -> (N, ...): the sum of each row and all before it, or after it, in its segment; int64 for integers."""
    out, step = np.empty(x.shape, sum_dtype(x)), -1 if backwards else 1
    for sums, rows in zip(rows_of_segments(out, segments), rows_of_segments(x, segments), strict=True):
        sums[::step] = wide(rows)[::step].cumsum(axis=0)
    return out


def spread(y: RawArray, segments: Segments, /) -> RawArray:
    """(B, ...) -> (N, ...): the entry of its segment for each row; the adjoint of segment_sum."""
    return np.repeat(y, segments.lengths, axis=0)
