"""Plain kernels that multiply matrices, one after the other, and that add up dense arrays."""

from __future__ import annotations

import numpy as np

from ..component_layout import Matrices
from .widening import RawArray, sum_dtype, wide, wide_dtype


def matmul_components(a: RawArray, b: RawArray, left: Matrices, right: Matrices, /) -> RawArray:
    """Flat and flat -> flat: left[k] @ right[k], one after the other in row-major order."""
    a, b, dtype = wide(a), wide(b), np.result_type(a, b)
    products = [(left.matrix(a, k) @ right.matrix(b, k)).ravel() for k in range(left.count)]
    return np.concatenate([np.empty(0, bool), *products]).astype(dtype)


def sum_all(x: RawArray, /) -> RawArray:
    """(...) -> (): the total; int64 for bools and integers."""
    return np.asarray(x.sum(dtype=wide_dtype(x)).astype(sum_dtype(x)))


def sum_last(x: RawArray, /) -> RawArray:
    """(..., D) -> (...): the sum of each row; int64 for bools and integers."""
    return np.asarray(x.sum(axis=-1, dtype=wide_dtype(x)).astype(sum_dtype(x), order="C"))
