"""What the result of attention is: which of its dimensions is ragged, and its values in the layout they go into."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.nested.array import NestedArray
from pynested.structure import Ints, Jagged

from .packing import inverse, lead, of_elements


def ragged_of(arrays: list[Any]) -> int | str | None:
    """The ragged dimension of the result of query, key and value, ``dense`` if none is left, None for strided."""
    found = set()
    for x, gone in zip(arrays, (False, True, True), strict=True):
        if type(x) is not NestedArray:
            continue
        if x.structure.ragged_dim is None:
            return None
        if not gone or x.structure.ragged_dim != x.ndim - 2:
            found.add(x.structure.ragged_dim)
    if len(found) == 2:
        return None
    return found.pop() if found else "dense"


def wrapped(flat: Array, outline: Ints, count: int, ragged: Any) -> NestedArray | Array:
    """The result of components of these sizes: jagged rows lie row by row, all else component by component."""
    sizes = tuple(np.maximum(outline[0], 0).tolist())
    if ragged == "dense":
        return moves.reshape(flat, (count, *sizes))
    at = len(sizes) - 2
    if ragged != at + 1:
        return of_elements(flat, outline, count, ragged)
    rows = Jagged.of_lengths(outline[:count, at], ragged)
    values = moves.reshape(flat, (rows.rows, *sizes[:at], sizes[-1]))
    return NestedArray(moves.transpose(values, inverse(lead(at, len(sizes)))) if at else values, rows)
