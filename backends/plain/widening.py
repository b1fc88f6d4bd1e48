"""Wider dtypes in which the plain kernels compute."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

RawArray: TypeAlias = NDArray[Any]


def wide_dtype(x: RawArray) -> np.dtype[Any]:
    """Return float64 for floats, int64 for bools and integers."""
    return np.dtype(np.float64 if x.dtype.kind == "f" else np.int64)


def wide(x: RawArray) -> RawArray:
    """Return a contiguous copy: floats as float64, bools and integers as int64."""
    return x.astype(wide_dtype(x), order="C")


def sum_dtype(x: RawArray) -> np.dtype[Any]:
    """Return the dtype of a sum or a product: that of ``x`` for floats, int64 for bools and integers."""
    return x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)
