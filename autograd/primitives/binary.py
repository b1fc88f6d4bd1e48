"""Elementwise functions of two operands, ``a`` and ``b``, at most one of which is a Python number.

``k`` has the kernels of a backend, ``g`` is the cotangent of the result ``y``. `pynested.compile` calls the derivatives
with lazy arrays, `LazyArray`, to fuse them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype, is_float, promoted
from pynested.backends.registry import NUMPY_KERNEL_DEVICES

from ..arguments.scalars import nearest_float, promote_dtype
from ..array import Array, new_zeros, raw
from .primitive import LINEAR, Primitive
from .unary import log, sigmoid, zeros_like

_FLOAT64 = np.dtype(np.float64)

# ---- values computed by formulas ------------------------------------------------------------------------------------


def is_number(x: Any) -> bool:
    """Return whether ``x`` is a Python number."""
    return type(x) in (int, float, bool)


def common_dtype(a: Any, b: Any) -> np.dtype[Any]:
    """Return the dtype to which two operands are promoted; at least one of them is an array."""
    if is_number(a) or is_number(b):
        number, array = (a, b) if is_number(a) else (b, a)
        return promote_dtype(number, array.dtype)
    return promoted(a.dtype, b.dtype)


def _in_computing_dtype(k: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Return two operands in the dtype of the computation, and the dtype of the result."""
    dtype = common_dtype(a, b)
    compute_dtype = computing_dtype(dtype)
    a, b = (compute_dtype.type(x) if is_number(x) else k.cast(x, compute_dtype) for x in (a, b))
    return a, b, dtype


def _remainder(k: Any, a: Any, b: Any) -> Any:
    """Return the remainder with the sign of the divisor: NumPy's own, or a formula that is rounded once."""
    if k.device in NUMPY_KERNEL_DEVICES or not is_float(common_dtype(a, b)):
        return k.remainder(a, b)
    a, b, dtype = _in_computing_dtype(k, a, b)
    fmod = k.fmod(a, b)  # has the sign of a
    result = k.where((fmod != 0) & ((fmod < 0) != (b < 0)), fmod + b, fmod)
    return k.cast(k.where(result == 0, k.copysign(k.absolute(result), b), result), dtype)


def _floor_divide(k: Any, a: Any, b: Any) -> Any:
    """Return the quotient, rounded down as Python does: 1.0 // 0.1 is 9, since 0.1 is a little more than a tenth."""
    if k.device in NUMPY_KERNEL_DEVICES or not is_float(common_dtype(a, b)):
        return k.floor_divide(a, b)
    a, b, dtype = _in_computing_dtype(k, a, b)
    fmod = k.fmod(a, b)
    quotient = (a - fmod) / b - ((fmod != 0) & ((fmod < 0) != (b < 0)))
    floor = k.floor(quotient)  # as NumPy: rounded to the nearest integer, which (a - fmod) / b may just miss
    floor = k.where(quotient - floor > 0.5, floor + 1, floor)
    floor = k.where(quotient == 0, k.copysign(k.absolute(quotient), a / b), floor)
    return k.cast(k.where(b == 0, a / b, floor), dtype)


def _logaddexp(k: Any, a: Any, b: Any) -> Any:
    """Return ``log(e**a + e**b)``. Array modules that return NaN for equal infinities need the formula."""
    if k.device in NUMPY_KERNEL_DEVICES:
        return k.logaddexp(a, b)
    a, b, dtype = _in_computing_dtype(k, a, b)
    distance = k.where(k.equal(a, b), dtype.type(0), k.absolute(k.subtract(a, b)))
    return k.cast(k.maximum(a, b) + k.log1p(k.exp(-distance)), dtype)


# ---- arithmetic -----------------------------------------------------------------------------------------------------

add = Primitive("add", lambda k, a, b: k.add(a, b), [lambda g, y, a, b: g, lambda g, y, a, b: g])
sub = Primitive("sub", lambda k, a, b: k.subtract(a, b), [lambda g, y, a, b: g, lambda g, y, a, b: -g])
mul: Primitive = Primitive(
    "mul",
    lambda k, a, b: k.multiply(a, b),
    [lambda g, y, a, b: mul(g, b), lambda g, y, a, b: mul(g, a)],
    saves=["b", "a"],
)
div = Primitive(
    "div",
    lambda k, a, b: k.divide(a, b),
    [lambda g, y, a, b: g / b, lambda g, y, a, b: g * -(y / b)],
    saves=["b", "y b"],
)
floor_divide = Primitive(
    "floor_divide", _floor_divide, [lambda g, y, a, b: zeros_like(g), lambda g, y, a, b: zeros_like(g)]
)
remainder = Primitive(
    "remainder",
    _remainder,
    [lambda g, y, a, b: g, lambda g, y, a, b: -(g * floor_divide(a, b))],
    saves=["", "a b"],
)


def vjp_from_slope(slope: Callable[..., Any]) -> Callable[..., Any]:
    """Return the vjp ``g * slope(y, a, b)``, computed in the dtype of g, or in float32 if g is a half."""

    def vjp(g: Any, *operands: Any) -> Any:
        dtype = computing_dtype(g.dtype)
        return _array_to_dtype(g * slope(*[_array_to_dtype(x, dtype) for x in operands]), g.dtype)

    return vjp


def _array_to_dtype(x: Any, dtype: Any) -> Any:
    """Return an array, which can be lazy, in ``dtype``; any other value as it is."""
    return x.to(dtype) if hasattr(x, "to") and x.dtype != dtype else x


