"""Functions of two elements. ``y`` is the result, ``a`` and ``b`` are the arguments, one of which can be a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype

from ..array import Array, new_zeros, raw
from .binary_kernels import comparing, is_number, logical
from .binary_kernels import floor_divide as floor_divided
from .binary_kernels import logaddexp as logaddexped
from .binary_kernels import remainder as remaining
from .primitive import LINEAR, SYMMETRIC, Primitive
from .unary import log, sigmoid, zeros_like

_WIDE = np.dtype(np.float64)

# ---- arithmetic -----------------------------------------------------------------------------------------------------

add = Primitive("add", lambda k, a, b: k.add(a, b), [lambda g, y, a, b: g, lambda g, y, a, b: g], SYMMETRIC)
sub = Primitive("sub", lambda k, a, b: k.subtract(a, b), [lambda g, y, a, b: g, lambda g, y, a, b: -g], SYMMETRIC)
mul: Primitive = Primitive(
    "mul",
    lambda k, a, b: k.multiply(a, b),
    [lambda g, y, a, b: mul(g, b), lambda g, y, a, b: mul(g, a)],
    SYMMETRIC,
    ["b", "a"],
)
div = Primitive(
    "div",
    lambda k, a, b: k.divide(a, b),
    [lambda g, y, a, b: g / b, lambda g, y, a, b: g * -(y / b)],
    SYMMETRIC,
    ["b", "y b"],
)
floor_divide = Primitive(
    "floor_divide", floor_divided, [lambda g, y, a, b: zeros_like(g), lambda g, y, a, b: zeros_like(g)], SYMMETRIC
)
remainder = Primitive(
    "remainder",
    remaining,
    [lambda g, y, a, b: g, lambda g, y, a, b: -(g * floor_divide(a, b))],
    SYMMETRIC,
    ["", "a b"],
)


def in_floats(slope: Callable[..., Any]) -> Callable[..., Any]:
    """Return the vjp ``g * slope(y, a, b)``, all of whose operands are as wide as g, and float32 for halves."""

    def vjp(g: Any, *operands: Any) -> Any:
        dtype = computing_dtype(g.dtype)
        return _to(g.dtype, g * slope(*[_to(dtype, x) for x in operands]))

    return vjp


def _to(dtype: Any, x: Any) -> Any:
    """Return an array in ``dtype``; a number, and a value that is not saved, as it is."""
    if not hasattr(x, "to") or x.dtype == dtype:
        return x
    return x.to(dtype)


def of_base(y: Any, a: Any, b: Any) -> Any:
    """Return ``b * a**(b - 1)``; 0 where the exponent is 0, also where 1 / a is an infinity."""
    if is_number(b):
        return b * pow_(a, b - 1) if b else 0
    small = abs(raw(a)) < np.finfo(b.dtype).tiny
    safe = where(b, b.dtype.type(1), ~(small & (raw(b) == 0)))
    return b * pow_(a, safe - 1)


def of_exponent(y: Any, a: Any, b: Any) -> Any:
    """Return ``a**b * log(a)``; 0 where 0 is raised to a power that is not negative."""
    if is_number(a):
        a = new_zeros((), b) + a if isinstance(b, Array) else b.dtype.type(a)  # a fused chain has no arrays here
    return y * log(where(a, a.dtype.type(1), ~((raw(a) == 0) & (raw(b) >= 0))))


pow_ = Primitive(
    "pow", lambda k, a, b: k.power(a, b), [in_floats(of_base), in_floats(of_exponent)], SYMMETRIC, ["a b", "y a b"]
)
logaddexp = Primitive(
    "logaddexp",
    logaddexped,
    [in_floats(lambda y, a, b: sigmoid(a - b)), in_floats(lambda y, a, b: sigmoid(b - a))],
    SYMMETRIC,
    ["a b", "a b"],
)

# ---- extremes and choices -------------------------------------------------------------------------------------------


def _to_greater(g: Any, a: Any, b: Any) -> Any:
    """Return the cotangent where a is greater than b, half of it where they are equal, zero elsewhere."""
    a, b = raw(a), raw(b)
    return where_or_zero(where(g, g * 0.5, a > b), ~(a < b))


def where_or_zero(g: Any, condition: Any) -> Any:
    """Return the cotangent where the condition holds, zero elsewhere, and not zero times the cotangent."""
    return where(g, g.dtype.type(0), condition)


maximum = Primitive(
    "maximum",
    lambda k, a, b: k.maximum(a, b),
    [lambda g, y, a, b: _to_greater(g, a, b), lambda g, y, a, b: _to_greater(g, b, a)],
    SYMMETRIC,
    ["a b", "a b"],
)
minimum = Primitive(
    "minimum",
    lambda k, a, b: k.minimum(a, b),
    [lambda g, y, a, b: _to_greater(g, b, a), lambda g, y, a, b: _to_greater(g, a, b)],
    SYMMETRIC,
    ["a b", "a b"],
)
clamp_min = Primitive(
    "clamp_min",
    lambda k, a, b: k.maximum(a, b),
    [
        lambda g, y, a, b: where_or_zero(g, raw(a) >= raw(b)),
        lambda g, y, a, b: where_or_zero(g, raw(a) < raw(b)),
    ],
    SYMMETRIC,
    ["a b", "a b"],
    public="clamp",
)
clamp_max = Primitive(
    "clamp_max",
    lambda k, a, b: k.minimum(a, b),
    [
        lambda g, y, a, b: where_or_zero(g, raw(a) <= raw(b)),
        lambda g, y, a, b: where_or_zero(g, raw(a) > raw(b)),
    ],
    SYMMETRIC,
    ["a b", "a b"],
    public="clamp",
)
where: Primitive = Primitive(
    "where",
    lambda k, a, b, condition: k.where(condition, a, b),
    [
        lambda g, y, a, b, condition: where_or_zero(g, condition),
        lambda g, y, a, b, condition: where_or_zero(g, ~condition),
    ],
    SYMMETRIC,
)


def _dropped(k: Any, x: Any, mask: Any, p: float) -> Any:
    """Return x / (1 - p), divided in float64 and rounded once, where the mask keeps it; 0 x elsewhere, NaN if x is."""
    if p == 1:
        return x * x.dtype.type(0)
    scaled = k.xp.multiply(x, mask, dtype=_WIDE) / (1 - p)
    return scaled if x.dtype == _WIDE else k.cast(scaled, x.dtype)


dropout: Primitive = Primitive("dropout", _dropped, [lambda g, y, x, mask, p: dropout(g, mask, p)], LINEAR)

# ---- comparisons, logic and bits, which have no derivative ----------------------------------------------------------


def _without_derivative(name: str, compute: Callable[..., Any]) -> Primitive:
    return Primitive(name, compute, [None, None], SYMMETRIC)


eq = _without_derivative("eq", comparing("equal"))
ne = _without_derivative("ne", comparing("not_equal"))
lt = _without_derivative("lt", comparing("less"))
le = _without_derivative("le", comparing("less_equal"))
gt = _without_derivative("gt", comparing("less", True))
ge = _without_derivative("ge", comparing("less_equal", True))
bitwise_and = _without_derivative("bitwise_and", lambda k, a, b: k.bitwise_and(a, b))
bitwise_or = _without_derivative("bitwise_or", lambda k, a, b: k.bitwise_or(a, b))
bitwise_xor = _without_derivative("bitwise_xor", lambda k, a, b: k.bitwise_xor(a, b))
logical_and = _without_derivative("logical_and", logical("logical_and"))
logical_or = _without_derivative("logical_or", logical("logical_or"))
logical_xor = _without_derivative("logical_xor", logical("logical_xor"))
