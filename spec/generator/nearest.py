"""The float nearest to an exact number: what rounding once gives, and whether there is anything to round."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["is_float_of", "round_to", "split"]

_FORMATS = {"float16": (11, -14, 15), "float32": (24, -126, 127), "float64": (53, -1022, 1023)}


def round_to(value: Any, dtype: str) -> float:
    """Round a multi-precision value once, to nearest even, to the floats of `dtype`; what is too large becomes inf."""
    precision, lowest, highest = _FORMATS[dtype]
    sign, mantissa, exponent, bits = value._mpf_  # the mantissa is odd; that of zero, infinity and NaN is 0
    if not mantissa:
        return float(value)
    quantum = max(exponent + bits - precision, lowest - precision + 1)
    if quantum > exponent + bits + 1:  # below a quarter of the least number; the shift may be astronomic
        return -0.0 if sign else 0.0
    if exponent + bits > highest + 1:
        return -math.inf if sign else math.inf
    steps = _shift_half_even(int(mantissa), quantum - exponent)
    if steps.bit_length() + quantum > highest + 1:
        return -math.inf if sign else math.inf
    return math.ldexp(-steps if sign else steps, quantum)


def is_float_of(value: Any, dtype: str) -> bool:
    """Return whether a multi-precision value is a float of `dtype`, so that nothing is to be rounded."""
    precision, lowest, highest = _FORMATS[dtype]
    _, mantissa, exponent, bits = value._mpf_  # the mantissa is odd; that of zero, infinity and NaN is 0
    least = max(exponent + bits - precision, lowest - precision + 1)
    return not mantissa or (exponent >= least and exponent + bits <= highest + 1)


def _shift_half_even(mantissa: int, shift: int) -> int:
    if shift <= 0:
        return mantissa << -shift
    kept, half = mantissa >> shift, 1 << (shift - 1)
    rest = mantissa & ((1 << shift) - 1)
    return kept + (rest > half or (rest == half and kept & 1))


def split(value: Any) -> tuple[float, float]:
    """Return two floats whose sum is the value to about 106 bits: the nearest float64 and what it leaves."""
    high = round_to(value, "float64")
    if not math.isfinite(high):
        return high, 0.0
    return high, round_to(value - high, "float64")
