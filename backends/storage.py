"""The memory behind arrays, shared by all views of it."""

from __future__ import annotations

import gc
from typing import Any

import numpy as np

from .events import LISTENERS, emit


def address(x: Any) -> int:
    """Return the address of the first element of an array."""
    pointer: int = x.ctypes.data if isinstance(x, np.ndarray) else x.data.ptr
    return pointer


class Storage:
    """The memory on a device that arrays are views of, with a counter of writes.

    Attributes
    ----------
    data : array
        The flat array that was allocated, or an array of the caller. Either keeps the memory alive.
    device : str
        ``"cpu"`` or the name of another registered device.
    version : int
        The number of writes so far. An operation saves this number with an array, and so notices later writes.
    """

    __slots__ = ("__weakref__", "data", "device", "version")

    def __init__(self, data: Any, device: str = "cpu") -> None:
        self.data = data
        self.device = device
        self.version = 0
        if LISTENERS:
            emit("allocate", device, storage=self)

    @property
    def data_ptr(self) -> int:
        """The address of the first element, on the device."""
        return address(self.data)

    def count_write(self) -> None:
        """Count a write, so that operations that saved the old contents notice it."""
        self.version += 1
        if LISTENERS:
            emit("write", self.device, storage=self)

    def holders(self) -> list[Any]:
        """Return the arrays that share this memory, saved arrays too, by a slow search through all objects."""
        return [holder for holder in gc.get_referrers(self) if hasattr(holder, "storage")]

    def __repr__(self) -> str:
        return f"Storage(device={self.device!r}, version={self.version}, data={type(self.data).__name__})"
