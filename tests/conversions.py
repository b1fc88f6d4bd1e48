"""Conversion of numbers between dtypes in exact arithmetic, as the expected value of tests."""

from __future__ import annotations

import math
from collections.abc import Iterable
from fractions import Fraction
from typing import Any

import numpy as np

Numbers = np.ndarray[Any, Any]

# Binary digits after the leading one, and the exponents of the least and of the greatest number.
FORMATS = {
    "float16": (10, -24, 15),
    "bfloat16": (7, -133, 127),
    "float32": (23, -149, 127),
    "float64": (52, -1074, 1023),
}

# Numbers that wrong conversions change: ends of the integers, halves and their neighbours, numbers that are rounded
# twice on a way through float32, subnormals, zeros, infinities and NaN.
HALFWAY_FOR_FLOAT16 = 1 + 2.0**-11
TELLING = (
    0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.5, -2.5, 127.5, 128.0, -128.9, -129.0, 255.9, 256.0, -0.9, 1e5, -1e5,
    32767.9, 32768.0, -32769.0, 2.0**31 - 0.5, 2.0**31, -(2.0**31) - 1, 2.0**53, 2.0**63 - 1024, 2.0**63, -(2.0**63),
    -(2.0**63) - 2048, 1e19, 1e300, -1e300, math.inf, -math.inf, math.nan, 65503.0, 65519.999, 65520.0, -65520.0,
    HALFWAY_FOR_FLOAT16, HALFWAY_FOR_FLOAT16 + 2.0**-40, HALFWAY_FOR_FLOAT16 - 2.0**-40, 1 + 3 * 2.0**-11,
    1 + 2.0**-8 + 2.0**-40, 1 + 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 1 + 3 * 2.0**-24, 2.0**-24, 2.0**-25,
    2.0**-25 * (1 + 2.0**-30), 2.0**-26, 3 * 2.0**-26, 2.0**-126, 2.0**-149, 2.0**-150, 2.0**-150 * (1 + 2.0**-40),
    2.0**-151, -(2.0**-140), 5e-324, -5e-324, 3.4028235e38, 3.4028236e38,
)  # fmt: skip
TELLING_INTEGERS = (
    0, 1, -1, 2, 127, 128, -128, -129, 255, 256, -256, 300, 2047, 2049, 2051, 32767, 32768, -32769, 65519, 65520, 65535,
    2**24 + 1, 2**24 + 3, 2**31 - 1, 2**31, -(2**31) - 1, 2**53 + 1, 2**53 + 3, 2**60 + 2**36 + 1, 2**62 + 2**54 + 1,
    -(2**62) - 2**54 - 1, 2**63 - 1, -(2**63), 2**63 - 2**9, 2**63 - 2**39 - 1,
)  # fmt: skip


def telling(dtype: np.dtype[Any]) -> Numbers:
    """Return the numbers above that ``dtype`` can represent, or the floats of ``dtype`` that are nearest to them."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        return np.array([n for n in TELLING_INTEGERS if ends.min <= n <= ends.max], dtype)
    return np.array([nearest(Fraction(x), dtype) if math.isfinite(x) else x for x in TELLING], np.float64).astype(dtype)


def converted(values: Iterable[Any], dtype: np.dtype[Any]) -> list[Any]:
    """Return each number converted to ``dtype``, as a number of Python."""
    return [_converted(value, dtype) for value in values]


def _converted(value: Any, dtype: np.dtype[Any]) -> Any:
    if dtype.kind == "b":
        return value != 0
    if dtype.kind in "fV":
        return (
            value if value != value or abs(value) == math.inf else math.copysign(1, value) * abs(nearest(value, dtype))
        )
    least, greatest = int(np.iinfo(dtype).min), int(np.iinfo(dtype).max)
    if isinstance(value, int):
        return (value - least) % (greatest - least + 1) + least
    if value != value:
        return 0
    return min(max(math.trunc(value) if math.isfinite(value) else value * 2**70, least), greatest)


def nearest(value: Any, dtype: np.dtype[Any]) -> float:
    """Return the number of ``dtype`` nearest to ``value``, the even one of two; an infinity beyond the greatest."""
    digits, least, greatest = FORMATS[dtype.name]
    exact = Fraction(value)
    exponent = max(math.frexp(abs(value))[1] - 1 - digits, least) if value else least
    rounded = round(exact / Fraction(2) ** exponent) * Fraction(2) ** exponent
    beyond = abs(rounded) >= Fraction(2) ** (greatest + 1)
    return math.copysign(math.inf, value) if beyond else float(rounded)
