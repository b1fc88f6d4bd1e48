"""A caching allocator for large arrays of the CPU.

The operating system clears fresh memory page by page when it is first touched, which takes about as long as a copy.
Therefore a block that no array refers to any more is kept for the next array of its size class, with its old contents.
At most `MOST_KEPT` bytes are kept: before a block would exceed them, or if memory is short, all kept blocks are freed.
"""

from __future__ import annotations

from contextlib import suppress
from math import prod
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .environment import whole_number
from .interface import ALLOCATORS, Allocator

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
LARGE = 1024 * 1024  # bytes; malloc itself keeps smaller blocks
SIZES_PER_DOUBLING = 8  # size classes between two powers of two, so that arrays of similar size share blocks
MOST_KEPT = whole_number("PYNESTED_KEPT_MIB", 512) * 1024 * 1024  # bytes
np.empty(4 * LARGE, np.uint8)  # freed at once, which lets malloc of Linux keep up to 8 MiB of freed memory from here on
counters = SimpleNamespace(fresh=0, reused=0, in_use=0, peak=0)  # of large blocks: counts, then bytes
kept_blocks: dict[int, list[NDArray[np.uint8]]] = {}  # by size; a race loses a block or a count, or keeps too much


class Block:
    """The owner of the memory of a large array. When the array and its views are gone, other arrays get the memory."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory, self.__array_interface__ = memory, memory.__array_interface__
        counters.in_use += memory.nbytes
        counters.peak = max(counters.peak, counters.in_use)

    def __del__(self) -> None:
        nbytes = self.memory.nbytes
        counters.in_use -= nbytes
        if nbytes <= MOST_KEPT:
            if kept_bytes() + nbytes > MOST_KEPT:
                kept_blocks.clear()
            kept_blocks.setdefault(nbytes, []).append(self.memory)


def kept_bytes() -> int:
    """Return the number of bytes in kept blocks."""
    return sum(size * len(blocks) for size, blocks in list(kept_blocks.items()))


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new C-contiguous array with arbitrary contents, from the registered allocator, if there is one."""
    allocate: Allocator = np.empty if prod(shape) * np.dtype(dtype).itemsize < LARGE else allocate_aligned
    return ALLOCATORS.get("cpu", allocate)(shape, dtype)  # type: ignore[no-any-return]


def allocate_aligned(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """Return a new C-contiguous array whose first element lies on a multiple of `ALIGNMENT`."""
    nbytes = prod(shape) * np.dtype(dtype).itemsize + ALIGNMENT
    try:
        memory = np.empty(nbytes, np.uint8) if nbytes < LARGE else np.asarray(Block(_kept_or_fresh_memory(nbytes)))
    except MemoryError:
        needs = f"an array of shape {shape} and dtype {np.dtype(dtype)} takes {nbytes - ALIGNMENT:,} bytes"
        raise MemoryError(f"{needs}, more memory than there is.") from None
    return np.ndarray(shape, dtype, memory, -memory.ctypes.data % ALIGNMENT)


def _kept_or_fresh_memory(nbytes: int) -> NDArray[np.uint8]:
    step = (1 << (nbytes.bit_length() - 1)) // SIZES_PER_DOUBLING
    size = -(-nbytes // step) * step
    with suppress(KeyError, IndexError):
        memory = kept_blocks[size].pop()
        counters.reused += 1
        return memory
    counters.fresh += 1
    with suppress(MemoryError):
        return np.empty(size, np.uint8)
    kept_blocks.clear()
    return np.empty(size, np.uint8)
