"""The allocator of each device, and a tool that fills new memory for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .errors import ArgumentError
from .host import fill_from
from .memory import ALLOCATORS, Allocator
from .registry import get_backend


def register_allocator(device: str, allocate: Allocator) -> None:
    """Make ``allocate(shape, dtype)`` the source of new arrays on ``device``, in place of the one before."""
    ALLOCATORS[device] = allocate


def allocator(device: str) -> Allocator:
    """Return the function that allocates on ``device``; DeviceError if there is no such device."""
    if isinstance(device, str) and device in ALLOCATORS:
        return ALLOCATORS[device]
    return get_backend(device).new


def allocate(device: str, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """A new C-contiguous array on ``device``, its contents arbitrary."""
    return allocator(device)(shape, dtype)


def transfer(x: Any, device: str) -> Any:
    """A copy of an array in new memory on ``device``, wherever it lies."""
    memory = allocate(device, x.shape, x.dtype)
    fill_from(memory, x)
    return memory


@contextmanager
def filled(byte: int, *devices: str) -> Iterator[None]:
    """Let new memory hold ``byte`` everywhere, on the CPU if no device is named: a tool of tests.

    0 hides that something reads uninitialised memory; 0xFF shows it, as NaN in floats and -1 in integers. What NumPy
    allocates itself, as the result of a ufunc, is not filled.

    Examples
    --------
    >>> with pn.allocators.filled(0xFF):
    ...     pn.empty(2)
    array([nan, nan])
    """
    if not isinstance(byte, int) or not 0 <= byte <= 255:
        raise ArgumentError(f"filled: a byte is an integer from 0 to 255, not {byte!r}.")

    def filling(allocate: Allocator) -> Allocator:
        def allocate_filled(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
            array = allocate(shape, dtype)
            array.reshape(-1).view(np.uint8).fill(byte)
            return array

        return allocate_filled

    before = dict(ALLOCATORS)
    ALLOCATORS.update({device: filling(allocator(device)) for device in devices or ("cpu",)})
    try:
        yield
    finally:
        ALLOCATORS.clear()
        ALLOCATORS.update(before)
