"""Arrays: the shapes of components, a layout, and where each component lies in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance

from ..oracle import Nest, flat
from ..plan import Dense, Jagged, Memory, Numbers, Operand, Strided, places
from .numbers import poison

LENGTHS = (0, 0, 1, 1, 1, 2, 2, 3, 4)
REGULAR = (1, 1, 2, 2, 2, 3, 3, 4)
COUNTS = (0, 1, 1, 2, 2, 2, 3, 3, 3)
RANKS = (1, 1, 1, 2, 2, 2, 2, 3, 3, 4)

# Where components lie, as often as it stands here. In the first group every place belongs to one element.
APART = ("packed", "packed", "packed", "lengths", "holes", "holes", "mixed", "mixed", "mixed")
ANYWHERE = (*APART, "overlap", "repeat")

Placed = tuple[Memory, Operand]


@dataclass(frozen=True)
class Form:
    """The shapes of components, of which those dims (counted with the batch) may differ that are irregular."""

    shapes: tuple[tuple[int, ...], ...]
    rank: int  # of the components
    irregular: frozenset[int]
    regular: tuple[int, ...]  # a size for every dimension, which counts where it is regular

    def shape(self, length: int) -> tuple[int, ...]:
        """The shape of one more component, of this length along what is irregular."""
        return tuple(length if dim in self.irregular else size for dim, size in enumerate(self.regular, 1))


def form(chance: Chance, rank: int | None = None, count: int | None = None, jagged: bool = True) -> Form:
    """Shapes of components; one dimension is irregular if they are to fit the jagged layout."""
    rank = chance.one(RANKS) if rank is None else rank
    if count is None:
        count = chance.between(7, 20) if chance.happens(0.04) else chance.one(COUNTS)
    small = rank > 2 or count > 3
    regular = [0 if chance.happens(0.05) else chance.one(REGULAR[: 5 if small else None]) for _ in range(rank)]
    if jagged:
        irregular = {chance.between(1, rank)} if rank else set()
    else:
        irregular = {dim for dim in range(1, rank + 1) if chance.happens(0.5)}
    lengths = (chance.one(LENGTHS),) if chance.happens(0.2) else LENGTHS[: 7 if small else None]
    made = [
        tuple(chance.one(lengths) if dim in irregular else regular[dim - 1] for dim in range(1, rank + 1))
        for _ in range(count)
    ]
    return Form(tuple(made), rank, frozenset(irregular), tuple(regular))


def form_of(x: Nest) -> Form:
    """The form of an array that is there already; a dense one counts as its slices."""
    if x.dense:
        shape: Any = x.shape
        return Form((shape[1:],) * shape[0], len(shape) - 1, frozenset({1}), shape[1:])
    irregular = {dim for dim in range(1, x.rank) if x.shape[dim] is None}
    regular = tuple(size or 0 for size in x.shape[1:])
    return Form(tuple(tuple(one.shape) for one in x), x.rank - 1, frozenset(irregular), regular)


def ragged_of(form: Form) -> int | None:
    """The dimension that can be ragged, if all others are regular."""
    differ = [dim for dim in range(1, form.rank + 1) if len({shape[dim - 1] for shape in form.shapes}) > 1]
    if not form.rank or len(differ) > 1:
        return None
    return (differ or [min(form.irregular, default=1)])[0]


def nested(chance: Chance, form: Form, is_jagged: bool, dtype: Any, draw: Any) -> Placed:
    """A nested array of this form: jagged, if it is to be so and can be. ``draw`` gives so many numbers."""
    ragged = ragged_of(form) if is_jagged else None
    return strided(chance, form, dtype, draw) if ragged is None else jagged(chance, form, ragged, dtype, draw)


def jagged(chance: Chance, form: Form, ragged: int, dtype: Any, draw: Any, hows: tuple[str, ...] = ANYWHERE) -> Placed:
    """A jagged array of this form. ``draw`` gives so many numbers, for the components one after the other."""
    lengths = [shape[ragged - 1] for shape in form.shapes]
    how = chance.one(hows)
    starts, rows = _starts(chance, lengths, how)
    sizes = list(form.shapes[0]) if form.shapes else list(form.regular)
    sizes[ragged - 1] = rows
    last = chance.below(rows + 1) if how != "packed" and chance.happens(0.3) else rows
    offsets = (*starts, rows if how == "packed" else last)
    operand = Jagged(0, offsets, None if how == "packed" else tuple(lengths), ragged)
    return _memory(chance, operand, tuple(sizes), dtype, draw), operand


def _starts(chance: Chance, lengths: list[int], how: str) -> tuple[list[int], int]:
    """Where components of these lengths begin, and how long the memory is."""
    if how in ("overlap", "repeat"):
        rows = max(lengths, default=0) + chance.below(3)
        return [chance.below(rows - length + 1) for length in lengths], rows
    gap = (0, 1, 2) if how in ("holes", "mixed") else (0,)
    order = chance.order(len(lengths)) if how == "mixed" else range(len(lengths))
    starts, at = [0] * len(lengths), chance.one(gap)
    for i in order:
        starts[i] = at
        at += lengths[i] + chance.one(gap)
    return starts, at


def strided(chance: Chance, form: Form, dtype: Any, draw: Any, hows: tuple[str, ...] = ANYWHERE) -> Placed:
    """A strided array of this form."""
    how = chance.one(hows)
    steps = [_strides(chance, shape, how) for shape in form.shapes]
    extents = [
        1 + sum((n - 1) * s for n, s in zip(shape, stride, strict=True)) if 0 not in shape else 0
        for shape, stride in zip(form.shapes, steps, strict=True)
    ]
    starts, total = _starts(chance, extents, how)
    operand = Strided(0, form.shapes, tuple(steps), tuple(starts), form.rank)
    return _memory(chance, operand, (total,), dtype, draw), operand


def _strides(chance: Chance, shape: tuple[int, ...], how: str) -> tuple[int, ...]:
    """Strides in some order of the dims, perhaps with steps in between, perhaps with places that repeat."""
    order = chance.order(len(shape)) if how in ("mixed", "lengths", "overlap") else range(len(shape))[::-1]
    strides, step = [0] * len(shape), chance.one((1, 1, 2)) if how == "mixed" else 1
    for dim in order:
        strides[dim] = 0 if how == "repeat" and chance.happens(0.5) else step
        step *= max(shape[dim], 1) if how != "overlap" or chance.happens(0.5) else 1
    return tuple(strides)


def _memory(chance: Chance, operand: Any, shape: tuple[int, ...], dtype: Any, draw: Any) -> Memory:
    """Memory with numbers where components lie, and poison elsewhere."""
    numbers = np.full(shape, poison(dtype, chance.happens(0.5)), dtype)
    where = flat(places(operand, shape), np.int64)
    numbers.reshape(-1)[where] = draw(where.size)
    return Memory(numbers, order(chance, shape) if isinstance(operand, Jagged) else "C")


def placed(chance: Chance, x: Nest, layout: str, hows: tuple[str, ...] = APART) -> Placed:
    """The components of ``x`` in a layout, anywhere; jagged ones become strided where they have to."""
    numbers = flat(x, x.dtype)
    draw = lambda count: numbers  # noqa: E731
    made = form_of(x)
    ragged = (x.ragged or ragged_of(made)) if layout == "jagged" else None
    if ragged is None:
        return strided(chance, made, x.dtype, draw, hows)
    return jagged(chance, made, ragged, x.dtype, draw, hows)


def order(chance: Chance, shape: tuple[int, ...]) -> str:
    """How the elements of an array of this shape lie."""
    if not shape or math.prod(shape) < 2 or chance.happens(0.7):
        return "C"
    return chance.one(("F", "reversed", "gapped"))


def dense(chance: Chance, shape: tuple[int, ...], dtype: Any, draw: Any, odd: bool = True) -> Placed:
    """A dense array; if it may be ``odd``, now and then one of NumPy's other classes."""
    numbers: Numbers = draw(math.prod(shape)).astype(dtype).reshape(shape)
    spelling = chance.one(("array", "array", "array", "numpy"))
    if not odd:
        return Memory(numbers, order(chance, shape)), Dense(0, spelling)
    if shape and shape[0] > 1 and chance.happens(0.03):
        return Memory(np.array(np.broadcast_to(numbers[:1], shape)), "repeated"), Dense(0)
    if not shape and chance.happens(0.3):
        return Memory(numbers), Dense(0, "scalar")
    if len(shape) == 2 and chance.happens(0.02):
        spelling = "matrix"
    elif chance.happens(0.01):
        spelling = "masked"
    return Memory(numbers, order(chance, shape)), Dense(0, spelling)
