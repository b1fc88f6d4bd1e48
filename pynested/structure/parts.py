"""What an index leaves of a nested array, in integers: a structure, and the entries of the values that go with it."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .metadata import Ints

if TYPE_CHECKING:
    from . import Structure

WHOLE = slice(None)


class Part(NamedTuple):
    """A structure, and what of the values it describes: ``entries`` along their ``axis``, all others as they are.

    Entries are a slice, or one index, whose axis goes: these give a view; an array of places gives a copy.
    """

    structure: Structure
    axis: int = 0
    entries: slice | int | Ints = WHOLE


def ranges(part: slice, sizes: Ints) -> tuple[Ints, Ints, int]:
    """Where ``part`` begins in each of ``sizes``, how many entries it names, and its step; -1 of unknown sizes."""
    step = part.indices(0)[2]
    found = {-1: (0, -1)}
    for size in np.unique(sizes).tolist():
        if size >= 0:
            start, stop, _ = part.indices(size)
            found[size] = (start, len(range(start, stop, step)))
    pairs = np.array([found[size] for size in sizes.tolist()], np.int64).reshape(len(sizes), 2)
    longest = max(*found, 1)
    step = min(max(step, -longest), longest)  # a longer one leads out of every component as well
    return np.where(pairs[:, 1] > 0, pairs[:, 0], 0), pairs[:, 1], step
