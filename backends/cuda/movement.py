"""Launches of the kernels that move rows, and components that lie anywhere in a buffer."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..places import Integers, packed_offsets, packed_strides, strided_index, surely_apart
from ..segments import Segments
from ..storage import address
from .elementwise import ELEMENTS_PER_BLOCK
from .kernel_device import BLOCK, RawArray, in_words
from .naming import WORDS, ctype, instantiation
from .segment import MOST_TILES, DeviceSegments, SegmentKernels

TILE = 1024  # elements of a tile: see strided.cuh
MAX_DIMS = 3  # of the instantiated kernels; for components of more dims, an index of all elements is made
LARGE_TILES = 16  # elements along both dims; larger matrices are transposed through shared memory
SHORT_INDEX = 2**32  # elements between the first and the last one of a component; from there on, positions take 64 bits


class MovementKernels(SegmentKernels):
    """Kernels that move rows and components."""

    def copy(self, x: RawArray, /) -> RawArray:
        """Copy by the array module."""
        return self.xp.array(x, order="C", copy=True)

    def pad(self, x: RawArray, segments: Segments, length: int, fill: Any, /) -> RawArray:
        """Launch pad.cu."""
        rows, padded = self.as_contiguous(x), self.empty((segments.count, length, *x.shape[1:]), x.dtype)
        word, words = in_words(prod(x.shape[1:]) * x.dtype.itemsize, rows, padded)
        fill_bytes = np.asarray(fill).astype(x.dtype).reshape(1).view(np.uint8)
        fill_words = np.resize(fill_bytes, 16).view(np.uint64)
        args = rows, self.offsets(segments), np.int64(words), np.int64(length), *fill_words, padded
        self.launch("pad.cu", instantiation("pad", word), (segments.count, _tiles(length * words)), (BLOCK,), args)
        return padded

    def unpad(self, padded: RawArray, segments: Segments, /) -> RawArray:
        """Launch the second kernel of pad.cu."""
        source, (count, length, *inner) = self.as_contiguous(padded), padded.shape
        rows = self.empty((segments.rows, *inner), padded.dtype)
        word, words = in_words(prod(inner) * padded.dtype.itemsize, source, rows)
        args = source, self.offsets(segments), np.int64(words), np.int64(length), rows
        self.launch("pad.cu", instantiation("unpad", word), (count, _tiles(segments.longest * words)), (BLOCK,), args)
        return rows

    def take_rows(self, x: RawArray, index: RawArray, /) -> RawArray:
        """Launch take_rows.cu."""
        source, rows = self.as_contiguous(x), self.empty((len(index), *x.shape[1:]), x.dtype)
        word, words = in_words(prod(x.shape[1:]) * x.dtype.itemsize, source, rows)
        lg = min(8, max(0, (words - 1).bit_length()))
        tiles = -(-words >> lg)
        grid = -(-len(index) // (BLOCK >> lg)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
        args = source, self.index(index), np.int64(len(index)), np.int64(words), np.int32(lg), rows
        self.launch("take_rows.cu", instantiation("take_rows", word), grid, (BLOCK,), args)
        return rows

    def add_rows(self, x: RawArray, index: RawArray, rows: int, /) -> RawArray:
        """Sort the index, and launch add_rows.cu: the terms of each row are a segment of the sorted index."""
        targets = self.index(index)
        order = self.xp.argsort(targets, kind="stable").astype(np.int64, copy=False)
        starts = self.xp.searchsorted(targets[order], self.xp.arange(rows + 1)).astype(np.int64, copy=False)
        out = self.empty((rows, *x.shape[1:]), x.dtype)
        segments = DeviceSegments(starts, rows, len(x))
        return self.launch_segments("add_rows.cu", ("add_rows", ctype(x.dtype)), (x, order), segments, out)

    def pack_list(self, arrays: Sequence[RawArray], /) -> tuple[RawArray, NDArray[np.int64]]:
        """Join the arrays by the array module."""
        packed = self.xp.concatenate([self.as_contiguous(x) for x in arrays])
        return packed, np.fromiter(map(len, arrays), np.int64, len(arrays))

    def gather_components(self, buffer: RawArray, sizes: Integers, strides: Integers, offsets: Integers, /) -> RawArray:
        """Launch gather_components.cu, or take_rows.cu if the components have too many dimensions."""
        source = self.as_contiguous(buffer)
        placement = collapsed(Placement(sizes, (strides, packed_strides(sizes)), (offsets, packed_offsets(sizes))))
        if placement.sizes.shape[1] > MAX_DIMS:
            return self.take_rows(source, self.upload(strided_index(sizes, strides, offsets)))
        packed = self.empty((int(sizes.prod(axis=1).sum()),), source.dtype)
        if _is_transposed(placement):
            name = instantiation("gather_transposed", WORDS[source.dtype.itemsize])
            column_strides, starts = placement.strides[0][:, 1:], np.stack(placement.offsets, axis=1)
            table = np.concatenate([placement.sizes, column_strides, starts], axis=1)
            tiles = (-(-placement.sizes // 32)).prod(axis=1)
            self.launch_tiles("gather_components.cu", name, table, tiles, (32, 8), (source, packed))
        else:
            size = _word_size(placement, source, packed)
            placement = _in_words(placement, size // source.dtype.itemsize)
            self._launch_components("gather_components", WORDS[size], placement, source, packed)
        return packed

    def scatter_components(
        self, flat: RawArray, sizes: Integers, strides: Integers, offsets: Integers, buffer_size: int, /
    ) -> RawArray:
        """Launch scatter_components.cu, or add_rows.cu if components may overlap or have too many dimensions."""
        terms = self.as_contiguous(flat)
        placement = collapsed(Placement(sizes, (packed_strides(sizes), strides), (packed_offsets(sizes), offsets)))
        is_apart = surely_apart(placement.sizes, placement.strides[1], placement.offsets[1])
        if placement.sizes.shape[1] > MAX_DIMS or not is_apart:
            return self.add_rows(terms, self.upload(strided_index(sizes, strides, offsets)), buffer_size)
        buffer = self.xp.zeros(buffer_size, terms.dtype)
        self._launch_components("scatter_components", ctype(terms.dtype), placement, terms, buffer)
        return buffer

    def _launch_components(
        self, kernel: str, element: str, placement: Placement, source: RawArray, target: RawArray
    ) -> None:
        """Launch a kernel that moves components, whose elements are of a C++ type, from one array to the other."""
        counts = placement.sizes.prod(axis=1)
        extents = [1 + ((placement.sizes - 1) * strides).sum(axis=1) for strides in placement.strides]
        is_short = max(int(numbers.max(initial=0)) for numbers in (counts, *extents)) < SHORT_INDEX - TILE
        name = instantiation(kernel, element, placement.sizes.shape[1], "unsigned int" if is_short else "long long")
        places = [part for s, o in zip(placement.strides, placement.offsets, strict=True) for part in (s, o[:, None])]
        table = np.concatenate([placement.sizes, *places], axis=1)
        self.launch_tiles(f"{kernel}.cu", name, table, -(-counts // TILE), (BLOCK,), (source, target))


def _tiles(words: int) -> int:
    return max(1, min(MOST_TILES, -(-words // ELEMENTS_PER_BLOCK)))


class Placement(NamedTuple):
    """Where components lie in two arrays, from one of which a kernel moves them to the other."""

    sizes: Integers  # (B, d)
    strides: tuple[Integers, Integers]  # (B, d) for each array
    offsets: tuple[Integers, Integers]  # (B,) for each array


def collapsed(placement: Placement) -> Placement:
    """Return the same elements in the same order, with as few dims as possible, at least one.

    Empty components are left out.
    """
    kept = placement.sizes.all(axis=1)
    ones = np.ones((int(kept.sum()), 1), np.int64)  # a last dim of one element, since there may be no dims
    sizes = np.append(placement.sizes[kept], ones, axis=1)
    strides = [np.append(s[kept], ones, axis=1) for s in placement.strides]
    dims = [sizes.shape[1] - 1]
    for dim in range(sizes.shape[1] - 2, -1, -1):
        inner = dims[0]
        if not _can_merge(sizes, strides, dim, inner):
            dims.insert(0, dim)
            continue
        for s in strides:  # if the inner dim has one element, the stride of the outer dim is that of the merged dim
            s[:, inner] = np.where(sizes[:, inner] == 1, s[:, dim], s[:, inner])
        sizes[:, inner] *= sizes[:, dim]
    first, second = (s[:, dims] for s in strides)
    return Placement(sizes[:, dims], (first, second), (placement.offsets[0][kept], placement.offsets[1][kept]))


def _can_merge(sizes: Integers, strides: list[Integers], dim: int, inner: int) -> bool:
    """Return whether the elements of two dims lie like those of one dim, in all components."""
    single = (sizes[:, dim] == 1) | (sizes[:, inner] == 1)
    return all(bool(((s[:, dim] == s[:, inner] * sizes[:, inner]) | single).all()) for s in strides)


def _is_transposed(placement: Placement) -> bool:
    """Return whether all components are matrices that lie column by column, and large enough for tiles."""
    sizes, strides = placement.sizes, placement.strides[0]
    if sizes.shape[1] != 2 or not (strides[:, 0] == 1).all():
        return False
    return bool((sizes.mean(axis=0) >= LARGE_TILES).all())


def _word_size(placement: Placement, *arrays: RawArray) -> int:
    """Return the bytes of the widest word of which all innermost rows consist, in both arrays."""
    itemsize: int = arrays[0].dtype.itemsize
    if any((s[:, -1] != 1).any() for s in placement.strides):
        return itemsize
    numbers = [
        placement.sizes[:, -1:],
        *(s[:, :-1] for s in placement.strides),
        *(o[:, None] for o in placement.offsets),
    ]
    row_bytes = int(np.gcd.reduce(np.concatenate(numbers, axis=None))) * itemsize
    multiples = [row_bytes, *(address(x) for x in arrays), *(x.nbytes for x in arrays)]
    return next(size for size in WORDS if size <= itemsize or not any(number % size for number in multiples))


def _in_words(placement: Placement, items: int) -> Placement:
    """Return the same placement in words of ``items`` elements each; the innermost rows are contiguous."""
    if items == 1:
        return placement
    sizes = np.append(placement.sizes[:, :-1], placement.sizes[:, -1:] // items, axis=1)
    first, second = (np.append(s[:, :-1] // items, s[:, -1:], axis=1) for s in placement.strides)
    return Placement(sizes, (first, second), (placement.offsets[0] // items, placement.offsets[1] // items))
