"""The signature of functions of two elements, for type checkers: a nested operand gives a nested result."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol, overload

from pynested.autograd import Array
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import DenseLike, Operand


class FunctionOfTwo(Protocol):
    """A function of two operands that broadcast, without options."""

    @overload
    def __call__(this, self: DenseLike, other: DenseLike) -> Array: ...
    @overload
    def __call__(this, self: NestedArray, other: Operand) -> NestedArray: ...
    @overload
    def __call__(this, self: Operand, other: NestedArray) -> NestedArray: ...


def of_two_operands(function: Callable[..., Any]) -> FunctionOfTwo:
    """Give a function the type `FunctionOfTwo`, and return the function itself."""
    return function
