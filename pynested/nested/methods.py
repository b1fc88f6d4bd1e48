"""The methods of a nested array: operators, which are functions of `pynested.operators`, and what is made of them.

A function whose first parameter is ``self`` is a method as it is. This module holds the special methods, and those
whose parameters are others than the function's.
"""

# ruff: noqa: D102, E501, E704
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pynested import operators as ops
from pynested.autograd import Array
from pynested.autograd.dense.comparison import inverted
from pynested.autograd.dense.elementwise import refuse_list
from pynested.autograd.dense.shapes import several
from pynested.operators.writing import assign, write

from .array import NestedArray
from .operands import DType, Index

if TYPE_CHECKING:
    from .operator_methods import OperatorMethods
else:
    OperatorMethods = object  # the functions of `operators`; a stub lists them

_OPERANDS = (NestedArray, Array, int, float, bool, complex, np.ndarray, np.generic)  # the most frequent ones first


def binary(function: Callable[..., Any], a: Any, b: Any) -> Any:
    """``function`` as Python's infix operators need it: NotImplemented for operands of another class."""
    for x in (a, b):
        if not isinstance(x, _OPERANDS):
            refuse_list(function.__name__, x)
            return NotImplemented
    return function(a, b)


def _shape(given: tuple[Any, ...]) -> Any:
    """A shape that is given as ``(2, 3)`` or as ``2, 3``."""
    return given[0] if len(given) == 1 and several(given[0]) else given


class Methods(OperatorMethods):
    """What is written in terms of `NestedArray`."""

    __slots__ = ()

    # fmt: off
    def __neg__(self: Any) -> NestedArray: return ops.neg(self)
    def __pos__(self: Any) -> NestedArray: return ops.clone(self)
    def __abs__(self: Any) -> NestedArray: return ops.abs(self)
    def __round__(self: Any) -> NestedArray: return ops.round(self)
    def __invert__(self) -> NestedArray: return inverted(self, ops.logical_not)
    def __getitem__(self: Any, index: Index) -> NestedArray | Array: return ops.getitem(self, index)
    def __setitem__(self: Any, index: Any, value: Any) -> None: assign(self, index, value)
    def permute(self: Any, *dims: Any) -> NestedArray: return ops.permute(self, _shape(dims))
    def reshape(self: Any, *shape: Any) -> NestedArray: return ops.reshape(self, _shape(shape))
    def view(self: Any, *shape: Any) -> NestedArray: return ops.view(self, _shape(shape))
    def narrow(self: Any, dim: int, start: int, length: int) -> NestedArray: return ops.narrow(self, dim, start, length)
    def to_padded_array(self: Any, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None) -> Array: return ops.to_padded_array(self, padding, output_size, out)
    def copy_(self, source: Any) -> Self: return write(self, "copy", source)
    def fill_(self, value: Any) -> Self: return write(self, "fill", value)
    def zero_(self) -> Self: return write(self, "zero", 0)
    # fmt: on

    def astype(self: Any, dtype: DType) -> NestedArray:
        """A copy in another dtype: NumPy's name for ``to(dtype=dtype)``, which copies only where something changes."""
        made: NestedArray = ops.to(self, dtype=dtype)
        return ops.clone(made) if made.data.storage is self.data.storage else made

    def tolist(self: Any) -> list[Any]:
        """The components as lists of Python's numbers, one list for each; `pn.nested_array` takes them back."""
        return [component.tolist() for component in self.detach().unbind()]
