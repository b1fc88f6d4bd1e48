"""The quick product of many matrices of different sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..caching_allocator import empty
from ..component_layout import Matrices, groups_of_equal_rows
from ..dtypes import is_half
from .parallel import last_rows, rows_at_any_offset, run_shares

LARGE_PRODUCT = 16384  # elements of both operands and the result; a larger product is worth a Python call of its own
LARGE_MATMUL = 1 << 20  # multiplications; a smaller product takes less time than preparing it for threads
FEW_PRODUCTS = 4  # up to this number, a Python call for each product costs less than sorting them by size


def matmul(a: NDArray[Any], b: NDArray[Any], /) -> NDArray[Any]:
    """Call `numpy.matmul`; one product of all rows of ``a`` if ``b`` is one matrix, on all threads if it is large."""
    if b.ndim > 2 or a.size * b.shape[1] < LARGE_MATMUL:
        return np.asarray(np.matmul(a, b))
    rows = last_rows(a) if a.ndim > 2 else a
    out = empty((len(rows), b.shape[1]), np.result_type(a, b))
    run_shares(
        lambda start, stop: np.matmul(rows[start:stop], b, out=out[start:stop]), len(rows), a.nbytes + out.nbytes
    )
    return out.reshape(*a.shape[:-1], b.shape[1])


def matmul_components(a: NDArray[Any], b: NDArray[Any], left: Matrices, right: Matrices, /) -> NDArray[Any]:
    """Multiply each large pair of matrices by a call of its own, and small pairs of equal sizes by one batched call."""
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
        products = np.matmul(_stack(a, left, pairs), _stack(b, right, pairs)).reshape(len(pairs), -1)
        if products.size:
            rows_at_any_offset(out, products.shape[1])[starts[pairs]] = products
    return out


def _stack(flat: NDArray[Any], matrices: Matrices, indices: NDArray[np.int64]) -> NDArray[Any]:
    """Return matrices of equal sizes by their indices: (K, rows, cols), a view if they lie evenly apart."""
    offsets = matrices.offsets[indices]
    rows, cols = matrices.rows.item(indices[0]), matrices.cols.item(indices[0])
    shape = (len(indices), cols, rows) if matrices.is_transposed else (len(indices), rows, cols)
    step = flat.itemsize
    distance = offsets.item(1) - offsets.item(0) if len(offsets) > 1 else 0
    if (np.diff(offsets) == distance).all():
        strides = (distance * step, shape[2] * step, step)
        stack = as_strided(flat[offsets.item(0) :], shape, strides, writeable=False)
    else:
        stack = rows_at_any_offset(flat, rows * cols)[offsets].reshape(shape)
    return stack.swapaxes(1, 2) if matrices.is_transposed else stack
