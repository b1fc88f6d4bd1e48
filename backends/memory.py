"""Large pieces of memory on the CPU, used again as soon as nobody holds them.

Memory fresh from the operating system is cleared page by page when it is first touched, which takes about as long as
copying as much. A piece that comes back is kept and handed out again, its old contents still in it.
"""

from __future__ import annotations

import os
from collections import deque
from math import prod
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register
LARGE = 1024 * 1024  # bytes; malloc keeps what is smaller itself
EIGHTHS = 8  # sizes are rounded up to so many steps between powers of two, so that similar arrays share pieces


def _bytes_to_keep() -> int:
    """What the environment variable PYNESTED_KEPT_MIB says, otherwise 512 MiB."""
    asked = os.environ.get("PYNESTED_KEPT_MIB", "")
    return (int(asked) if asked.isdigit() else 512) * 1024 * 1024


MOST_KEPT = _bytes_to_keep()

_kept: dict[int, deque[NDArray[np.uint8]]] = {}  # by size; every access is one that threads cannot interrupt


class Piece:
    """What large arrays have as their last base: when the last of them is gone, the memory is kept for others."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        size = self.memory.nbytes
        if size > MOST_KEPT:
            return
        if size + kept_bytes() > MOST_KEPT:
            _kept.clear()  # what is asked for now has other sizes
        _kept.setdefault(size, deque()).append(self.memory)


def kept_bytes() -> int:
    """How much memory waits to be used again."""
    return sum(size * len(pieces) for size, pieces in list(_kept.items()))


def forget_kept() -> None:
    """Give the memory that waits back to the operating system."""
    _kept.clear()


def empty(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """A new C-contiguous array, its contents arbitrary."""
    kind = np.dtype(dtype)
    return np.empty(shape, kind) if prod(shape) * kind.itemsize < LARGE else allocate_cpu(shape, kind)


def allocate_cpu(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """As `empty`, and its first element lies on a multiple of 64 bytes; the memory is a little more than asked for."""
    kind = np.dtype(dtype)
    nbytes = prod(shape) * kind.itemsize + ALIGNMENT
    memory = np.empty(nbytes, np.uint8) if nbytes < LARGE else np.asarray(Piece(_kept_or_new(nbytes)))
    address: int = memory.__array_interface__["data"][0]
    return np.ndarray(shape, kind, memory, -address % ALIGNMENT)


def _kept_or_new(nbytes: int) -> NDArray[np.uint8]:
    step = max(1, (1 << nbytes.bit_length() - 1) // EIGHTHS)
    size = -(-nbytes // step) * step
    try:
        return _kept[size].pop()
    except (KeyError, IndexError):
        return np.empty(size, np.uint8)
