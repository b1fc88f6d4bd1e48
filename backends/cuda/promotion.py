"""Python numbers promote weakly with bfloat16 too; NumPy and CuPy do not do this for the dtypes of ml_dtypes."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from ..dtypes import is_bfloat16

_NUMBERS = frozenset((int, float, bool))


def weakly(function: Callable[..., Any]) -> Callable[..., Any]:
    """``function``, given numbers of bfloat16 in place of Python's where another operand is bfloat16."""

    @wraps(function)
    def call(*operands: Any, **options: Any) -> Any:
        if _NUMBERS.isdisjoint(map(type, operands)):
            return function(*operands, **options)
        dtypes = (getattr(x, "dtype", None) for x in operands)
        number = next((dtype.type for dtype in dtypes if dtype is not None and is_bfloat16(dtype)), None)
        if number is not None:
            operands = tuple(number(float(x)) if type(x) in _NUMBERS else x for x in operands)
        return function(*operands, **options)

    return call
