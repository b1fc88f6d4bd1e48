"""Inputs that many cases share. Extents within one input differ: three components, lengths 2, 0 and 1, inner size 4."""

from __future__ import annotations

import math

from ...encoding import Components
from ..draws import distinct, floats, integers, nest

INF, NAN = math.inf, math.nan
INT64_MIN, INT64_MAX = -(2**63), 2**63 - 1

ALL = slice(None)
ROWS = [(2, 3), (0, 3), (3, 3)]  # components that programs write to, where each element is told apart
RAGGED = [(2, 4), (0, 4), (1, 4)]  # the middle component is empty
EMPTY_FIRST = [(0, 2), (3, 2), (1, 2), (4, 2)]
EMPTY_LAST = [(2, 3), (5, 3), (1, 3), (0, 3)]
COVERED = [(2, 3), (1, 5), (3, 5)]  # two irregular dimensions, and a component that reaches every position
IRREGULAR = [(2, 3), (1, 5), (3, 1)]  # two irregular dimensions: strided only


def small(dtype: str, key: str, low: int = -8, high: int = 8) -> Components:
    """Return small integers in the usual ragged shape."""
    return integers(dtype, RAGGED, key, low, high)


def fine(dtype: str, key: str, scale: float = 1.0) -> Components:
    """Return floats of full precision in the usual ragged shape."""
    return floats(dtype, RAGGED, key, scale=scale)


def shuffled(dtype: str, key: str) -> Components:
    """Return integers without ties in the usual ragged shape."""
    return distinct(dtype, RAGGED, key)


def no_components(dtype: str, *sizes: int | None) -> Components:
    """Return a batch of no components whose components would have these sizes."""
    return nest(dtype, [], shape=(0, *sizes))


def all_empty(dtype: str, key: str = "all-empty") -> Components:
    """Return two empty components of inner size 3."""
    return integers(dtype, [(0, 3), (0, 3)], key)


def special(dtype: str) -> Components:
    """Return one component per special value, and their mixture."""
    return nest(dtype, [[NAN, 1.0], [], [INF, -INF, 0.0, -0.0], [-1.0]])
