"""Running sums of runs of rows. The plain version is `np.cumsum` of each run; this one gives the same bits."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import empty
from ..segments import Segments
from .running import as_matrix

STEP_ELEMENTS = 2048  # so many elements that a step of all runs costs less than a call for each of them


def segment_cumsum(x: NDArray[Any], segments: Segments, backwards: bool = False, /) -> NDArray[Any]:
    """(N, ...) -> (N, ...): each row plus all before it, or behind it, in its run; bools and ints give int64."""
    rows = as_matrix(x)
    dtype = x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)
    sums = empty(rows.shape, computing_dtype(dtype))
    if backwards:
        segments = segments.cached("backwards", lambda: Segments.from_lengths(segments.lengths[::-1]))
    np.copyto(sums, rows[::-1] if backwards else rows)
    _accumulate(sums, segments)
    return np.ascontiguousarray(sums[::-1] if backwards else sums, dtype).reshape(x.shape)


def _accumulate(sums: NDArray[Any], segments: Segments) -> None:
    """All runs go a row further at a time, the longest first, as long as that is much; then each that is left alone."""
    order = np.argsort(-segments.lengths, kind="stable")
    starts, lengths = segments.offsets[:-1][order], segments.lengths[order]
    row = 1
    while (left := int(np.searchsorted(-lengths, -row))) * sums.shape[1] >= STEP_ELEMENTS:
        places = starts[:left] + row
        sums[places] += sums[places - 1]
        row += 1
    for start, length in zip(starts[:left].tolist(), lengths[:left].tolist(), strict=True):
        rest = sums[start + row - 1 : start + length]
        np.add.accumulate(rest, axis=0, out=rest)
