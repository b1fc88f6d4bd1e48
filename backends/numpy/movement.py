"""Rows moved about: padding, taking, adding back, packing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import LARGE, empty
from ..segments import Segments
from .running import as_matrix, run, shares, widened

FEW_ELEMENTS = 256  # so few that preparing a selector costs more than adding them one by one
LONG_RUN_BYTES = 16 * 1024  # a run of so many bytes is worth a Python call of its own


def pad(x: NDArray[Any], segments: Segments, length: int, fill: Any, /) -> NDArray[Any]:
    """(N, ...) -> (B, length, ...): each run from the left, then ``fill``; no run is longer than ``length``."""
    rows = as_matrix(x)
    padded = empty((segments.count, length, rows.shape[1]), x.dtype)
    if _long(rows, segments):
        for component, (start, stop) in zip(padded, segments.pairs, strict=True):
            component[: stop - start] = rows[start:stop]
            component[stop - start :] = fill
    else:
        padded.fill(fill)
        padded.reshape(segments.count * length, rows.shape[1])[_padded_places(segments, length)] = rows
    return padded.reshape(segments.count, length, *x.shape[1:])


def unpad(padded: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(B, length, ...) -> (N, ...): the rows that belong to runs; inverse of pad, and its adjoint."""
    inner = padded.shape[2:]
    rows = empty((segments.rows, *inner), padded.dtype)
    if _long(rows, segments):
        for component, (start, stop) in zip(padded, segments.pairs, strict=True):
            rows[start:stop] = component[: stop - start]
        return rows
    length = padded.shape[1]
    every = np.ascontiguousarray(padded).reshape(segments.count * length, *inner)
    return every.take(_padded_places(segments, length), axis=0)


def concatenate(arrays: Sequence[NDArray[Any]], axis: int = 0, /) -> NDArray[Any]:
    """numpy.concatenate; a large result goes into memory that was used before, inner dimensions on all threads."""
    if sum(x.nbytes for x in arrays) < LARGE:
        return np.concatenate(arrays, axis=axis)
    shape = list(arrays[0].shape)
    shape[axis] = sum(x.shape[axis] for x in arrays)
    out = empty(tuple(shape), np.result_type(*arrays))

    def work(start: int, stop: int) -> None:
        np.concatenate([x[start:stop] for x in arrays], axis=axis, out=out[start:stop])

    if axis <= 0 or any(len(x) != len(out) for x in arrays):
        return np.concatenate(arrays, axis=axis, out=out)
    run(work, shares(len(out)), out.nbytes)
    return out


def take_rows(x: NDArray[Any], index: NDArray[np.int64], /) -> NDArray[Any]:
    """(R, ...) -> (M, ...): the rows at ``index``, int64 (M,), each in 0..R-1."""
    shape = (len(index), *x.shape[1:])
    # Every index is in range; told to clip, take writes straight into what it is given.
    return x.take(index, axis=0, out=empty(shape, x.dtype), mode="clip")


def add_rows(x: NDArray[Any], index: NDArray[np.int64], rows: int, /) -> NDArray[Any]:
    """(M, ...) -> (rows, ...): zeros, and each row of x added at its index; the adjoint of take_rows."""
    shape = (rows, *x.shape[1:])
    if x.dtype.kind != "f" or x.size <= FEW_ELEMENTS:
        sums = np.zeros(shape, computing_dtype(x.dtype))
        np.add.at(sums, index, x)
        return sums.astype(x.dtype, copy=False)
    terms = widened(as_matrix(x))
    if terms.shape[1] == 1:
        sums = np.bincount(index, terms[:, 0], rows)
    else:
        from scipy import sparse  # which an import of pynested does not wait for

        # Column j of the selector has its one at the index of term j; so described, no sorting is needed.
        columns = np.arange(len(index) + 1)
        ones = np.ones(len(index), terms.dtype)
        sums = sparse.csc_array((ones, index, columns), shape=(rows, len(index))) @ terms
    return sums.astype(x.dtype, copy=False).reshape(shape)


def pack_list(arrays: Sequence[NDArray[Any]], /) -> tuple[NDArray[Any], NDArray[np.int64]]:
    """A list (not empty) of (L_i, ...) -> (N, ...) and the lengths, int64 (B,)."""
    return np.concatenate(arrays), np.fromiter(map(len, arrays), np.int64, len(arrays))


def _long(rows: NDArray[Any], segments: Segments) -> bool:
    return rows.nbytes >= LONG_RUN_BYTES * segments.count


def _padded_places(segments: Segments, length: int) -> NDArray[np.int64]:
    """For each row, where it is among all rows of the padded array."""

    def make() -> NDArray[np.int64]:
        shift = np.arange(segments.count, dtype=np.int64) * length - segments.offsets[:-1]
        return np.arange(segments.rows, dtype=np.int64) + np.repeat(shift, segments.lengths)

    return segments.cached(("padded places", length), make)
