"""Where memory comes from: one allocator for each device."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import DTypeLike, NDArray

from .errors import DeviceError

Allocator: TypeAlias = Callable[[tuple[int, ...], DTypeLike], Any]

ALIGNMENT = 64  # bytes: a cache line, and the widest vector register

_allocators: dict[str, Allocator] = {}


def register_allocator(device: str, allocate: Allocator) -> None:
    """Make ``allocate(shape, dtype)`` the source of new arrays on ``device``, in place of the one before."""
    _allocators[device] = allocate


def allocator(device: str) -> Allocator:
    """Return what allocates on ``device``; DeviceError where nothing does."""
    try:
        return _allocators[device]
    except (KeyError, TypeError):  # unknown, or nothing that could be known
        known = ", ".join(sorted(_allocators))
        raise DeviceError(f"no allocator for device {device!r}: devices with one are {known}.") from None


def allocate(device: str, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """A new C-contiguous array on ``device``, its contents arbitrary."""
    return allocator(device)(shape, dtype)


def transfer(x: Any, device: str) -> Any:
    """A copy of an array in new memory on ``device``, wherever it lies."""
    memory = allocate(device, x.shape, x.dtype)
    host = x.get() if hasattr(x, "get") else x  # an array of CuPy comes to the host first
    if hasattr(memory, "set"):
        memory.set(np.ascontiguousarray(host))
    else:
        memory[...] = host
    return memory


def allocate_cpu(shape: tuple[int, ...], dtype: DTypeLike) -> NDArray[Any]:
    """A new array whose first element lies on a multiple of 64 bytes.

    The memory is a little more than asked for and comes from ``np.empty``, which advises huge pages for large arrays;
    the array keeps it alive.
    """
    kind = np.dtype(dtype)
    memory = np.empty(prod(shape) * kind.itemsize + ALIGNMENT, np.uint8)
    address: int = memory.__array_interface__["data"][0]
    return np.ndarray(shape, kind, memory, -address % ALIGNMENT)


register_allocator("cpu", allocate_cpu)
