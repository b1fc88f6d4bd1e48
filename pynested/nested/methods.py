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
from .operands import DType, Index, Operand

if TYPE_CHECKING:
    from .operator_methods import OperatorMethods
else:
    OperatorMethods = object  # the functions of `operators`; a stub lists them

_OPERANDS = (Array, int, float, bool, complex, np.ndarray, np.generic, NestedArray)


def _binary(function: Callable[..., Any], a: Any, b: Any) -> Any:
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
    def __add__(self, other: Operand) -> NestedArray: return _binary(ops.add, self, other)
    def __radd__(self, other: Operand) -> NestedArray: return _binary(ops.add, other, self)
    def __sub__(self, other: Operand) -> NestedArray: return _binary(ops.sub, self, other)
    def __rsub__(self, other: Operand) -> NestedArray: return _binary(ops.sub, other, self)
    def __mul__(self, other: Operand) -> NestedArray: return _binary(ops.mul, self, other)
    def __rmul__(self, other: Operand) -> NestedArray: return _binary(ops.mul, other, self)
    def __truediv__(self, other: Operand) -> NestedArray: return _binary(ops.div, self, other)
    def __rtruediv__(self, other: Operand) -> NestedArray: return _binary(ops.div, other, self)
    def __pow__(self, other: Operand) -> NestedArray: return _binary(ops.pow, self, other)
    def __rpow__(self, other: Operand) -> NestedArray: return _binary(ops.pow, other, self)
    def __floordiv__(self, other: Operand) -> NestedArray: return _binary(ops.floor_divide, self, other)
    def __rfloordiv__(self, other: Operand) -> NestedArray: return _binary(ops.floor_divide, other, self)
    def __mod__(self, other: Operand) -> NestedArray: return _binary(ops.remainder, self, other)
    def __rmod__(self, other: Operand) -> NestedArray: return _binary(ops.remainder, other, self)
    def __and__(self, other: Operand) -> NestedArray: return _binary(ops.bitwise_and, self, other)
    def __rand__(self, other: Operand) -> NestedArray: return _binary(ops.bitwise_and, other, self)
    def __or__(self, other: Operand) -> NestedArray: return _binary(ops.bitwise_or, self, other)
    def __ror__(self, other: Operand) -> NestedArray: return _binary(ops.bitwise_or, other, self)
    def __xor__(self, other: Operand) -> NestedArray: return _binary(ops.bitwise_xor, self, other)
    def __rxor__(self, other: Operand) -> NestedArray: return _binary(ops.bitwise_xor, other, self)
    def __matmul__(self, other: Operand) -> NestedArray | Array: return _binary(ops.matmul, self, other)
    def __rmatmul__(self, other: Operand) -> NestedArray | Array: return _binary(ops.matmul, other, self)
    def __neg__(self: Any) -> NestedArray: return ops.neg(self)
    def __pos__(self: Any) -> NestedArray: return ops.clone(self)
    def __abs__(self: Any) -> NestedArray: return ops.abs(self)
    def __round__(self: Any) -> NestedArray: return ops.round(self)
    def __invert__(self) -> NestedArray: return inverted(self, ops.logical_not)
    def __eq__(self, other: object) -> NestedArray: return _binary(ops.eq, self, other)  # type: ignore[override]
    def __ne__(self, other: object) -> NestedArray: return _binary(ops.ne, self, other)  # type: ignore[override]
    def __lt__(self, other: Operand) -> NestedArray: return _binary(ops.lt, self, other)
    def __gt__(self, other: Operand) -> NestedArray: return _binary(ops.gt, self, other)
    def __le__(self, other: Operand) -> NestedArray: return _binary(ops.le, self, other)
    def __ge__(self, other: Operand) -> NestedArray: return _binary(ops.ge, self, other)
    def __getitem__(self: Any, index: Index) -> NestedArray | Array: return ops.getitem(self, index)
    def __setitem__(self: Any, index: Any, value: Any) -> None: assign(self, index, value)
    def __iadd__(self, other: Operand) -> Self: return self.add_(other)
    def __isub__(self, other: Operand) -> Self: return self.sub_(other)
    def __imul__(self, other: Operand) -> Self: return self.mul_(other)
    def __itruediv__(self, other: Operand) -> Self: return self.div_(other)
    def __ipow__(self, other: Operand) -> Self: return self.pow_(other)
    def __ifloordiv__(self, other: Operand) -> Self: return self.floor_divide_(other)
    def __imod__(self, other: Operand) -> Self: return self.remainder_(other)
    def __iand__(self, other: Operand) -> Self: return self.bitwise_and_(other)
    def __ior__(self, other: Operand) -> Self: return self.bitwise_or_(other)
    def __ixor__(self, other: Operand) -> Self: return self.bitwise_xor_(other)
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
