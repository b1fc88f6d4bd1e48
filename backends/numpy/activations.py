"""erfc, gelu and silu, which NumPy lacks or does not vectorise, and their fused adjoints."""

from __future__ import annotations

from collections.abc import Callable
from math import pi, sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .elementwise import Kernel, blockwise, keep_where
from .parallel import minimum_of

SILU_TAIL = {np.dtype(np.float32): -80.0, np.dtype(np.float64): -700.0}  # below, 1 + exp(x) is 1 and exp(-x) is huge

# In float32, erf(x / sqrt 2) = tanh(C x (s + K + D1 / (s + E1 + D2 / (s + E2)))) with s = x * x, to 3e-7 everywhere:
# np.tanh is vectorised and scipy.special.erf is not, and a continued fraction takes the fewest passes.
# The numbers are arrays: NumPy would convert Python's numbers in every call.
C, K, D1, E1, D2, E2, HALF = (np.asarray(number, np.float32) for number in (
    0.018138638785613056, 65.23510487637967, -146.969813681375, -23.606133102222024, 1383.4133779479805,
    45.32311438965074, 0.5,
))  # fmt: skip
TANH_SCALE, TANH_CUBIC = sqrt(2 / pi), 0.044715  # gelu's tanh approximation


def erfc(x: NDArray[Any], /) -> NDArray[Any]:
    """1 minus the error function of floats, accurate where that is nearly 1."""
    return blockwise(_erfc_kernel, x)


def gelu(x: NDArray[Any], /, approximate: str = "none") -> NDArray[Any]:
    """``x Phi(x)``, with the normal distribution function (``"none"``) or its tanh approximation (``"tanh"``)."""
    return blockwise(_gelu_kernel, x, extra=1) if approximate == "none" else gelu_tanh(x)


def gelu_backward(cotangent: NDArray[Any], x: NDArray[Any], /, approximate: str = "none") -> NDArray[Any]:
    """``cotangent * gelu'(x)``."""
    if approximate == "none":
        return blockwise(_gelu_backward_kernel, cotangent, x, extra=1)
    return gelu_tanh_backward(cotangent, x)


def normal_distribution(x: NDArray[Any], /) -> NDArray[Any]:
    """``Phi(x)`` of float32 or float64; ``gelu(x) = x Phi(x)``."""
    return blockwise(_normal_distribution, x, extra=1)


def gelu_backward_from_distribution(
    cotangent: NDArray[Any], x: NDArray[Any], distribution: NDArray[Any], /
) -> NDArray[Any]:
    """`gelu_backward`, where ``Phi(x)`` is known."""
    return blockwise(_gelu_backward_from_distribution_kernel, cotangent, x, distribution, extra=1)


def gelu_tanh(x: NDArray[Any], /) -> NDArray[Any]:
    """`gelu`'s tanh approximation."""
    return blockwise(_gelu_tanh_kernel, x, extra=2)


def gelu_tanh_backward(cotangent: NDArray[Any], x: NDArray[Any], /) -> NDArray[Any]:
    """``cotangent`` times the derivative of `gelu_tanh`."""
    return blockwise(_gelu_tanh_backward_kernel, cotangent, x, extra=2)


def relu_backward(cotangent: NDArray[Any], y: NDArray[Any], /) -> NDArray[Any]:
    """The cotangent where y = relu(x) is above 0 or NaN, +0 elsewhere whatever the cotangent is."""
    return blockwise(_relu_backward_kernel, cotangent, y)


def silu(x: NDArray[Any], /) -> NDArray[Any]:
    """``x / (1 + exp(-x))``."""
    return blockwise(_silu_kernel, x)


def silu_backward(cotangent: NDArray[Any], x: NDArray[Any], /) -> NDArray[Any]:
    """``cotangent * silu'(x)``."""
    return blockwise(_silu_backward_kernel, cotangent, x, extra=1)


def _erfc_kernel(out: NDArray[Any], x: NDArray[Any]) -> None:
    from scipy import special

    special.erfc(x, out)
    if out.dtype == np.float64:  # SciPy rounds x * x before exp(-x * x), an error of x * x roundoffs
        tail = np.flatnonzero(x > 0.5)
        clipped = np.minimum(x[tail], 30)  # beyond 30 the result is 0
        rounded = np.rint(clipped * 2**20) / 2**20  # whose square is exact
        rest = np.exp((rounded - clipped) * (rounded + clipped))
        out[tail] = np.exp(-rounded * rounded) * rest * special.erfcx(clipped)


def _erf_of_normal(out: NDArray[Any], x: NDArray[Any], square: NDArray[Any]) -> None:
    """``out <- erf(x / sqrt 2)`` in float32, and ``square <- x * x``."""
    np.multiply(x, x, square)
    np.add(square, E2, out)
    np.divide(D2, out, out)
    np.add(out, square, out)
    np.add(out, E1, out)
    np.divide(D1, out, out)
    np.add(out, square, out)
    np.add(out, K, out)
    np.multiply(out, C, out)
    np.multiply(out, x, out)
    np.tanh(out, out)


def _normal_distribution(out: NDArray[Any], x: NDArray[Any], square: NDArray[Any]) -> None:
    """``out <- Phi(x) = (1 + erf(x / sqrt 2)) / 2``, and ``square <- x * x``."""
    if out.dtype == np.float32:
        _erf_of_normal(out, x, square)
        np.multiply(out, HALF, out)
        np.add(out, HALF, out)
    else:
        from scipy import special

        np.multiply(x, x, square)
        special.ndtr(x, out)


