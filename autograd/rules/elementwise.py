"""Elementwise rules: a value per line, a derivative per argument.

``y`` is the output, ``x``, ``a``, ``b`` are the inputs. At kinks the derivative is the one the specification names:
``abs`` and ``relu`` have 0 at 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.numpy.running import quiet

from ..array import raw
from .kinds import Linear
from .kinds.elementwise import Elementwise, Vjp, per
from .movement import summed_to
from .unary_functions import RULES

_WIDE = np.dtype(np.float64)
_HALF_SQRT = 0.7071067811865476  # 1 / sqrt(2)
_DENSITY = 0.3989422804014327  # 1 / sqrt(2 pi)
_TANH_SCALE, _TANH_CUBE = 0.7978845608028654, 0.044715


def _normal(x: Any) -> Any:
    """gelu'(x) = Phi(x) + x phi(x)."""
    return 0.5 * (1 + erf(x * _HALF_SQRT)) + x * (exp(-0.5 * (x * x)) * _DENSITY)


def _normal_tanh(x: Any) -> Any:
    """The derivative of gelu's tanh approximation; x multiplies what vanishes for large x, so that nothing overflows."""
    t = tanh(_TANH_SCALE * (x * (1 + _TANH_CUBE * (x * x))))
    slope = (0.5 * _TANH_SCALE) * ((1 - t * t) * x)
    return 0.5 * (1 + t) + slope + (3 * _TANH_CUBE) * (x * (x * slope))


def _logistic(x: Any) -> Any:
    """silu'(x) = s (1 + x (1 - s)), s the logistic function."""
    s = 1 / (1 + exp(-x))
    return s * (1 + x * (1 - s))


def _above_zero(g: Any, y: Any, x: Any) -> Any:
    """The cotangent where y is above 0 (or NaN), zero elsewhere, and not zero times the cotangent."""
    return where(g, g.dtype.type(0), ~(raw(y) <= 0))


def _to_greater(g: Any, a: Any, b: Any) -> Any:
    """The cotangent where a is greater than b, half of it where they are equal, zero elsewhere."""
    zero, a, b = g.dtype.type(0), raw(a), raw(b)
    return where(where(g, g * 0.5, a > b), zero, ~(a < b))


def _where(g: Any, condition: Any) -> Any:
    """The cotangent where the condition holds, zero elsewhere."""
    return where(g, g.dtype.type(0), condition)


def _chosen(g: Any, condition: Any, shape: tuple[int, ...]) -> Any:
    """The cotangent where it was chosen, zero elsewhere, summed to ``shape``."""
    return summed_to(where(g, g.dtype.type(0), condition), shape)


@quiet
def _dropped(k: Any, x: Any, mask: Any, p: float) -> Any:
    """X / (1 - p), divided in float64 and rounded once, where the mask keeps it; 0 x elsewhere, which is NaN where x is."""
    if p == 1:
        return x * x.dtype.type(0)
    scaled = k.xp.multiply(x, mask, dtype=_WIDE) / (1 - p)
    return scaled if x.dtype == _WIDE else k.cast(scaled, x.dtype)


# ruff: noqa: E501
# fmt: off
#                   name     verb           saves  partial derivatives, from the output y and the inputs
add:  Elementwise = Elementwise("add",  "add",      "",   1, 1)
sub:  Elementwise = Elementwise("sub",  "subtract", "",   1, -1)
mul:  Elementwise = Elementwise("mul",  "multiply", "b|a", lambda y, a, b: b, lambda y, a, b: a)
div:  Elementwise = Elementwise("div",  "divide",   "b|yb", per(lambda y, a, b: b), lambda y, a, b: -(y / b))
maximum: Elementwise = Elementwise("maximum", "maximum", "ab|ab", Vjp(lambda g, y, a, b: _to_greater(g, a, b)), Vjp(lambda g, y, a, b: _to_greater(g, b, a)))
minimum: Elementwise = Elementwise("minimum", "minimum", "ab|ab", Vjp(lambda g, y, a, b: _to_greater(g, b, a)), Vjp(lambda g, y, a, b: _to_greater(g, a, b)))
clamp_min: Elementwise = Elementwise("clamp_min", "maximum", "ab|ab", Vjp(lambda g, y, a, b: _where(g, raw(a) >= raw(b))), Vjp(lambda g, y, a, b: _where(g, raw(a) < raw(b))))
clamp_max: Elementwise = Elementwise("clamp_max", "minimum", "ab|ab", Vjp(lambda g, y, a, b: _where(g, raw(a) <= raw(b))), Vjp(lambda g, y, a, b: _where(g, raw(a) > raw(b))))
neg:  Elementwise = Elementwise("neg",  "negative", "",   -1)
abs_: Elementwise = Elementwise("abs",  "absolute", "a",  lambda y, x: sgn(x))
sgn:  Elementwise = Elementwise("sgn",  "sgn",      "",   0)
relu: Elementwise = Elementwise("relu", "relu",     "y",  Vjp(_above_zero),
                                fused=lambda k, g, y, x: k.relu_backward(g, y))
silu: Elementwise = Elementwise("silu", "silu",     "a",  lambda y, x: _logistic(x),
                                fused=lambda k, g, y, x: k.silu_backward(g, x))
gelu: Elementwise = Elementwise("gelu", "gelu",     "a",  lambda y, x: _normal(x),
                                fused=lambda k, g, y, x: k.gelu_backward(g, x))
gelu_tanh: Elementwise = Elementwise("gelu_tanh", lambda k, x: k.gelu(x, "tanh"), "a", lambda y, x: _normal_tanh(x), fused=lambda k, g, y, x: k.gelu_backward(g, x, "tanh"))
# fmt: on
exp, log, sqrt, sin, tanh, erf = (RULES[name] for name in ("exp", "log", "sqrt", "sin", "tanh", "erf"))

where: Linear = Linear(
    "where",
    lambda k, a, b, condition: k.where(condition, a, b),
    (
        lambda g, shapes, condition: _chosen(g, condition, shapes[0]),
        lambda g, shapes, condition: _chosen(g, ~condition, shapes[1]),
    ),
    arity=2,
)
dropout: Linear = Linear(
    "dropout",
    _dropped,
    lambda g, shapes, mask, p: dropout(g, mask, p),
)
