"""Operands of functions of one element and of two: those that a function takes, in the form that rules take."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, operands
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.backends.errors import DTypeError
from pynested.components.mapping import elementwise
from pynested.nested.array import NestedArray
from pynested.nested.operands import Kind

BOOLS, INTEGERS = "b", "iu"  # kinds of dtype that an operator may refuse


def paired(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, at least one of them an Array, whose shapes broadcast."""
    if type(a) is not Array or type(b) is not Array:
        a, b = operands(name, a, b)
        if type(a) is not Array and type(b) is not Array:
            return as_array(name, a), b
    if type(a) is Array and type(b) is Array and a._bare.shape != b._bare.shape:
        broadcast_shape(name, a._bare.shape, b._bare.shape)
    return a, b


def taking(name: str, rule: Callable[[Array], Array], refused: str = "") -> Callable[[Kind], Kind]:
    """The function of one operand, nested or dense, that a rule computes; kinds of dtype may be refused."""

    def function(given: Any) -> Any:
        nested = type(given) is NestedArray
        x = given._buffer if nested else given if type(given) is Array else as_array(name, given)
        if refused and x.dtype.kind in refused:
            taken = "floating point" if INTEGERS in refused else "numbers"
            raise DTypeError(f"{name}: takes {taken}, not {x.dtype}. Convert the array first: x.to(pn.float64).")
        return elementwise(name, rule, given) if nested else rule(x)

    return function
