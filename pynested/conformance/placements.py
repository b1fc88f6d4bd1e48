"""Where the components of a nested operand lie in memory; the answer must never depend on it.

A placement is a word, or, where the nested operands of a call lie differently, a word for each of them in order:
``packed+holes-nan``. `SAYS` tells what each word means. Holes are filled with a poison that would be noticed: NaN
first, the largest finite number second (the extremes for ints). Two fillings are needed because each can go unnoticed
where the other cannot: a maximum that propagates NaN by accident, a product with a mask.
"""

from __future__ import annotations

import functools
import itertools
import math
import operator
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.spec.encoding import Components

from .contradictions import OUTSIDE, Contradiction

Array = NDArray[Any]
Steps = Sequence[tuple[Any, ...]]

LAYOUTS = ("jagged", "strided")
PACKED, HOLES_NAN, HOLES_MAX, TRANSPOSED = "packed", "holes-nan", "holes-max", "transposed"
REVERSED, VIEW, BARE, APART, OVERLAPPING = "reversed", "view", "bare", "apart", "overlapping"

SAYS: Mapping[str, str] = {
    PACKED: "one after the other; operands whose components lie alike share one structure",
    HOLES_NAN: "with gaps before, between and after them, filled with NaN, or the least number if there is no NaN",
    HOLES_MAX: "with the same gaps, filled with the largest finite number",
    TRANSPOSED: "every component with its strides reversed",
    REVERSED: "the last component first",
    VIEW: "in a view of a view: every second element of a larger buffer, without its beginning",
    BARE: "packed, and built without optional arguments: no longest length, strides and offsets",
    APART: "packed, and each operand has its own structure",
    OVERLAPPING: "overlapping if their elements allow it; no gradient is requested",
}
PLACEMENTS = tuple(SAYS)
_HOLES, _JOIN = (HOLES_NAN, HOLES_MAX), "+"

# Rows or elements of poison before the first component, between two, and after the last: all different.
_BEFORE, _BETWEEN, _AFTER = 2, 1, 3


def words(placement: str) -> list[str]:
    """Return the words of a placement: one for all nested operands, or one for each."""
    return placement.split(_JOIN)


def joined(each: Sequence[str]) -> str:
    """Return the placement of operands that lie like this; one word is enough where all lie alike."""
    return each[0] if len(set(each)) == 1 else _JOIN.join(each)


def in_turn(placement: str) -> Iterator[str]:
    """Return the word of the first nested operand, of the next, and so on."""
    return itertools.cycle(words(placement))


def is_one_description(placement: str, layout: str, operands: int) -> bool:
    """Return whether nested operands of equal lengths share the description of where their components lie.

    Offsets say nothing of the strides inside of components, as the jagged layout has them; those of the strided one do.
    What overlaps lies where its elements allow it, each operand in its own way.
    """
    kinds = {HOLES_NAN: "holes", HOLES_MAX: "holes", REVERSED: REVERSED}
    kinds |= {TRANSPOSED: TRANSPOSED, VIEW: VIEW} if layout == "strided" else {}
    each = set(words(placement))
    return operands < 2 or (not {APART, OVERLAPPING} & each and len({kinds.get(word, PACKED) for word in each}) == 1)


@dataclass(frozen=True)
class Jagged:
    """Component i is ``values[offsets[i]:offsets[i] + lengths[i]]`` along the ragged dimension.

    ``steps`` are the indices that make the values of ``whole``, where they are a view.
    """

    whole: Array
    offsets: Array
    lengths: Array | None
    ragged_dim: int
    steps: Steps = ()

    @property
    def values(self) -> Array:
        """The values, as a view where they are one."""
        values: Array = view(self.whole, self.steps)
        return values

    def counts(self) -> Array:
        """Return the length of each component."""
        return np.diff(self.offsets) if self.lengths is None else self.lengths

    def parts(self, whole: Array) -> Iterator[Array]:
        """Yield each component as a view of such an array as `whole`."""
        values, before = view(whole, self.steps), (slice(None),) * (self.ragged_dim - 1)
        for start, length in zip(self.offsets.tolist(), self.counts().tolist(), strict=False):
            yield values[(*before, slice(start, start + length))]


