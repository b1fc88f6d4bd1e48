"""What the values of a graph are, in words: shapes with ragged sizes ``j1``, one name for those known to be equal."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from pynested.autograd import Array
from pynested.autograd.array_methods import ArrayMethods as AnyArray
from pynested.nested.array import NestedArray
from pynested.structure import Jagged

from .nodes import Fact, Node

_MEETING = frozenset({
    "add", "sub", "mul", "div", "maximum", "minimum", "pow", "where", "clamp", "eq", "ne", "lt", "le", "gt", "ge",
    "logaddexp", "remainder", "floor_divide", "masked_fill",
})  # fmt: skip


class _Names:
    """``j1``, ``j2``, … for structures; those that met in an operator are known to be equal."""

    def __init__(self) -> None:
        self.same: dict[int, int] = {}
        self.numbers: dict[int, int] = {}

    def _first(self, key: int) -> int:
        while self.same.get(key, key) != key:
            key = self.same[key]
        return key

    def meet(self, a: NestedArray, b: NestedArray) -> None:
        one, other = self._first(_key(a)), self._first(_key(b))
        if one != other:
            self.same[other] = one

    def name(self, x: NestedArray, dim: int) -> str:
        key = self._first(_key(x)) * (1 if isinstance(x.structure, Jagged) else dim + 1)
        return f"j{self.numbers.setdefault(key, len(self.numbers) + 1)}"


def _key(x: NestedArray) -> int:
    return id(x.structure.segments) if isinstance(x.structure, Jagged) else id(x.structure)


def described(things: Mapping[int, Any], nodes: Iterable[Node]) -> dict[int, str]:
    """Each value in words, by its number."""
    names = _Names()
    for node in nodes:
        if node.name in _MEETING:
            nested = [one for value in node.reads if type(one := things[value.number]) is NestedArray]
            for other in nested[1:]:
                if other.structure.ragged_dim == nested[0].structure.ragged_dim is not None:
                    names.meet(nested[0], other)
    return {number: _in_words(thing, names) for number, thing in things.items()}


def facts_of(things: Mapping[int, Any]) -> dict[int, Fact]:
    """What is known of each value, by its number."""
    return {number: _fact(thing) for number, thing in things.items()}


def _fact(x: Any) -> Fact:
    if not isinstance(x, AnyArray):
        return Fact("other")
    one: Any = x
    kind = "nested" if one.is_nested else "dense"
    rows = one.ndim > 1
    if one.is_nested:
        rows = isinstance(one.structure, Jagged) and one.structure.ragged_dim < one.ndim - 1
    return Fact(kind, str(one.dtype), one.device, one.requires_grad, one.ndim, rows)


def _in_words(thing: Any, names: _Names) -> str:
    if type(thing) is NestedArray:
        sizes = [str(len(thing))]
        sizes += [names.name(thing, dim) if size is None else str(size) for dim, size in enumerate(thing.regular)]
        return f"({', '.join(sizes)}) {thing.dtype} {str(thing.layout).rpartition('.')[2]}{_marks(thing)}"
    if type(thing) is Array:
        return f"{thing.shape} {thing.dtype}{_marks(thing)}"
    return repr(thing) if isinstance(thing, int | float) else type(thing).__name__


def _marks(x: Any) -> str:
    return (f" on {x.device}" if x.device != "cpu" else "") + (", requires grad" if x.requires_grad else "")
