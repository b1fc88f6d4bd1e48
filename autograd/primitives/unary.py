"""Functions of one element ``x``. ``k`` has the kernels of a backend, ``g`` is the cotangent of the result ``y``.

At kinks the derivative is the one that the specification names: ``abs`` and ``relu`` have 0 at 0. ``saves`` names the
values that a vjp reads, and ``public`` the public function, if it has another name; see `Primitive`. A vjp with a
kernel of its own is itself a primitive, such as ``relu_backward(g, y)``. The cotangent of its result is called ``gg``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype

from .primitive import Primitive

Compute = Callable[[Any, Any], Any]
_DENSITY_AT_0 = 0.3989422804014327  # 1 / sqrt(2 pi), of the normal distribution
_ERF_SLOPE_AT_0 = 1.1283791670955126  # 2 / sqrt(pi)
_TANH_SCALE, _TANH_CUBE = 0.7978845608028654, 0.044715  # sqrt(2 / pi), and the factor of x**3 in gelu's approximation
_SQRT_LOG_2, _LOG2_E, _LOG10_E = 0.8325546111576977, 1.4426950408889634, 0.4342944819032518
_RADIANS_PER_DEGREE = 0.017453292519943295


# ---- dtypes ---------------------------------------------------------------------------------------------------------


def _convert_integers(compute: Compute) -> Compute:
    """Return ``compute`` for all dtypes: bools and integers are first cast to the floats that NumPy's exp returns."""

    def call(k: Any, x: Any) -> Any:
        return compute(k, k.cast(x, np.exp.resolve_dtypes((x.dtype, None))[-1]) if x.dtype.kind in "biu" else x)

    return call


def _round_once(compute: Compute) -> Compute:
    """Return ``compute``, a formula of several steps, computed in float32 for halves and rounded once."""

    def call(k: Any, x: Any) -> Any:
        dtype = computing_dtype(x.dtype)
        return compute(k, x) if dtype == x.dtype else k.cast(compute(k, k.cast(x, dtype)), x.dtype)

    return call


def _sigmoid(k: Any, x: Any) -> Any:
    decay = k.exp(-k.absolute(x))  # cannot overflow
    return k.where(x < 0, decay, x.dtype.type(1)) / (1 + decay)


def _rounding_function(name: str, kernel: str) -> Primitive:
    """Return a function that rounds to integers. It copies integers, for which some array modules return floats."""
    return Primitive(
        name,
        lambda k, x: k.copy(x) if x.dtype.kind in "iu" else getattr(k, kernel)(x),
        [lambda g, y, x: zeros_like(g)],
    )


# ---- powers, exponentials, logarithms -------------------------------------------------------------------------------

neg = Primitive("neg", lambda k, x: k.negative(x), [lambda g, y, x: -g])
abs_ = Primitive("abs", lambda k, x: k.absolute(x), [lambda g, y, x: g * sgn(x)], saves=["x"])
sgn: Primitive = Primitive("sgn", lambda k, x: k.sgn(x), [lambda g, y, x: zeros_like(g)])
square = Primitive("square", lambda k, x: k.multiply(x, x), [lambda g, y, x: 2 * (g * x)], saves=["x"])
reciprocal = Primitive("reciprocal", lambda k, x: k.divide(1, x), [lambda g, y, x: -(g * y) * y], saves=["y"])
sqrt = Primitive("sqrt", lambda k, x: k.sqrt(x), [lambda g, y, x: g / (2 * y)], saves=["y"])
rsqrt = Primitive(
    "rsqrt",
    _convert_integers(_round_once(lambda k, x: 1 / k.sqrt(x))),
    [lambda g, y, x: g * ((-0.5 * y) / x)],
    saves=["y x"],
)
cbrt = Primitive("cbrt", lambda k, x: k.cbrt(x), [lambda g, y, x: g / (3 * y * y)], saves=["y"])
exp = Primitive("exp", lambda k, x: k.exp(x), [lambda g, y, x: g * y], saves=["y"])
# The derivative is log(2) * 2**x. It can be finite where y = 2**x is not, so it is the square of a smaller number.
exp2: Primitive = Primitive(
    "exp2", lambda k, x: k.exp2(x), [lambda g, y, x: g * square(_SQRT_LOG_2 * exp2(x / 2))], saves=["x"]
)
expm1 = Primitive("expm1", lambda k, x: k.expm1(x), [lambda g, y, x: g * exp(x)], saves=["x"])
log = Primitive("log", lambda k, x: k.log(x), [lambda g, y, x: g / x], saves=["x"])
log1p = Primitive("log1p", lambda k, x: k.log1p(x), [lambda g, y, x: g / (1 + x)], saves=["x"])
log2 = Primitive("log2", lambda k, x: k.log2(x), [lambda g, y, x: g / x * _LOG2_E], saves=["x"])
log10 = Primitive("log10", lambda k, x: k.log10(x), [lambda g, y, x: g * _LOG10_E / x], saves=["x"])

