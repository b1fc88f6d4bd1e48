"""Rows moved about: padding, taking, adding back, packing. The host side."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..segments import Segments
from .device import Array, Device
from .naming import ctype, instantiation
from .segment import BLOCK, MOST_TILES, launch_shape
from .words import in_words

ELEMENTS_PER_BLOCK = 4 * BLOCK  # of a copy: four for each thread


def copy(device: Device, x: Array, /) -> Array:
    """A C-contiguous copy."""
    return device.xp.array(x, order="C", copy=True)


def pad(device: Device, x: Array, segments: Segments, length: int, fill: Any, /) -> Array:
    """(N, ...) -> (B, length, ...): each run from the left, then ``fill``; no run is longer than ``length``."""
    rows = device.matrix(x)
    padded = device.empty((segments.count, length, rows.shape[1]), x.dtype)
    if padded.size:
        word, row = in_words(device, rows.shape[1] * x.dtype.itemsize, rows, padded)
        one = np.asarray(fill).astype(x.dtype).reshape(1).view(np.uint8)
        fills = np.resize(one, 16).view(np.uint64)
        grid = segments.count, _tiles(length * row)
        args = rows, device.offsets(segments), np.int64(row), np.int64(length), fills[0], fills[1], padded
        device.launch("pad.cu", instantiation("pad", word), grid, (BLOCK,), args)
    return padded.reshape(segments.count, length, *x.shape[1:])


def unpad(device: Device, padded: Array, segments: Segments, /) -> Array:
    """(B, length, ...) -> (N, ...): the rows that belong to runs; inverse of pad, and its adjoint."""
    whole, (count, length), inner = device.as_contiguous(padded), padded.shape[:2], padded.shape[2:]
    rows = device.empty((segments.rows, *inner), padded.dtype)
    if rows.size:
        word, row = in_words(device, rows.nbytes // segments.rows, whole, rows)
        args = whole, device.offsets(segments), np.int64(row), np.int64(length), rows
        device.launch("pad.cu", instantiation("unpad", word), (count, _tiles(segments.longest * row)), (BLOCK,), args)
    return rows


def take_rows(device: Device, x: Array, index: Array, /) -> Array:
    """(R, ...) -> (M, ...): the rows at ``index``, int64 (M,), each in 0..R-1."""
    rows = device.matrix(x)
    out = device.empty((len(index), rows.shape[1]), x.dtype)
    if out.size:
        word, columns = in_words(device, rows.shape[1] * x.dtype.itemsize, rows, out)
        lg = min(8, max(0, (columns - 1).bit_length()))
        tiles = -(-columns >> lg)
        grid = -(-len(index) // (BLOCK >> lg)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
        args = rows, device.index(index), np.int64(len(index)), np.int64(columns), np.int32(lg), out
        device.launch("take_rows.cu", instantiation("take_rows", word), grid, (BLOCK,), args)
    return out.reshape(len(index), *x.shape[1:])


def add_rows(device: Device, x: Array, index: Array, rows: int, /) -> Array:
    """(M, ...) -> (rows, ...): zeros, and each row of x added at its index; the adjoint of take_rows."""
    terms = device.matrix(x)
    out = device.empty((rows, terms.shape[1]), x.dtype)
    if out.size:
        which = device.index(index)
        order = device.xp.argsort(which, kind="stable").astype(np.int64, copy=False)
        starts = device.xp.searchsorted(which[order], device.xp.arange(rows + 1)).astype(np.int64, copy=False)
        shape = launch_shape(rows, *terms.shape)
        args = terms, order, starts, np.int64(rows), np.int64(terms.shape[1]), shape.lg, out
        name = instantiation("add_rows", ctype(x.dtype), shape.group)
        device.launch("add_rows.cu", name, shape.grid, (BLOCK,), args)
    return out.reshape(rows, *x.shape[1:])


def pack_list(device: Device, arrays: Sequence[Array], /) -> tuple[Array, NDArray[np.int64]]:
    """A list (not empty) of (L_i, ...) -> (N, ...) and the lengths, int64 (B,)."""
    packed = device.xp.concatenate([device.as_contiguous(x) for x in arrays])
    return packed, np.fromiter(map(len, arrays), np.int64, len(arrays))


def _tiles(words: int) -> int:
    return max(1, min(MOST_TILES, -(-words // ELEMENTS_PER_BLOCK)))
