"""Large pieces of memory on the CPU, used again as soon as nobody holds them.

Memory fresh from the operating system is cleared page by page when it is first touched, which takes about as long as
copying as much. A piece that comes back is kept and handed out again, its old contents still in it.
"""

from __future__ import annotations

import os
import threading
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
    return (int(asked) if asked.isdecimal() else 512) * 1024 * 1024


MOST_KEPT = _bytes_to_keep()

_waiting: dict[int, list[NDArray[np.uint8]]] = {}  # by size
_waiting_bytes = 0
_lock = threading.RLock()  # reentrant: a collection of garbage inside the lock may bring back another piece


class Piece:
    """What large arrays have as their last base: when the last of them is gone, the memory is kept for others."""

    __slots__ = ("__array_interface__", "memory")

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory = memory
        self.__array_interface__ = memory.__array_interface__

    def __del__(self) -> None:
        _keep(self.memory)


def _keep(memory: NDArray[np.uint8]) -> None:
    global _waiting_bytes
    size = memory.nbytes
    if size > MOST_KEPT:
        return
    with _lock:
        if _waiting_bytes + size > MOST_KEPT:
            forget_kept()  # what is asked for now has other sizes
        _waiting.setdefault(size, []).append(memory)
        _waiting_bytes += size


def kept_bytes() -> int:
    """How much memory waits to be used again."""
    return _waiting_bytes


def forget_kept() -> None:
    """Give the memory that waits back to the operating system."""
    global _waiting_bytes
    with _lock:
        _waiting.clear()
        _waiting_bytes = 0


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
    global _waiting_bytes
    step = max(1, (1 << nbytes.bit_length() - 1) // EIGHTHS)
    size = -(-nbytes // step) * step
    with _lock:
        if pieces := _waiting.get(size):
            _waiting_bytes -= size
            return pieces.pop()
    try:
        return np.empty(size, np.uint8)
    except MemoryError:
        forget_kept()
        return np.empty(size, np.uint8)


def _new_lock() -> None:
    """A forked child would wait for a thread that it does not have."""
    global _lock
    _lock = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_new_lock)
