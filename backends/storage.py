"""`Storage`: memory that arrays share; and the table of the storages whose memory other libraries share."""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .events import LISTENERS, emit
from .repeating_views import ViewBase


def address(x: Any) -> int:
    """Return the address of the first element of an array."""
    pointer: int = x.ctypes.data if isinstance(x, np.ndarray) else x.data.ptr
    return pointer


class Storage:
    """The memory on a device that arrays are views of, with a counter of writes.

    Attributes
    ----------
    data : array
        The flat array that was allocated, or an array of any shape from the caller. Either keeps the memory alive.
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

    def __repr__(self) -> str:
        return f"Storage(device={self.device!r}, version={self.version}, data={type(self.data).__name__})"


# Storages of memory that another library also holds, by device and address. Arrays that begin at the same address share
# one storage, and so do views of these arrays. Memory that merely overlaps other memory has a storage of its own: a
# write into one is not noticed in the other. Entries are weak, so a storage is gone when the last array is.
_storages: WeakValueDictionary[tuple[str, int], Storage] = WeakValueDictionary()


def storage_of_imported(data: Any, device: str) -> Storage:
    """Return the storage of an array that another library made: the one in the table, or a new one."""
    base = base_array(data)
    if not base.size:
        return Storage(data, device)
    key = device, address(base)
    return _storages.get(key) or _storages.setdefault(key, Storage(data, device))


def register_exported(storage: Storage, data: Any) -> None:
    """Add ``storage`` to the table; the other library receives ``data``, a view of its memory."""
    if data.size:
        # If the other library passes an array back, the base of that array begins where one of these three begins.
        for array in (data, storage.data, base_array(storage.data)):
            _storages.setdefault((storage.device, address(array)), storage)


def base_array(data: Any) -> Any:
    """Return the array that owns the memory of ``data``: the end of the chain of its bases."""
    base = data.base
    while base is not None and (type(base) is type(data) or isinstance(base, np.ndarray | ViewBase)):
        data, base = base, base.base
    return data


def share_base(a: Any, b: Any) -> bool:
    """Return whether one array is a view of the other, or both are views of a third."""
    base = a.base
    if base is None:
        return a is b or base_array(b) is a
    return base is b or base is b.base or base_array(a) is base_array(b)
