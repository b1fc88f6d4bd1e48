"""Arithmetic, element by element: sums, products, quotients and powers of two operands; signs and rounding of one.

Broadcasting, dtypes, errors and gradients are as `pynested.operators.elementwise` says. Values and derivatives are
computed by `pynested.autograd.primitives`. In `add` and `sub`, ``alpha`` is a number, by which ``other`` is multiplied
first, in the promoted dtype of both operands. As in `mul`, a floating ``alpha`` makes integers float64, and an integer
``alpha`` makes bools int64. OverflowError for an ``alpha`` that an integer dtype cannot represent.
"""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, device_of
from pynested.autograd.arguments.scalars import canonical_number, checked_scalar, value_text
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, movement, unary
from pynested.autograd.primitives.primitive import common_device
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, ArrayT, DenseLike, Operand

from ..signatures import binary_signature
from .function_application import NO_BOOLS, apply_pair, apply_primitive, paired_operands, refuse_negative, refuse_zeros


def _is_bool(value: Any) -> bool:
    return value.dtype == np.bool_ if type(value) is Array else type(value) is bool


def _scaled_operand(name: str, a: Any, b: Any, alpha: Any) -> Any:
    """Return ``alpha * b`` in the promoted dtype of ``a`` and ``b``, which does not depend on ``alpha``."""
    if type(alpha) is int and alpha == 1:
        return b
    factor = canonical_number(name, "alpha", alpha)
    if type(factor) is bool:
        raise ArgumentError(f"{name}: alpha must be a number, not {factor!r}.")
    dtype = binary.common_dtype(a, b)
    if type(a) is Array and type(b) is Array:
        common_device(name, (a, b))
    elif type(b) is Array and not is_float(dtype):
        # The dtype must represent the number, even if a floating alpha widens the result.
        checked_scalar(name, a, dtype)
    elif type(b) is not Array:
        b = as_array(name, checked_scalar(name, b, np.dtype(np.float64) if is_float(dtype) else dtype), device_of(a))
    try:
        return binary.mul(movement.to_dtype(b, dtype), factor)
    except OverflowError:
        raise OverflowError(f"{name}: alpha={value_text(factor)} is out of bounds for {dtype}.") from None


def _add_scaled(a: Any, b: Any, alpha: Any) -> Any:
    return binary.add(a, _scaled_operand("add", a, b, alpha))


def _subtract_scaled(a: Any, b: Any, alpha: Any) -> Any:
    if _is_bool(a) and _is_bool(b):
        raise DTypeError("sub: bools have no difference. Use logical_xor, or convert to int8 first.")
    return binary.sub(a, _scaled_operand("sub", a, b, alpha))


@overload
def add(self: DenseLike, other: DenseLike, *, alpha: float = 1) -> Array: ...
@overload
def add(self: NestedArray, other: Operand, *, alpha: float = 1) -> NestedArray: ...
@overload
def add(self: Operand, other: NestedArray, *, alpha: float = 1) -> NestedArray: ...
@operator
def add(self: Operand, other: Operand, *, alpha: float = 1) -> ArrayResult:
    """Return ``self + alpha * other``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it, and bool + bool is ``or``. Floats are rounded once; with
    ``alpha`` they can be rounded before the addition too. ShapeError for ``(B, *, D) + (B, D)``, whose message names
    ``v[:, None, ...]``. Gradient: ``g`` for ``self``, ``alpha * g`` for ``other``. Clauses: ADD-1 to ADD-11. After
    `torch.add`.

    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.add(nt, pn.array([[10.0], [20.0]]), alpha=2).unbind()
    (array([21., 22.]), array([43.]))
    """
    function: Any = binary.add if type(alpha) is int and alpha == 1 else partial(_add_scaled, alpha=alpha)
    if type(self) is NestedArray or type(other) is NestedArray:
        return map_elementwise("add", function, self, other)
    return function(*paired_operands("add", self, other))  # type: ignore[no-any-return]


@overload
def sub(self: DenseLike, other: DenseLike, *, alpha: float = 1) -> Array: ...
@overload
def sub(self: NestedArray, other: Operand, *, alpha: float = 1) -> NestedArray: ...
@overload
def sub(self: Operand, other: NestedArray, *, alpha: float = 1) -> NestedArray: ...
@operator
def sub(self: Operand, other: Operand, *, alpha: float = 1) -> ArrayResult:
    """Return ``self - alpha * other``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it: 0 - 1 is 255 for uint8. inf - inf is NaN, x - x is +0 for
    finite x. DTypeError for bool - bool; use `logical_xor`. Gradient: ``g`` for ``self``, ``-alpha * g`` for ``other``.
    Clauses: SUB-1 to SUB-8. After `torch.sub`.

    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.sub(10, nt).unbind()
    (array([9., 8.]), array([7.]))
    """
    function = partial(_subtract_scaled, alpha=alpha)
    if type(self) is NestedArray or type(other) is NestedArray:
        return map_elementwise("sub", function, self, other)
    return function(*paired_operands("sub", self, other))  # type: ignore[no-any-return]


