"""Application of a primitive, of one element or of two, to dense and nested operands of an elementwise operator.

The formulas are in `pynested.autograd.primitives`: `unary` for one element, `binary` for two. The functions here
convert the operands, refuse dtypes, and name the component in error messages.
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import count
from typing import Any

import numpy as np

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.operands import as_array, as_operand, as_operand_pair
from pynested.autograd.arguments.scalars import checked_scalar
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import raw
from pynested.autograd.primitives.binary import common_dtype, is_number
from pynested.autograd.primitives.primitive import Primitive
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DivisionByZero, DTypeError
from pynested.lifting.mapping import map_components, map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, ArrayT, Operand

Check = Callable[[str, Any, Any], None]  # takes the name of an operator and two operands, raises if they are refused

# Kinds of dtype, as in NumPy's `dtype.kind`, that an operator refuses.
NO_BOOLS, NO_FLOATS, ONLY_FLOATS = "b", "f", "biu"


def apply_primitive(primitive: Primitive, self: ArrayT, refused: str = "") -> ArrayT:
    """Apply a primitive to each element of an operand; raise for a dtype whose kind is in ``refused``."""
    name = primitive.public
    x: Any = self._buffer if type(self) is NestedArray else self
    x = x if type(x) is Array else as_array(name, x)
    if refused and x.dtype.kind in refused:
        accepted = "floating point" if refused == ONLY_FLOATS else "numbers"
        raise DTypeError(f"{name}: takes {accepted}, not {x.dtype}. Convert the array first: x.to(pn.float64).")
    result: Any = map_elementwise(name, primitive, self) if type(self) is NestedArray else primitive(x)
    return result  # type: ignore[no-any-return]


def apply_pair(
    primitive: Primitive, self: Operand, other: Operand, refused: str = "", check: Check | None = None
) -> ArrayResult:
    """Apply a primitive to each pair of elements; ``refused`` are kinds of dtype, ``check`` refuses some integers."""
    name = primitive.public

    def checked_primitive(a: Any, b: Any) -> Array:
        _check_pair(name, refused, check, a, b)
        return primitive(a, b)  # type: ignore[no-any-return]

    function = checked_primitive if refused or check else primitive
    if type(self) is not NestedArray and type(other) is not NestedArray:
        return function(*paired_operands(name, self, other))
    try:
        return map_elementwise(name, function, self, other)
    except (ArgumentError, DivisionByZero):
        _raise_for_component(name, function, self, other)
        raise


def paired_operands(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two dense operands; raise unless their shapes broadcast. At least one of the results is an Array."""
    if type(a) is not Array or type(b) is not Array:
        a, b = as_operand_pair(name, a, b)
        if type(a) is not Array and type(b) is not Array:
            return as_array(name, a), b
    if type(a) is Array and type(b) is Array and a._raw.shape != b._raw.shape:
        broadcast_shape(name, a._raw.shape, b._raw.shape)
    return a, b


def _check_pair(name: str, refused: str, check: Check | None, a: Any, b: Any) -> None:
    """Raise for dtypes that the operator does not support, and for integers whose result is undefined."""
    dtype = common_dtype(a, b)
    if is_float(dtype):
        if refused == NO_FLOATS:
            raise DTypeError(
                f"{name}: takes bools and integers, not {dtype}. Compare, as x > 0, or convert: x.to(pn.int64)."
            )
    elif refused == ONLY_FLOATS:
        raise DTypeError(f"{name}: takes floats, not {dtype}. Convert one of them first: x.to(pn.float64).")
    elif dtype.kind in refused:
        raise DTypeError(f"{name}: takes numbers, not bools. Convert one of them first: x.to(pn.int8).")
    elif check is not None and 0 not in getattr(a, "shape", ()):
        for number in (x for x in (a, b) if type(x) is int):
            checked_scalar(name, number, dtype)  # a number that the dtype cannot represent is refused first
        check(name, a, b)


def refuse_zeros(name: str, a: Any, b: Any) -> None:
    """Raise DivisionByZero if a divisor is 0, as integers have no infinity."""
    is_zero = np.asarray(b == 0) if is_number(b) else raw(b) == 0
    if is_zero.any():
        divisor = f"by the divisor 0{_position_of_first(is_zero)}" if is_zero.ndim else "by 0"
        raise DivisionByZero(
            f"{name}: an integer is divided {divisor}. Convert to floats, x.to(pn.float64), whose "
            "quotients can be infinite or NaN, or put another divisor there with pn.where."
        )


def refuse_negative(name: str, a: Any, b: Any) -> None:
    """Raise ArgumentError if an exponent is negative, as the power of an integer would not be an integer."""
    is_negative = np.asarray(b < 0) if is_number(b) else raw(b) < 0
    if is_negative.any():
        raise ArgumentError(
            f"{name}: the exponent{_position_of_first(is_negative)} is negative, and a negative power of an integer is "
            "no integer. Take the power of floats: x.to(pn.float64)."
        )


def _position_of_first(mask: Any) -> str:
    """Return the index of the first True in C order, for an error message; nothing for a mask without dimensions."""
    index = [int(k) for k in np.unravel_index(mask.reshape(-1).tolist().index(True), mask.shape)]
    return f" at {index}" if index else ""


def _raise_for_component(name: str, function: Callable[[Any, Any], Array], *operands: Operand) -> None:
    """Compute the components in their order, and raise the first error with the number of its component."""
    component_numbers = count()

    def function_of_component(a: Any, b: Any) -> Array:
        number = next(component_numbers)
        try:
            return function(a, b)
        except (ArgumentError, DivisionByZero) as error:
            raise type(error)(str(error).replace(name, f"{name}: component {number}", 1)) from None

    arrays = [x if type(x) is NestedArray else as_operand(name, x) for x in operands]
    with no_grad():
        map_components(function_of_component, *arrays)