@dataclass(frozen=True)
class Strided:
    """Component i starts at ``offsets[i]`` of the flat buffer and has ``sizes[i]`` and ``strides[i]``.

    ``steps`` are the indices that make the buffer of ``whole``, where it is a view.
    """

    whole: Array
    sizes: Array
    strides: Array
    offsets: Array
    steps: Steps = ()

    @property
    def buffer(self) -> Array:
        """The buffer, as a view where it is one."""
        buffer: Array = view(self.whole, self.steps)
        return buffer

    def parts(self, whole: Array) -> Iterator[Array]:
        """Yield each component as a view of such an array as `whole`."""
        buffer = view(whole, self.steps)
        width, dtype = buffer.itemsize, buffer.dtype
        places = self.offsets * width, self.sizes, self.strides * width
        for start, sizes, strides in zip(*(one.tolist() for one in places), strict=True):
            yield np.ndarray(sizes, dtype, buffer, min(start, buffer.nbytes), strides)


def view(whole: Any, steps: Steps) -> Any:
    """Return a view of a view, of an array of any library."""
    return functools.reduce(operator.getitem, steps, whole)


def only_components(placed: Jagged | Strided, gradient: Array) -> list[Array]:
    """Return the components of a gradient of everything that was placed; nothing may have come to the rest of it.

    A gradient that is not 0 where no component lies is a `Contradiction`: whoever made the buffer would have it.
    """
    rest = np.array(gradient)
    parts = list(placed.parts(rest))
    found = [one.copy() for one in parts]
    for one in parts:
        one[...] = 0
    if np.count_nonzero(rest):
        raise Contradiction(OUTSIDE.format(rest[rest != 0].flat[0]))
    return found


def ragged_dim(components: Components) -> int:
    """Return the irregular dimension, counted with the batch; 1 where every dimension is regular."""
    irregular = [dim for dim, size in enumerate(components.shape) if size is None]
    if len(irregular) > 1:
        raise ValueError(f"jagged has one irregular dimension, but shape {components.shape} has {len(irregular)}")
    return irregular[0] if irregular else 1


def poison(dtype: np.dtype[Any], placement: str) -> Any:
    """Return what fills the gaps: the largest finite number or NaN, and for other dtypes the two extremes."""
    first = placement != HOLES_MAX
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
    pieces, starts = _laid(components, placement, dim - 1, sizes)
    values = np.concatenate([np.zeros(sizes, components.dtype), *pieces], axis=dim - 1)
    if placement == TRANSPOSED:
        values = np.asfortranarray(values)
    lengths = np.array([component.shape[dim - 1] for component in components], dtype=np.int64)
    if placement in (*_HOLES, REVERSED, OVERLAPPING):
        ends = [starts[-1] + int(lengths[-1])] if starts else [0]
        return Jagged(values, np.array([*starts, *ends], dtype=np.int64), lengths, dim)
    steps = ((slice(1, None),), (..., slice(1, None, 2))) if placement == VIEW else ()
    offsets = np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)
    return Jagged(_in_the_midst(values) if steps else values, offsets, None, dim, steps)


