"""The definition of `getitem`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray


def getitem(self: list[NDArray], index: Any) -> list[NDArray] | NDArray:
    """GETITEM: the first entry picks components, the others index each of them as NumPy does."""
    entries = list(index) if isinstance(index, tuple) else [index]
    if Ellipsis in entries:
        place = entries.index(Ellipsis)
        named = sum(entry is not None for entry in entries) - 1
        missing = (1 + self[0].ndim if self else named) - named
        entries[place : place + 1] = [slice(None)] * missing
    batch, *rest = entries or [slice(None)]
    if isinstance(batch, slice):
        return [np.asarray(x[tuple(rest)]) for x in self[batch]]
    return np.asarray(self[batch][tuple(rest)])
