"""Storages that a block leaves alive, without help of the garbage collector."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Iterator
from contextlib import contextmanager

from pynested.backends.storage import Storage


def living_storages() -> list[Storage]:
    """Return all storages of the process."""
    return [thing for thing in gc.get_objects() if type(thing) is Storage]


@contextmanager
def storages_left(count: int) -> Iterator[None]:
    """Check that the block leaves ``count`` new storages alive; the garbage collector does not run inside."""
    was_enabled = gc.isenabled()
    gc.collect()
    gc.disable()
    before = weakref.WeakSet(living_storages())
    try:
        yield
        left = [storage for storage in living_storages() if storage not in before]
        words = ", ".join(f"{storage.data.nbytes} bytes on {storage.device}" for storage in left)
        assert len(left) == count, f"{len(left)} storages are alive, not {count}: {words}"
    finally:
        if was_enabled:
            gc.enable()
