"""Plain kernels of products of matrices, one after the other, and of totals."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from ..matrices import Matrices
from .widening import RawArray, sum_dtype, wide, wide_dtype


def each_matrix(flat: RawArray, matrices: Matrices) -> Iterator[RawArray]:
    """Yield each matrix of a flat buffer with its logical shape."""
    for offset, rows, cols in matrices.places:
        stored = wide(flat[offset : offset + rows * cols])
        yield stored.reshape(cols, rows).T if matrices.is_transposed else stored.reshape(rows, cols)


def matmul_components(a: RawArray, b: RawArray, left: Matrices, right: Matrices, /) -> RawArray:
    """Flat and flat -> flat: left[k] @ right[k], one after the other in row-major order."""
    pairs = zip(each_matrix(a, left), each_matrix(b, right), strict=True)
    products = [(first @ second).ravel() for first, second in pairs]
    return np.concatenate([np.empty(0, bool), *products]).astype(np.result_type(a, b))


def sum_all(x: RawArray, /) -> RawArray:
    """(...) -> (): the total; int64 for bools and integers."""
    return np.asarray(x.sum(dtype=wide_dtype(x)).astype(sum_dtype(x)))


def sum_last(x: RawArray, /) -> RawArray:
    """(..., D) -> (...): the sum of each row; int64 for bools and integers."""
    return np.asarray(x.sum(axis=-1, dtype=wide_dtype(x)).astype(sum_dtype(x), order="C"))
