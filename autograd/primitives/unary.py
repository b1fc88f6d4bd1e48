"""Functions of one element. ``y`` is the result, ``x`` the argument, ``g`` the cotangent of the result.

At kinks the derivative is the one that the specification names: ``abs`` and ``relu`` have 0 at 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype

from .primitive import SYMMETRIC, Primitive

Compute = Callable[[Any, Any], Any]
_HALF_SQRT = 0.7071067811865476  # 1 / sqrt(2)
_DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)
_TANH_SCALE, _TANH_CUBE = 0.7978845608028654, 0.044715


# ---- dtypes ---------------------------------------------------------------------------------------------------------


def _in_floats(compute: Compute) -> Compute:
    """Compute floats; bools and integers become floats as in NumPy's own functions."""

    def call(k: Any, x: Any) -> Any:
        return compute(k, k.cast(x, np.exp.resolve_dtypes((x.dtype, None))[-1]) if x.dtype.kind in "biu" else x)

    return call


def wide(compute: Compute) -> Compute:
    """Compute several steps, all of them in float32 for halves, and round once."""

    def call(k: Any, x: Any) -> Any:
        dtype = computing_dtype(x.dtype)
        return compute(k, x) if dtype == x.dtype else k.cast(compute(k, k.cast(x, dtype)), x.dtype)

    return call


def _sigmoid(k: Any, x: Any) -> Any:
    e = k.exp(-k.absolute(x))  # which does not overflow
    return k.where(x < 0, e, x.dtype.type(1)) / (1 + e)


def _rounding(name: str) -> Primitive:
    """Return a step function; it copies integers, as array modules disagree whether they become floats."""
    return Primitive(
        name,
        lambda k, x: k.copy(x) if x.dtype.kind in "iu" else getattr(k, "rint" if name == "round" else name)(x),
        [lambda g, y, x: zeros_like(g)],
        SYMMETRIC,
    )


# ---- powers, exponentials, logarithms -------------------------------------------------------------------------------

neg = Primitive("neg", lambda k, x: k.negative(x), [lambda g, y, x: -g], SYMMETRIC)
abs_ = Primitive("abs", lambda k, x: k.absolute(x), [lambda g, y, x: g * sgn(x)], SYMMETRIC, ["x"])
sgn: Primitive = Primitive("sgn", lambda k, x: k.sgn(x), [lambda g, y, x: zeros_like(g)], SYMMETRIC)
square = Primitive("square", lambda k, x: k.multiply(x, x), [lambda g, y, x: 2 * (g * x)], SYMMETRIC, ["x"])
reciprocal = Primitive("reciprocal", lambda k, x: k.divide(1, x), [lambda g, y, x: -(g * y) * y], SYMMETRIC, ["y"])
sqrt = Primitive("sqrt", lambda k, x: k.sqrt(x), [lambda g, y, x: g / (2 * y)], SYMMETRIC, ["y"])
rsqrt = Primitive(
    "rsqrt",
    _in_floats(wide(lambda k, x: 1 / k.sqrt(x))),
    [lambda g, y, x: g * ((-0.5 * y) / x)],
    SYMMETRIC,
    ["y x"],
)
cbrt = Primitive("cbrt", lambda k, x: k.cbrt(x), [lambda g, y, x: g / (3 * y * y)], SYMMETRIC, ["y"])
exp = Primitive("exp", lambda k, x: k.exp(x), [lambda g, y, x: g * y], SYMMETRIC, ["y"])
# sqrt(log(2)) * 2**(x / 2) is squared, since the result y may have overflowed.
exp2: Primitive = Primitive(
    "exp2", lambda k, x: k.exp2(x), [lambda g, y, x: g * square(0.8325546111576977 * exp2(x / 2))], SYMMETRIC, ["x"]
)
expm1 = Primitive("expm1", lambda k, x: k.expm1(x), [lambda g, y, x: g * exp(x)], SYMMETRIC, ["x"])
log = Primitive("log", lambda k, x: k.log(x), [lambda g, y, x: g / x], SYMMETRIC, ["x"])
log1p = Primitive("log1p", lambda k, x: k.log1p(x), [lambda g, y, x: g / (1 + x)], SYMMETRIC, ["x"])
log2 = Primitive("log2", lambda k, x: k.log2(x), [lambda g, y, x: g / x * 1.4426950408889634], SYMMETRIC, ["x"])
log10 = Primitive("log10", lambda k, x: k.log10(x), [lambda g, y, x: g * 0.4342944819032518 / x], SYMMETRIC, ["x"])

# ---- trigonometric and hyperbolic functions -------------------------------------------------------------------------

