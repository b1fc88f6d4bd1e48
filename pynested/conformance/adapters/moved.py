"""Forward mode held against the gradient: both say how a result moves along a tangent of the operands.

The one is multiplied by the cotangent, the other by the tangent; the two sums are equal. They are compared only where
numbers are so plain that nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np

from pynested.spec.components import is_several, of_parts, parts_of
from pynested.spec.encoding import Components

from ..placements import Array
from .values import Operand, Plain, each_array

_WRONG = "along a tangent the result moves by {} in all by forward mode, and by {} by the gradient"
_NOTHING: Mapping[int, Any] = MappingProxyType({})

Call = Callable[[Sequence[Any], Mapping[str, Any]], Any]


@dataclass(frozen=True)
class Moved:
    """A call whose operands move: its arguments, and of each that is tracked what was built, value and gradient."""

    args: Sequence[Any]
    kwargs: Mapping[str, Any]
    wrt: Sequence[tuple[Any, Any, Any]]

    @property
    def tracked(self) -> list[tuple[Operand, Any, Any]]:
        """Each operand that has a gradient, those in lists and mappings one by one."""
        return [one for trio in self.wrt for one in _tracked(*trio)]

    @property
    def tangents(self) -> list[Plain]:
        """Small whole numbers for each operand, of which few are 0."""
        return [each_array(_tangent, value) for _, value, _ in self.tracked]

    def is_plain(self, cotangent: Any) -> bool:
        """Return whether operands, gradients and cotangent are plain."""
        return _is_plain(*_list(cotangent), *(part for _, *both in self.tracked for part in both))

    def question(self, call: Call) -> tuple[Callable[..., Any], list[Operand], list[Plain]]:
        """Return the call as a function of its tracked operands, these, and their tangents."""
        operands = [one for one, _, _ in self.tracked]

        def moving(*values: Any) -> Any:
            instead = {id(operand): value for operand, value in zip(operands, values, strict=True)}
            args = [in_call(one, instead) for one in self.args]
            return call(args, {name: in_call(one, instead) for name, one in self.kwargs.items()})

        return moving, operands, self.tangents

    def disagreement(self, pushed: Any, cotangent: Any) -> str:
        """Return in what forward mode, where there is one, differs from the gradient; nothing where it does not."""
        if pushed is None or not _is_plain(*_list(pushed)):
            return ""
        came = sum(map(_product, _list(pushed), _list(cotangent)))
        due = sum(map(_product, (gradient for _, _, gradient in self.tracked), self.tangents))
        return "" if came == due else _WRONG.format(came, due)


def arguments(args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[int | str, Any]:
    """Return the arguments of a call by position and keyword."""
    found: dict[int | str, Any] = dict(enumerate(args))
    return found | dict(kwargs)


def in_call(built: Any, instead: Mapping[int, Any] = _NOTHING) -> Any:
    """Return what is handed to a call; for some operands another value is given `instead`."""
    if is_several(built):
        return of_parts(built, [in_call(one, instead) for one in parts_of(built)])
    return instead.get(id(built), built.value) if isinstance(built, Operand) else built


def _tracked(built: Any, value: Any, gradient: Any) -> list[tuple[Operand, Any, Any]]:
    """Return each operand that has a gradient, with its value and with the gradient."""
    if is_several(built):
        found = parts_of(gradient) if is_several(gradient) else [None] * len(built)
        return [one for trio in zip(parts_of(built), parts_of(value), found, strict=True) for one in _tracked(*trio)]
    return [(built, value, gradient)] if isinstance(built, Operand) and value.dtype.kind == "f" else []


def _list(value: Any) -> list[Any]:
    return value if is_several(value) else [value]


def _tangent(array: Array) -> Array:
    return np.resize(np.array([1, -2, 3, 0, 2], array.dtype), array.shape)


def _is_plain(*values: Any) -> bool:
    """Return whether nothing is rounded where such numbers are added and multiplied: they are small, and whole but 1/4.

    None stands for zeros. Numbers of 16 bits are not plain, for what is rounded to them may look like that.
    """
    parts = [np.asarray(part) for value in values if value is not None for part in _parts(value)]
    return all(
        part.dtype.itemsize > 2 and np.all(np.abs(part) < 1024) and np.array_equal(4 * part, np.rint(4 * part))
        for part in parts
    )


def _product(first: Any, second: Any) -> float:
    """Return the sum of the products of the numbers of two values; None stands for zeros."""
    if first is None:
        return 0.0
    x, y = (np.concatenate([np.zeros(0), *(part.ravel() for part in _parts(one))]) for one in (first, second))
    return float(x @ y)


def _parts(value: Any) -> list[Array]:
    return list(value) if isinstance(value, Components) else [value]
