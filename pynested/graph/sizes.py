"""Sizes as a traced function sees them: numbers that know where they come from.

What is reckoned with them is recorded, so that a replay on other arrays reckons anew. Where the function must know such
a number itself, as in ``if n > 3`` or ``range(n)``, the graph holds for those arrays only that answer alike, and says
so.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from pynested.structure.sizes import RaggedSize

Record = Callable[..., Any]  # (function, *operands) -> the result, as the traced function gets it
_NUMBERS = (int, float)


class Size:
    """A number of Python's that was read off an array, or reckoned from such."""

    __slots__ = ("fixed", "number", "record")

    def __init__(self, number: float, record: Record, fixed: Record) -> None:
        self.number, self.record, self.fixed = number, record, fixed

    @property  # type: ignore[misc]
    def __class__(self) -> type:
        """What `isinstance` asks: an int, or a float."""
        return type(self.number)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        """What NumPy makes of it: the number alone."""
        return np.asarray(self.fixed(operator.pos, self), dtype)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.fixed(operator.pos, self), name)


class Ragged(RaggedSize):
    """The sizes along a ragged dimension; that two of them are equal, or are not, is what the graph is made for."""

    __slots__ = ("fixed", "real")

    def __init__(self, real: RaggedSize, fixed: Record) -> None:
        self.real, self.fixed = real, fixed

    def __eq__(self, other: object) -> bool:
        return bool(self.fixed(operator.eq, self, other)) if isinstance(other, RaggedSize) else False

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> NoReturn:
        raise self.fixed("hash")

    def __repr__(self) -> str:
        return repr(self.real)

    @property
    def lengths(self) -> NoReturn:  # type: ignore[override]
        """NumPy values, which a graph does not follow."""
        raise self.fixed("RaggedSize.lengths")

    @property
    def number(self) -> NoReturn:
        """The number in the name, which is another one in another process."""
        raise self.fixed("RaggedSize.number")


def is_size(thing: Any) -> bool:
    """Whether it is one of ours; `isinstance` would ask what it passes for."""
    return type(thing) is Size


def _recorded(function: Callable[..., Any], reflected: bool) -> Callable[..., Any]:
    def method(self: Size, other: Any) -> Any:
        if not isinstance(other, _NUMBERS):
            return NotImplemented
        return self.record(function, other, self) if reflected else self.record(function, self, other)

    return method


def _decided(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: Size, other: Any) -> Any:
        return self.fixed(function, self, other) if isinstance(other, _NUMBERS) else NotImplemented

    return method


def _alone(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self: self.record(function, self)


def _given(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function for which Python wants a number of its own."""
    return lambda self, *options: function(self.fixed(operator.pos, self), *options)


for _name in ("add", "sub", "mul", "floordiv", "mod", "truediv", "pow"):
    setattr(Size, f"__{_name}__", _recorded(getattr(operator, _name), False))
    setattr(Size, f"__r{_name}__", _recorded(getattr(operator, _name), True))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(Size, f"__{_name}__", _decided(getattr(operator, _name)))
for _name in ("neg", "pos", "abs"):
    setattr(Size, f"__{_name}__", _alone(getattr(operator, _name)))
_WANTED: dict[str, Callable[..., Any]] = {
    "index": operator.index, "int": int, "float": float, "hash": hash, "str": str, "repr": repr, "format": format,
    "round": round, "trunc": math.trunc, "floor": math.floor, "ceil": math.ceil, "divmod": divmod,
}  # fmt: skip
for _name, _function in _WANTED.items():
    setattr(Size, f"__{_name}__", _given(_function))
Size.__bool__ = lambda self: self.fixed(bool, self)  # type: ignore[attr-defined]
