"""Launches of the kernels that move rows, and components that lie anywhere in a buffer."""

from __future__ import annotations

from collections.abc import Sequence
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
MOST_DIMS = 3  # that kernels are instantiated for; beyond them an index of all elements is used
LARGE_TILES = 16  # elements along both dims from which a transposition pays for going through shared memory
SHORT_INDEX = 2**32  # elements a component reaches over; from there on positions in it take 64 bits


class MovementKernels(SegmentKernels):
    """Kernels that move rows and components."""

    def copy(self, x: RawArray, /) -> RawArray:
        """Copy by the array module."""
        return self.xp.array(x, order="C", copy=True)

    def pad(self, x: RawArray, segments: Segments, length: int, fill: Any, /) -> RawArray:
        """Launch pad.cu."""
        rows = self.matrix(x)
        padded = self.empty((segments.count, length, rows.shape[1]), x.dtype)
        if padded.size:
            word, row = in_words(rows.shape[1] * x.dtype.itemsize, rows, padded)
            one = np.asarray(fill).astype(x.dtype).reshape(1).view(np.uint8)
            fills = np.resize(one, 16).view(np.uint64)
            grid = segments.count, _tiles(length * row)
            args = rows, self.offsets(segments), np.int64(row), np.int64(length), fills[0], fills[1], padded
            self.launch("pad.cu", instantiation("pad", word), grid, (BLOCK,), args)
        return padded.reshape(segments.count, length, *x.shape[1:])

    def unpad(self, padded: RawArray, segments: Segments, /) -> RawArray:
        """Launch the second kernel of pad.cu."""
        whole, (count, length), inner = self.as_contiguous(padded), padded.shape[:2], padded.shape[2:]
        rows = self.empty((segments.rows, *inner), padded.dtype)
        if rows.size:
            word, row = in_words(rows.nbytes // segments.rows, whole, rows)
            args = whole, self.offsets(segments), np.int64(row), np.int64(length), rows
            self.launch("pad.cu", instantiation("unpad", word), (count, _tiles(segments.longest * row)), (BLOCK,), args)
        return rows

    def take_rows(self, x: RawArray, index: RawArray, /) -> RawArray:
        """Launch take_rows.cu."""
        rows = self.matrix(x)
        out = self.empty((len(index), rows.shape[1]), x.dtype)
        if out.size:
            word, columns = in_words(rows.shape[1] * x.dtype.itemsize, rows, out)
            lg = min(8, max(0, (columns - 1).bit_length()))
            tiles = -(-columns >> lg)
            grid = -(-len(index) // (BLOCK >> lg)), min(tiles, MOST_TILES), -(-tiles // MOST_TILES)
            args = rows, self.index(index), np.int64(len(index)), np.int64(columns), np.int32(lg), out
            self.launch("take_rows.cu", instantiation("take_rows", word), grid, (BLOCK,), args)
        return out.reshape(len(index), *x.shape[1:])

    def add_rows(self, x: RawArray, index: RawArray, rows: int, /) -> RawArray:
        """Sort the index, and launch add_rows.cu."""
        terms = self.matrix(x)
        out = self.empty((rows, terms.shape[1]), x.dtype)
        if out.size:
            targets = self.index(index)
            order = self.xp.argsort(targets, kind="stable").astype(np.int64, copy=False)
            starts = self.xp.searchsorted(targets[order], self.xp.arange(rows + 1)).astype(np.int64, copy=False)
            terms_of_rows = DeviceSegments(starts, rows, len(terms))
            self.launch_segments("add_rows.cu", ("add_rows", ctype(x.dtype)), (terms, order), terms_of_rows, out)
        return out.reshape(rows, *x.shape[1:])

    def pack_list(self, arrays: Sequence[RawArray], /) -> tuple[RawArray, NDArray[np.int64]]:
        """Join the arrays by the array module."""
        packed = self.xp.concatenate([self.as_contiguous(x) for x in arrays])
        return packed, np.fromiter(map(len, arrays), np.int64, len(arrays))

    def gather_components(self, buffer: RawArray, sizes: Integers, strides: Integers, offsets: Integers, /) -> RawArray:
        """Launch gather_components.cu, or take_rows.cu if the components have too many dimensions."""
        source = self.as_contiguous(buffer)
        out = self.empty((int(sizes.prod(axis=1).sum()),), source.dtype)
        if not out.size:
            return out
        where = collapsed(Placement(sizes, (strides, packed_strides(sizes)), (offsets, packed_offsets(sizes))))
        if where.sizes.shape[1] > MOST_DIMS:
            index = self.upload(strided_index(sizes, strides, offsets))
            return self.take_rows(source, index)
        if _is_transposed(where):
            name = instantiation("gather_transposed", WORDS[source.dtype.itemsize])
            columns_apart, places = where.strides[0][:, 1:], np.stack(where.offsets, axis=1)
            table = np.concatenate([where.sizes, columns_apart, places], axis=1)
            tiles = (-(-where.sizes // 32)).prod(axis=1)
            self.launch_tiles("gather_components.cu", name, table, tiles, (32, 8), (source, out))
            return out
        size = _word(where, (source, out))
        items = size // source.dtype.itemsize
        if items > 1:
            where = _in_words(where, items)
        name = instantiation("gather_components", WORDS[size], *dims_and_index_type(where))
        table, tiles = table_and_tiles(where)
        self.launch_tiles("gather_components.cu", name, table, tiles, (BLOCK,), (source, out))
        return out

    def scatter_components(
        self, flat: RawArray, sizes: Integers, strides: Integers, offsets: Integers, buffer_size: int, /
    ) -> RawArray:
        """Launch scatter_components.cu, or add_rows.cu if components may overlap or have too many dimensions."""
        terms = self.as_contiguous(flat)
        if not terms.size:
            return self.xp.zeros(buffer_size, terms.dtype)
        where = collapsed(Placement(sizes, (packed_strides(sizes), strides), (packed_offsets(sizes), offsets)))
        if where.sizes.shape[1] > MOST_DIMS or not surely_apart(where.sizes, where.strides[1], where.offsets[1]):
            index = self.upload(strided_index(sizes, strides, offsets))
            return self.add_rows(terms, index, buffer_size)
        buffer = self.xp.zeros(buffer_size, terms.dtype)
        name = instantiation("scatter_components", ctype(terms.dtype), *dims_and_index_type(where))
        table, tiles = table_and_tiles(where)
        self.launch_tiles("scatter_components.cu", name, table, tiles, (BLOCK,), (terms, buffer))
        return buffer


def _tiles(words: int) -> int:
    return max(1, min(MOST_TILES, -(-words // ELEMENTS_PER_BLOCK)))


# ---- components -----------------------------------------------------------------------------------------------------


class Placement(NamedTuple):
    """Sizes (B, d), and for each array strides (B, d) and offsets (B,)."""

    sizes: Integers
    strides: tuple[Integers, ...]
    offsets: tuple[Integers, ...]


def collapsed(where: Placement) -> Placement:
    """The same elements in the same order with as few dims as possible, at least one; empty components left out."""
    sizes, strides, offsets = where
    kept = sizes.all(axis=1)
    sizes, strides, offsets = sizes[kept], tuple(s[kept] for s in strides), tuple(o[kept] for o in offsets)
    if not sizes.shape[1]:  # numbers, as rows of one element
        sizes = np.ones((len(sizes), 1), np.int64)
        return Placement(sizes, tuple(np.ones_like(sizes) for _ in strides), offsets)
    wide, steps, dims = sizes.copy(), [s.copy() for s in strides], [sizes.shape[1] - 1]
    for dim in range(sizes.shape[1] - 2, -1, -1):
        inner = dims[0]
        if not _mergeable(wide, steps, dim, inner):
            dims.insert(0, dim)
            continue
        for step in steps:  # where the inner dim has one element, the outer one says how far apart they are
            step[:, inner] = np.where(wide[:, inner] == 1, step[:, dim], step[:, inner])
        wide[:, inner] *= wide[:, dim]
    return Placement(wide[:, dims], tuple(s[:, dims] for s in steps), offsets)


def _mergeable(sizes: Integers, strides: list[Integers], dim: int, inner: int) -> bool:
    """Return whether two dims are one in all components: a step of the outer dim passes all of the inner dim."""
    single = (sizes[:, dim] == 1) | (sizes[:, inner] == 1)
    return all(bool(((s[:, dim] == s[:, inner] * sizes[:, inner]) | single).all()) for s in strides)


def table_and_tiles(where: Placement) -> tuple[Integers, Integers]:
    """Return a row for each component, as strided.cuh reads it, and the number of tiles of each component."""
    parts = [part for s, o in zip(where.strides, where.offsets, strict=True) for part in (s, o[:, None])]
    return np.concatenate([where.sizes, *parts], axis=1), -(-where.sizes.prod(axis=1) // TILE)


def dims_and_index_type(where: Placement) -> tuple[int, str]:
    """Return the number of dims, and the type of positions in a component."""
    reach = max(int(((where.sizes - 1) * s).sum(axis=1).max(initial=0)) for s in where.strides)
    largest = max(reach, int(where.sizes.prod(axis=1).max(initial=0)))
    return where.sizes.shape[1], "unsigned int" if largest < SHORT_INDEX - TILE else "long long"


def _is_transposed(where: Placement) -> bool:
    """Return whether all components are matrices that lie column by column, and large enough for tiles."""
    sizes, strides = where.sizes, where.strides[0]
    if sizes.shape[1] != 2 or not (strides[:, 0] == 1).all():
        return False
    return bool((sizes.mean(axis=0) >= LARGE_TILES).all())


def _word(where: Placement, arrays: tuple[RawArray, ...]) -> int:
    """The widest word that every row of every component is made of, in bytes."""
    itemsize: int = arrays[0].dtype.itemsize
    contiguous = all((s[:, -1] == 1).all() for s in where.strides)
    if not contiguous:
        return itemsize
    numbers = [where.sizes[:, -1], *(s[:, :-1] for s in where.strides), *where.offsets]
    common = int(np.gcd.reduce(np.concatenate([n.reshape(-1) for n in numbers]))) * itemsize
    extents = [common, *(address(x) for x in arrays), *(x.nbytes for x in arrays)]
    return next(size for size in WORDS if size <= itemsize or not any(extent % size for extent in extents))


def _in_words(where: Placement, items: int) -> Placement:
    """Return the same placement in words of ``items`` elements each."""
    sizes = np.concatenate([where.sizes[:, :-1], where.sizes[:, -1:] // items], axis=1)
    strides = tuple(np.concatenate([s[:, :-1] // items, s[:, -1:]], axis=1) for s in where.strides)
    return Placement(sizes, strides, tuple(offset // items for offset in where.offsets))