def _gelu_kernel(out: NDArray[Any], x: NDArray[Any], square: NDArray[Any]) -> None:
    _normal_distribution(out, x, square)
    np.multiply(out, x, out)


def _gelu_backward_kernel(out: NDArray[Any], cotangent: NDArray[Any], x: NDArray[Any], density: NDArray[Any]) -> None:
    """``gelu' = Phi(x) + x exp(-x * x / 2) / sqrt(2 pi)``."""
    _normal_distribution(out, x, density)
    _times_slope(out, cotangent, x, out, density)


def _gelu_backward_from_distribution_kernel(
    out: NDArray[Any], cotangent: NDArray[Any], x: NDArray[Any], distribution: NDArray[Any], density: NDArray[Any]
) -> None:
    np.multiply(x, x, density)
    _times_slope(out, cotangent, x, distribution, density)


def _times_slope(
    out: NDArray[Any], cotangent: NDArray[Any], x: NDArray[Any], distribution: NDArray[Any], density: NDArray[Any]
) -> None:
    """``out <- cotangent * gelu'(x)``; ``density`` holds x * x at first."""
    np.multiply(density, -0.5, density)
    np.exp(density, density)
    np.multiply(density, 1 / sqrt(2 * pi), density)
    np.multiply(density, x, density)
    np.add(distribution, density, out)
    np.multiply(out, cotangent, out)


def _gelu_tanh(out: NDArray[Any], x: NDArray[Any]) -> None:
    """``out <- tanh(sqrt(2 / pi) (x + 0.044715 x^3))``."""
    np.multiply(x, x, out=out)
    np.multiply(out, TANH_SCALE * TANH_CUBIC, out=out)
    np.add(out, TANH_SCALE, out=out)
    np.multiply(out, x, out=out)
    np.tanh(out, out=out)


def _gelu_tanh_kernel(out: NDArray[Any], x: NDArray[Any], inner: NDArray[Any], half: NDArray[Any]) -> None:
    _gelu_tanh(inner, x)
    np.add(inner, 1, out=inner)
    np.multiply(x, 0.5, out=half)
    np.multiply(inner, half, out=out)


def _gelu_tanh_backward_kernel(
    out: NDArray[Any], cotangent: NDArray[Any], x: NDArray[Any], inner: NDArray[Any], slope: NDArray[Any]
) -> None:
    """``gelu' = (1 + t) / 2 + s + 3 * 0.044715 x x s``, with s = x (1 - t t) sqrt(2 / pi) / 2.

    The product of x and s vanishes for large x; x * x would overflow and give inf * 0.
    """
    _gelu_tanh(inner, x)
    np.multiply(inner, inner, out=slope)
    np.subtract(1, slope, out=slope)
    np.multiply(slope, 0.5 * TANH_SCALE, out=slope)
    np.multiply(slope, x, out=slope)
    np.multiply(inner, 0.5, out=inner)
    np.add(inner, 0.5, out=inner)
    np.add(inner, slope, out=inner)
    for factor in (x, x, 3 * TANH_CUBIC):
        np.multiply(slope, factor, out=slope)
    np.add(inner, slope, out=inner)
    np.multiply(inner, cotangent, out=out)


def _relu_backward_kernel(out: NDArray[Any], cotangent: NDArray[Any], y: NDArray[Any]) -> None:
    keep_where(~(y <= 0), cotangent, out)


def _silu_kernel(out: NDArray[Any], x: NDArray[Any]) -> None:
    np.negative(x, out=out)
    np.exp(out, out=out)
    np.add(out, 1, out=out)
    np.divide(x, out, out=out)
    threshold = SILU_TAIL[out.dtype]
    if out.size and not minimum_of(x) >= threshold:  # or NaN
        # exp(-x) overflows, or nearly, but x exp(x) does not: multiply x by exp(x / 2) two times.
        tail = np.flatnonzero(x < threshold)
        root = np.exp(x[tail] * 0.5)
        out[tail] = x[tail] * root * root


def _silu_backward_kernel(out: NDArray[Any], cotangent: NDArray[Any], x: NDArray[Any], sigmoid: NDArray[Any]) -> None:
    """``silu' = s (1 + x (1 - s))``, with s the sigmoid of x."""
    np.negative(x, out=sigmoid)
    np.exp(sigmoid, out=sigmoid)
    np.add(sigmoid, 1, out=sigmoid)
    np.divide(1, sigmoid, out=sigmoid)
    np.subtract(1, sigmoid, out=out)
    np.multiply(out, x, out=out)
    np.add(out, 1, out=out)
    np.multiply(out, sigmoid, out=out)
    np.multiply(out, cotangent, out=out)


# By kernel, the function that computes a block and its number of scratch arrays. Fused chains cut arrays into blocks
# themselves and call ``function(out, *inputs, *scratch)``; no input may be ``out``.
KERNELS: dict[Callable[..., Any], tuple[Kernel, int]] = {
    erfc: (_erfc_kernel, 0), gelu: (_gelu_kernel, 1), gelu_backward: (_gelu_backward_kernel, 1),
    relu_backward: (_relu_backward_kernel, 0), silu: (_silu_kernel, 0), silu_backward: (_silu_backward_kernel, 1),
    normal_distribution: (_normal_distribution, 1),
    gelu_backward_from_distribution: (_gelu_backward_from_distribution_kernel, 1),
    gelu_tanh: (_gelu_tanh_kernel, 2), gelu_tanh_backward: (_gelu_tanh_backward_kernel, 2),
}  # fmt: skip
