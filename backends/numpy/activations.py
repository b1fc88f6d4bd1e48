"""erfc, gelu, silu and their derivatives, which NumPy lacks or does not vectorise.

Each function computes a block of a larger array: see `blockwise`. The steps write into the memory of the result, since
a new array takes as long as a step. Fused chains call these functions for the blocks of a chain.
"""

from __future__ import annotations

from math import pi, sqrt

import numpy as np

from ..plain.widening import RawArray
from .elementwise import blockwise

SILU_TAIL = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -700.0}  # below it, 1 + exp(x) is 1 and exp(-x) is huge

# In float32, Phi(x) = 1 / (1 + exp(C x (s + K + D1 / (s + E1 + D2 / (s + E2))))) with s = x * x, but for 3e-7 at most.
# np.exp is vectorised and scipy.special.ndtr is not, and a continued fraction takes the fewest steps.
C, K = -0.03627727757122611, 65.23510487637967
D1, E1, D2, E2 = -146.969813681375, -23.606133102222024, 1383.4133779479805, 45.32311438965074
TANH_SCALE, TANH_CUBIC = sqrt(2 / pi), 0.044715  # of gelu's tanh approximation


@blockwise
def erfc(x: RawArray, /, *, out: RawArray) -> None:
    """``1 - erf(x)`` of floats, accurate also where erf(x) is nearly 1."""
    from scipy import special

    special.erfc(x, out=out)
    if x.dtype == np.float64:  # SciPy rounds x * x before exp(-x * x), an error of x * x roundoffs
        tail = np.flatnonzero(x > 0.5)
        clipped = np.minimum(x[tail], 30)  # beyond 30 the result is 0
        rounded = np.rint(clipped * 2**20) / 2**20  # has an exact square
        rest = np.exp((rounded - clipped) * (rounded + clipped))
        out[tail] = np.exp(-rounded * rounded) * rest * special.erfcx(clipped)


@blockwise
def normal_distribution(x: RawArray, /, *, out: RawArray) -> None:
    """``Phi(x)``, the probability that a standard normal number is at most x."""
    if x.dtype != np.float32:
        from scipy import special

        special.ndtr(x, out=out)
        return
    square = x * x
    np.add(square, E2, out=out)
    np.divide(D2, out, out=out)
    out += square
    out += E1
    np.divide(D1, out, out=out)
    out += square
    out += K
    out *= C
    out *= x
    np.exp(out, out=out)
    out += 1
    np.divide(1, out, out=out)


def gelu(x: RawArray, /, approximate: str = "none") -> RawArray:
    """``x Phi(x)``, with the normal distribution function (``"none"``) or its tanh approximation (``"tanh"``)."""
    return gelu_exact(x) if approximate == "none" else gelu_tanh(x)


def gelu_backward(cotangent: RawArray, x: RawArray, /, approximate: str = "none") -> RawArray:
    """``cotangent * gelu'(x)``."""
    return gelu_exact_backward(cotangent, x) if approximate == "none" else gelu_tanh_backward(cotangent, x)


@blockwise
def gelu_exact(x: RawArray, /, *, out: RawArray) -> None:
    """``x Phi(x)``."""
    normal_distribution(x, out=out)
    out *= x


@blockwise
def gelu_exact_backward(cotangent: RawArray, x: RawArray, /, *, out: RawArray) -> None:
    """``cotangent`` times the derivative of `gelu_exact`."""
    normal_distribution(x, out=out)
    gelu_backward_from_distribution(cotangent, x, out, out=out)


@blockwise
def gelu_backward_from_distribution(
    cotangent: RawArray, x: RawArray, distribution: RawArray, /, *, out: RawArray
) -> None:
    """``cotangent * (Phi(x) + x exp(-x * x / 2) / sqrt(2 pi))``, given ``Phi(x)``."""
    density = x * x
    density *= -0.5
    np.exp(density, out=density)
    density *= 1 / sqrt(2 * pi)
    density *= x
    np.add(distribution, density, out=out)
    out *= cotangent


def _normal_distribution_by_tanh(x: RawArray, out: RawArray) -> None:
    """``p = (1 + tanh(u)) / 2 = 1 / (1 + exp(-2 u))``, with u = sqrt(2 / pi) (x + 0.044715 x^3)."""
    np.multiply(x, x, out=out)
    out *= -2 * TANH_SCALE * TANH_CUBIC
    out -= 2 * TANH_SCALE
    out *= x
    np.exp(out, out=out)
    out += 1
    np.divide(1, out, out=out)


@blockwise
def gelu_tanh(x: RawArray, /, *, out: RawArray) -> None:
    """``x p``, with p of `_normal_distribution_by_tanh`."""
    _normal_distribution_by_tanh(x, out)
    out *= x


@blockwise
def gelu_tanh_backward(cotangent: RawArray, x: RawArray, /, *, out: RawArray) -> None:
    """``cotangent * (p + s + 3 * 0.044715 x x s)``, with the same p, and s = x p (1 - p) 2 sqrt(2 / pi).

    The product of x and s vanishes for large x; x * x would overflow and give inf * 0.
    """
    _normal_distribution_by_tanh(x, out)
    s = 1 - out
    s *= out
    s *= 2 * TANH_SCALE
    s *= x
    out += s
    for factor in (x, x, 3 * TANH_CUBIC):
        s *= factor
    out += s
    out *= cotangent


@blockwise
def silu(x: RawArray, /, *, out: RawArray) -> None:
    """``x / (1 + exp(-x))``."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    np.divide(x, out, out=out)
    threshold = SILU_TAIL[x.dtype]
    if not x.min(initial=0) >= threshold:  # or NaN
        # exp(-x) overflows, or nearly, but x exp(x) does not: multiply x by exp(x / 2) two times.
        tail = np.flatnonzero(x < threshold)
        root = np.exp(x[tail] * 0.5)
        out[tail] = x[tail] * root * root


@blockwise
def silu_backward(cotangent: RawArray, x: RawArray, /, *, out: RawArray) -> None:
    """``cotangent * s (1 + x (1 - s))``, with s the sigmoid of x."""
    np.negative(x, out=out)
    np.exp(out, out=out)
    out += 1
    np.divide(1, out, out=out)
    slope = 1 - out
    slope *= x
    slope += 1
    out *= slope
    out *= cotangent