# ---- trigonometric and hyperbolic functions -------------------------------------------------------------------------

sin = Primitive("sin", lambda k, x: k.sin(x), [lambda g, y, x: g * cos(x)], saves=["x"])
cos: Primitive = Primitive("cos", lambda k, x: k.cos(x), [lambda g, y, x: g * -sin(x)], saves=["x"])
tan = Primitive("tan", lambda k, x: k.tan(x), [lambda g, y, x: g * (1 + y * y)], saves=["y"])
# The derivatives of asin, acos and atanh are infinities at ±1, and NaN beyond, as `_sqrt_one_minus_square` is.
asin = Primitive("asin", lambda k, x: k.arcsin(x), [lambda g, y, x: g / _sqrt_one_minus_square(x)], saves=["x"])
acos = Primitive("acos", lambda k, x: k.arccos(x), [lambda g, y, x: g / -_sqrt_one_minus_square(x)], saves=["x"])
atan = Primitive("atan", lambda k, x: k.arctan(x), [lambda g, y, x: g / (1 + x * x)], saves=["x"])
deg2rad = Primitive("deg2rad", lambda k, x: k.deg2rad(x), [lambda g, y, x: g * _RADIANS_PER_DEGREE])
sinh = Primitive("sinh", lambda k, x: k.sinh(x), [lambda g, y, x: g * cosh(x)], saves=["x"])
cosh: Primitive = Primitive("cosh", lambda k, x: k.cosh(x), [lambda g, y, x: g * sinh(x)], saves=["x"])
tanh = Primitive("tanh", lambda k, x: k.tanh(x), [lambda g, y, x: g * (1 - y * y)], saves=["y"])
# sqrt(x**2 + 1) is x tanh(y) + 1 / cosh(y), and sqrt(x**2 - 1) is x tanh(y); x**2 itself may overflow.
asinh = Primitive("asinh", lambda k, x: k.arcsinh(x), [lambda g, y, x: g / (x * tanh(y) + 1 / cosh(y))], saves=["y x"])
acosh = Primitive("acosh", lambda k, x: k.arccosh(x), [lambda g, y, x: g / (x * tanh(y))], saves=["y x"])
atanh = Primitive(
    "atanh", lambda k, x: k.arctanh(x), [lambda g, y, x: g / square(_sqrt_one_minus_square(x))], saves=["x"]
)


# A primitive, as the product rule would return -2 x as the difference of 1 - x and 1 + x, which loses a small x.
one_minus_square = Primitive(
    "one_minus_square", lambda k, x: (1 - x) * (1 + x), [lambda g, y, x: g * (-2 * x)], saves=["x"]
)


def _sqrt_one_minus_square(x: Any) -> Any:
    """Return sqrt(1 - x**2)."""
    return sqrt(one_minus_square(x))


# ---- error function and activations ---------------------------------------------------------------------------------

