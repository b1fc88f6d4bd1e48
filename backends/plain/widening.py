"""Wider dtypes in which the plain kernels compute."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

Array: TypeAlias = NDArray[Any]


def wide(x: Array) -> Array:
    """Return floats as float64, bools and integers as int64."""
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)


def sum_dtype(x: Array) -> np.dtype[Any]:
    """Return the dtype of a sum or a product: that of ``x`` for floats, int64 for bools and integers."""
    return x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)