sin = Primitive("sin", lambda k, x: k.sin(x), [lambda g, y, x: g * cos(x)], SYMMETRIC, ["x"])
cos: Primitive = Primitive("cos", lambda k, x: k.cos(x), [lambda g, y, x: g * -sin(x)], SYMMETRIC, ["x"])
tan = Primitive("tan", lambda k, x: k.tan(x), [lambda g, y, x: g * (1 + y * y)], SYMMETRIC, ["y"])
# At ±1 the derivative is an infinity: the square of the root is NaN outside the domain, as the function is.
asin = Primitive("asin", lambda k, x: k.arcsin(x), [lambda g, y, x: g / _root(x)], SYMMETRIC, ["x"])
acos = Primitive("acos", lambda k, x: k.arccos(x), [lambda g, y, x: g / -_root(x)], SYMMETRIC, ["x"])
atan = Primitive("atan", lambda k, x: k.arctan(x), [lambda g, y, x: g / (1 + x * x)], SYMMETRIC, ["x"])
deg2rad = Primitive("deg2rad", lambda k, x: k.deg2rad(x), [lambda g, y, x: g * 0.017453292519943295], SYMMETRIC)
sinh = Primitive("sinh", lambda k, x: k.sinh(x), [lambda g, y, x: g * cosh(x)], SYMMETRIC, ["x"])
cosh: Primitive = Primitive("cosh", lambda k, x: k.cosh(x), [lambda g, y, x: g * sinh(x)], SYMMETRIC, ["x"])
tanh = Primitive("tanh", lambda k, x: k.tanh(x), [lambda g, y, x: g * (1 - y * y)], SYMMETRIC, ["y"])
# y and x together give sqrt(x**2 + 1) and sqrt(x**2 - 1) without x**2, which may overflow.
asinh = Primitive(
    "asinh", lambda k, x: k.arcsinh(x), [lambda g, y, x: g / (x * tanh(y) + 1 / cosh(y))], SYMMETRIC, ["y x"]
)
acosh = Primitive("acosh", lambda k, x: k.arccosh(x), [lambda g, y, x: g / (x * tanh(y))], SYMMETRIC, ["y x"])
atanh = Primitive("atanh", lambda k, x: k.arctanh(x), [lambda g, y, x: g / square(_root(x))], SYMMETRIC, ["x"])


def _root(x: Any) -> Any:
    """Return sqrt(1 - x**2)."""
    return sqrt((1 - x) * (1 + x))


# ---- error function and activations ---------------------------------------------------------------------------------

erf = Primitive(
    "erf",
    _in_floats(lambda k, x: k.erf(x)),
    [lambda g, y, x: g * (1.1283791670955126 * exp(-(x * x)))],
    SYMMETRIC,
    ["x"],
)
erfc = Primitive(
    "erfc",
    _in_floats(lambda k, x: k.erfc(x)),
    [lambda g, y, x: g * (-1.1283791670955126 * exp(-(x * x)))],
    SYMMETRIC,
    ["x"],
)
sigmoid = Primitive("sigmoid", _in_floats(wide(_sigmoid)), [lambda g, y, x: g * (y * (1 - y))], SYMMETRIC, ["y"])
relu = Primitive("relu", lambda k, x: k.relu(x), [lambda g, y, x: relu_backward(g, y)], SYMMETRIC, ["y"])
silu = Primitive("silu", lambda k, x: k.silu(x), [lambda g, y, x: silu_backward(g, x)], SYMMETRIC, ["x"])
gelu = Primitive("gelu", lambda k, x: k.gelu(x), [lambda g, y, x: gelu_backward(g, x)], SYMMETRIC, ["x"])
gelu_tanh = Primitive(
    "gelu_tanh",
    lambda k, x: k.gelu(x, "tanh"),
    [lambda g, y, x: gelu_tanh_backward(g, x)],
    SYMMETRIC,
    ["x"],
    public="gelu",
)

# The derivatives that have kernels.
relu_backward: Primitive = Primitive(
    "relu_backward",
    lambda k, g, r: k.relu_backward(g, r),
    [lambda h, _, g, r: relu_backward(h, r), None],
    SYMMETRIC,
    ["r"],
)


def _backward(name: str, compute: Callable[..., Any], slope: Callable[[Any], Any]) -> Primitive:
    """Return the product of g and the derivative of a function at x; ``slope`` is the second derivative."""
    backward: Primitive = Primitive(
        name,
        compute,
        [lambda h, _, g, x: backward(h, x), lambda h, _, g, x: h * g * slope(x)],
        SYMMETRIC,
        ["x", "g x"],
    )
    return backward


def _silu_slope(x: Any) -> Any:
    """Return the second derivative of silu, s (1 - s) (2 + x (1 - 2 s)) for the logistic function s."""
    s = sigmoid(x)
    weight = s * (1 - s)
    return 2 * weight + (x * weight) * (1 - 2 * s)


def _gelu_slope(x: Any) -> Any:
    """Return the second derivative of gelu, phi(x) (2 - x**2); x multiplies what vanishes for large x."""
    density = exp(-0.5 * (x * x)) * _DENSITY
    return 2 * density - x * (x * density)


def _gelu_tanh_slope(x: Any) -> Any:
    """Return the second derivative of gelu's tanh approximation, 0.5 x (1 + t), with the derivatives of t.

    x multiplies what vanishes for large x, so that nothing overflows.
    """
    t = tanh(_TANH_SCALE * (x * (1 + _TANH_CUBE * (x * x))))
    s = _TANH_SCALE * (1 - t * t)
    slope = s + (3 * _TANH_CUBE) * (x * (x * s))
    twice = x * slope
    twice = _TANH_SCALE * (twice + (3 * _TANH_CUBE) * (x * (x * twice)))
    return slope - t * twice + (3 * _TANH_CUBE) * (x * (x * s))


silu_backward: Primitive = _backward("silu_backward", lambda k, g, x: k.silu_backward(g, x), _silu_slope)
gelu_backward: Primitive = _backward("gelu_backward", lambda k, g, x: k.gelu_backward(g, x), _gelu_slope)
gelu_tanh_backward: Primitive = _backward(
    "gelu_tanh_backward", lambda k, g, x: k.gelu_backward(g, x, "tanh"), _gelu_tanh_slope
)

# ---- steps and tests ------------------------------------------------------------------------------------------------

floor, ceil, round_, trunc = map(_rounding, ("floor", "ceil", "round", "trunc"))
zeros_like: Primitive = Primitive("zeros_like", lambda k, x: k.xp.zeros_like(x))
logical_not = Primitive("logical_not", lambda k, x: k.logical_not(x))
isnan = Primitive("isnan", lambda k, x: k.isnan(x))
isinf = Primitive("isinf", lambda k, x: k.isinf(x))
isfinite = Primitive("isfinite", lambda k, x: k.isfinite(x))
