"""One storage for one piece of memory, also where the memory goes out to other libraries and comes back.

Results of operations are not known here. Memory is entered when it crosses the border: `went_out` when somebody else is
given it, `came_in` when somebody else's is taken. What lies inside memory that has a storage belongs to that storage;
what only overlaps it, or lies on another device by name, has one of its own, and the two are linked: a write into one
is counted in both. Entries are weak, so a storage is gone when the last array is.
"""

from __future__ import annotations

import os
import threading
import weakref
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .storage import Storage

FEW = 64  # entries that are kept without looking which of them are dead

Entry = tuple[int, int, weakref.ref[Storage]]  # the addresses of a storage, from the first up to the second


class _Book:
    """Entries in regions: those of one region hang together, and no two regions overlap, so one can be looked up."""

    def __init__(self) -> None:
        self.lock = threading.RLock()  # reentrant: a collection of garbage inside may end in a line that shares memory
        self.regions: list[list[Entry]] = []
        self.starts: list[int] = []  # of the regions, ascending
        self.stops: list[int] = []
        self.count = 0
        self.most = FEW

    def overlapping(self, start: int, stop: int) -> list[Entry]:
        """The entries that share an address with ``start`` to ``stop``."""
        first, last = bisect_right(self.stops, start), bisect_left(self.starts, stop)
        if first == last:
            return []
        return [one for region in self.regions[first:last] for one in region if one[0] < stop and start < one[1]]

    def enter(self, storage: Storage, start: int, stop: int, others: Sequence[Entry]) -> None:
        """Add a storage, and link it to the ``others``, which it overlaps."""
        own = weakref.ref(storage)
        storage.linked = tuple([link for _, _, link in others])
        for _, _, link in others:
            other = link()
            if other is not None:
                other.linked = (*[one for one in other.linked or () if one() is not None], own)
        if self.count >= self.most:
            self.forget_the_dead()
        self.add((start, stop, own))

    def add(self, entry: Entry) -> None:
        """Put an entry into the region of all that hangs together with it."""
        start, stop, _ = entry
        region = [entry]
        first, last = bisect_right(self.stops, start), bisect_left(self.starts, stop)
        if first < last:
            old = [one for joined in self.regions[first:last] for one in joined]
            region += [one for one in old if one[2]() is not None]
            start, stop = min([one[0] for one in region]), max([one[1] for one in region])
            self.count -= len(old)
        self.regions[first:last], self.starts[first:last], self.stops[first:last] = [region], [start], [stop]
        self.count += len(region)

    def forget_the_dead(self) -> None:
        """Keep the entries whose storages live, and wait until there are twice as many."""
        living = [one for region in self.regions for one in region if one[2]() is not None]
        self.regions, self.starts, self.stops, self.count = [], [], [], 0
        for one in living:
            self.add(one)
        self.most = max(FEW, 2 * self.count)


_book = _Book()


def came_in(data: Any, device: str) -> Storage:
    """The storage of an array that somebody else made: the one it lies in, else a new one."""
    start, stop = addresses(data)
    if start == stop:
        return Storage(data, device)
    with _book.lock:
        others = _book.overlapping(start, stop)
        for first, last, link in others:
            storage = link()
            if first <= start and stop <= last and storage is not None and storage.device == device:
                return storage
        made = Storage(data, device)
        _book.enter(made, start, stop, others)
    return made


def went_out(storage: Storage) -> None:
    """Let the memory be known again when it comes back."""
    if storage.linked is not None:
        return
    start, stop = addresses(storage.data)
    with _book.lock:
        if storage.linked is None and start < stop:
            _book.enter(storage, start, stop, _book.overlapping(start, stop))


def root(data: Any) -> Any:
    """What owns the memory of an array."""
    base = getattr(data, "base", None)
    while base is not None:
        data, base = base, getattr(base, "base", None)
    return data


def addresses(data: Any) -> tuple[int, int]:
    """Where the memory behind an array begins and ends: all of it that the array it is a view of can reach."""
    kind = np.ndarray if isinstance(data, np.ndarray) else type(data)
    while isinstance(data.base, kind):
        data = data.base
    if not data.size:
        return 0, 0
    if kind is np.ndarray:
        return byte_bounds(data)
    reach = [(size - 1) * step for size, step in zip(data.shape, data.strides, strict=True)]
    start = data.data.ptr
    return start + sum(min(one, 0) for one in reach), start + sum(max(one, 0) for one in reach) + data.itemsize


def _after_fork() -> None:
    """A forked child would wait for a thread that it does not have, and which may have been in the middle of it."""
    _book.lock = threading.RLock()
    _book.forget_the_dead()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)
