"""What the result of attention is: which of its dimensions is ragged, and its values in the layout they go into."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.nested.array import NestedArray
from pynested.structure import Ints, Jagged

from .packing import inverse, lead, of_elements


def ragged_of(arrays: list[Any]) -> int | str | None:
    """The ragged dimension of the result of query, key and value, ``dense`` if none is left, None for strided."""
    return _ragged(zip(arrays, (None, "gone", "gone"), strict=True))


def ragged_of_scores(arrays: list[Any]) -> int | str | None:
    """The ragged dimension of the scores, as `ragged_of` says it: rows of keys are their columns."""
    return _ragged(zip(arrays[:2], (None, "last"), strict=True))


def _ragged(operands: Iterable[tuple[Any, str | None]]) -> int | str | None:
    """What is left of all operands, whose rows stay where they are, are the last dimension then, or are gone."""
    found = set()
    for x, rows in operands:
        if type(x) is not NestedArray:
            continue
        if x.structure.ragged_dim is None:
            return None
        if rows is None or x.structure.ragged_dim != x.ndim - 2:
            found.add(x.structure.ragged_dim)
        elif rows == "last":
            found.add(x.ndim - 1)
    if len(found) == 2:
        return None
    return found.pop() if found else "dense"


def wrapped_scores(flat: Array, outline: Ints, count: int, ragged: Any) -> NestedArray | Array:
    """What there is one of for each score, component by component."""
    if ragged == "dense":
        return moves.reshape(flat, (count, *np.maximum(outline[0], 0).tolist()))
    return of_elements(flat, outline, count, ragged)


def wrapped(flat: Array, outline: Ints, count: int, ragged: Any, query: Any) -> NestedArray | Array:
    """The result of components of these sizes: jagged rows lie row by row, all else component by component.

    Jagged rows are those of the nested query, and are contiguous if that is.
    """
    sizes = tuple(np.maximum(outline[0], 0).tolist())
    if ragged == "dense":
        return moves.reshape(flat, (count, *sizes))
    at = len(sizes) - 2
    if ragged != at + 1:
        return of_elements(flat, outline, count, ragged)
    rows: Jagged = query.structure.packed
    values = moves.reshape(flat, (rows.rows, *sizes[:at], sizes[-1]))
    if not at:
        return NestedArray(values, rows)
    turned = moves.transpose(values, inverse(lead(at, len(sizes))))
    return NestedArray(turned.contiguous() if query.is_contiguous() else turned, rows)
