"""Where memory comes from: one allocator for each device, and others in their place for a while."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from .errors import ArgumentError, DeviceError
from .host import fill_from
from .memory import INSTEAD, Allocator, allocate_cpu, with_room

_allocators: dict[str, Allocator] = {}


def register_allocator(device: str, allocate: Allocator) -> None:
    """Make ``allocate(shape, dtype)`` the source of new arrays on ``device``, in place of the one before."""
    _allocators[device] = allocate


def allocator(device: str) -> Allocator:
    """Return what allocates on ``device``; DeviceError where nothing does."""
    try:
        return INSTEAD.get(device) or _allocators[device]
    except (KeyError, TypeError):  # unknown, or nothing that could be known
        known = ", ".join(sorted(_allocators))
        raise DeviceError(f"no allocator for device {device!r}: devices with one are {known}.") from None


def allocate(device: str, shape: tuple[int, ...], dtype: DTypeLike) -> Any:
    """A new C-contiguous array on ``device``, its contents arbitrary."""
    return allocator(device)(shape, dtype)


def transfer(x: Any, device: str) -> Any:
    """A copy of an array in new memory on ``device``, wherever it lies."""
    memory = allocate(device, x.shape, x.dtype)
    fill_from(memory, x)
    return memory


@contextmanager
def replaced(device: str, allocate: Allocator) -> Iterator[None]:
    """Let ``allocate(shape, dtype)`` make the arrays of ``device``, those of its kernels too, in all threads.

    What it gives is checked. What NumPy makes without asking, as the result of a ufunc, stays NumPy's own.

    Examples
    --------
    >>> made, own = [], pn.allocators.allocator("cpu")
    >>> with pn.allocators.replaced("cpu", lambda shape, dtype: made.append(shape) or own(shape, dtype)):
    ...     x = pn.zeros(2, 3)
    >>> made
    [(2, 3)]
    """
    allocator(device)  # which says what it knows, where it does not know this one

    def checked(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
        array = allocate(shape, dtype)
        if array.shape != shape or array.dtype != np.dtype(dtype) or not array.flags.c_contiguous:
            raise DeviceError(
                f"the allocator of {device!r} was asked for a C-contiguous array of shape {shape} and dtype "
                f"{np.dtype(dtype)}, and gave one of shape {array.shape} and dtype {array.dtype}."
            )
        return array

    before = INSTEAD.get(device)
    INSTEAD[device] = checked
    try:
        yield
    finally:
        if before is None:
            del INSTEAD[device]
        else:
            INSTEAD[device] = before


@contextmanager
def filled(byte: int, *devices: str) -> Iterator[None]:
    """Let new memory hold ``byte`` everywhere, on the CPU if no device is named: a program must not see it.

    0 hides that something reads what nobody wrote; 0xFF shows it, as NaN in floats and -1 in integers.

    Examples
    --------
    >>> with pn.allocators.filled(0xFF):
    ...     pn.empty(2)
    array([nan, nan])
    """
    if not isinstance(byte, int) or not 0 <= byte <= 255:
        raise ArgumentError(f"filled: a byte is an integer from 0 to 255, not {byte!r}.")

    def filling(own: Allocator) -> Allocator:
        def allocate(shape: tuple[int, ...], dtype: DTypeLike) -> Any:
            array = own(shape, dtype)
            array.reshape(-1).view(np.uint8).fill(byte)
            return array

        return allocate

    with ExitStack() as stack:
        for device in devices or ("cpu",):
            stack.enter_context(replaced(device, filling(allocator(device))))
        yield


register_allocator("cpu", allocate_cpu)
register_allocator("plain", with_room(np.empty))
