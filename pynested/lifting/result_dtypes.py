"""Conversion of operands to the dtype in which an operator computes, and the dtype of its result.

A `DTypeConversion` returns the converted operand, and the dtype of the result. Its arguments are the name of the
operator, for error messages; the operand; and the dtype that the user requested, or None. A dtype is *wider* than
another if it represents more numbers, as float32 is wider than float16.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import canonical_dtype
from pynested.autograd.primitives.movement import to_dtype
from pynested.backends.dtypes import computing_dtype, is_float
from pynested.backends.errors import DTypeError

DTypeConversion: TypeAlias = Callable[[str, Array, Any], tuple[Array, np.dtype[Any]]]
INT64 = np.dtype(np.int64)


def convert_for_sum(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Convert for a sum: floats to their dtype or a wider one, bools and integers to int64."""
    default = x.dtype if is_float(x.dtype) else INT64
    return _convert_to_add_up(x, default if dtype is None else canonical_dtype(name, dtype, x.device))


def convert_for_mean(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Convert for a mean: floats to their dtype or a wider one, bools and integers to float64."""
    result_dtype = x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    if dtype is not None:
        result_dtype = canonical_dtype(name, dtype, x.device)
        if not is_float(result_dtype):
            raise DTypeError(f"{name}: a mean is a floating point number, which dtype={result_dtype} cannot represent.")
    return _convert_to_add_up(x, result_dtype)


def _convert_to_add_up(x: Array, result_dtype: np.dtype[Any]) -> tuple[Array, np.dtype[Any]]:
    """Convert to the dtype of the result, and from it to a dtype that is wide enough to add up."""
    wide_dtype = computing_dtype(result_dtype) if is_float(result_dtype) else INT64
    return to_dtype(to_dtype(x, result_dtype), wide_dtype), result_dtype


def keep_dtype(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Return the operand; the result has its dtype."""
    return x, x.dtype


def convert_to_bool(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Convert each element to a bool, False only for zeros; the result is bool."""
    return to_dtype(x, np.dtype(np.bool_)), np.dtype(np.bool_)


def detach_for_index(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Return the operand without a gradient; the result holds indices, which are int64."""
    return x.detach(), INT64


def convert_to_float(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Convert to ``dtype`` if it is given. A kernel that needs a wider dtype to compute in converts by itself."""
    x = x if dtype is None else to_dtype(x, canonical_dtype(name, dtype, x.device))
    result_dtype = x._raw.dtype
    if not is_float(result_dtype):
        raise not_float_error(name, x._raw.dtype)
    return x, result_dtype


def convert_to_wide_float(name: str, x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """Convert to ``dtype`` if it is given; then convert float16 to float32."""
    x, result_dtype = convert_to_float(name, x, dtype)
    return to_dtype(x, computing_dtype(result_dtype)), result_dtype


def check_float(name: str, x: Array) -> Array:
    """Return ``x``; raise DTypeError if it is not floating point."""
    if not is_float(x._raw.dtype):
        raise not_float_error(name, x._raw.dtype)
    return x


def not_float_error(name: str, dtype: np.dtype[Any]) -> DTypeError:
    """Return the error for an array of a dtype that is not floating point."""
    return DTypeError(f"{name}: the array must be floating point, not {dtype}. Convert it: x.to(pn.float64).")
