"""Whether numbers are near each other."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..array import Array
from ..numbers import canonical_real, nearest_float
from . import elementwise
from .along import all as all_of
from .canonical import together
from .comparison import where
from .pairs import eq, le, lt, maximum, mul, ne
from .reduction import to_dtype
from .shapes import broadcast_shape

__all__ = ["allclose"]


def allclose(self: Any, other: Any, rtol: float = 1e-5, atol: float = 1e-8, equal_nan: bool = False) -> bool:
    """Whether every element of ``self`` is near its counterpart in ``other``: ``|a - b| <= atol + rtol * |b|``."""
    return bool(all_of(close(self, other, *tolerances(rtol, atol), equal_nan)))


def tolerances(rtol: Any, atol: Any) -> tuple[float, float]:
    """The relative and the absolute tolerance, numbers of 0 or more."""
    return canonical_real("allclose", "rtol", rtol, 0), canonical_real("allclose", "atol", atol, 0)


def close(self: Any, other: Any, rtol: float, atol: float, equal_nan: bool) -> Array:
    """Where ``|a - b| <= atol + rtol * |b|`` for the nearest float64s; an infinity is near itself only."""
    given = [nearest_float(x) if type(x) is int else x for x in (self, other)]
    a, b = [to_dtype(x.detach(), np.dtype(np.float64)) for x in together("allclose", *given)]
    broadcast_shape("allclose", a.shape, b.shape)
    size = elementwise.abs(b)
    near = le(elementwise.abs(elementwise.sub(a, b)), elementwise.add(mul(size, rtol), atol))
    near = where(lt(maximum(elementwise.abs(a), size), math.inf), near, False)
    near = where(eq(a, b), True, near)
    return where(ne(b, b), ne(a, a), near) if equal_nan else near
