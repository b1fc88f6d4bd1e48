"""The calls of drawn programs: which may come next, given the arrays that there are.

Only calls that the specification accepts are proposed, of operators whose results are exact where numbers are small and
whole. Ties are left to the frozen cases wherever there is a gradient: there, who wins is a position and no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from pynested.spec.encoding import Index, encode_value
from pynested.spec.programs import WRITES

from .chance import Chance

__all__ = ["Call", "Seen", "proposed"]

Shape = tuple[int | None, ...]


@dataclass(frozen=True)
class Call:
    """One call as data: its arguments are in the words of programs; ``outs`` name what it makes."""

    op: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any] = field(default_factory=dict)
    outs: tuple[str, ...] = ()

    @property
    def writes(self) -> bool:
        """Return whether it writes into its first argument."""
        return self.op in WRITES

    @property
    def step(self) -> dict[str, Any]:
        """The step of a program."""
        named = {"out": list(self.outs) if self.op in _LISTS else self.outs[0]} if self.outs else {}
        given = {"kwargs": dict(self.kwargs)} if self.kwargs else {}
        return {"op": self.op, "args": list(self.args), **given, **named}


@dataclass(frozen=True)
class Seen:
    """An array that there is: its name, its logical shape, those of its components if it has any, and its dtype."""

    name: str
    shape: Shape
    components: tuple[tuple[int, ...], ...] | None
    dtype: str
    recorded: bool

    @property
    def rank(self) -> int:
        """The number of dimensions, the batch counted."""
        return len(self.shape)

    @property
    def is_nested(self) -> bool:
        """Return whether it has components."""
        return self.components is not None and None in self.shape

    @property
    def regular(self) -> list[int]:
        """The dimensions of components that have one size."""
        return [dim for dim, size in enumerate(self.shape) if dim and size is not None]


@dataclass(frozen=True)
class _Place:
    """Where a call is drawn: the array that it is of, the others, and whether there are gradients."""

    chance: Chance
    x: Seen
    others: Sequence[Seen]
    tape: bool

    @property
    def alike(self) -> list[Seen]:
        """The arrays of the same shape, it among them."""
        x = self.x
        return [
            one for one in self.others if (one.shape, one.components, one.dtype) == (x.shape, x.components, x.dtype)
        ]

    def named(self, kind: str) -> list[Seen]:
        """The dense inputs of that name which fit."""
        return [one for one in self.others if one.name == kind and one.shape[:1] == self.x.shape[-1:]]

    @property
    def last(self) -> int:
        """The last dimension that a call may name; of a dense array the definitions would count the batch."""
        return self.x.rank - 1 if self.x.is_nested else 0

    def dim(self) -> int:
        """Return a dimension of the components, counted from either end."""
        return self.spelled(self.chance.between(1, self.x.rank - 1))

    def spelled(self, dim: int) -> int:
        """Return a dimension, counted from either end."""
        return dim - self.x.rank if self.chance.happens(0.3) else dim

    def second(self) -> Any:
        """Return a second operand: itself, another one of its shape, a row, or a number."""
        chosen = self.chance.one([*self.alike, self.x, *self.named("row"), None])
        return _number(self.chance) if chosen is None else {"name": chosen.name}


Drawn = tuple[Any, ...] | None  # what comes after the first argument; None where there is no such call


def _number(chance: Chance) -> Any:
    return encode_value(chance.one((2, -1, 3)))


def _moved(place: _Place) -> Drawn:
    return place.dim(), place.dim()


def _permuted(place: _Place) -> Drawn:
    return ((0, *(1 + dim for dim in place.chance.order(place.x.rank - 1))),)


def _squeezed(place: _Place) -> Drawn:
    ones = [dim for dim in place.x.regular if place.x.shape[dim] == 1]
    return (place.spelled(place.chance.one(ones)),) if ones and place.x.rank > 2 else None


def _cut(place: _Place) -> tuple[Any, ...]:
    """Return an index: some components, or a piece along one dimension of every component; of a dense array rows."""
    dim = place.chance.between(0, place.last)
    first = place.chance.between(0, 1)
    piece = slice(first, first + place.chance.between(1, 2)) if place.chance.happens(0.6) else slice(first, None)
    return (*[slice(None)] * dim, piece)


def _selected(place: _Place) -> Drawn:
    if not place.x.regular or place.x.rank < 3:
        return None
    dim = place.chance.one(place.x.regular)
    size = place.x.shape[dim] or 0
    return (dim, place.chance.between(-size, size - 1)) if size else None


def _along(place: _Place) -> Drawn:
    return (place.dim(),)


def _across(place: _Place) -> Drawn:
    return (place.spelled(place.chance.one(place.x.regular)),) if place.x.regular and place.x.rank > 2 else None


def _none(place: _Place) -> Drawn:
    return ()


def _untaped(draw: Callable[[_Place], Drawn]) -> Callable[[_Place], Drawn]:
    return lambda place: None if place.tape else draw(place)


def _pair(place: _Place) -> Drawn:
    return (place.second(),)


def _joined(place: _Place) -> Drawn:
    return [place.x.name, place.chance.one(place.alike).name], place.chance.between(0, place.last)


def _apart(place: _Place) -> Drawn:
    return () if place.x.rank > 1 and place.x.shape[0] else None


def _pieces(place: _Place) -> Drawn:
    """Return the sizes of one piece or two, along the batch or a regular dimension."""
    dim = place.chance.one([0, *place.x.regular])
    size = place.x.shape[dim] or 0
    first = place.chance.between(0, size)
    return ((size,) if place.chance.happens(0.2) else (first, size - first)), place.spelled(dim) if dim else 0


def _halves(place: _Place) -> Drawn:
    dim = place.chance.one([0, *place.x.regular])
    return (2, place.spelled(dim) if dim else 0) if place.x.shape[dim] else None


def _count(op: str, x: Seen, rest: tuple[Any, ...]) -> int:
    """Return how many arrays an operator makes."""
    if op == "split":
        return len(rest[0])
    if op == "chunk":
        return min(2, x.shape[rest[1]] or 0)
    return (x.shape[0] or 0) if op == "unbind" else 1


def _masks(place: _Place) -> list[Seen]:
    like = ("bool", place.x.shape, place.x.components)
    return [one for one in place.others if (one.dtype, one.shape, one.components) == like]


def _filled(place: _Place) -> Drawn:
    masks = _masks(place)
    return ({"name": masks[0].name}, _number(place.chance)) if masks else None


def _multiplied(place: _Place) -> Drawn:
    found = place.named("matrix")
    return ({"name": found[0].name},) if found and place.x.rank > 2 and place.x.shape[-1] is not None else None


# What may be called, each as likely as the next, and what is drawn for it.
_CALLS: Sequence[tuple[str, Callable[[_Place], Drawn]]] = (
    ("neg", _none), ("relu", _none), ("square", _none), ("clone", _none), ("clone", _none), ("detach", _none),
    ("add", _pair), ("sub", _pair), ("mul", _pair), ("mul", _pair), ("maximum", _untaped(_pair)),
    ("transpose", _moved), ("transpose", _moved), ("permute", _permuted), ("unsqueeze", _along), ("squeeze", _squeezed),
    ("getitem", lambda place: (Index(_cut(place)),)), ("getitem", lambda place: (Index(_cut(place)),)),
    ("select", _selected), ("cumsum", _along), ("cumsum", _along), ("sum", _across), ("amax", _untaped(_across)),
    ("mean", _across), ("cat", _joined), ("matmul", _multiplied), ("masked_fill", _filled),
    ("unbind", _apart), ("split", _pieces), ("chunk", _halves),
)  # fmt: skip
_LISTS = ("unbind", "split", "chunk")
_WRITES: Sequence[tuple[str, Callable[[_Place], Drawn]]] = (
    ("fill_", lambda place: (_number(place.chance),)), ("neg_", _none), ("relu_", _none),
    ("add_", _pair), ("mul_", _pair), ("copy_", lambda place: ({"name": place.chance.one(place.alike).name},)),
    ("masked_fill_", _filled), ("setitem", lambda place: (Index(_cut(place)), _number(place.chance))),
)  # fmt: skip

# What may be called of dense arrays: what needs no dimension, or the first one.
_OF_DENSE = ("neg", "relu", "square", "clone", "detach", "add", "sub", "mul", "maximum", "getitem", "cat", "unbind")
_OF_DENSE_WRITES = ("fill_", "neg_", "relu_", "add_", "mul_", "copy_", "setitem")


def proposed(chance: Chance, seen: Sequence[Seen], tape: bool, number: int) -> Call | None:
    """Return a call on one of the arrays; None where what is drawn does not fit it."""
    nested = [one for one in seen if one.is_nested and one.dtype != "bool"]
    dense = [one for one in seen if one.components is None and one.rank and one.name not in ("row", "matrix")]
    x = chance.one([*nested, nested[0], nested[-1]])  # so that results go into calls, and what they are of is written
    if dense and chance.happens(0.25):
        x = chance.one([*dense, dense[-1]])
    writes = not x.recorded and chance.happens(0.3 if tape else 0.45)
    fits = None if x.is_nested else _OF_DENSE_WRITES if writes else _OF_DENSE
    calls = [one for one in (_WRITES if writes else _CALLS) if fits is None or one[0] in fits]
    op, draw = chance.one(calls)
    rest = draw(_Place(chance, x, seen, tape))
    if rest is None:
        return None
    if writes and {one.name for one in seen if one.recorded} & set(_names(rest)):
        return None  # what is written would be recorded where it is written, or refused
    args = [_written(one) for one in (rest if op == "cat" else ({"name": x.name}, *rest))]
    count = 0 if writes else _count(op, x, rest)
    outs = (f"r{number}",) if op not in _LISTS else tuple(f"r{number}_{place}" for place in range(count))
    return Call(op, tuple(args), outs=() if writes else outs)


def _names(values: Any) -> list[str]:
    return [one["name"] for one in values if isinstance(one, dict) and "name" in one]


def _written(value: Any) -> Any:
    """Return an argument in the words of programs."""
    if isinstance(value, list):
        return {"list": [{"name": one} for one in value]}
    return value if isinstance(value, dict) else encode_value(value)
