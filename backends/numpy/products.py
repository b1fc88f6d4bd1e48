"""Products of many matrices of different sizes, and totals."""

from __future__ import annotations

from math import prod
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..dtypes import computing_dtype, is_half
from ..matrices import Matrices
from ..memory import LARGE, empty
from .blas import threads as blas_threads
from .running import THREAD_BYTES, THREADS, as_matrix, blocks, ones, run, shares, sum_rows, widened

LARGE_PRODUCT = 16384  # elements of both operands and the result; so many are worth a Python call of their own
FEW_PRODUCTS = 4  # so few that grouping by size costs more than it saves
SHARED_PRODUCT = 1 << 22  # multiplications that take as long as it takes to have a thread do half of them, and more
LONGEST_DOT = 512  # elements of a row; a dot product adds them up in a few dozen partial sums
TOTAL_CHUNK = 1 << 20  # elements added in float64 before the partial totals are added


def matmul(a: NDArray[Any], b: NDArray[Any], /) -> NDArray[Any]:
    """numpy.matmul without warnings; a large product of two matrices goes into memory that was used before.

    Rows of a large one are shared among threads of ours, which wait for work and do not look for it as those of BLAS.
    """
    if not (a.ndim == b.ndim == 2 and a.dtype == b.dtype):
        return np.asarray(np.matmul(a, b))
    rows, columns, steps = len(a), b.shape[1], len(a) * b.shape[1] * len(b)
    if steps < SHARED_PRODUCT or not 1 < blas_threads() <= THREADS:
        large = rows * columns * a.itemsize >= LARGE
        return np.asarray(np.matmul(a, b, out=empty((rows, columns), a.dtype) if large else None))
    out = empty((rows, columns), a.dtype)

    def work(start: int, stop: int) -> None:
        np.matmul(a[start:stop], b, out=out[start:stop])

    run(work, shares(rows), THREAD_BYTES)
    return out


def matmul_components(a: NDArray[Any], b: NDArray[Any], left: Matrices, right: Matrices, /) -> NDArray[Any]:
    """Flat and flat -> flat: left[k] @ right[k], packed one after the other in row-major order."""
    dtype = np.result_type(a, b)
    if is_half(dtype):
        return matmul_components(a.astype(np.float32), b.astype(np.float32), left, right).astype(dtype)
    a, b = np.ascontiguousarray(a), np.ascontiguousarray(b)
    if left.count <= FEW_PRODUCTS:
        return _one_by_one(a, b, left, right)
    sizes = left.rows * right.cols
    ends = np.cumsum(sizes)
    places = ends - sizes
    out = empty((int(sizes.sum()),), dtype)
    elements = sizes + left.rows * left.cols + right.rows * right.cols
    small = np.flatnonzero(elements < LARGE_PRODUCT)
    for members in _equal_sizes(small, left, right):
        _multiply_together(a, b, left, right, members, out, places[members])
    for k in np.flatnonzero(elements >= LARGE_PRODUCT).tolist():
        first, second = (
            _matrix(a, *left.places[k], left.is_transposed),
            _matrix(b, *right.places[k], right.is_transposed),
        )
        shape = len(first), second.shape[1]
        np.matmul(first, second, out=out[places.item(k) : ends.item(k)].reshape(shape))
    return out


def sum_all(x: NDArray[Any], /) -> NDArray[Any]:
    """(...) -> (): the total; bools and ints give int64."""
    if x.dtype.kind != "f":
        return np.asarray(np.add.reduce(x, axis=None, dtype=np.int64))
    flat = np.ascontiguousarray(x).reshape(-1)
    if flat.size <= TOTAL_CHUNK:
        return np.asarray(np.add.reduce(flat, dtype=np.float64).astype(x.dtype))
    cuts = list(enumerate(range(0, flat.size, TOTAL_CHUNK)))
    totals = np.empty(len(cuts), np.float64)

    def work(place: int, start: int) -> None:
        totals[place] = np.add.reduce(flat[start : start + TOTAL_CHUNK], dtype=np.float64)

    run(work, cuts, flat.nbytes)
    return np.asarray(np.add.reduce(totals).astype(x.dtype))