def pow_slope_by_base(y: Any, a: Any, b: Any) -> Any:
    """Return ``b * a**(b - 1)``; 0 where the exponent is 0, even if 1 / a is an infinity or NaN."""
    if is_number(b):
        return b * pow_(a, b - 1) if b else 0
    has_finite_reciprocal = abs(raw(a)) >= np.finfo(b.dtype).tiny  # not so if a is NaN
    exponent = where(b, b.dtype.type(1), has_finite_reciprocal | (raw(b) != 0))
    return b * pow_(a, exponent - 1)


def pow_slope_by_exponent(y: Any, a: Any, b: Any) -> Any:
    """Return ``a**b * log(a)``; 0 where 0 is raised to a power that is not negative."""
    if is_number(a):  # b of a fused derivative is a LazyArray, which has no device
        a = new_zeros((), b.dtype, b.device) + a if isinstance(b, Array) else b.dtype.type(a)
    return y * log(where(a, a.dtype.type(1), ~((raw(a) == 0) & (raw(b) >= 0))))


pow_ = Primitive(
    "pow",
    lambda k, a, b: k.power(a, b),
    [vjp_from_slope(pow_slope_by_base), vjp_from_slope(pow_slope_by_exponent)],
    saves=["a b", "y a b"],
)
logaddexp = Primitive(
    "logaddexp",
    _logaddexp,
    [vjp_from_slope(lambda y, a, b: sigmoid(a - b)), vjp_from_slope(lambda y, a, b: sigmoid(b - a))],
    saves=["a b", "a b"],
)

# ---- extremes and choices -------------------------------------------------------------------------------------------


def where_or_zero(g: Any, condition: Any) -> Any:
    """Return the cotangent where the condition holds, and zero elsewhere, also if the cotangent is NaN."""
    return where(g, g.dtype.type(0), condition)


def _where_greater(g: Any, a: Any, b: Any) -> Any:
    """Return the cotangent where a is greater than b, half of it where they are equal or NaN, zero elsewhere."""
    a, b = raw(a), raw(b)
    return where_or_zero(where(g, g * 0.5, a > b), ~(a < b))


maximum = Primitive(
    "maximum",
    lambda k, a, b: k.maximum(a, b),
    [lambda g, y, a, b: _where_greater(g, a, b), lambda g, y, a, b: _where_greater(g, b, a)],
    saves=["a b", "a b"],
)
minimum = Primitive(
    "minimum",
    lambda k, a, b: k.minimum(a, b),
    [lambda g, y, a, b: _where_greater(g, b, a), lambda g, y, a, b: _where_greater(g, a, b)],
    saves=["a b", "a b"],
)
clamp_min = Primitive(
    "clamp_min",
    lambda k, a, b: k.maximum(a, b),
    [lambda g, y, a, b: where_or_zero(g, raw(a) >= raw(b)), lambda g, y, a, b: where_or_zero(g, raw(a) < raw(b))],
    saves=["a b", "a b"],
    public="clamp",
)
clamp_max = Primitive(
    "clamp_max",
    lambda k, a, b: k.minimum(a, b),
    [lambda g, y, a, b: where_or_zero(g, raw(a) <= raw(b)), lambda g, y, a, b: where_or_zero(g, raw(a) > raw(b))],
    saves=["a b", "a b"],
    public="clamp",
)
where: Primitive = Primitive(
    "where",
    lambda k, a, b, condition: k.where(condition, a, b),
    [
        lambda g, y, a, b, condition: where_or_zero(g, condition),
        lambda g, y, a, b, condition: where_or_zero(g, ~condition),
    ],
)


def _dropout(k: Any, x: Any, mask: Any, p: float) -> Any:
    """Return x / (1 - p) where the mask is True, rounded once; elsewhere 0 * x, so NaN and infinities give NaN."""
    if p == 1:
        return x * x.dtype.type(0)
    scaled = k.xp.multiply(x, mask, dtype=_FLOAT64) / (1 - p)
    return scaled if x.dtype == _FLOAT64 else k.cast(scaled, x.dtype)


dropout: Primitive = Primitive("dropout", _dropout, [lambda g, y, x, mask, p: dropout(g, mask, p)], LINEAR)

# ---- comparisons, logic and bits, which have no derivative ----------------------------------------------------------


def _logical(name: str) -> Primitive:
    """Return a logical function. It converts a number to bool first, so the dtype of the other operand need not fit."""
    return Primitive(
        name, lambda k, a, b: getattr(k, name)(*[bool(x) if isinstance(x, int | float) else x for x in (a, b)])
    )


def _comparison(compare: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``compare`` for every Python integer: one that is too large for float64 compares as an infinity does."""

    def call(k: Any, a: Any, b: Any) -> Any:
        try:
            return compare(k, a, b)
        except OverflowError:
            return compare(k, *[nearest_float(x) if type(x) is int else x for x in (a, b)])

    return call


eq = Primitive("eq", _comparison(lambda k, a, b: k.equal(a, b)))
ne = Primitive("ne", _comparison(lambda k, a, b: k.not_equal(a, b)))
lt = Primitive("lt", _comparison(lambda k, a, b: k.less(a, b)))
le = Primitive("le", _comparison(lambda k, a, b: k.less_equal(a, b)))
gt = Primitive("gt", _comparison(lambda k, a, b: k.less(b, a)))
ge = Primitive("ge", _comparison(lambda k, a, b: k.less_equal(b, a)))
bitwise_and = Primitive("bitwise_and", lambda k, a, b: k.bitwise_and(a, b))
bitwise_or = Primitive("bitwise_or", lambda k, a, b: k.bitwise_or(a, b))
bitwise_xor = Primitive("bitwise_xor", lambda k, a, b: k.bitwise_xor(a, b))
logical_and, logical_or, logical_xor = map(_logical, ("logical_and", "logical_or", "logical_xor"))
