"""One storage for memory that other libraries hold too.

Memory is entered when it crosses the border: `went_out` when another library receives it, `came_in` when it comes from
another library. Arrays whose memory begins at the same address share one storage, and so do views of these arrays.
Memory that merely overlaps other memory has a storage of its own: a write into one is not noticed in the other.
Entries are weak, so a storage is gone when the last array is.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .host import Window
from .storage import Storage, address

_storages: WeakValueDictionary[tuple[str, int], Storage] = WeakValueDictionary()  # by device and address


def came_in(data: Any, device: str) -> Storage:
    """Return the storage of an array that another library made: a known one, else a new one."""
    base = whole(data)
    return _storages.setdefault((device, address(base)), Storage(data, device)) if base.size else Storage(data, device)


def went_out(storage: Storage) -> None:
    """Let the memory be known again when it comes back."""
    if storage.data.size:
        for array in (storage.data, whole(storage.data)):  # other libraries see the array, or all memory of its owner
            _storages.setdefault((storage.device, address(array)), storage)


def whole(data: Any) -> Any:
    """Return the array that an array is a view of, the last of its bases that is an array; itself if it is no view."""
    base = data.base
    while base is not None and (type(base) is type(data) or isinstance(base, np.ndarray | Window)):
        data, base = base, base.base
    return data


def same_memory(a: Any, b: Any) -> bool:
    """Return whether one array is a view of the other, or both are views of a third."""
    if a.base is None:
        return a is b or (b.base is not None and whole(b) is a)
    return a.base is b or a.base is b.base or whole(a) is whole(b)