def sum_last(x: NDArray[Any], /) -> NDArray[Any]:
    """(..., D) -> (...): the sum of each row; bools and ints give int64.

    As dot products with ones, which are quicker, and for rows of this length hardly less exact; longer rows are added
    in float64.
    """
    if x.dtype.kind != "f" or x.shape[-1] > LONGEST_DOT:
        wide, stored = (np.float64, x.dtype) if x.dtype.kind == "f" else (np.int64, np.int64)
        return np.asarray(np.add.reduce(x, axis=-1, dtype=wide).astype(stored, order="C", copy=False))
    rows = np.ascontiguousarray(x).reshape(prod(x.shape[:-1]), x.shape[-1])
    totals = np.empty(len(rows), computing_dtype(x.dtype))

    def work(start: int, stop: int) -> None:
        add_rows(widened(rows[start:stop]), totals[start:stop])

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return totals.astype(x.dtype, copy=False).reshape(x.shape[:-1])


def add_rows(rows: NDArray[Any], totals: NDArray[Any]) -> None:
    """``totals <- `` the sum of each of some contiguous rows of float32 or float64, as `sum_last` adds it up."""
    if rows.shape[1] > LONGEST_DOT:
        totals[...] = np.add.reduce(rows, axis=1, dtype=np.float64)
    else:
        np.vecdot(rows, ones(rows.shape[1], totals.dtype), out=totals)


def sum_first(x: NDArray[Any], /) -> NDArray[Any]:
    """(N, ...) -> (...): the sum of the rows of floats, which are added pairwise, block by block."""
    rows, wide = as_matrix(x), computing_dtype(x.dtype)
    cuts = blocks(len(rows), rows[:1].nbytes)
    sums, out = np.empty((len(cuts), rows.shape[1])), np.empty(rows.shape[1], wide)

    def work(number: int, start: int, stop: int) -> None:
        sum_rows(widened(rows[start:stop]), sums[number])

    run(work, [(number, *cut) for number, cut in enumerate(cuts)], x.nbytes)
    sum_rows(sums, out)
    return np.asarray(out.astype(x.dtype, copy=False).reshape(x.shape[1:]))


def _one_by_one(a: NDArray[Any], b: NDArray[Any], left: Matrices, right: Matrices) -> NDArray[Any]:
    """A call for each product: for few of them less than what prepares them all."""
    elements, start = int(left.rows @ right.cols), 0
    out = empty((elements,), np.result_type(a, b))
    for first, second in zip(left.places, right.places, strict=True):
        x, y = _matrix(a, *first, left.is_transposed), _matrix(b, *second, right.is_transposed)
        stop = start + len(x) * y.shape[1]
        np.matmul(x, y, out=out[start:stop].reshape(len(x), y.shape[1]))
        start = stop
    return out


def _matrix(flat: NDArray[Any], offset: int, rows: int, cols: int, transposed: bool) -> NDArray[Any]:
    stored = flat[offset : offset + rows * cols]
    return stored.reshape(cols, rows).T if transposed else stored.reshape(rows, cols)


def _equal_sizes(members: NDArray[np.int64], left: Matrices, right: Matrices) -> list[NDArray[np.int64]]:
    """The members in groups, the sizes of operands and result equal in each."""
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
    """One batched product for members of equal sizes."""
    first, second = _stack(a, left, members), _stack(b, right, members)
    size = first.shape[1] * second.shape[2]
    if size == 0:
        return
    step = out.itemsize
    windows = as_strided(out, (out.size - size + 1, size), (step, step))
    windows[places] = np.matmul(first, second).reshape(len(members), size)


def _stack(flat: NDArray[Any], matrices: Matrices, members: NDArray[np.int64]) -> NDArray[Any]:
    """(K, rows, cols): the members; a view where they lie evenly apart, as a dense batch or one shared matrix does."""
    offsets = matrices.offsets[members]
    rows, cols = matrices.rows.item(members[0]), matrices.cols.item(members[0])
    shape = (len(members), cols, rows) if matrices.is_transposed else (len(members), rows, cols)
    step = flat.itemsize
    apart = offsets.item(1) - offsets.item(0) if len(offsets) > 1 else 0
    if (np.diff(offsets) == apart).all():
        strides = (apart * step, shape[2] * step, step)
        stack = as_strided(flat[offsets.item(0) :], shape, strides, writeable=False)
    else:
        windows = as_strided(flat, (flat.size - rows * cols + 1, rows * cols), (step, step), writeable=False)
        stack = windows[offsets].reshape(shape)
    return stack.swapaxes(1, 2) if matrices.is_transposed else stack
