"""The entries of `pynested.autograd.rules.pairs` on nested and dense arrays; `pairs.pyi` lists them.

What holds for every operator here:

An operand is a nested array, a dense one (an `Array` or NumPy's) or a number. A dense operand is aligned at the right
against the shape ``(B, d1, ..., dk)`` of the nested one; nested operands have equal shapes by value, up to regular
dimensions of size 1 (clauses BROADCASTING-1 to BROADCASTING-10). With a nested operand the result is nested, in the
layout of the first one; without, it is dense. dtypes promote as in NumPy, and Python numbers are weak (DTYPES-1 to
DTYPES-7). An empty component stays empty. Nothing warns.

StructureError: nested operands of different lengths, ranks or numbers of components. ShapeError: a dense operand that
does not broadcast. DTypeError: an unsupported dtype. DeviceError: operands on different devices.

A gradient is summed over the elements that its operand was broadcast to; bools and integers have none.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.canonical import operand
from pynested.autograd.array import raw
from pynested.autograd.numbers import refused_operand, scalar
from pynested.autograd.rules.kinds import same_device
from pynested.autograd.rules.pair_verbs import met
from pynested.autograd.rules.pairs import PAIRS, RULES, Pair
from pynested.autograd.rules.rule import bound
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DivisionByZero, DTypeError
from pynested.components.extending import map_components
from pynested.components.mapping import elementwise
from pynested.nested.array import NestedArray
from pynested.nested.operands import Joined, Operand

from .operands import paired

__all__ = list(PAIRS)


def _function(entry: Pair) -> Callable[[Operand, Operand], Joined]:
    def function(self: Operand, other: Operand) -> Joined:
        if type(self) is NestedArray or type(other) is NestedArray:
            try:
                return elementwise(name, of_dense, self, other)
            except (ArgumentError, DivisionByZero):
                _name_component(name, of_dense, self, other)
                raise
        return of_dense(self, other)

    name, of_dense = entry.name, _of_dense(entry)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = entry.documentation
    return function


def _of_dense(entry: Pair) -> Callable[[Any, Any], Array]:
    name, checks = entry.name, bool(entry.refused)
    compute: Callable[[Any, Any], Array] = RULES[name] if name in RULES else _computed(entry)

    def of_dense(self: Any, other: Any) -> Array:
        a, b = paired(name, self, other)
        if checks:
            _checked(entry, a, b)
        return compute(a, b)

    return of_dense


def _computed(entry: Pair) -> Callable[[Any, Any], Array]:
    """What has no gradient."""

    def compute(a: Any, b: Any) -> Array:
        device = same_device(entry.name, (a, b))
        try:
            return Array(bound(entry.computed, device)(raw(a), raw(b)), device)
        except OverflowError:
            raise refused_operand(entry.name, a, b) from None

    return compute


def _checked(entry: Pair, a: Any, b: Any) -> None:
    """Refuse dtypes that the operator does not take, and integers that it has no value for."""
    dtype = met(a, b)
    if is_float(dtype):
        if "f" in entry.refused:
            raise DTypeError(
                f"{entry.name}: takes bools and integers, not {dtype}. Compare first, or convert: x.to(pn.int64)."
            )
    elif "i" in entry.refused:
        raise DTypeError(f"{entry.name}: takes floats, not {dtype}. Convert one of them first: x.to(pn.float64).")
    elif dtype.kind in entry.refused:
        raise DTypeError(f"{entry.name}: takes numbers, not bools. Convert one of them first: x.to(pn.int8).")
    elif entry.check is not None and 0 not in getattr(a, "shape", ()):
        for number in (x for x in (a, b) if type(x) is int):
            scalar(entry.name, number, dtype)  # which holds it: that comes first
        entry.check(entry.name, a, b)


def _name_component(name: str, of_dense: Callable[[Any, Any], Array], *operands: Operand) -> None:
    """Raise what a component is refused for, with its number."""
    numbers = count()

    def of_component(a: Any, b: Any) -> Array:
        number = next(numbers)
        try:
            return of_dense(a, b)
        except (ArgumentError, DivisionByZero) as error:
            raise type(error)(str(error).replace(name, f"{name}: component {number}", 1)) from None

    given = [x if type(x) is NestedArray else operand(name, x) for x in operands]
    with no_grad():
        map_components(of_component, *given)


globals().update((name, _function(entry)) for name, entry in PAIRS.items())
