"""Numbers that callers give, and what a dtype can hold of them: nothing is wrapped, truncated or made infinite unseen.

A number is one of Python's, a scalar of NumPy, or an array without dimensions.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any, TypeAlias

import numpy as np

from pynested.backends.dtypes import is_bfloat16, is_float
from pynested.backends.errors import ArgumentError, DTypeError
from pynested.backends.host import refuse_masked

Number: TypeAlias = bool | int | float

# The least magnitude that is rounded to an infinity: half a step beyond the largest number, whose last bit is odd.
_ROUNDS_TO_INFINITY = {
    np.dtype(np.float16): 2**16 - 2**4,
    np.dtype(np.float32): 2**128 - 2**103,
    np.dtype(np.float64): 2**1024 - 2**970,
}
_OF_BFLOAT16 = 2**128 - 2**119
_LONGEST_SHOWN = 64  # bits; Python refuses to write out integers of thousands of digits
_LONGEST_TEXT = 120


def canonical_number(name: str, what: str, value: Any) -> Number:
    """``value`` as one of Python's numbers."""
    if type(value) in (int, float, bool):
        return value  # type: ignore[no-any-return]
    dtype = getattr(value, "dtype", None)
    if isinstance(dtype, np.dtype) and getattr(value, "ndim", None) == 0:
        return _of_array(name, what, value, dtype)
    if isinstance(value, int | float):
        return int(value) if isinstance(value, int) else float(value)
    if isinstance(value, complex):
        raise DTypeError(f"{name}: {what} must be real; complex numbers are not supported.")
    given = f"an array of shape {value.shape}" if dtype is not None else repr(value)
    raise ArgumentError(f"{name}: {what} must be a number, not {given}.")


def _of_array(name: str, what: str, value: Any, dtype: np.dtype[Any]) -> Number:
    refuse_masked(name, value)
    if getattr(value, "requires_grad", False):
        raise ArgumentError(f"{name}: {what} must be a plain number, and this array requires grad; use x.item().")
    if dtype.kind not in "biuf" and not is_bfloat16(dtype):
        raise DTypeError(f"{name}: {what} must be a real number, this one is {dtype}.")
    if dtype.itemsize > 8:
        raise DTypeError(f"{name}: {what} must fit into float64, this one is {dtype}. Convert it: float(value).")
    return value.item()  # type: ignore[no-any-return]


def canonical_real(name: str, what: str, value: Any, least: float, greatest: float = math.inf) -> float:
    """``value`` as a float from ``least`` to ``greatest``; bools are none."""
    given = canonical_number(name, what, value)
    real = nearest_float(given)
    if type(given) is bool or not least <= real <= greatest:
        span = f"of {least} or more" if greatest == math.inf else f"from {least} to {greatest}"
        raise ArgumentError(f"{name}: {what} must be a number {span}, not {number_text(given)}.")
    return real


def canonical_flag(name: str, what: str, value: Any) -> bool:
    """``value``, True or False of Python or NumPy, as a bool; nothing else counts as true."""
    if not isinstance(value, bool | np.bool_):
        raise ArgumentError(f"{name}: {what} must be True or False, not {number_text(value)}.")
    return bool(value)


def nearest_float(number: Number) -> float:
    """The nearest float64, an infinity for an integer beyond the largest."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def number_text(thing: Any) -> str:
    """Return an argument as text for an error message; a long text is replaced by a description."""
    if isinstance(thing, int) and thing.bit_length() > _LONGEST_SHOWN:
        return f"an integer of {thing.bit_length()} bits"
    text = repr(thing)
    if len(text) <= _LONGEST_TEXT and "\n" not in text:
        return text
    if hasattr(thing, "shape") and hasattr(thing, "dtype"):
        kind = "a nested array" if getattr(thing, "is_nested", False) else "an array"
        return f"{kind} of shape {tuple(thing.shape)} and dtype {thing.dtype}"
    many = isinstance(thing, list | tuple | dict | set)
    return f"a {type(thing).__name__} of {len(thing)}" if many else f"a {type(thing).__name__}"


def dtype_of(number: Number) -> np.dtype[Any]:
    """The dtype that a Python number has where it meets no array."""
    return np.dtype(np.bool_ if type(number) is bool else np.int64 if type(number) is int else np.float64)


def weak_dtype(number: Number, dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the promoted dtype of a Python number and ``dtype``: ``dtype``, unless the number is of a higher kind."""
    if type(number) is float and not is_float(dtype):
        return np.dtype(np.float64)
    return np.dtype(np.int64) if type(number) is int and dtype.kind == "b" else dtype


def checked_scalar(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """Return a number as a scalar of ``dtype``; floats are rounded. Raise if the dtype cannot represent the number."""
    number = canonical_number(name, "the value", value)
    if is_float(dtype):
        beyond = _ROUNDS_TO_INFINITY.get(dtype, _OF_BFLOAT16)
        if abs(number) < beyond or number != number or abs(number) == math.inf:
            return dtype.type(float(number))
        greatest = np.nextafter(dtype.type(math.inf), dtype.type(0))
        raise OverflowError(
            f"{name}: {number_text(number)} is out of bounds for {dtype}, whose greatest is {greatest}."
        )
    if type(number) is float:
        if not number.is_integer():
            raise DTypeError(f"{name}: no element of an array of dtype {dtype} can equal {number!r}.")
        number = int(number)
    least, greatest = _integers_of(dtype)
    if not least <= number <= greatest:
        if dtype.kind == "b":
            raise DTypeError(f"{name}: no element of an array of dtype bool can equal {number_text(number)}.")
        raise OverflowError(f"{name}: {number_text(number)} is out of bounds for {dtype}.")
    return dtype.type(number)


@cache
def _integers_of(dtype: np.dtype[Any]) -> tuple[int, int]:
    """The least and the greatest integer that ``dtype`` takes."""
    if is_float(dtype):
        beyond = _ROUNDS_TO_INFINITY.get(dtype, _OF_BFLOAT16)
        return 1 - beyond, beyond - 1
    return (0, 1) if dtype.kind == "b" else (int(np.iinfo(dtype).min), int(np.iinfo(dtype).max))


def check_fits(name: str, values: Any, dtype: np.dtype[Any]) -> None:
    """Refuse an array of values that ``dtype`` cannot hold: floats where it has none, integers out of its range.

    Floats are rounded to a narrower dtype, and integers to floats, as they are in promotion.
    """
    given = values.dtype
    if np.can_cast(given, dtype) or (is_float(given) and is_float(dtype)):
        return
    if given.kind not in "iu":
        raise DTypeError(
            f"{name}: {given} values cannot be held in dtype {dtype} without loss. If that is meant, convert them "
            f"first: pn.array(values).to(pn.{dtype})."
        )
    least, greatest = _integers_of(dtype)
    if values.size and not least <= int(values.min()) <= int(values.max()) <= greatest:
        raise OverflowError(f"{name}: values from {values.min()} to {values.max()} do not all fit into dtype {dtype}.")


def refused_operand(name: str, a: Any, b: Any) -> OverflowError:
    """The error for operands of arithmetic of which one is an integer that the dtype of the other cannot hold."""
    number, array = (a, b) if isinstance(a, int) else (b, a)
    return OverflowError(f"{name}: {number_text(number)} is out of bounds for {weak_dtype(number, array.dtype)}.")
