"""Quick products of matrices, and reductions of dense arrays along their first or last dimension."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..caching_allocator import empty
from ..component_layout import Matrices, groups_of_equal_rows
from ..dtypes import computing_dtype, is_half
from ..plain import products as plain_kernels
from .blocks import as_matrix, last_rows, rows_as_elements, run_shares, widened

LARGE_PRODUCT = 16384  # elements of both operands and the result; a larger product is worth a Python call of its own
LARGE_MATMUL = 1 << 20  # multiplications; a smaller product takes less time than preparing it for threads
FEW_PRODUCTS = 4  # up to this number, a Python call for each product costs less than sorting them by size
FEW_ROWS = 16  # up to this number, rows are added one after the other, in float64
SHORT_ROW = 32  # elements of a row whose extremum is found in a transposed matrix
LONGEST_SUM = 512  # terms; a longer sum in float32 is not accurate enough


def matmul(a: NDArray[Any], b: NDArray[Any], /) -> NDArray[Any]:
    """Multiply arrays of at least two dimensions; if ``b`` is one matrix and the product large, on all threads."""
    if b.ndim > 2 or a.size * b.shape[1] < LARGE_MATMUL:
        return np.asarray(np.matmul(a, b))
    rows = last_rows(a) if a.ndim > 2 else a
    out = empty((len(rows), b.shape[1]), np.result_type(a, b))
    run_shares(
        lambda start, stop: np.matmul(rows[start:stop], b, out=out[start:stop]), len(rows), a.nbytes + out.nbytes
    )
    return out.reshape(*a.shape[:-1], b.shape[1])


def matmul_components(a: NDArray[Any], b: NDArray[Any], left: Matrices, right: Matrices, /) -> NDArray[Any]:
    """Make one call for each product of large matrices, and one for all products of small matrices of equal sizes."""
    dtype = np.result_type(a, b)
    if is_half(dtype):
        return matmul_components(a.astype(np.float32), b.astype(np.float32), left, right).astype(dtype)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    sizes = left.rows * right.cols
    stops = np.cumsum(sizes)
    starts = stops - sizes
    out = empty((int(np.add.reduce(sizes)),), dtype)
    elements = sizes + left.rows * left.cols + right.rows * right.cols
    is_single = (elements >= LARGE_PRODUCT) | (left.count <= FEW_PRODUCTS)
    for k in np.flatnonzero(is_single).tolist():
        first, second = left.matrix(a, k), right.matrix(b, k)
        product = out[starts.item(k) : stops.item(k)].reshape(len(first), second.shape[1])
        np.matmul(first, second, out=product)
    small_pairs = np.flatnonzero(~is_single)
    if not small_pairs.size:
        return out
    for group in groups_of_equal_rows(np.stack([left.rows, left.cols, right.cols], axis=1)[small_pairs]):
        pairs = small_pairs[group]
        products = np.matmul(_stack(a, left, pairs), _stack(b, right, pairs))
        if numel := products[0].size:
            rows_as_elements(out, numel)[starts[pairs]] = rows_as_elements(products, numel, numel)
    return out


def _stack(flat: NDArray[Any], matrices: Matrices, indices: NDArray[np.int64]) -> NDArray[Any]:
    """Return the matrices with these indices, all of one size: (K, rows, cols), a view if they lie evenly apart."""
    offsets = matrices.offsets[indices]
    rows, cols = matrices.rows.item(indices[0]), matrices.cols.item(indices[0])
    shape = (len(indices), cols, rows) if matrices.is_transposed else (len(indices), rows, cols)
    step = flat.itemsize
    distance = offsets.item(1) - offsets.item(0) if len(offsets) > 1 else 0
    if 0 in shape or (np.diff(offsets) == distance).all():
        strides = (distance * step, shape[2] * step, step)
        stack = as_strided(flat[offsets.item(0) :], shape, strides, writeable=False)
    else:
        stack = rows_as_elements(flat, rows * cols)[offsets].view(flat.dtype).reshape(shape)
    return stack.swapaxes(1, 2) if matrices.is_transposed else stack


def sum_first(x: NDArray[Any]) -> NDArray[Any]:
    """(N, ...) -> (...): the sum of the rows of floats.

    One half of the rows is added to the other until few rows are left, so that the error grows as log N. For a single
    column NumPy itself does so.
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
    """(..., D) -> (...), D > 0: the extremum of each row by ``ufunc``, maximum or minimum; NaN if the row holds one.

    A reduction of NumPy begins anew for each row. Therefore short rows are reduced as columns of the transposed matrix.
    For long rows, `argmax` and `argmin` take half of the time of a reduction. float16 is compared as float32.
    """
    rows = last_rows(x)
    wide = widened(rows)
    if rows.shape[1] <= SHORT_ROW:
        extrema = np.asarray(ufunc.reduce(np.ascontiguousarray(wide.T), axis=0)).astype(x.dtype, copy=False)
    else:
        positions = wide.argmax(axis=1) if ufunc is np.maximum else wide.argmin(axis=1)
        extrema = rows.take(positions + np.arange(0, rows.size, rows.shape[1]))
    return extrema.reshape(x.shape[:-1])
