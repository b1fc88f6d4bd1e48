"""Values of functions of two elements that take several steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype, is_float, promoted
from pynested.backends.registry import NUMPY_DEVICES

from ..arguments.scalars import nearest_float, weak_dtype


def is_number(x: Any) -> bool:
    """Return whether ``x`` is a Python number."""
    return type(x) in (int, float, bool)


def remainder(k: Any, a: Any, b: Any) -> Any:
    """The remainder with the sign of the divisor, rounded once; NumPy's is that, those of other array modules not."""
    if k.device in NUMPY_DEVICES or not is_float(common_dtype(a, b)):
        return k.remainder(a, b)
    a, b, dtype = _opened(k, a, b)
    rest = k.fmod(a, b)
    rest = k.where((rest != 0) & ((rest < 0) != (b < 0)), rest + b, rest)
    return k.cast(k.where(rest == 0, k.copysign(k.absolute(rest), b), rest), dtype)


def floor_divide(k: Any, a: Any, b: Any) -> Any:
    """The quotient, rounded down as Python does: 1.0 // 0.1 is 9, since 0.1 is a little more than a tenth."""
    if k.device in NUMPY_DEVICES or not is_float(common_dtype(a, b)):
        return k.floor_divide(a, b)
    a, b, dtype = _opened(k, a, b)
    rest = k.fmod(a, b)
    quotient = (a - rest) / b - ((rest != 0) & ((rest < 0) != (b < 0)))
    floor = k.floor(quotient)
    floor = k.where(quotient - floor > 0.5, floor + 1, floor)
    floor = k.where(quotient == 0, k.copysign(k.absolute(quotient), a / b), floor)
    return k.cast(k.where(b == 0, a / b, floor), dtype)


def logaddexp(k: Any, a: Any, b: Any) -> Any:
    """``log(e**a + e**b)``; other array modules than NumPy have NaN for two equal infinities."""
    if k.device in NUMPY_DEVICES:
        return k.logaddexp(a, b)
    a, b, dtype = _opened(k, a, b)
    apart = k.where(k.equal(a, b), dtype.type(0), k.absolute(k.subtract(a, b)))
    return k.cast(k.maximum(a, b) + k.log1p(k.exp(-apart)), dtype)


def common_dtype(a: Any, b: Any) -> np.dtype[Any]:
    """Return the dtype to which two operands are promoted; at least one of them is an array."""
    if is_number(a) or is_number(b):
        number, array = (a, b) if is_number(a) else (b, a)
        return weak_dtype(number, array.dtype)
    return promoted(a.dtype, b.dtype)


def _opened(k: Any, a: Any, b: Any) -> tuple[Any, Any, Any]:
    """Floats in the dtype that is computed in, and that of the result."""
    dtype = common_dtype(a, b)
    wide = computing_dtype(dtype)
    a, b = (wide.type(x) if is_number(x) else k.cast(x, wide) for x in (a, b))
    return a, b, dtype


def logical(name: str) -> Callable[..., Any]:
    """A logical function, for which a number is true or false whatever dtype it meets."""

    def call(k: Any, a: Any, b: Any) -> Any:
        return getattr(k, name)(*[bool(x) if isinstance(x, int | float) else x for x in (a, b)])

    return call


def comparing(name: str, exchanged: bool = False) -> Callable[..., Any]:
    """A comparison, perhaps of the operands in the other order; any Python integer may be compared."""

    def call(k: Any, a: Any, b: Any) -> Any:
        compare = getattr(k, name)
        a, b = (b, a) if exchanged else (a, b)
        try:
            return compare(a, b)
        except OverflowError:  # an integer beyond float64 compares as the nearest float does
            return compare(*[nearest_float(x) if type(x) is int else x for x in (a, b)])

    return call
