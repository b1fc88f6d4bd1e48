"""One storage for one piece of memory, also where the memory goes out to other libraries and comes back.

Results of operations are not known here. Memory is entered when it crosses the border: `went_out` when somebody else is
given it, `came_in` when somebody else's is taken. What lies inside memory that has a storage belongs to that storage;
what only overlaps it, or lies on another device by name, has one of its own, and the two are linked: a write into one
is counted in both. Entries are weak, so a storage is gone when the last array is.

As long as all memory is NumPy's own, the array that owns it tells which it is. Addresses are looked at from the moment
on when memory comes of which NumPy does not know the owner: a buffer, a file, another library's.
"""

from __future__ import annotations

import weakref
from bisect import bisect_left, bisect_right
from threading import RLock as Lock
from typing import Any

import numpy as np
from numpy.lib.array_utils import byte_bounds

from .host import Window
from .memory import Block
from .storage import Storage

FEW = 64  # entries that are kept without looking which of them are dead

Entry = tuple[int, int, weakref.ref[Storage]]  # the addresses of a storage, from the first up to the second


class _Book:
    """Storages by the owner of the memory, then by addresses: in regions, none of which overlap; look-ups bisect them.

    Entries of one region hang together.
    """

    def __init__(self) -> None:
        self.owned: dict[int, weakref.ref[Storage]] | None = {}  # by the owner's id; None once addresses are looked at
        self.regions: list[list[Entry]] = []
        self.starts: list[int] = []  # of the regions, ascending
        self.stops: list[int] = []
        self.count = 0
        self.most = FEW

    def find(self, data: Any, device: str) -> Storage:
        """The storage that an array lies in, else a new one."""
        owner = whole(data)
        if self.owned is not None and device == "cpu" and is_owner(owner):
            return self.of(owner) or self.enter(Storage(data), owner)
        self.look_at_addresses()
        start, stop = addresses(owner)
        for first, last, link in self.overlapping(start, stop):
            storage = link()
            if first <= start and stop <= last and storage is not None and storage.device == device:
                return storage
        return self.enter(Storage(data, device), owner)

    def enter(self, storage: Storage, owner: Any) -> Storage:
        """Add a storage: by the owner of its memory, or by addresses, linked to those that it overlaps."""
        if self.count >= self.most:
            self.forget_the_dead()
        own = weakref.ref(storage)
        storage.linked = ()
        if self.owned is not None and storage.device == "cpu" and is_owner(owner) and self.of(owner) is None:
            self.owned[id(owner)] = own
            self.count = len(self.owned)
            return storage
        self.look_at_addresses()
        start, stop = addresses(owner)
        others = self.overlapping(start, stop)
        storage.linked = tuple([link for _, _, link in others])
        for _, _, link in others:
            other = link()
            if other is not None:
                other.linked = (*[one for one in other.linked or () if one() is not None], own)
        if start < stop:
            self.add((start, stop, own))
        return storage

    def of(self, owner: Any) -> Storage | None:
        """The storage that was entered by its owner."""
        link = self.owned.get(id(owner)) if self.owned is not None else None
        return None if link is None else link()

    def look_at_addresses(self) -> None:
        """From now on; those of all storages so far are looked up."""
        if self.owned is None:
            return
        owned, self.owned, self.count = self.owned, None, 0
        for link in owned.values():
            storage = link()
            if storage is not None:
                self.enter(storage, whole(storage.data))

    def overlapping(self, start: int, stop: int) -> list[Entry]:
        """The entries that share an address with ``start`` to ``stop``."""
        first, last = bisect_right(self.stops, start), bisect_left(self.starts, stop)
        if first == last:
            return []
        return [one for region in self.regions[first:last] for one in region if one[0] < stop and start < one[1]]

    def add(self, entry: Entry) -> None:
        """Put an entry into the region of all that hangs together with it."""
        start, stop, _ = entry
        region = [entry]
        first, last = bisect_right(self.stops, start), bisect_left(self.starts, stop)
        if first < last:
            old = [one for joined in self.regions[first:last] for one in joined]
            for one in old:
                if one[2]() is not None:
                    region.append(one)
                    start, stop = min(start, one[0]), max(stop, one[1])
            self.count -= len(old)
        self.regions[first:last], self.starts[first:last], self.stops[first:last] = [region], [start], [stop]
        self.count += len(region)

    def forget_the_dead(self) -> None:
        """Keep the entries whose storages live, and wait until there are twice as many."""
        if self.owned is not None:
            self.owned = {key: link for key, link in self.owned.items() if link() is not None}
            self.count = len(self.owned)
        else:
            living = [one for region in self.regions for one in region if one[2]() is not None]
            self.regions, self.starts, self.stops, self.count = [], [], [], 0
            for one in living:
                self.add(one)
        self.most = max(FEW, 2 * self.count)


_book = _Book()
_one_at_a_time = Lock()  # at the border; a collection of garbage inside may end in a line that shares memory


def came_in(data: Any, device: str) -> Storage:
    """The storage of an array that somebody else made: the one it lies in, else a new one."""
    with _one_at_a_time:
        return _book.find(data, device)


def went_out(storage: Storage) -> None:
    """Let the memory be known again when it comes back."""
    if storage.linked is None:
        with _one_at_a_time:
            if storage.linked is None:
                _book.enter(storage, whole(storage.data))


def whole(data: Any) -> Any:
    """The array that an array is a view of, the last of its bases that is one; itself if it is no view."""
    base = data.base
    while base is not None and (type(base) is type(data) or isinstance(base, np.ndarray | Window)):
        data, base = base, base.base
    return data


def same_memory(a: Any, b: Any) -> bool:
    """Whether one array is a view of the other, or both are views of a third."""
    if a.base is None:
        return a is b or (b.base is not None and whole(b) is a)
    return a.base is b or a.base is b.base or whole(a) is whole(b)


def is_owner(data: Any) -> bool:
    """Whether other arrays in the memory of this one are views of it, unless they came a way round NumPy."""
    return type(data) is np.ndarray and (data.flags.owndata or isinstance(data.base, Block))


def addresses(data: Any) -> tuple[int, int]:
    """Where the memory of an array begins and ends."""
    if not data.size:
        return 0, 0
    if isinstance(data, np.ndarray):
        return byte_bounds(data)
    reach = [(size - 1) * step for size, step in zip(data.shape, data.strides, strict=True)]
    start = data.data.ptr
    return start + sum(min(one, 0) for one in reach), start + sum(max(one, 0) for one in reach) + data.itemsize
