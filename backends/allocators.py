"""Allocators of devices, which users can replace, and a tool that fills new memory for tests."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .errors import ArgumentError, named_type
from .interface import ALLOCATORS, Allocator
from .registry import canonical_device, get_backend


def register_allocator(device: str, allocate: Allocator) -> None:
    """Let ``allocate(shape, dtype)`` return the new arrays of ``device``. It replaces the allocator of the device."""
    if not callable(allocate):
        raise ArgumentError(f"register_allocator: `allocate` must be a function, not {named_type(allocate)}.")
    ALLOCATORS[canonical_device(device)] = allocate


def allocator(device: str) -> Allocator:
    """Return the function that allocates on ``device``; DeviceError if there is no such device."""
    return ALLOCATORS.get(canonical_device(device)) or get_backend(device).default_allocator


@contextmanager
def filled(byte: int, *devices: str) -> Iterator[None]:
    """Fill new memory of ``devices``, by default of the CPU, with ``byte`` inside a ``with`` block, in all threads.

    It is a tool for tests. 0 hides that something reads uninitialised memory; 0xFF shows it, as NaN in floats and -1 in
    integers. Memory that NumPy allocates itself, as for the result of a ufunc, is not filled.

    Examples
    --------
    >>> with pn.allocators.filled(0xFF):
    ...     pn.empty(2)
    array([nan, nan])
    """
    if not isinstance(byte, int) or not 0 <= byte <= 255:
        raise ArgumentError(f"filled: a byte is an integer from 0 to 255, not {byte!r}.")

    def allocate_and_fill(original: Allocator, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        array = original(shape, dtype)
        array.reshape(-1).view(np.uint8).fill(byte)
        return array

    before = dict(ALLOCATORS)
    names = [canonical_device(device) for device in devices or ("cpu",)]
    ALLOCATORS.update({name: partial(allocate_and_fill, allocator(name)) for name in names})
    try:
        yield
    finally:
        ALLOCATORS.clear()
        ALLOCATORS.update(before)
