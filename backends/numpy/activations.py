"""erfc, gelu, silu and the derivatives of activations, which NumPy lacks or does not vectorise.

Each function computes a block of a larger array: see `blockwise`. The steps write into the arrays of the steps before
them, since a new array takes as long as a step. Fused chains call these functions for the blocks of a chain.
"""

from __future__ import annotations

from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import empty
from .elementwise import blockwise, keep_where
from .parallel import blocks, run

RawArray = NDArray[Any]

SILU_TAIL = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -700.0}  # below it, 1 + exp(x) is 1 and exp(-x) is huge

# In float32, erf(x / sqrt 2) = tanh(C x (s + K + D1 / (s + E1 + D2 / (s + E2)))) with s = x * x, to 3e-7 everywhere:
# np.tanh is vectorised and scipy.special.erf is not, and a continued fraction takes the fewest steps.
C, K = 0.018138638785613056, 65.23510487637967
D1, E1, D2, E2 = -146.969813681375, -23.606133102222024, 1383.4133779479805, 45.32311438965074
TANH_SCALE, TANH_CUBIC = sqrt(2 / pi), 0.044715  # of gelu's tanh approximation


@blockwise
def erfc(x: RawArray, /) -> RawArray:
    """1 minus the error function of floats, accurate where that is nearly 1."""
    from scipy import special

    y: RawArray = special.erfc(x)
    if y.dtype == np.float64:  # SciPy rounds x * x before exp(-x * x), an error of x * x roundoffs
        tail = np.flatnonzero(x > 0.5)
        clipped = np.minimum(x[tail], 30)  # beyond 30 the result is 0
        rounded = np.rint(clipped * 2**20) / 2**20  # has an exact square
        rest = np.exp((rounded - clipped) * (rounded + clipped))
        y[tail] = np.exp(-rounded * rounded) * rest * special.erfcx(clipped)
    return y


@blockwise
def normal_distribution(x: RawArray, /) -> RawArray:
    """``Phi(x) = (1 + erf(x / sqrt 2)) / 2``."""
    if x.dtype != np.float32:
        from scipy import special

        return special.ndtr(x)  # type: ignore[no-any-return]
    square = x * x
    y = square + E2
    np.divide(D2, y, out=y)
    y += square
    y += E1
    np.divide(D1, y, out=y)
    y += square
    y += K
    y *= C
    y *= x
    np.tanh(y, out=y)
    y *= 0.5
    y += 0.5
    return y


def gelu(x: RawArray, /, approximate: str = "none") -> RawArray:
    """``x Phi(x)``, with the normal distribution function (``"none"``) or its tanh approximation (``"tanh"``)."""
    return gelu_exact(x) if approximate == "none" else gelu_tanh(x)


def gelu_backward(cotangent: RawArray, x: RawArray, /, approximate: str = "none") -> RawArray:
    """``cotangent * gelu'(x)``."""
    return gelu_exact_backward(cotangent, x) if approximate == "none" else gelu_tanh_backward(cotangent, x)


@blockwise
def gelu_exact(x: RawArray, /) -> RawArray:
    """``x Phi(x)``."""
    y = normal_distribution(x)
    y *= x
    return y


@blockwise
def gelu_exact_backward(cotangent: RawArray, x: RawArray, /) -> RawArray:
    """``cotangent`` times the derivative of `gelu_exact`."""
    return gelu_backward_from_distribution(cotangent, x, normal_distribution(x))


@blockwise
def gelu_backward_from_distribution(cotangent: RawArray, x: RawArray, distribution: RawArray, /) -> RawArray:
    """``cotangent * (Phi(x) + x exp(-x * x / 2) / sqrt(2 pi))``, given ``Phi(x)``."""
    slope = x * x
    slope *= -0.5
    np.exp(slope, out=slope)
    slope *= 1 / sqrt(2 * pi)
    slope *= x
    slope += distribution
    slope *= cotangent
    return slope


def _gelu_tanh_factor(x: RawArray) -> RawArray:
    """``tanh(sqrt(2 / pi) (x + 0.044715 x^3))``."""
    t = x * x
    t *= TANH_SCALE * TANH_CUBIC
    t += TANH_SCALE
    t *= x
    return np.tanh(t, out=t)  # type: ignore[no-any-return]


@blockwise
def gelu_tanh(x: RawArray, /) -> RawArray:
    """``x (1 + t) / 2``, where t is the tanh."""
    y = _gelu_tanh_factor(x)
    y += 1
    y *= x * 0.5
    return y


@blockwise
def gelu_tanh_backward(cotangent: RawArray, x: RawArray, /) -> RawArray:
    """``cotangent * ((1 + t) / 2 + s + 3 * 0.044715 x x s)``, with s = x (1 - t t) sqrt(2 / pi) / 2.

    The product of x and s vanishes for large x; x * x would overflow and give inf * 0.
    """
    t = _gelu_tanh_factor(x)
    s = t * t
    np.subtract(1, s, out=s)
    s *= 0.5 * TANH_SCALE
    s *= x
    slope = t
    slope *= 0.5
    slope += 0.5
    slope += s
    for factor in (x, x, 3 * TANH_CUBIC):
        s *= factor
    slope += s
    slope *= cotangent
    return slope


def relu_backward(cotangent: RawArray, y: RawArray, /) -> RawArray:
    """The cotangent where y = relu(x) is above 0 or NaN, +0 elsewhere whatever the cotangent is."""
    out = empty(y.shape, y.dtype)
    flat_g, flat_y, flat_out = (np.ascontiguousarray(array).reshape(-1) for array in (cotangent, y, out))

    def work(start: int, stop: int) -> None:
        keep_where(~(flat_y[start:stop] <= 0), flat_g[start:stop], flat_out[start:stop])

    run(work, blocks(y.size, y.itemsize), y.nbytes)
    return out


@blockwise
def silu(x: RawArray, /) -> RawArray:
    """``x / (1 + exp(-x))``."""
    y = -x
    np.exp(y, out=y)
    y += 1
    np.divide(x, y, out=y)
    threshold = SILU_TAIL[x.dtype]
    if not x.min(initial=0) >= threshold:  # or NaN
        # exp(-x) overflows, or nearly, but x exp(x) does not: multiply x by exp(x / 2) two times.
        tail = np.flatnonzero(x < threshold)
        root = np.exp(x[tail] * 0.5)
        y[tail] = x[tail] * root * root
    return y


@blockwise
def silu_backward(cotangent: RawArray, x: RawArray, /) -> RawArray:
    """``cotangent * s (1 + x (1 - s))``, with s the sigmoid of x."""
    s = -x
    np.exp(s, out=s)
    s += 1
    np.divide(1, s, out=s)
    y = 1 - s
    y *= x
    y += 1
    y *= s
    y *= cotangent
    return y
