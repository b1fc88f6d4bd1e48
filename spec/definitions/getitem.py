"""The definition of `getitem`."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pynested.spec.components import Components, Shape, each


def getitem(self: Components, index: Any) -> Any:
    """GETITEM: the first entry picks components, the others index each of them as NumPy does; or a mask of each."""
    if isinstance(index, Components):
        left = (None, *self.shape[len(index.shape) :])
        return each(lambda x, holds: x[holds], self, index, shape=(len(self), *left), dtype=self.dtype)
    entries = list(index) if isinstance(index, tuple) else [index]
    place = next((i for i, entry in enumerate(entries) if entry is Ellipsis), None)
    if place is not None:
        named = sum(entry is not None for entry in entries) - 1
        entries[place : place + 1] = [slice(None)] * (len(self.shape) - named)
    batch, *rest = entries or [slice(None)]
    if isinstance(batch, (list, np.ndarray)):
        numbers = np.arange(len(self))[batch]
        picked = Components([self[i] for i in numbers], (len(numbers), *self.shape[1:]), self.dtype)
    elif isinstance(batch, slice):
        picked = self[batch]
    else:
        return np.asarray(self[batch][tuple(rest)])
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
