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

from pynested.autograd import Array, dense, no_grad
from pynested.autograd.rules.pairs import PAIRS
from pynested.backends.errors import ArgumentError, DivisionByZero
from pynested.components.extending import map_components
from pynested.components.mapping import elementwise
from pynested.nested.array import NestedArray
from pynested.nested.operands import Joined, Operand

__all__ = list(PAIRS)


def _function(name: str) -> Callable[[Operand, Operand], Joined]:
    def function(self: Operand, other: Operand) -> Joined:
        if type(self) is NestedArray or type(other) is NestedArray:
            try:
                return elementwise(name, of_dense, self, other)
            except (ArgumentError, DivisionByZero):
                _name_component(name, of_dense, self, other)
                raise
        return of_dense(self, other)

    of_dense = getattr(dense, name)
    function.__name__ = function.__qualname__ = name
    function.__doc__ = of_dense.__doc__
    return function


def _name_component(name: str, of_dense: Callable[[Any, Any], Array], *operands: Operand) -> None:
    """Raise what a component is refused for, with its number."""
    numbers = count()

    def of_component(a: Any, b: Any) -> Array:
        number = next(numbers)
        try:
            return of_dense(a, b)
        except (ArgumentError, DivisionByZero) as error:
            raise type(error)(str(error).replace(name, f"{name}: component {number}", 1)) from None

    with no_grad():
        map_components(of_component, *operands)


globals().update((name, _function(name)) for name in PAIRS)
