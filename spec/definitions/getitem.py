"""The definition of `getitem`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pynested.spec.components import Components, Shape, each


def getitem(self: Components, index: Any) -> Any:
    """GETITEM: the first entry picks components, the others index each of them as NumPy does."""
    entries = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis in entries:
        place = entries.index(Ellipsis)
        named = sum(entry is not None for entry in entries) - 1
        entries[place : place + 1] = [slice(None)] * (len(self.shape) - named)
    batch, *rest = entries or [slice(None)]
    if not isinstance(batch, slice):
        return np.asarray(self[batch][tuple(rest)])
    picked = self[batch]
    shape = (len(picked), *_sizes(self.shape[1:], rest))
    return each(lambda x: x[tuple(rest)], picked, shape=shape, dtype=self.dtype)


def _sizes(sizes: Shape, entries: list[Any]) -> Iterator[int | None]:
    """What entries leave of sizes: 1 for None, nothing of an integer, and irregular stays irregular."""
    left = iter(sizes)
    for entry in entries:
        size = 1 if entry is None else next(left)
        if isinstance(entry, slice) and size is not None:
            size = len(range(*entry.indices(size)))
        if not isinstance(entry, int):
            yield size
    yield from left
