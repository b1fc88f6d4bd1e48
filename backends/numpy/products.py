"""The quick product of many matrices of different sizes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..dtypes import is_half
from ..matrices import Matrices
from ..memory import empty
from .parallel import windows

LARGE_PRODUCT = 16384  # elements of both operands and the result; so many are worth a Python call of their own
FEW_PRODUCTS = 4  # so few that grouping by size costs more than it saves


def matmul_components(a: NDArray[Any], b: NDArray[Any], left: Matrices, right: Matrices, /) -> NDArray[Any]:
    """Multiply many small matrices of equal sizes together, and each large pair in a call of its own."""
    dtype = np.result_type(a, b)
    if is_half(dtype):
        return matmul_components(a.astype(np.float32), b.astype(np.float32), left, right).astype(dtype)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    sizes = left.rows * right.cols
    ends = np.cumsum(sizes)
    places = ends - sizes
    out = empty((int(sizes.sum()),), dtype)
    elements = sizes + left.rows * left.cols + right.rows * right.cols
    is_single = (elements >= LARGE_PRODUCT) | (left.count <= FEW_PRODUCTS)
    for k in np.flatnonzero(is_single).tolist():
        first, second = left.matrix(a, k), right.matrix(b, k)
        product = out[places.item(k) : ends.item(k)].reshape(len(first), second.shape[1])
        np.matmul(first, second, out=product)
    for members in _equal_sizes(np.flatnonzero(~is_single), left, right):
        _multiply_together(a, b, left, right, members, out, places[members])
    return out


def _equal_sizes(members: NDArray[np.int64], left: Matrices, right: Matrices) -> list[NDArray[np.int64]]:
    """Return the members in groups, the sizes of operands and result equal in each."""
    if not members.size:
        return []
    rows, inner, cols = left.rows[members], left.cols[members], right.cols[members]
    order = np.lexsort((cols, inner, rows))
    rows, inner, cols = rows[order], inner[order], cols[order]
    changes = (rows[1:] != rows[:-1]) | (inner[1:] != inner[:-1]) | (cols[1:] != cols[:-1])
    return np.split(members[order], np.flatnonzero(changes) + 1)


def _multiply_together(
    a: NDArray[Any],
    b: NDArray[Any],
    left: Matrices,
    right: Matrices,
    members: NDArray[np.int64],
    out: NDArray[Any],
    places: NDArray[np.int64],
) -> None:
    """Compute one batched product for members of equal sizes."""
    first, second = _stack(a, left, members), _stack(b, right, members)
    size = first.shape[1] * second.shape[2]
    if size == 0:
        return
    windows(out, size)[places] = np.matmul(first, second).reshape(len(members), size)


def _stack(flat: NDArray[Any], matrices: Matrices, members: NDArray[np.int64]) -> NDArray[Any]:
    """Return the members, (K, rows, cols): a view if they lie evenly apart, as a dense batch or one shared matrix."""
    offsets = matrices.offsets[members]
    rows, cols = matrices.rows.item(members[0]), matrices.cols.item(members[0])
    shape = (len(members), cols, rows) if matrices.is_transposed else (len(members), rows, cols)
    step = flat.itemsize
    apart = offsets.item(1) - offsets.item(0) if len(offsets) > 1 else 0
    if (np.diff(offsets) == apart).all():
        strides = (apart * step, shape[2] * step, step)
        stack = as_strided(flat[offsets.item(0) :], shape, strides, writeable=False)
    else:
        stack = windows(flat, rows * cols)[offsets].reshape(shape)
    return stack.swapaxes(1, 2) if matrices.is_transposed else stack