erf = Primitive(
    "erf",
    _convert_integers(lambda k, x: k.erf(x)),
    [lambda g, y, x: g * (_ERF_SLOPE_AT_0 * exp(-(x * x)))],
    saves=["x"],
)
erfc = Primitive(
    "erfc",
    _convert_integers(lambda k, x: k.erfc(x)),
    [lambda g, y, x: g * (-_ERF_SLOPE_AT_0 * exp(-(x * x)))],
    saves=["x"],
)
sigmoid = Primitive(
    "sigmoid", _convert_integers(_round_once(_sigmoid)), [lambda g, y, x: g * (y * (1 - y))], saves=["y"]
)
relu = Primitive("relu", lambda k, x: k.relu(x), [lambda g, y, x: relu_backward(g, y)], saves=["y"])
silu = Primitive("silu", lambda k, x: k.silu(x), [lambda g, y, x: silu_backward(g, x)], saves=["x"])
gelu = Primitive("gelu", lambda k, x: k.gelu(x), [lambda g, y, x: gelu_backward(g, x)], saves=["x"])
gelu_tanh = Primitive(
    "gelu_tanh", lambda k, x: k.gelu(x, "tanh"), [lambda g, y, x: gelu_tanh_backward(g, x)], saves=["x"], public="gelu"
)
relu_backward: Primitive = Primitive(
    "relu_backward",
    lambda k, g, relu_x: k.relu_backward(g, relu_x),
    [lambda gg, _, g, relu_x: relu_backward(gg, relu_x), None],
    saves=["relu_x"],
)


def _backward(name: str, compute: Callable[..., Any], second_derivative: Callable[[Any], Any]) -> Primitive:
    """Return a vjp as a primitive: ``compute`` multiplies ``g`` by the derivative of a function at ``x``."""
    backward: Primitive = Primitive(
        name,
        compute,
        [lambda gg, _, g, x: backward(gg, x), lambda gg, _, g, x: gg * g * second_derivative(x)],
        saves=["x", "g x"],
    )
    return backward


def _silu_second_derivative(x: Any) -> Any:
    """Return s (1 - s) (2 + x (1 - 2 s)) for the logistic function s of x."""
    s = sigmoid(x)
    s_slope = s * (1 - s)
    return 2 * s_slope + (x * s_slope) * (1 - 2 * s)


def _gelu_second_derivative(x: Any) -> Any:
    """Return (2 - x**2) times the normal density. Outside of exp, x is multiplied in twice, as x**2 could overflow."""
    density = exp(-0.5 * (x * x)) * _DENSITY_AT_0
    return 2 * density - x * (x * density)


def _gelu_tanh_second_derivative(x: Any) -> Any:
    """Return t' - x t t' u' + 3 c s x**2 (1 - t**2), for t = tanh(u) and u = s (x + c x**3).

    s is `_TANH_SCALE` and c is `_TANH_CUBE`; u' = s (1 + 3 c x**2) and t' = (1 - t**2) u' are derivatives by x. t' is a
    sum of two parts, one for each term of u'. Powers of x are multiplied into 1 - t**2 one x after the other, as a
    power alone could overflow.
    """
    t = tanh(_TANH_SCALE * (x * (1 + _TANH_CUBE * (x * x))))
    first_part = _TANH_SCALE * (1 - t * t)
    second_part = (3 * _TANH_CUBE) * (x * (x * first_part))
    t_slope = first_part + second_part
    x_t_slope = x * t_slope
    return t_slope - t * (_TANH_SCALE * (x_t_slope + (3 * _TANH_CUBE) * (x * (x * x_t_slope)))) + second_part


silu_backward: Primitive = _backward("silu_backward", lambda k, g, x: k.silu_backward(g, x), _silu_second_derivative)
gelu_backward: Primitive = _backward("gelu_backward", lambda k, g, x: k.gelu_backward(g, x), _gelu_second_derivative)
gelu_tanh_backward: Primitive = _backward(
    "gelu_tanh_backward", lambda k, g, x: k.gelu_backward(g, x, "tanh"), _gelu_tanh_second_derivative
)

# ---- steps and tests ------------------------------------------------------------------------------------------------

floor = _rounding_function("floor", "floor")
ceil = _rounding_function("ceil", "ceil")
round_ = _rounding_function("round", "rint")
trunc = _rounding_function("trunc", "trunc")
zeros_like: Primitive = Primitive("zeros_like", lambda k, x: k.xp.zeros_like(x))
logical_not = Primitive("logical_not", lambda k, x: k.logical_not(x))
isnan = Primitive("isnan", lambda k, x: k.isnan(x))
isinf = Primitive("isinf", lambda k, x: k.isinf(x))
isfinite = Primitive("isfinite", lambda k, x: k.isfinite(x))
