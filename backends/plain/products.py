"""The plain kernel of products of matrices, one after the other."""

from __future__ import annotations

import numpy as np

from ..component_layout import Matrices
from .widening import RawArray, wide


def matmul_components(a: RawArray, b: RawArray, left: Matrices, right: Matrices, /) -> RawArray:
    """Flat and flat -> flat: left[k] @ right[k], one after the other in row-major order."""
    a, b, dtype = wide(a), wide(b), np.result_type(a, b)
    products = [(left.matrix(a, k) @ right.matrix(b, k)).ravel() for k in range(left.count)]
    return np.concatenate([np.empty(0, bool), *products]).astype(dtype)
