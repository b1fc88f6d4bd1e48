"""Numbers as arguments of operators. A number that a dtype cannot represent is an error, not wrapped or truncated.

A number is one of Python's, a scalar of NumPy, or an array without dimensions.
"""

from __future__ import annotations

import math
from typing import Any, TypeAlias

import numpy as np

from pynested.backends.dtypes import is_bfloat16, is_float
from pynested.backends.errors import ArgumentError, DTypeError, named_type
from pynested.backends.host import refuse_masked

Number: TypeAlias = bool | int | float
_MOST_BITS_SHOWN = 64  # Python refuses to write out integers of thousands of digits
_LONGEST_TEXT = 120


def canonical_number(name: str, argument: str, value: Any) -> Number:
    """Return ``value`` as a Python number. Errors begin with ``name``, the operator, and name the argument."""
    if type(value) in (int, float, bool):
        return value  # type: ignore[no-any-return]
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype) and getattr(value, "ndim", None) == 0:
        return _number_of_array(name, argument, value, dtype)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, complex):
        raise DTypeError(f"{name}: {argument} must be real. Operate on real and imaginary parts separately.")
    raise ArgumentError(f"{name}: {argument} must be a number, not {value_text(value)}.")


def _number_of_array(name: str, argument: str, value: Any, dtype: np.dtype[Any]) -> Number:
    refuse_masked(name, value)
    if getattr(value, "requires_grad", False):
        raise ArgumentError(f"{name}: {argument} must be a plain number, and this array requires grad; use x.item().")
    if dtype.kind not in "biuf" and not is_bfloat16(dtype):
        raise DTypeError(f"{name}: {argument} must be a real number, this one is {dtype}.")
    if dtype.itemsize > 8:
        raise DTypeError(f"{name}: {argument} must fit into float64, this one is {dtype}. Convert it: float(value).")
    return value.item()  # type: ignore[no-any-return]


def canonical_real(name: str, argument: str, value: Any, least: float, greatest: float = math.inf) -> float:
    """Return ``value`` as a float from ``least`` to ``greatest``; a bool is refused."""
    number = canonical_number(name, argument, value)
    real = nearest_float(number)
    if type(number) is bool or not least <= real <= greatest:
        at_least = f" of {least} or more" if least > -math.inf else ""
        span = at_least if greatest == math.inf else f" from {least} to {greatest}"
        raise ArgumentError(f"{name}: {argument} must be a number{span}, not {value_text(number)}.")
    return real


def nearest_float(number: Number) -> float:
    """Return the nearest float64; an infinity for an integer beyond the range of float64."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def value_text(value: Any) -> str:
    """Return an argument as text for an error message: a short value itself, or else a description of it."""
    if isinstance(value, int) and value.bit_length() > _MOST_BITS_SHOWN:
        return f"an integer of {value.bit_length()} bits"
    if getattr(value, "is_nested", False):
        shape = ", ".join("*" if size is None else str(size) for size in (len(value), *value.regular_sizes))
        return f"a nested array of shape ({shape}) and dtype {value.dtype}"
    try:
        text = repr(value)
    except ValueError:  # Python writes out no integer of thousands of digits, which a list can hold
        text = "\n"
    if len(text) <= _LONGEST_TEXT and "\n" not in text and " at 0x" not in text:
        return text
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"an array of shape {tuple(value.shape)} and dtype {value.dtype}"
    length = f" of {len(value)}" if isinstance(value, list | tuple | dict | set) else ""
    return f"{named_type(value)}{length}"


def dtype_of(number: Number) -> np.dtype[Any]:
    """Return the dtype of a Python number by itself, without an array operand."""
    return np.dtype(np.bool_ if type(number) is bool else np.int64 if type(number) is int else np.float64)


def promote_dtype(number: Number, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype to which a number and ``dtype`` are promoted: ``dtype``, unless the number's kind is higher."""
    if type(number) is float and not is_float(dtype):
        return np.dtype(np.float64)
    return np.dtype(np.int64) if type(number) is int and dtype.kind == "b" else dtype


def checked_scalar(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number as a scalar of ``dtype``; floats are rounded. Raise if the dtype cannot represent the number."""
    number = canonical_number(name, "the value", value)
    if type(number) is float and not is_float(dtype):
        if not number.is_integer():
            raise DTypeError(f"{name}: dtype {dtype} cannot represent {number!r}.")
        number = int(number)
    if is_in_range(number, dtype):
        return dtype.type(float(number) if is_float(dtype) else number)
    if dtype.kind == "b":
        raise DTypeError(f"{name}: dtype bool cannot represent {value_text(number)}.")
    greatest = f", whose greatest is {np.nextafter(dtype.type(math.inf), dtype.type(0))}" if is_float(dtype) else ""
    raise OverflowError(f"{name}: {value_text(number)} is out of bounds for {dtype}{greatest}.")


def is_in_range(number: Number, dtype: np.dtype[Any]) -> bool:
    """Return whether ``dtype`` can represent a number, rounded to it, without overflow. Floats include infinities."""
    if dtype.kind == "b":
        return 0 <= number <= 1
    if not is_float(dtype):
        return bool(np.iinfo(dtype).min <= number <= np.iinfo(dtype).max)
    if abs(number) <= 65504:  # which float16 can represent
        return True
    with np.errstate(over="ignore"):
        rounded = float(dtype.type(nearest_float(number)))
    return not math.isinf(rounded) or abs(number) == math.inf


def check_fits(name: str, values: Any, dtype: np.dtype[Any]) -> None:
    """Raise DTypeError for floats, even whole ones, in a dtype of integers; OverflowError for integers out of range.

    Floats are rounded to a narrower dtype, and integers to floats, as in promotion.
    """
    source = values.dtype
    if np.can_cast(source, dtype) or (is_float(source) and is_float(dtype)):
        return
    if source.kind not in "iu":
        real_values = "values.real" if source.kind == "c" else "values"
        raise DTypeError(
            f"{name}: {source} values are not converted to dtype {dtype}, which cannot represent all of them. If that "
            f"is meant, convert them first: pn.array({real_values}).to(pn.{dtype})."
        )
    if values.size and not all(is_in_range(int(value), dtype) for value in (values.min(), values.max())):
        raise OverflowError(f"{name}: values from {values.min()} to {values.max()} do not all fit into dtype {dtype}.")


def operand_overflow(name: str, a: Any, b: Any) -> OverflowError:
    """Return the error for an integer operand that the dtype of the other operand cannot represent."""
    number, array = (a, b) if isinstance(a, int) else (b, a)
    return OverflowError(f"{name}: {value_text(number)} is out of bounds for {promote_dtype(number, array.dtype)}.")
