"""Reductions of dense arrays along their first or last dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..plain import reduction as plain_kernels
from .parallel import as_matrix, last_rows, run_shares, widened

FEW_ROWS = 16  # up to this number, rows are added one after the other, in float64
SHORT_ROW = 32  # elements
LONGEST_SUM = 512  # elements of a row; the sum of a longer row in float32 is not accurate enough


def sum_first(x: NDArray[Any]) -> NDArray[Any]:
    """(N, ...) -> (...): the sum of the rows of floats.

    One half of the rows is added to the other until few rows are left, so that the error grows as log N.
    """
    rows = widened(as_matrix(x))
    while len(rows) > FEW_ROWS and rows.shape[1] > 1:
        half = len(rows) // 2
        sums = rows[:half] + rows[half : 2 * half]
        if len(rows) % 2:
            sums[0] += rows[-1]
        rows = sums
    return np.asarray(np.add.reduce(rows, axis=0, dtype=np.float64).astype(x.dtype).reshape(x.shape[1:]))


def sum_last(x: NDArray[Any], /) -> NDArray[Any]:
    """Add up short rows of floats in their own dtype, halves in float32."""
    if x.dtype.kind != "f" or x.shape[-1] > LONGEST_SUM:
        return plain_kernels.sum_last(x)
    rows = last_rows(x)
    sums = np.empty(len(rows), computing_dtype(x.dtype))

    def work(start: int, stop: int) -> None:
        np.einsum("ij->i", widened(rows[start:stop]), out=sums[start:stop])

    run_shares(work, len(rows), rows.nbytes)
    return sums.astype(x.dtype, copy=False).reshape(x.shape[:-1])


def extremum_last(ufunc: np.ufunc, x: NDArray[Any]) -> NDArray[Any]:
    """(..., D) -> (...), D > 0: the maximum or minimum of each row, by that ufunc; NaN if the row holds one.

    A reduction of NumPy begins anew for each row. Therefore short rows are reduced as columns of the transposed matrix.
    Of a long row, `argmax` and `argmin` find the position, in half of the time of a reduction. Halves are compared in
    float32.
    """
    rows = last_rows(x)
    wide = widened(rows)
    if rows.shape[1] <= SHORT_ROW:
        extrema = np.asarray(ufunc.reduce(np.ascontiguousarray(wide.T), axis=0)).astype(x.dtype, copy=False)
    else:
        positions = wide.argmax(axis=1) if ufunc is np.maximum else wide.argmin(axis=1)
        extrema = rows.take(positions + np.arange(0, rows.size, rows.shape[1]))
    return extrema.reshape(x.shape[:-1])
