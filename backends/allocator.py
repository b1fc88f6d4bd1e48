"""Where memory comes from: one allocator for each device."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from numpy.typing import DTypeLike

from .errors import DeviceError
from .host import fill_from
from .memory import allocate_cpu

Allocator: TypeAlias = Callable[[tuple[int, ...], DTypeLike], Any]

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
    fill_from(memory, x)
    return memory


register_allocator("cpu", allocate_cpu)
