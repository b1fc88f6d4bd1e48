"""The table of storages whose memory other libraries hold, too.

The table finds a storage by the address of its memory. `register_exported` adds a storage whose memory is handed to
another library. `storage_of_imported` looks up memory of another library, and adds a storage if the memory is new.
Arrays whose memory begins at the same address share one storage, and so do views of these arrays. Memory that merely
overlaps other memory has a storage of its own: a write into one is not noticed in the other. Entries are weak, so a
storage is gone when the last array is.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

import numpy as np

from .repeating_views import ViewBase
from .storage import Storage, address

_storages: WeakValueDictionary[tuple[str, int], Storage] = WeakValueDictionary()  # by device and address


def storage_of_imported(data: Any, device: str) -> Storage:
    """Return the storage of an array that another library made: the one in the table, or a new one."""
    base = base_array(data)
    return _storages.setdefault((device, address(base)), Storage(data, device)) if base.size else Storage(data, device)


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
    return base_array(a) is base_array(b)
