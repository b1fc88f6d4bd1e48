"""Sums, differences, signs and absolute values, element by element.

Broadcasting, dtypes and errors are as `pynested.operators.elementwise` says. ``alpha`` is a number, by which ``other``
is multiplied first, in the promoted dtype. OverflowError for an ``alpha`` that an integer dtype cannot represent.
"""

from __future__ import annotations

from functools import partial
from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, device_of
from pynested.autograd.arguments.scalars import canonical_number, checked_scalar, number_text, weak_dtype
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import binary, unary
from pynested.autograd.primitives.movement import to_dtype
from pynested.autograd.primitives.primitive import same_device
from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import ArgumentError, DTypeError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, ArrayT, DenseLike, Operand

from .function_application import BOOLS, apply_primitive, paired_operands


def _is_bool(value: Any) -> bool:
    return value.dtype == np.bool_ if type(value) is Array else type(value) is bool


def _scaled_operand(name: str, a: Any, b: Any, alpha: Any) -> Array:
    """Return ``alpha * b`` in the promoted dtype of ``a`` and ``b``, which does not depend on ``alpha``."""
    factor = canonical_number(name, "alpha", alpha)
    if type(factor) is bool:
        raise ArgumentError(f"{name}: alpha must be a number, not {factor!r}.")
    if type(a) is Array and type(b) is Array:
        same_device(name, (a, b))
        dtype = promoted(a.dtype, b.dtype)
    elif type(b) is Array:
        dtype = weak_dtype(a, b.dtype)
        if not is_float(dtype):
            # The dtype must represent the number, even if a floating alpha widens the result.
            checked_scalar(name, a, dtype)
    else:
        dtype = weak_dtype(b, a.dtype)
        b = as_array(name, checked_scalar(name, b, np.dtype(np.float64) if is_float(dtype) else dtype), device_of(a))
    try:
        return binary.mul(to_dtype(b, dtype), factor)
    except OverflowError:
        raise OverflowError(f"{name}: alpha={number_text(factor)} is out of bounds for {dtype}.") from None


def _add_dense(a: Any, b: Any, alpha: Any = 1) -> Array:
    a, b = paired_operands("add", a, b)
    if type(alpha) is not int or alpha != 1:
        b = _scaled_operand("add", a, b, alpha)
    return binary.add(a, b)  # type: ignore[no-any-return]


def _sub_dense(a: Any, b: Any, alpha: Any = 1) -> Array:
    a, b = paired_operands("sub", a, b)
    if _is_bool(a) and _is_bool(b):
        raise DTypeError("sub: bools have no difference. Use logical_xor, or convert to int8 first.")
    if type(alpha) is not int or alpha != 1:
        b = _scaled_operand("sub", a, b, alpha)
    return binary.sub(a, b)  # type: ignore[no-any-return]


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
    ``v[:, None, :]``. Gradient: ``g`` for ``self``, ``alpha * g`` for ``other``. Clauses: ADD-1 to ADD-11. After
    `torch.add`.

    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.add(nt, pn.array([[10.0], [20.0]]), alpha=2).unbind()
    (array([21., 22.]), array([43.]))
    """
    if type(self) is NestedArray or type(other) is NestedArray:
        function = _add_dense if type(alpha) is int and alpha == 1 else partial(_add_dense, alpha=alpha)
        return map_elementwise("add", function, self, other)
    return _add_dense(self, other, alpha)


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
    finite x. DTypeError for bool - bool; use `logical_xor`. Gradient: ``g`` for ``self``,
    ``-alpha * g`` for ``other``. Clauses: SUB-1 to SUB-8. After `torch.sub`.

    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.sub(10, nt).unbind()
    (array([9., 8.]), array([7.]))
    """
    if type(self) is NestedArray or type(other) is NestedArray:
        function = _sub_dense if type(alpha) is int and alpha == 1 else partial(_sub_dense, alpha=alpha)
        return map_elementwise("sub", function, self, other)
    return _sub_dense(self, other, alpha)


@operator
def neg(self: ArrayT) -> ArrayT:
    """Return ``-self``: ``(B, *, D) -> (B, *, D)``.

    The dtype stays, and integers wrap: -(-128) is -128 for int8, -1 is 255 for uint8. Zeros and infinities change their
    sign, NaN stays NaN. DTypeError for bools. Gradient: ``-g``. Clauses: NEG-1 to NEG-4. After `torch.neg`.

    >>> pn.neg(pn.nested_array([[0.0, 2.0], [-3.0]])).unbind()
    (array([-0., -2.]), array([3.]))
    """
    return apply_primitive(unary.neg, self, BOOLS)


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
    return apply_primitive(unary.sgn, self, BOOLS)