@operator
@binary_signature
def mul(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self * other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it, and bool * bool is ``and``. 0 * inf is NaN; a zero has the
    sign of the product of the signs. Gradient: ``g * other`` for ``self``, ``g * self`` for ``other``. Clauses: MUL-1
    to MUL-5. After `torch.mul`.

    >>> pn.mul(pn.nested_array([[1.0, 2.0], [3.0]]), 2).unbind()
    (array([2., 4.]), array([6.]))
    """
    return apply_pair(binary.mul, self, other)


@operator
@binary_signature
def div(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self / other``, the true quotient, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    Bools and integers of every width give float64; floats give the promoted dtype. x / 0 is an infinity with the sign
    of the quotient and 0 / 0 is NaN, also for integers. Gradient: ``g / b`` for ``self``, ``-g * a / b**2`` for
    ``other``. Clauses: DIV-1 to DIV-5. After `torch.div`.

    >>> pn.div(pn.nested_array([[1, 2], [0]]), 0).unbind()
    (array([inf, inf]), array([nan]))
    """
    return apply_pair(binary.div, self, other)


@operator
@binary_signature
def floor_divide(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self // other``, the quotient rounded down, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it. A float divided by 0 is an infinity or NaN, as in `div`.
    ``1.0 // 0.1`` is 9, since the float 0.1 is a little more than a tenth. DTypeError for two bools; convert one to
    int8 first. DivisionByZero for integers that are divided by 0, naming the component and the position. Gradient: 0
    for both. Clauses: FLOOR_DIVIDE-1 to FLOOR_DIVIDE-8. After `torch.floor_divide`.

    >>> pn.floor_divide(pn.nested_array([[7, -7], [6]]), 2).unbind()
    (array([ 3, -4]), array([3]))
    """
    return apply_pair(binary.floor_divide, self, other, NO_BOOLS, refuse_zeros)


@operator
@binary_signature
def remainder(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self % other``, which is 0 or has the sign of ``other``: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result is ``a - floor(a / b) * b`` in the promoted dtype, rounded once. The remainder of a float by 0, and of an
    infinity, is NaN. The remainder of a number by an infinity of the same sign is the number. DTypeError for two bools;
    convert one to int8 first. DivisionByZero for integers that are divided by 0, naming the component and the position.
    Gradient: ``g`` for ``self``, ``-g * floor(a / b)`` for ``other``. Clauses: REMAINDER-1 to REMAINDER-9. After
    `torch.remainder`.

    >>> pn.remainder(pn.nested_array([[7, -7], [6]]), 4).unbind()
    (array([3, 1]), array([2]))
    """
    return apply_pair(binary.remainder, self, other, NO_BOOLS, refuse_zeros)


@operator
@binary_signature
def pow(self: Operand, other: Operand) -> ArrayResult:
    """Return ``self ** other``, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype; integers wrap in it. x**0 and 1**x are 1, even if x is NaN. A negative number to
    a power that is not an integer is NaN, and 0 to a negative power is an infinity. DTypeError for two bools; convert
    one to int8 first. ArgumentError for integers to a negative power, naming the component and the position. Gradient:
    ``g * b * a**(b - 1)`` for ``self``, 0 if b is 0; ``g * a**b * log(a)`` for ``other``, 0 if a is 0 and b is not
    negative. Clauses: POW-1 to POW-9. After `torch.pow`.

    >>> pn.pow(pn.nested_array([[1.0, -2.0], [0.0]]), 3).unbind()
    (array([ 1., -8.]), array([0.]))
    """
    return apply_pair(binary.pow_, self, other, NO_BOOLS, refuse_negative)


@operator
@binary_signature
def maximum(self: Operand, other: Operand) -> ArrayResult:
    """Return the greater of two elements, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype, also for bools. It is NaN if an operand is NaN. Gradient: ``g`` for the greater
    operand, half of it for each if they are equal; at NaN not specified. Clauses: MAXIMUM-1 to MAXIMUM-6. After
    `torch.maximum`.

    >>> pn.maximum(pn.nested_array([[1.0, 5.0], [np.nan]]), 3.0).unbind()
    (array([3., 5.]), array([nan]))
    """
    return apply_pair(binary.maximum, self, other)


@operator
@binary_signature
def minimum(self: Operand, other: Operand) -> ArrayResult:
    """Return the smaller of two elements, element by element: ``(B, *, D), (B, *, D) -> (B, *, D)``.

    The result has the promoted dtype, also for bools. It is NaN if an operand is NaN. Gradient: ``g`` for the smaller
    operand, half of it for each if they are equal; at NaN not specified. Clauses: MINIMUM-1 to MINIMUM-6. After
    `torch.minimum`.

    >>> pn.minimum(pn.nested_array([[1.0, 5.0], [np.nan]]), 3.0).unbind()
    (array([1., 3.]), array([nan]))
    """
    return apply_pair(binary.minimum, self, other)


@operator
def neg(self: ArrayT) -> ArrayT:
    """Return ``-self``: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers wrap: -(-128) is -128 for int8, -1 is 255 for uint8. Zeros and infinities change their
    sign, NaN stays NaN. DTypeError for bools. Gradient: ``-g``. Clauses: NEG-1 to NEG-4. After `torch.neg`.

    >>> pn.neg(pn.nested_array([[0.0, 2.0], [-3.0]])).unbind()
    (array([-0., -2.]), array([3.]))
    """
    return apply_primitive(unary.neg, self, NO_BOOLS)


@operator
def abs(self: ArrayT) -> ArrayT:
    """Return the absolute value of each element: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, also for bools; the least integer of a signed dtype wraps to itself. abs(-0) is +0, NaN stays NaN.
    Gradient: ``g * sgn(x)``, which is 0 at 0; at NaN it is not specified. Clauses: ABS-1 to ABS-4. After `torch.abs`.

    >>> pn.abs(pn.nested_array([[-0.0, 2.0], [-3.0]])).unbind()
    (array([0., 2.]), array([3.]))
    """
    return apply_primitive(unary.abs_, self)


@operator
def sgn(self: ArrayT) -> ArrayT:
    """Return the sign of each element, -1, 0 or 1: ``(B, *, D) -> (B, *, D)``.

    The dtype stays. sgn(NaN) is NaN; sgn of a zero is a zero, whose sign is not specified. DTypeError for bools.
    Gradient: 0 everywhere. Clauses: SGN-1 to SGN-5. After `torch.sgn` and `numpy.sign`.

    >>> pn.sgn(pn.nested_array([[0.5, -2.0], [np.nan]])).unbind()
    (array([ 1., -1.]), array([nan]))
    """
    return apply_primitive(unary.sgn, self, NO_BOOLS)


@operator
def floor(self: ArrayT) -> ArrayT:
    """Round each element down, to the greatest integer not above it: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; floor(-0.5) is -1. NaN stays NaN. Gradient: 0 everywhere. Clauses: FLOOR-1 to FLOOR-5. After
    `torch.floor`.

    >>> pn.floor(pn.nested_array([[2.5, -0.5], [-np.inf]])).unbind()
    (array([ 2., -1.]), array([-inf]))
    """
    return apply_primitive(unary.floor, self, NO_BOOLS)


@operator
def ceil(self: ArrayT) -> ArrayT:
    """Round each element up, to the least integer not below it: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; ceil(-0.5) is -0. NaN stays NaN. Gradient: 0 everywhere. Clauses: CEIL-1 to CEIL-5. After `torch.ceil`.

    >>> pn.ceil(pn.nested_array([[2.5, -0.5], [-np.inf]])).unbind()
    (array([ 3., -0.]), array([-inf]))
    """
    return apply_primitive(unary.ceil, self, NO_BOOLS)


@operator
def round(self: ArrayT) -> ArrayT:
    """Round each element to the nearest integer, and a half to the even one: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; round(2.5) is 2, round(-0.5) is -0. NaN stays NaN. Gradient: 0 everywhere. Clauses: ROUND-1 to ROUND-5.
    After `torch.round`.

    >>> pn.round(pn.nested_array([[2.5, -0.5], [-1.6]])).unbind()
    (array([ 2., -0.]), array([-2.]))
    """
    return apply_primitive(unary.round_, self, NO_BOOLS)


@operator
def trunc(self: ArrayT) -> ArrayT:
    """Round each element towards 0: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers stay as they are; DTypeError for bools. Zeros, whole numbers and infinities stay as
    they are; trunc(-0.5) is -0. NaN stays NaN. Gradient: 0 everywhere. Clauses: TRUNC-1 to TRUNC-5. After
    `torch.trunc`.

    >>> pn.trunc(pn.nested_array([[2.5, -0.5], [-1.6]])).unbind()
    (array([ 2., -0.]), array([-1.]))
    """
    return apply_primitive(unary.trunc, self, NO_BOOLS)
