"""Launches of the kernels that move rows, and components that lie anywhere in a buffer."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..component_layout import Integers, packed_offsets, packed_strides, strided_index, surely_disjoint
from ..segments import Segments
from ..storage import address
from .elementwise import ELEMENTS_PER_BLOCK
from .instantiations import WORD_BY_SIZE, instantiation
from .launching_backend import BLOCK, RawArray, widest_word
from .segment import MOST_TILES, DeviceSegments, SegmentKernels

TILE = 1024  # elements of a tile: see strided.cuh
MAX_DIMS = 3  # of the instantiated kernels; for components of more dims, an index of all elements is made
LARGE_TILES = 16  # elements along both dims; larger matrices are transposed through shared memory
SHORT_INDEX = 2**32  # positions below it take 32 bits


class MovementKernels(SegmentKernels):
    """Kernels that move rows and components."""

    def copy(self, x: RawArray, /) -> RawArray:
        """Copy by the array module."""
        return self.xp.array(x, order="C", copy=True)

    def pad(self, x: RawArray, segments: Segments, length: int, fill: Any, /) -> RawArray:
        """Launch pad.cu."""
        rows, padded = self.as_contiguous(x), self.empty((segments.count, length, *x.shape[1:]), x.dtype)
        word, row_words = widest_word(rows, padded)
        fill_bytes = np.asarray(fill).astype(x.dtype).reshape(1).view(np.uint8)
        fill_words = np.resize(fill_bytes, 16).view(np.uint64)
        args = rows, self.offsets(segments), row_words, length, *fill_words, padded
        grid = segments.count, min(MOST_TILES, -(-length * row_words // ELEMENTS_PER_BLOCK))
        self.launch("pad.cu", instantiation("pad", word), grid, (BLOCK,), args)
        return padded

    def unpad(self, padded: RawArray, segments: Segments, /) -> RawArray:
        """Launch the second kernel of pad.cu."""
        source, (count, length, *inner) = self.as_contiguous(padded), padded.shape
        rows = self.empty((segments.rows, *inner), padded.dtype)
        word, row_words = widest_word(rows, source)
        args = source, self.offsets(segments), row_words, length, rows
        grid = count, min(MOST_TILES, -(-segments.longest * row_words // ELEMENTS_PER_BLOCK))
        self.launch("pad.cu", instantiation("unpad", word), grid, (BLOCK,), args)
        return rows

    def take_rows(self, x: RawArray, index: RawArray, /) -> RawArray:
        """Launch take_rows.cu."""
        source, rows = self.as_contiguous(x), self.empty((len(index), *x.shape[1:]), x.dtype)
        word, row_words = widest_word(source, rows)
        log2_lanes = min(8, max(0, (row_words - 1).bit_length()))
        tiles = -(-row_words >> log2_lanes)
        grid = -(-len(index) // (BLOCK >> log2_lanes)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
        args = source, self.upload(index), len(index), row_words, np.int32(log2_lanes), rows
        self.launch("take_rows.cu", instantiation("take_rows", word), grid, (BLOCK,), args)
        return rows

    def add_rows(self, x: RawArray, index: RawArray, rows: int, /) -> RawArray:
        """Sort the index, and launch add_rows.cu: the terms of each row are a segment of the sorted index."""
        targets = self.upload(index)
        order = self.xp.argsort(targets, kind="stable").astype(np.int64, copy=False)
        starts = self.xp.searchsorted(targets[order], self.xp.arange(rows + 1)).astype(np.int64, copy=False)
        out = self.empty((rows, *x.shape[1:]), x.dtype)
        segments = DeviceSegments(starts, rows, len(x))
        return self.launch_segments("add_rows.cu", ("add_rows", x.dtype), (x, order), segments, out)

    def gather_components(self, buffer: RawArray, sizes: Integers, strides: Integers, offsets: Integers, /) -> RawArray:
        """Launch gather_components.cu, or take_rows.cu if the components have too many dimensions."""
        source = self.as_contiguous(buffer)
        merged, places = merge_dims(sizes, strides, offsets)
        if merged.shape[1] > MAX_DIMS:
            return self.take_rows(source, self.upload(strided_index(sizes, strides, offsets)))
        packed = self.empty((int(merged.prod(axis=1).sum()),), source.dtype)
        is_column_by_column = merged.shape[1] == 2 and (places[0][:, 0] == 1).all()
        if is_column_by_column and (merged.mean(axis=0) >= LARGE_TILES).all():
            name = instantiation("gather_transposed", WORD_BY_SIZE[source.dtype.itemsize])
            table = np.concatenate([merged, places[0][:, 1:], places[1][:, 2:]], axis=1)
            tiles = (-(-merged // 32)).prod(axis=1)
            self.launch_tiles("gather_components.cu", name, table, tiles, (32, 8), (source, packed))
        else:
            size = _word_size(merged, places, source, packed)
            items = size // source.dtype.itemsize
            merged[:, -1] //= items
            places[:, :, :-2] //= items  # the strides, but the innermost one stays 1
            places[:, :, -1] //= items  # the offset
            self._launch_components("gather_components", WORD_BY_SIZE[size], merged, places, (source, packed))
        return packed

    def scatter_components(
        self, flat: RawArray, sizes: Integers, strides: Integers, offsets: Integers, buffer_size: int, /
    ) -> RawArray:
        """Launch scatter_components.cu, or add_rows.cu if components may overlap or have too many dimensions."""
        terms = self.as_contiguous(flat)
        merged, places = merge_dims(sizes, strides, offsets)
        is_apart = surely_disjoint(merged, places[0][:, :-1], places[0][:, -1])
        if merged.shape[1] > MAX_DIMS or not is_apart:
            return self.add_rows(terms, self.upload(strided_index(sizes, strides, offsets)), buffer_size)
        buffer = self.xp.zeros(buffer_size, terms.dtype)
        self._launch_components("scatter_components", terms.dtype, merged, places[::-1], (terms, buffer))
        return buffer

    def _launch_components(
        self, kernel: str, element: Any, sizes: Integers, places: Integers, arrays: tuple[RawArray, RawArray]
    ) -> None:
        """Launch a kernel that moves components, in elements of a dtype or words, from one array to the other."""
        counts = sizes.prod(axis=1)
        extents = 1 + ((sizes - 1) * places[:, :, :-1]).sum(axis=2)
        # Less a tile, because a kernel computes positions up to the end of the last tile, which must not wrap.
        is_short = max(counts.max(initial=0), extents.max(initial=0)) < SHORT_INDEX - TILE
        name = instantiation(kernel, element, sizes.shape[1], "unsigned int" if is_short else "long long")
        table = np.concatenate([sizes, *places], axis=1)
        self.launch_tiles(f"{kernel}.cu", name, table, -(-counts // TILE), (BLOCK,), arrays)


def merge_dims(sizes: Integers, strides: Integers, offsets: Integers) -> tuple[Integers, Integers]:
    """Describe the components that are not empty with as few dims as possible, at least one.

    Return their sizes, (B, d), and their places, (2, B, d + 1): the strides and the offset of each component, first in
    the buffer, then in packed memory. The order of the elements stays.
    """
    in_buffer = np.column_stack([strides, np.ones_like(offsets), offsets])  # with a last dim of one element
    in_packed_memory = np.column_stack([packed_strides(sizes), np.ones_like(offsets), packed_offsets(sizes)])
    has_elements = sizes.all(axis=1)
    sizes = np.column_stack([sizes, np.ones_like(offsets)])[has_elements]
    places = np.stack([in_buffer, in_packed_memory])[:, has_elements]
    dims = [sizes.shape[1] - 1]
    for dim in range(sizes.shape[1] - 2, -1, -1):
        inner = dims[0]
        is_single = sizes[:, inner] == 1
        continues = places[:, :, dim] == places[:, :, inner] * sizes[:, inner]
        if not (continues | is_single | (sizes[:, dim] == 1)).all():
            dims.insert(0, dim)
            continue
        # The two dims become one. If the inner dim has one element, the stride of the outer dim is that of both.
        places[:, :, inner] = np.where(is_single, places[:, :, dim], places[:, :, inner])
        sizes[:, inner] *= sizes[:, dim]
    return sizes[:, dims], places[:, :, [*dims, -1]]


def _word_size(sizes: Integers, places: Integers, *arrays: RawArray) -> int:
    """Return the bytes of the widest word that divides all innermost rows, strides and offsets, in both arrays."""
    itemsize: int = arrays[0].dtype.itemsize
    if (places[:, :, -2] != 1).any():
        return itemsize
    numbers = np.concatenate([sizes[:, -1], np.delete(places, -2, axis=2)], axis=None)
    multiples = [int(np.gcd.reduce(numbers)) * itemsize, *(address(x) for x in arrays), *(x.nbytes for x in arrays)]
    return next(size for size in WORD_BY_SIZE if size <= itemsize or not any(number % size for number in multiples))
