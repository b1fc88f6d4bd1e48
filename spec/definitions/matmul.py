"""The definition of `matmul`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Shape, broadcast, each
from pynested.spec.numerics import wide


def matmul(self: Any, other: Any) -> Any:
    """MATMUL: the matrix product, component by component."""
    shape, dtype = _shape(self.shape, other.shape), np.result_type(self.dtype, other.dtype)
    return each(lambda a, b: np.matmul(wide(a), wide(b)), self, other, shape=shape, dtype=dtype)


def _shape(a: Shape, b: Shape) -> Shape:
    """(..., n, k) @ (..., k, m) is (..., n, m); a vector has no n, or no m."""
    return *broadcast(a[:-2], b[:-2]), *a[-2:-1], *(b[-1:] if len(b) > 1 else ())
