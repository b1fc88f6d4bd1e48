"""Numbers to compute with: small integers, ties, both zeros, NaN, infinities, subnormals, the ends of every dtype."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance

from ..oracle import DTYPES

FLOATS = tuple(dtype for dtype in DTYPES if dtype.kind == "f")
INTEGERS = tuple(dtype for dtype in DTYPES if dtype.kind in "iu")
BOOL = np.dtype(np.bool_)

# How the numbers of one array are drawn, as often as they stand here.
STYLES = ("small", "small", "small", "ties", "ties", "fractions", "fractions", "special", "special", "ends", "wide")
TAME = ("small", "small", "ties", "fractions", "fractions", "fractions", "positive")


@lru_cache
def _pool(dtype: np.dtype[Any], style: str) -> Any:
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        return np.array(_integers(np.iinfo(dtype), style), dtype)
    with np.errstate(over="ignore"):
        return np.array(_floats(np.finfo(dtype), style), dtype)


def _integers(limits: Any, style: str) -> list[int]:
    if style == "ties":
        return [0, 1]
    if style in ("special", "ends"):
        least, most = int(limits.min), int(limits.max)
        near = [2**53 + 1, 2**53, -(2**53) - 1, 2**31, -(2**31), 255, 256, 128, -128, 100]
        return [least, least + 1, most, most - 1, 0, 1, *[n for n in near if least <= n <= most]]
    return [n for n in range(-4, 6) if n >= limits.min]


def _floats(limits: Any, style: str) -> list[float]:
    most, least, tiny = float(limits.max), float(limits.tiny), float(limits.smallest_subnormal)
    pools = {
        "small": [*range(-4, 6), 0.0, -0.0],
        "ties": [0.0, 1.0, 1.0],
        "fractions": [n / 8 for n in range(-24, 25)],
        "positive": [n / 8 for n in range(1, 25)],
        "special": [np.nan, np.inf, -np.inf, 0.0, -0.0, 0.0, 1.0, -1.0, 1.0, 2.5, -3.0, 88.0, -88.0, 1000.0, tiny],
        "ends": [most, -most, most / 2, -most / 3, tiny, -tiny, least, 1.0, -1.0, 0.0, limits.eps, most * 0.75],
    }
    return pools[style]


def numbers(chance: Chance, dtype: np.dtype[Any], count: int, style: str) -> Any:
    """``count`` numbers of one style."""
    if style != "wide" or dtype.kind != "f":
        return chance.picks(_pool(dtype, "small" if style == "wide" else style), count)
    limits = np.finfo(dtype)
    exponents = [chance.between(limits.minexp + 1, limits.maxexp - 1) for _ in range(count)]
    signs = chance.picks(np.array([-1.0, 1.0]), count)
    return np.ldexp(signs * (0.5 + chance.uniform(count) / 2), np.array(exponents, np.int32)).astype(dtype)


def poison(dtype: np.dtype[Any], second: bool = False) -> Any:
    """What lies in holes: NaN or the largest number, the ends of an integer dtype, True."""
    if dtype.kind == "f":
        return np.finfo(dtype).max if second else np.nan
    if dtype.kind == "b":
        return not second
    return np.iinfo(dtype).max if second else np.iinfo(dtype).min or np.iinfo(dtype).max - 1


def any_dtype(chance: Chance, kinds: str = "biuf") -> np.dtype[Any]:
    """A dtype; float64 and float32 most often, where floats are possible."""
    if "f" in kinds and chance.happens(0.5 if len(kinds) > 1 else 1.0):
        return chance.one((FLOATS[2], FLOATS[2], FLOATS[1], FLOATS[1], FLOATS[0]))
    return chance.one([dtype for dtype in DTYPES if dtype.kind in kinds and (dtype.kind != "f" or kinds == "f")])


# What may be given as a number, sensible or not, to operators that take one.
PLAIN: tuple[Any, ...] = (0, 1, 2, -1, 3, 0.5, -2.5, 0.0, -0.0, 1.0, 2.0, True, False)
ODD: tuple[Any, ...] = (
    300, -129, 256, -1, 2**31, -(2**31) - 1, 2**40, 2**63 - 1, 2**63, 2**70, -(2**70), 2**2000,
    np.nan, np.inf, -np.inf, 1e5, 1e300, 1e-300, 7.25,
)  # fmt: skip


def number(chance: Chance, dtype: np.dtype[Any]) -> Any:
    """A number beside an array of ``dtype``: of Python, or of NumPy; sometimes one that the dtype does not hold."""
    if chance.happens(0.15):
        return chance.one(ODD)
    if chance.happens(0.15):
        kind = chance.one(DTYPES)
        return kind.type(chance.one((0, 1, 2, 100)))
    if chance.happens(0.1) and dtype.kind in "iu":
        return int(chance.one((np.iinfo(dtype).max, np.iinfo(dtype).min, np.iinfo(dtype).max + 1)))
    return chance.one(PLAIN)
