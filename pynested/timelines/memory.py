"""Memory: storages as they begin, and where large pieces come from."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.host import address
from pynested.backends.memory import Piece
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


def _source(seen: Recorder, data: Any) -> str:
    """Where the memory of a new storage is from."""
    owner = whole(data)
    base = getattr(owner, "base", None)
    if isinstance(base, Piece):
        return seen.sources.get(address(base.memory), "kept since before")
    if isinstance(data, np.ndarray) and base is not None and not is_owner(owner):
        return "fresh" if type(base).__name__ == "_Memory" else "borrowed"
    return "fresh"


def large_piece(seen: Recorder, call: Call) -> Any:
    """A large piece of memory: `memory._kept_or_new`."""
    count = len(seen.sources)
    seen.sources[-1] = "reused"  # unless `fresh` says otherwise while it runs
    memory = call.run()
    source = seen.sources.pop(-1)
    seen.sources[address(memory)] = source
    seen.note("memory", source, bytes=int(memory.nbytes), pieces=count)
    return memory


def fresh_piece(seen: Recorder, call: Call) -> Any:
    """Memory from the operating system: `memory._new`."""
    if -1 in seen.sources:
        seen.sources[-1] = "fresh"
    return call.run()
