"""Reductions of dense arrays along their first or last dimension."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..plain import reduction as plain
from .parallel import as_matrix, ones, run, shares, sum_rows, widened

SHORT_ROW = 32  # elements
LONGEST_DOT = 512  # elements of a row; a dot product adds them up in a few dozen partial sums


def sum_first(x: NDArray[Any]) -> NDArray[Any]:
    """(N, ...) -> (...): the sum of the rows of floats, which are added pairwise."""
    rows = as_matrix(x)
    out = np.empty(rows.shape[1], computing_dtype(x.dtype))
    sum_rows(widened(rows), out)
    return np.asarray(out.astype(x.dtype, copy=False).reshape(x.shape[1:]))


def sum_last(x: NDArray[Any], /) -> NDArray[Any]:
    """Compute the dot products of short rows with ones."""
    if x.dtype.kind != "f" or x.shape[-1] > LONGEST_DOT:
        return plain.sum_last(x)
    rows = np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])
    sums = np.empty(len(rows), computing_dtype(x.dtype))

    def work(start: int, stop: int) -> None:
        np.vecdot(widened(rows[start:stop]), ones(rows.shape[1], sums.dtype), out=sums[start:stop])

    run(work, shares(len(rows)), rows.nbytes)
    return sums.astype(x.dtype, copy=False).reshape(x.shape[:-1])


def best_last(better: np.ufunc, x: NDArray[Any]) -> NDArray[Any]:
    """(..., D) -> (...), D > 0: `numpy.maximum` or `numpy.minimum` of each row; NaN if the row holds one."""
    rows = np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])
    return best_of_rows(better, rows).reshape(x.shape[:-1])


def best_of_rows(better: np.ufunc, rows: NDArray[Any]) -> NDArray[Any]:
    """(N, D) -> (N,), D > 0: the best element of each contiguous row.

    NumPy's reduction begins anew for each row; a reduction over columns does not, and a search for the position takes
    half of its time. Halves are compared in float32.
    """
    wide = widened(rows)
    if rows.shape[1] <= SHORT_ROW:
        return np.asarray(better.reduce(np.ascontiguousarray(wide.T), axis=0)).astype(rows.dtype, copy=False)
    positions = wide.argmax(axis=1) if better is np.maximum else wide.argmin(axis=1)
    return np.take_along_axis(rows, positions[:, None], axis=1)[:, 0]
