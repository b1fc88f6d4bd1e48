"""Predicates and promotion of dtypes, and the dtype bfloat16.

bfloat16 is a dtype of the package ml_dtypes, since NumPy has none. Its kind is "V"; no other supported dtype has it.
"""

from __future__ import annotations

from functools import cache, reduce
from importlib import import_module
from typing import Any

import numpy as np

from .errors import MissingDependency

_FLOAT32 = np.dtype(np.float32)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Return whether a supported dtype is a floating point dtype."""
    return dtype.kind in "fV"


def is_half(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype is float16 or bfloat16, which are computed in float32 and rounded once."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def computing_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype in which kernels compute: float32 for float16 and bfloat16, otherwise the dtype itself."""
    return _FLOAT32 if is_half(dtype) else dtype


def promoted(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to which NumPy promotes; if it has no rule, as for bfloat16 and int32, that of `np.add`."""
    if dtypes.count(dtypes[0]) == len(dtypes):
        return dtypes[0]
    try:
        return np.result_type(*dtypes)
    except np.exceptions.DTypePromotionError:
        return reduce(lambda a, b: np.add.resolve_dtypes((a, b, None))[-1], dtypes)


@cache
def bfloat16() -> np.dtype[Any]:
    """Return bfloat16; MissingDependency without ml_dtypes, which is imported here only."""
    try:
        dtype: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ImportError as error:
        raise MissingDependency(
            "bfloat16 is a dtype of the package ml_dtypes, which is not installed: pip install ml_dtypes. The extras "
            "cuda12 and cuda13 bring it along."
        ) from error
    return dtype


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Return whether a dtype of any library is bfloat16, without an import of ml_dtypes."""
    return dtype.kind == "V" and dtype.name == "bfloat16"
