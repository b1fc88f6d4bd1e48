"""From a row of levels to a nested operand: how many components, how long, which sizes, which numbers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from ..components import Components, each
from .draws import distinct, floats, integers

__all__ = ["Layouts", "Outline", "drawn", "outline"]

Layouts = tuple[str, ...]

BATCH = {"none": 0, "one": 1, "two": 2, "three": 3, "many": 10}
MIXED, LONG, HUNDREDS = (2, 0, 1, 3, 0, 1, 2, 1, 0, 1), (33, 0, 5), (130, 1, 135)
FULL = (2, 4, 1, 3, 5, 2, 3, 1, 4, 2)
ACROSS = (1, 3, 2)  # lengths along the other irregular dimension, over and over
FILL = (2, 3, 1)  # regular sizes after the one that the row says


@dataclass(frozen=True)
class Outline:
    """The shapes of the components, and the logical shape, which says where they may differ."""

    shapes: tuple[tuple[int, ...], ...]
    shape: tuple[int | None, ...]
    ragged: int  # the first irregular dimension, or 1

    @property
    def regular(self) -> list[int]:
        """The dimensions with one size, without the batch."""
        return [dim for dim, size in enumerate(self.shape) if dim and size is not None]

    @property
    def lengths(self) -> list[int]:
        """The lengths along the first irregular dimension."""
        return [shape[self.ragged - 1] for shape in self.shapes]

    def layouts(self, *dims: int) -> tuple[Layouts, Layouts]:
        """The layouts in which some of the dimensions is irregular, and those in which none is.

        Where sizes happen to agree a dimension is irregular in the jagged layout alone, which says that it is.
        """
        open_dims = [dim for dim in dims if self.shape[dim] is None]
        if any(not self.shapes or len({shape[dim - 1] for shape in self.shapes}) > 1 for dim in open_dims):
            irregular: Layouts = ("strided", "jagged")
        else:
            irregular = ("jagged",) if open_dims else ()
        able = self.able
        return tuple(one for one in able if one in irregular), tuple(one for one in able if one not in irregular)

    @property
    def able(self) -> Layouts:
        """The layouts that can express these shapes."""
        return ("strided", "jagged") if self.shape.count(None) == 1 else ("strided",)

    def size(self, dim: int, otherwise: int) -> int:
        """The size of a dimension, or another number where components do not have one."""
        sizes: set[int | None] = {shape[dim - 1] for shape in self.shapes} or {self.shape[dim]}
        size = sizes.pop()
        return otherwise if sizes or size is None else size

    def longer(self, lengths: list[int]) -> Outline:
        """The outline with other lengths along the first irregular dimension, and as many components."""
        at = self.ragged - 1
        pairs = zip(self.shapes, lengths, strict=False)
        shapes = tuple((*shape[:at], length, *shape[at + 1 :]) for shape, length in pairs)
        return Outline(shapes, (len(shapes), *self.shape[1:]), self.ragged)

    def resized(self, dim: int, size: int) -> Outline:
        """The outline with another size along a regular dimension."""
        shapes = tuple((*shape[: dim - 1], size, *shape[dim:]) for shape in self.shapes)
        return Outline(shapes, (*self.shape[:dim], size, *self.shape[dim + 1 :]), self.ragged)


def outline(row: Mapping[str, str]) -> Outline:
    """Return the shapes that a row asks for; in place of a level it may have the lengths, or the sizes, as numbers."""
    dims, lengths = int(row["rank"]) - 1, _numbers(row["lengths"]) or _lengths(row["lengths"], BATCH[row["batch"]])
    middle = dims // 2
    irregular = {"first": [0], "last": [dims - 1], "middle": [middle], "two": [0, dims - 1], "regular": [0]}
    places = irregular[row["ragged"]]
    sizes = _sizes(row["sizes"], lengths, dims - len(places))
    shapes = []
    for number, length in enumerate(lengths):
        rest, own = iter(sizes), iter([length, ACROSS[number % len(ACROSS)]])
        shapes.append(tuple(next(own) if place in places else next(rest) for place in range(dims)))
    rest = iter(sizes)
    known = [None if place in places else next(rest) for place in range(dims)]
    if row["ragged"] == "regular":
        known[0] = lengths[0]
    return Outline(tuple(shapes), (len(lengths), *known), 1 + places[0])


def _numbers(level: str) -> list[int]:
    """Return the numbers of a row that says them itself."""
    return [int(number) for number in level.split()] if level[:1].isdigit() else []


def _lengths(level: str, batch: int) -> list[int]:
    """Return the length of each component."""
    patterns = {"mixed": MIXED, "equal": (2,), "ones": (1,), "empty": (0,), "late": (0,), "long": LONG}
    pattern = {**patterns, "hundreds": HUNDREDS, "full": FULL, "nearly": (2,)}[level]
    last = {"late": 3, "nearly": 1}
    lengths = list(itertools.islice(itertools.cycle(pattern), batch))
    return [*lengths[:-1], last[level]] if level in last else lengths


def _sizes(level: str, lengths: list[int], count: int) -> list[int]:
    """Return the regular sizes, of which the first one, or all, are as the level says."""
    if numbers := _numbers(level):
        return numbers[:count]
    first = {
        "other": 4, "one": 1, "zero": 0, "same": 2,
        "batch": len(lengths), "longest": max(lengths, default=0), "total": sum(lengths),
    }[level]  # fmt: skip
    return [first, *([first] if level == "same" else FILL) * count][:count]


def drawn(form: Outline, dtype: str, key: str, kind: str = "whole", low: int = -8, high: int = 8) -> Components:
    """Return numbers in an outline: `whole` or `distinct` ones, or `fine` and `wide` ones, which only floats are."""
    if kind in ("fine", "wide") and np.dtype(dtype).kind == "f":
        numbers = floats(dtype, form.shapes, key)
        if kind == "wide":
            powers = integers("int64", form.shapes, f"{key} powers", -6, 6)
            numbers = each(np.ldexp, numbers, powers, shape=numbers.shape, dtype=dtype)
    elif kind == "large" and dtype != "bool":
        bits = min(np.iinfo(dtype).bits, 40) - 1
        numbers = integers(dtype, form.shapes, key, -(2**bits) * (np.dtype(dtype).kind == "i"), 2**bits - 1)
    elif kind == "distinct" and dtype != "bool":
        numbers = distinct(dtype, form.shapes, key)
    else:
        numbers = integers(dtype, form.shapes, key, low, high)
    return Components(numbers, form.shape, dtype)
