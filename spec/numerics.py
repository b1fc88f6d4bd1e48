"""Wide arithmetic for the definitions: what `float64`, complex and exact numbers need to share one text.

A definition is written once and runs on three kinds of numbers: float64 (the reading everybody expects), complex
(a derivative by complex step) and arrays of dtype object that hold the exact dual numbers of `pynested.spec.generator`.
NumPy's own functions differ between these kinds in a few places (NaN tests, maxima, empty sums, `erf`); the helpers
below do not.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import numpy.typing as npt

NDArray = npt.NDArray[Any]
Axis = int | tuple[int, ...] | None

__all__ = [
    "Axis",
    "NDArray",
    "cbrt",
    "constant",
    "deviations",
    "erf",
    "erfc",
    "floor_quotient",
    "greater",
    "is_nan",
    "lesser",
    "log_add_exp",
    "maximum_along",
    "mean_along",
    "minimum_along",
    "power",
    "product_along",
    "real",
    "remainder",
    "shift_along",
    "sum_along",
    "wide",
]

_erf_float64 = np.frompyfunc(math.erf, 1, 1)
_erfc_float64 = np.frompyfunc(math.erfc, 1, 1)
_of_rounded = np.frompyfunc(lambda number: number.shift(), 1, 1)
_erf_exact = np.frompyfunc(lambda number: number.erf(), 1, 1)
_real_exact = np.frompyfunc(lambda number: number.real, 1, 1)
_greater = np.frompyfunc(lambda a, b: a if a != a or a >= b else b, 2, 1)
_greater_of_two = np.frompyfunc(lambda a, b: (a + b) / 2 if a == b else a if a != a or a > b else b, 2, 1)
_lesser = np.frompyfunc(lambda a, b: a if a != a or a <= b else b, 2, 1)


def _of_two_exponents(a: Any, b: Any) -> Any:
    """Return log(e**a + e**b) of exact numbers; a - b is no number for NaN, and where both are the same infinity."""
    if (a - b) != (a - b):
        return (a + b) / 2
    return a + (b - a).exp().log1p() if a >= b else b + (a - b).exp().log1p()


_log_add_exp = np.frompyfunc(_of_two_exponents, 2, 1)


def wide(x: Any) -> NDArray:
    """Return `x` as an array wide enough to compute in: floats become float64, every other kind stays as it is."""
    array = np.asarray(x)
    return array.astype(np.float64) if array.dtype.kind == "f" else array


def real(x: Any) -> NDArray:
    """Return the part of `x` that decides order and sign: the real part of complex numbers, otherwise `x` itself."""
    array = np.asarray(x)
    return array.real if array.dtype.kind == "c" else array


def constant(x: Any) -> NDArray:
    """Return `x` as numbers that depend on nothing: what follows from them has no slope."""
    array = np.asarray(x)
    return np.asarray(_real_exact(array), dtype=object) if array.dtype == object else array.real


def is_nan(x: Any) -> NDArray:
    """Say where `x` is NaN, for every kind of number (`np.isnan` refuses arrays of dtype object)."""
    array = real(x)
    return np.asarray(array != array, dtype=np.bool_)


def erf(x: Any) -> NDArray:
    """Return the error function of `x`; for complex `x` the first-order continuation that a complex step needs."""
    array = np.asarray(x)
    if array.dtype == object:
        return np.asarray(_erf_exact(array), dtype=object)
    if array.dtype.kind == "c":
        slope = 2.0 / math.sqrt(math.pi) * np.exp(-(array.real**2))
        return np.asarray(erf(array.real) + 1j * array.imag * slope)
    return np.asarray(_erf_float64(array.astype(np.float64)), dtype=np.float64)


def erfc(x: Any) -> NDArray:
    """Return the complementary error function of floats or complex `x`, as `erf`."""
    array = np.asarray(x)
    if array.dtype.kind == "c":
        slope = -2.0 / math.sqrt(math.pi) * np.exp(-(array.real**2))
        return np.asarray(erfc(array.real) + 1j * array.imag * slope)
    return np.asarray(_erfc_float64(array.astype(np.float64)), dtype=np.float64)


def cbrt(x: Any) -> NDArray:
    """Return the real cube root of floats or complex `x`, as `erf`; the slope at 0 is a pole."""
    array = np.asarray(x)
    if array.dtype.kind != "c":
        return np.asarray(np.cbrt(array.astype(np.float64)))
    value = array.copy()
    value.real = np.cbrt(array.real)
    value.imag = _product(array.imag, 1 / (3 * value.real**2))
    return value


def greater(a: NDArray, b: NDArray) -> NDArray:
    """Return the greater of two elements, NaN where either is; of equal exact numbers half of each."""
    exact = np.asarray(a).dtype == object or np.asarray(b).dtype == object
    return np.asarray(_greater_of_two(a, b), dtype=object) if exact else np.asarray(np.maximum(a, b))


def lesser(a: NDArray, b: NDArray) -> NDArray:
    """Return the lesser of two elements, as `greater`."""
    exact = np.asarray(a).dtype == object or np.asarray(b).dtype == object
    return -greater(-np.asarray(a), -np.asarray(b)) if exact else np.asarray(np.minimum(a, b))


def floor_quotient(a: NDArray, b: NDArray) -> NDArray:
    """Return floor(a / b), which has no slope: of complex numbers that of their real parts."""
    return np.asarray(np.floor_divide(real(a), real(b)))


def remainder(a: NDArray, b: NDArray) -> NDArray:
    """Return a - floor(a / b) * b, without rounding in between."""
    rest = np.asarray(np.remainder(real(a), real(b)))
    if "c" in a.dtype.kind + b.dtype.kind:
        return np.asarray(rest + 1j * (np.imag(a) - floor_quotient(a, b) * np.imag(b)))
    return rest


def power(a: NDArray, b: NDArray) -> NDArray:
    """Return a ** b; for complex numbers the first-order continuation that a complex step needs."""
    if "c" not in a.dtype.kind + b.dtype.kind:
        if np.result_type(a, b).kind in "iu":  # where a power is negative there are no elements
            b = np.maximum(b, 0)
        return np.asarray(np.power(a, b))
    x, y = real(a), real(b)
    value = np.power(x, y)
    of_base = np.where(y == 0, 0, y * np.power(x, y - 1))
    of_exponent = np.where((x == 0) & (y >= 0), 0, value * np.log(x))
    return np.asarray(value + 1j * (_product(np.imag(a), of_base) + _product(np.imag(b), of_exponent)))


def log_add_exp(a: NDArray, b: NDArray) -> NDArray:
    """Return log(e**a + e**b); for complex numbers the first-order continuation that a complex step needs."""
    if np.asarray(a).dtype == object or np.asarray(b).dtype == object:
        return np.asarray(_log_add_exp(a, b), dtype=object)
    x, y = real(a), real(b)
    value = np.logaddexp(x, y)
    if "c" not in a.dtype.kind + b.dtype.kind:
        return np.asarray(value)
    slope = 1 / (1 + np.exp(y - x)), 1 / (1 + np.exp(x - y))
    return np.asarray(value + 1j * (_product(np.imag(a), slope[0]) + _product(np.imag(b), slope[1])))


def _product(step: NDArray, slope: NDArray) -> NDArray:
    """Return a step times a slope, which may be no number where there is no step."""
    return np.where(step == 0, 0, step * slope)


def sum_along(x: Any, axis: Axis, keepdims: bool = False) -> NDArray:
    """Sum along `axis`; nothing sums to +0. Bools and ints are added as int64."""
    array = wide(x)
    if array.dtype.kind in "biu":
        array = array.astype(np.int64)
    if array.dtype == object and array.ndim == 1 and array.size and hasattr(array[0], "total"):
        found = np.empty((1,) if keepdims else (), object)  # of numbers that have a sum of many at once
        found[...] = array[0].total(array.tolist())
        return found
    return np.asarray(array.sum(axis=axis, keepdims=keepdims), dtype=array.dtype)


def product_along(x: Any, axis: Axis, keepdims: bool = False) -> NDArray:
    """Multiply along `axis`; the product of nothing is 1. Bools and ints are multiplied as int64."""
    array = wide(x)
    if array.dtype.kind in "biu":
        array = array.astype(np.int64)
    return np.asarray(array.prod(axis=axis, keepdims=keepdims), dtype=array.dtype)


def mean_along(x: Any, axis: Axis, keepdims: bool = False) -> NDArray:
    """Average along `axis`; the mean of nothing is NaN. Bools and ints are averaged as float64."""
    array = wide(x)
    if array.dtype.kind in "biu":
        array = array.astype(np.float64)
    axes = range(array.ndim) if axis is None else (axis,) if isinstance(axis, int) else axis
    count = math.prod(array.shape[one] for one in axes)
    total = sum_along(array, axis, keepdims)
    return np.asarray(total / count if count else np.full_like(total, math.nan), dtype=array.dtype)


def deviations(run: NDArray) -> NDArray:
    """Return what each element of a run is more than their mean: exactly 0 where all are equal, in few digits too."""
    beyond = run - _shift(run[:1])
    return np.asarray(beyond - sum_along(beyond, 0) / max(run.size, 1))


def maximum_along(x: Any, axis: Axis, keepdims: bool = False) -> NDArray:
    """Return the greatest element along `axis`, NaN wherever a NaN takes part; the run must not be empty."""
    return _chosen(np.maximum, _greater, x, axis, keepdims)


def shift_along(x: NDArray, axis: int) -> NDArray:
    """Return the greatest element along `axis`, kept, as a number to subtract that changes nothing."""
    return _shift(maximum_along(x, axis, keepdims=True))


def _shift(x: NDArray) -> NDArray:
    """Return numbers that could be any others: those that know of their rounding forget it."""
    return np.asarray(_of_rounded(x), dtype=object) if x.size and hasattr(x.flat[0], "shift") else x


def minimum_along(x: Any, axis: Axis, keepdims: bool = False) -> NDArray:
    """Return the least element along `axis`, NaN wherever a NaN takes part; the run must not be empty."""
    return _chosen(np.minimum, _lesser, x, axis, keepdims)


def _chosen(ufunc: np.ufunc, of_exact: Any, x: Any, axis: Axis, keepdims: bool) -> NDArray:
    array = np.asarray(x)
    axes = tuple(range(array.ndim)) if axis is None else (axis,) if isinstance(axis, int) else tuple(axis)
    if array.dtype != object:
        return np.asarray(ufunc.reduce(array, axis=axes, keepdims=keepdims))
    for one in axes:
        array = np.asarray(of_exact.reduce(array, axis=one, keepdims=True), dtype=object)
    return array if keepdims else array.squeeze(axes)
