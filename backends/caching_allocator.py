"""A caching allocator for large arrays of the CPU.

The operating system clears fresh memory page by page when it is first touched, which takes about as long as a copy.
Therefore a block that no array refers to any more is kept, and the next array of its size gets the block with its old
contents. If there is not enough memory, the allocator frees all kept blocks and tries once more.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .environment import whole_number

Allocator: TypeAlias = Callable[[tuple[int, ...], DTypeLike], Any]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
LARGE = 1024 * 1024  # bytes; malloc itself keeps smaller blocks
SIZES_PER_DOUBLING = 8  # block sizes between two powers of two, so that arrays of similar size share blocks
MOST_KEPT = whole_number("PYNESTED_KEPT_MIB", 512) * 1024 * 1024  # bytes
ALLOCATORS: dict[str, Allocator] = {}  # by device: what `register_allocator` or `filled` set

# malloc of Linux keeps freed memory up to twice the size of the largest block that it has freed so far. The next line
# allocates and frees 4 MiB, so that malloc keeps up to 8 MiB.
np.empty(4 * LARGE, np.uint8)


class Counters:
    """Counters of large blocks: fresh blocks, reused blocks, the bytes in use now, and the most bytes at any time."""

    fresh = reused = in_use = peak = 0


counters = Counters()
_kept: dict[int, list[NDArray[np.uint8]]] = {}  # by size; there is no lock, as each step below is atomic


class Block:
    """The owner of the memory of a large array. It keeps the memory for other arrays when no array refers to it."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory, self.__array_interface__ = memory, memory.__array_interface__
        counters.in_use += memory.nbytes
        counters.peak = max(counters.peak, counters.in_use)

    def __del__(self) -> None:
        nbytes = self.memory.nbytes
        counters.in_use -= nbytes
        if nbytes <= MOST_KEPT:
            if kept_bytes() + nbytes > MOST_KEPT:
                release_kept()
            _kept.setdefault(nbytes, []).append(self.memory)


def kept_bytes() -> int:
    """Return the number of bytes in kept blocks."""
    return sum(size * len(blocks) for size, blocks in list(_kept.items()))


def release_kept() -> None:
    """Return all kept blocks to the operating system."""
    _kept.clear()


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new C-contiguous array whose contents are arbitrary."""
    if "cpu" in ALLOCATORS:
        return ALLOCATORS["cpu"](shape, dtype)  # type: ignore[no-any-return]
    return np.empty(shape, dtype) if prod(shape) * np.dtype(dtype).itemsize < LARGE else allocate_aligned(shape, dtype)


def allocate_aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new C-contiguous array whose first element lies on a multiple of `ALIGNMENT`."""
    nbytes = prod(shape) * np.dtype(dtype).itemsize + ALIGNMENT
    try:
        memory = np.empty(nbytes, np.uint8) if nbytes < LARGE else np.asarray(Block(_take_memory(nbytes)))
    except MemoryError:
        needs = f"an array of shape {shape} and dtype {np.dtype(dtype)} takes {nbytes - ALIGNMENT:,} bytes"
        raise MemoryError(f"{needs}, more memory than there is.") from None
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % ALIGNMENT)


def _take_memory(nbytes: int) -> NDArray[np.uint8]:
    """Return the memory of a kept block of at least ``nbytes`` bytes, or fresh memory."""
    step = (1 << nbytes.bit_length() - 1) // SIZES_PER_DOUBLING
    size = -(-nbytes // step) * step
    try:
        memory = _kept[size].pop()
    except (KeyError, IndexError):
        counters.fresh += 1
    else:
        counters.reused += 1
        return memory
    try:
        return np.empty(size, np.uint8)
    except MemoryError:
        release_kept()
        return np.empty(size, np.uint8)
