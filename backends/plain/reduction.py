"""Plain kernels that add up dense arrays."""

from __future__ import annotations

import numpy as np

from .widening import RawArray, sum_dtype, wide_dtype


def sum_all(x: RawArray, /) -> RawArray:
    """(...) -> (): the total; int64 for bools and integers."""
    return np.asarray(x.sum(dtype=wide_dtype(x)).astype(sum_dtype(x)))


def sum_last(x: RawArray, /) -> RawArray:
    """(..., D) -> (...): the sum of each row; int64 for bools and integers."""
    return np.asarray(x.sum(axis=-1, dtype=wide_dtype(x)).astype(sum_dtype(x), order="C"))
