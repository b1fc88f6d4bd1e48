"""Where the components of a nested operand lie in memory; the answer must never depend on it.

`packed` stores them one after another. The two `holes` placements put gaps before, between and after them and fill the
gaps with a poison that would be noticed: NaN first, the largest finite number second (the extremes for ints). Two
fillings are needed because each can go unnoticed where the other cannot: a maximum that propagates NaN by accident, a
product with a mask. `transposed` stores every component with its strides reversed.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.spec.encoding import Components

Array = NDArray[Any]

LAYOUTS = ("jagged", "strided")
PACKED, HOLES_NAN, HOLES_MAX, TRANSPOSED = "packed", "holes-nan", "holes-max", "transposed"
PLACEMENTS = (PACKED, HOLES_NAN, HOLES_MAX, TRANSPOSED)
_HOLES = (HOLES_NAN, HOLES_MAX)

# Rows or elements of poison before the first component, between two, and after the last: all different.
_BEFORE, _BETWEEN, _AFTER = 2, 1, 3


@dataclass(frozen=True)
class Jagged:
    """Component i is ``values[offsets[i]:offsets[i] + lengths[i]]`` along the ragged dimension."""

    values: Array
    offsets: Array
    lengths: Array | None
    ragged_dim: int


@dataclass(frozen=True)
class Strided:
    """Component i starts at ``offsets[i]`` of the flat buffer and has ``sizes[i]`` and ``strides[i]``."""

    buffer: Array
    sizes: Array
    strides: Array
    offsets: Array


def placements_for(values: Iterable[Any]) -> tuple[str, ...]:
    """Return the placements that make a difference for these operands: only `packed` where nothing is nested."""
    nested = [value for value in _flat(values) if isinstance(value, Components)]
    if not nested:
        return (PACKED,)
    matrices = any(len(value.shape) > 2 for value in nested)
    return PLACEMENTS if matrices else PLACEMENTS[:-1]


def _flat(values: Iterable[Any]) -> Iterable[Any]:
    for value in values:
        if isinstance(value, list) and not isinstance(value, Components):
            yield from _flat(value)
        else:
            yield value


def ragged_dim(components: Components) -> int:
    """Return the irregular dimension, counted with the batch; 1 where every dimension is regular."""
    irregular = [dim for dim, size in enumerate(components.shape) if size is None]
    if len(irregular) > 1:
        raise ValueError(f"jagged has one irregular dimension, but shape {components.shape} has {len(irregular)}")
    return irregular[0] if irregular else 1


def poison(dtype: np.dtype[Any], placement: str) -> Any:
    """Return what fills the gaps: NaN or the largest finite number, and for other dtypes the two extremes."""
    first = placement == HOLES_NAN
    if dtype.kind == "f":
        return np.nan if first else np.finfo(dtype).max
    if dtype.kind == "b":
        return first
    limits = np.iinfo(dtype)
    if limits.min == 0:
        return limits.max if first else limits.max - 1
    return limits.min if first else limits.max


def place_jagged(components: Components, placement: str) -> Jagged:
    """Lay the components out for the jagged layout."""
    dim = ragged_dim(components)
    sizes = [size or 0 for size in components.shape[1:]]
    sizes[dim - 1] = 0
    pieces, starts = _with_gaps(components, placement, dim - 1, sizes)
    values = np.concatenate([np.zeros(sizes, components.dtype), *pieces], axis=dim - 1)
    if placement == TRANSPOSED:
        values = np.asfortranarray(values)
    lengths = np.array([component.shape[dim - 1] for component in components], dtype=np.int64)
    if placement in _HOLES:
        ends = [starts[-1] + int(lengths[-1])] if starts else [0]
        return Jagged(values, np.array([*starts, *ends], dtype=np.int64), lengths, dim)
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Jagged(values, offsets, None, dim)


def place_strided(components: Components, placement: str) -> Strided:
    """Lay the components out for the strided layout."""
    reverse = placement == TRANSPOSED
    flat = Components((one.T.ravel() if reverse else one.ravel() for one in components), dtype=components.dtype)
    pieces, starts = _with_gaps(flat, placement, 0, [0])
    dims = len(components.shape) - 1
    sizes = [component.shape for component in components]
    strides = [_strides(shape, reverse) for shape in sizes]
    return Strided(
        np.concatenate([np.zeros(0, components.dtype), *pieces]),
        np.array(sizes, dtype=np.int64).reshape(len(components), dims),
        np.array(strides, dtype=np.int64).reshape(len(components), dims),
        np.array(starts, dtype=np.int64),
    )


def _with_gaps(
    components: Components, placement: str, axis: int, sizes: Sequence[int]
) -> tuple[list[Array], list[int]]:
    """Return the pieces to join along ``axis`` and where each component starts among them."""

    def gap(length: int) -> Array:
        shape = list(sizes)
        shape[axis] = length if placement in _HOLES else 0
        return np.full(shape, poison(components.dtype, placement), components.dtype)

    pieces, starts = [gap(_BEFORE)], []
    for number, component in enumerate(components):
        starts.append(sum(piece.shape[axis] for piece in pieces))
        pieces += [component, gap(_AFTER if number == len(components) - 1 else _BETWEEN)]
    return pieces, starts


def _strides(shape: Sequence[int], reverse: bool) -> list[int]:
    """Return strides in elements: the last dimension runs fastest, or the first where reversed."""
    sizes = [max(size, 1) for size in shape]
    if reverse:
        return [math.prod(sizes[:dim]) for dim in range(len(sizes))]
    return [math.prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
