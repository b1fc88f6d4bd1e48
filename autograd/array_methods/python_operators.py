"""Python's operators, indexing and NumPy's protocols, as methods of dense and nested arrays."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from pynested.backends.errors import ArgumentError, DTypeError, named_type

from .in_place import InPlaceMethods
from .math_methods import MathMethods
from .shape_methods import ShapeMethods

if TYPE_CHECKING:
    from pynested.autograd.array import Array
    from pynested.nested.operands import Index, Operand


class PythonOperators(InPlaceMethods):
    """Special methods, which call public functions. Assignments such as `+=` call methods such as `add_`."""

    __slots__ = ()
    dtype: Any

    __array_priority__ = 100.0  # so that NumPy's matrices and masked arrays call these methods
    __hash__ = object.__hash__  # by identity, so that an array can be a key, although == compares elements

    def __add__(self, other: Operand) -> Self:
        return self._functions.add(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __radd__(self, other: Operand) -> Self:
        return self._functions.add(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __sub__(self, other: Operand) -> Self:
        return self._functions.sub(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rsub__(self, other: Operand) -> Self:
        return self._functions.sub(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __mul__(self, other: Operand) -> Self:
        return self._functions.mul(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rmul__(self, other: Operand) -> Self:
        return self._functions.mul(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __truediv__(self, other: Operand) -> Self:
        return self._functions.div(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rtruediv__(self, other: Operand) -> Self:
        return self._functions.div(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __matmul__(self, other: Operand) -> Self | Array:
        return self._functions.matmul(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rmatmul__(self, other: Operand) -> Self | Array:
        return self._functions.matmul(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __pow__(self, other: Operand) -> Self:
        return self._functions.pow(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rpow__(self, other: Operand) -> Self:
        return self._functions.pow(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __floordiv__(self, other: Operand) -> Self:
        return self._functions.floor_divide(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rfloordiv__(self, other: Operand) -> Self:
        return self._functions.floor_divide(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __mod__(self, other: Operand) -> Self:
        return self._functions.remainder(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rmod__(self, other: Operand) -> Self:
        return self._functions.remainder(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __and__(self, other: Operand) -> Self:
        return self._functions.bitwise_and(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rand__(self, other: Operand) -> Self:
        return self._functions.bitwise_and(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __or__(self, other: Operand) -> Self:
        return self._functions.bitwise_or(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __ror__(self, other: Operand) -> Self:
        return self._functions.bitwise_or(other, self) if isinstance(other, OPERANDS) else NotImplemented

    def __xor__(self, other: Operand) -> Self:
        return self._functions.bitwise_xor(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __rxor__(self, other: Operand) -> Self:
        return self._functions.bitwise_xor(other, self) if isinstance(other, OPERANDS) else NotImplemented

    __abs__ = MathMethods.abs
    __neg__ = MathMethods.neg
    __pos__ = ShapeMethods.clone

    def __iadd__(self, other: Operand) -> Self:
        return self.add_(other)

    def __isub__(self, other: Operand) -> Self:
        return self.sub_(other)

    def __imul__(self, other: Operand) -> Self:
        return self.mul_(other)

    def __itruediv__(self, other: Operand) -> Self:
        return self.div_(other)

    def __ipow__(self, other: Operand) -> Self:
        return self.pow_(other)

    def __ifloordiv__(self, other: Operand) -> Self:
        return self.floor_divide_(other)

    def __imod__(self, other: Operand) -> Self:
        return self.remainder_(other)

    def __iand__(self, other: Operand) -> Self:
        return self.bitwise_and_(other)

    def __ior__(self, other: Operand) -> Self:
        return self.bitwise_or_(other)

    def __ixor__(self, other: Operand) -> Self:
        return self.bitwise_xor_(other)

    def __eq__(self, other: object) -> Self:  # type: ignore[override]
        return self._functions.eq(self, other) if _is_comparable("eq", other) else NotImplemented

    def __ne__(self, other: object) -> Self:  # type: ignore[override]
        return self._functions.ne(self, other) if _is_comparable("ne", other) else NotImplemented

    def __lt__(self, other: Operand) -> Self:
        return self._functions.lt(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __gt__(self, other: Operand) -> Self:
        return self._functions.gt(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __le__(self, other: Operand) -> Self:
        return self._functions.le(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __ge__(self, other: Operand) -> Self:
        return self._functions.ge(self, other) if isinstance(other, OPERANDS) else NotImplemented

    def __invert__(self) -> Self:
        """Return the negation of an array of bools; other dtypes are refused."""
        if self.dtype != np.bool_:
            raise DTypeError(
                f"~: only bool arrays can be inverted, not {self.dtype}. Use logical_not(x), which is x == 0."
            )
        return self._functions.logical_not(self)

    def __getitem__(self, index: Index) -> Self | Array:
        return self._functions.getitem(self, index)

    def __setitem__(self, index: Index, value: Any) -> None:
        self._functions.setitem(self, index, value)

    def __contains__(self, value: Any) -> bool:
        return bool(self._functions.any(self._functions.eq(self, value)))

    def __iter__(self) -> Iterator[Array]:
        return iter(self._functions.unbind(self))

    def __array_ufunc__(self, ufunc: np.ufunc, method: str, *inputs: Any, **options: Any) -> Any:
        return self._functions.call_ufunc(ufunc, method, inputs, options)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return self._functions.call_function(function, types, args, kwargs)


# The classes of operands. For any other class a method returns NotImplemented, and Python tries that class.
OPERANDS = (PythonOperators, int, float, complex, np.generic, np.ndarray)


def _is_comparable(name: str, value: object) -> bool:
    """Return whether == and != can compare elements with ``value``; raise for a list, which would count as unequal."""
    if isinstance(value, list | tuple):
        raise ArgumentError(
            f"{name}: {named_type(value)} is no array. Convert it: pn.array(values), or pn.nested_array(values)."
        )
    return isinstance(value, OPERANDS)
