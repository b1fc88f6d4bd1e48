"""Memory: storages as they begin, and where large pieces come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.host import address
from pynested.backends.memory import Block, counters
from pynested.backends.sharing import is_owner, whole
from pynested.surface.passing import Call

from .recorder import Recorder

WIDEST = 64  # bytes; more alignment is chance


def begun(seen: Recorder, call: Call) -> Any:
    """A storage: `Storage.__init__`."""
    result = call.run()
    storage = call.args[0]
    data = storage.data
    place = storage.data_ptr
    seen.note(
        "new", seen.names.storage(storage), bytes=int(data.nbytes), device=storage.device, source=_source(seen, data),
        address=place, aligned=min(WIDEST, place & -place) if place else WIDEST,
    )  # fmt: skip
    return result


def written(seen: Recorder, call: Call) -> Any:
    """A write in place: `Storage.wrote`."""
    result = call.run()
    (storage,) = call.args
    seen.note("write", seen.names.storage(storage), version=storage.version)
    return result


def _source(seen: Recorder, data: Any) -> str:
    """Where the memory of a new storage is from."""
    owner = whole(data)
    base = getattr(owner, "base", None)
    if isinstance(base, Block):
        return seen.sources.get(address(base.memory), "kept since before")
    if isinstance(data, np.ndarray) and base is not None and not is_owner(owner):
        return "fresh" if type(base).__name__ == "_Memory" else "borrowed"
    return "fresh"


def large_piece(seen: Recorder, call: Call) -> Any:
    """A large piece of memory: `memory._kept_or_new`."""
    before = counters.fresh
    memory = call.run()
    source = seen.sources[address(memory)] = "reused" if counters.fresh == before else "fresh"
    seen.note("memory", source, bytes=int(memory.nbytes))
    return memory
