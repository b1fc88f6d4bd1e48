"""Products of many matrices of different sizes, and reductions of dense arrays along their first or last dimension."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..dtypes import computing_dtype, is_half
from ..matrices import Matrices
from ..memory import empty
from ..plain import products as plain
from .parallel import as_matrix, ones, run, shares, sum_rows, widened, windows

LARGE_PRODUCT = 16384  # elements of both operands and the result; so many are worth a Python call of their own
FEW_PRODUCTS = 4  # so few that grouping by size costs more than it saves
SHORT_ROW = 32  # elements
LONGEST_DOT = 512  # elements of a row; a dot product adds them up in a few dozen partial sums
_POSITIONS: dict[np.ufunc, Callable[..., NDArray[np.int64]]] = {np.maximum: np.argmax, np.minimum: np.argmin}


# ---- reductions -----------------------------------------------------------------------------------------------------


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
    positions = _POSITIONS[better](wide, axis=1)
    return np.take_along_axis(rows, positions[:, None], axis=1)[:, 0]


# ---- products -------------------------------------------------------------------------------------------------------


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