def place_strided(components: Components, placement: str) -> Strided:
    """Lay the components out for the strided layout."""
    reverse, step = placement == TRANSPOSED, 2 if placement == VIEW else 1
    shrunk = [_without_copies(one) if placement == OVERLAPPING else one for one in components]
    flat = Components((one.T.ravel() if reverse else one.ravel() for one in shrunk), dtype=components.dtype)
    pieces, starts = _laid(flat, placement, 0, [0])
    dims = len(components.shape) - 1
    sizes = [component.shape for component in components]
    strides = [
        [
            0 if few < many else step * one
            for one, few, many in zip(_strides(own.shape, reverse), own.shape, shape, strict=True)
        ]
        for own, shape in zip(shrunk, sizes, strict=True)
    ]
    buffer = np.concatenate([np.zeros(0, components.dtype), *pieces])
    return Strided(
        _in_the_midst(buffer) if placement == VIEW else buffer,
        np.array(sizes, dtype=np.int64).reshape(len(components), dims),
        np.array(strides, dtype=np.int64).reshape(len(components), dims),
        np.array([step * start + step - 1 for start in starts], dtype=np.int64),
        ((slice(1, None),),) if placement == VIEW else (),
    )


def _laid(components: Components, placement: str, axis: int, sizes: Sequence[int]) -> tuple[list[Array], list[int]]:
    """Return the pieces to join along ``axis`` and where each component starts among them."""
    if placement == OVERLAPPING:
        return _overlapped(components, axis, sizes)
    if placement == REVERSED:
        pieces, starts = _with_gaps(Components(components[::-1], dtype=components.dtype), placement, axis, sizes)
        return pieces, starts[::-1]
    return _with_gaps(components, placement, axis, sizes)


def _with_gaps(
    components: Components, placement: str, axis: int, sizes: Sequence[int]
) -> tuple[list[Array], list[int]]:
    """Return the components with gaps before, between and after them, if there are to be any."""
    lengths = [component.shape[axis] for component in components]
    if placement not in _HOLES:
        return list(components), [0, *itertools.accumulate(lengths)][: len(lengths)]

    def gap(length: int) -> Array:
        shape = [*sizes[:axis], length, *sizes[axis + 1 :]]
        return np.full(shape, poison(components.dtype, placement), components.dtype)

    between, pieces = gap(_BETWEEN), [gap(_BEFORE)]
    for component in components:
        pieces += [component, between]
    starts = itertools.accumulate((length + _BETWEEN for length in lengths), initial=_BEFORE)
    return [*pieces[:-1], gap(_AFTER)] if lengths else pieces, list(starts)[: len(lengths)]


def _overlapped(components: Components, axis: int, sizes: Sequence[int]) -> tuple[list[Array], list[int]]:
    """Let each component start where its elements are already, word for word, or else behind all the others."""
    rows, starts = np.moveaxis(np.zeros(sizes, components.dtype), axis, 0), []
    for component in components:
        own = np.moveaxis(component, axis, 0)
        places = range(len(rows) - len(own) + 1)
        start = next((at for at in places if rows[at : at + len(own)].tobytes() == own.tobytes()), len(rows))
        rows = np.concatenate([rows, own]) if start == len(rows) else rows
        starts.append(start)
    return [np.moveaxis(rows, 0, axis)], starts


def _without_copies(component: Array) -> Array:
    """Return a component with one entry along every dimension along which all are the same, word for word."""
    for axis in range(component.ndim):
        first = component.take([0], axis) if component.shape[axis] > 1 else component
        if np.broadcast_to(first, component.shape).tobytes() == component.tobytes():
            component = first
    return component


def _in_the_midst(values: Array) -> Array:
    """Return a larger array of poison in which every second element along the last dimension is one of `values`."""
    sizes = [*values.shape[:-1], 2 * values.shape[-1] + 1]
    whole = np.full([sizes[0] + 1, *sizes[1:]], poison(values.dtype, VIEW), values.dtype)
    whole[1:][..., 1::2] = values
    return whole


def _strides(shape: Sequence[int], reverse: bool) -> list[int]:
    """Return strides in elements: the last dimension runs fastest, or the first where reversed."""
    sizes = [max(size, 1) for size in shape]
    if reverse:
        return [math.prod(sizes[:dim]) for dim in range(len(sizes))]
    return [math.prod(sizes[dim + 1 :]) for dim in range(len(sizes))]
