"""bfloat16, which NumPy lacks, comes from the package ml_dtypes; its kind is "V", that of no other supported dtype."""

from __future__ import annotations

from functools import cache, reduce
from importlib import import_module
from typing import Any

import numpy as np

from .errors import MissingDependency

_FLOAT32 = np.dtype(np.float32)


def is_float(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype that pynested has is a floating point one."""
    return dtype.kind in "fV"


def is_half(dtype: np.dtype[Any]) -> bool:
    """Whether it is float16 or bfloat16, which are computed in float32 and rounded once."""
    return dtype.itemsize == 2 and dtype.kind in "fV"


def computing_dtype(dtype: np.dtype[Any]) -> np.dtype[Any]:
    """What a dtype is computed in: float32 for float16 and bfloat16, otherwise itself."""
    return _FLOAT32 if is_half(dtype) else dtype


def promoted(*dtypes: np.dtype[Any]) -> np.dtype[Any]:
    """What NumPy promotes to; where it sees nothing in common with bfloat16, what its ufuncs make of the two."""
    if dtypes.count(dtypes[0]) == len(dtypes):
        return dtypes[0]
    try:
        return np.result_type(*dtypes)
    except np.exceptions.DTypePromotionError:
        return reduce(lambda a, b: np.add.resolve_dtypes((a, b, None))[-1], dtypes)


@cache
def bfloat16() -> np.dtype[Any]:
    """The dtype; MissingDependency without ml_dtypes, which is imported here only."""
    try:
        found: np.dtype[Any] = np.dtype(import_module("ml_dtypes").bfloat16)
    except ImportError as error:
        raise MissingDependency(
            "bfloat16 is a dtype of the package ml_dtypes, which is not installed: pip install ml_dtypes. The extras "
            "cuda12 and cuda13 bring it along."
        ) from error
    return found


def is_bfloat16(dtype: np.dtype[Any]) -> bool:
    """Whether a dtype, of whoever's making, is bfloat16; ml_dtypes is not imported to see it."""
    return dtype.kind == "V" and dtype.name == "bfloat16"
