"""Elementwise kernels of the device "plain": formulas that are written to be read, in NumPy and SciPy."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..quiet import without_warnings
from .widening import RawArray, wide


@without_warnings
def cast(x: RawArray, dtype: np.dtype[Any], /) -> RawArray:
    """Return each number in another dtype, the same bits on every device.

    A number becomes a float by one rounding; a number that is too large becomes an infinity. A float becomes an integer
    without its fraction: the nearest end of the range if it lies outside, 0 if it is NaN. An integer keeps its low bits
    in a narrower dtype. A bool is true for all numbers but zeros.
    """
    if x.dtype.kind != "f" or dtype.kind not in "iu":
        return x.astype(dtype, order="C")
    w, ends = wide(x), np.iinfo(dtype)
    least, beyond = float(ends.min), float(ends.max // 2 + 1) * 2  # float64 represents both
    result = w.astype(dtype, order="C")
    if w.size and not (least <= w.min() and w.max() < beyond):  # processors differ for NaN and beyond the ends
        result[w < least], result[w >= beyond], result[np.isnan(w)] = ends.min, ends.max, 0
    return result


def relu(x: RawArray, /) -> RawArray:
    """max(x, 0), for any real dtype: +0 for -0; NaN stays NaN."""
    return np.where(x <= 0, x.dtype.type(0), x).copy()  # in C order


def relu_backward(cotangent: RawArray, y: RawArray, /) -> RawArray:
    """Return the cotangent where y = relu(x) is positive or NaN, +0 elsewhere."""
    return np.where((y > 0) | np.isnan(y), cotangent, cotangent.dtype.type(0)).copy()  # in C order


def scipy_special() -> Any:
    """Return the module `scipy.special`; it is imported at the first call, as the import is slow."""
    from scipy import special as module

    return module


def gelu(x: RawArray, /, approximate: str = "none") -> RawArray:
    """``x Phi(x)``, where Phi is the normal distribution function (``"none"``) or its approximation (``"tanh"``)."""
    w = wide(x)
    if approximate == "none":
        return (w * scipy_special().ndtr(w)).astype(x.dtype)
    return (w * (1 + np.tanh(np.sqrt(2 / np.pi) * (w + 0.044715 * w**3))) / 2).astype(x.dtype)


def gelu_backward(cotangent: RawArray, x: RawArray, /, approximate: str = "none") -> RawArray:
    """``cotangent * gelu'(x)``."""
    w = wide(x)
    if approximate == "none":
        slope = scipy_special().ndtr(w) + w * np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
    else:
        t = np.tanh(np.sqrt(2 / np.pi) * (w + 0.044715 * w**3))
        first = w * (1 - t * t) / 2 * np.sqrt(2 / np.pi)  # 0 for a large w, whose square can overflow
        slope = (1 + t) / 2 + first + 3 * 0.044715 * (first * w * w)
    return (cotangent * slope).astype(x.dtype)


def _logistic(x: RawArray) -> RawArray:
    """``1 / (1 + exp(-x))``."""
    decay = np.exp(-np.abs(x))  # cannot overflow
    return np.where(x < 0, decay, 1) / (1 + decay)


def silu(x: RawArray, /) -> RawArray:
    """``x / (1 + exp(-x))``."""
    return (wide(x) * _logistic(wide(x))).astype(x.dtype)


def silu_backward(cotangent: RawArray, x: RawArray, /) -> RawArray:
    """``cotangent * silu'(x)``."""
    s = _logistic(wide(x))
    return (cotangent * (s + wide(x) * s * (1 - s))).astype(x.dtype)


def erf(x: RawArray, /) -> RawArray:
    """The error function."""
    return scipy_special().erf(wide(x)).astype(x.dtype)


def erfc(x: RawArray, /) -> RawArray:
    """1 minus the error function, accurate even for a large x, for which the error function is nearly 1."""
    return np.vectorize(math.erfc, otypes=[np.float64])(wide(x)).astype(x.dtype)


def sgn(x: RawArray, /) -> RawArray:
    """-1, 0 or 1 by the sign; NaN stays NaN; a bool is its own sign."""
    return x.copy() if x.dtype == bool else np.sign(x, order="C")
