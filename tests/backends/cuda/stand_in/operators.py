"""The operators of arrays: ``a + b``, ``2 - a``, ``a += b``, ``-a``. Importing this gives them to the class."""

from __future__ import annotations

import operator
from collections.abc import Callable
from functools import partialmethod
from typing import Any

import numpy as np

from .array import SCALARS, UNSUPPORTED, computed, ndarray


def _unary(self: ndarray, function: Callable[..., Any]) -> Any:
    return computed(function, self)


def _binary(function: Callable[..., Any], reflected: bool = False) -> Callable[..., Any]:
    def method(self: ndarray, other: Any) -> Any:
        if isinstance(other, np.ndarray):
            raise TypeError(UNSUPPORTED.format(type(other)))
        if not isinstance(other, (*SCALARS, ndarray)):
            return NotImplemented
        return computed(function, *((other, self) if reflected else (self, other)))

    return method


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def method(self: ndarray, other: Any) -> Any:
        result = _binary(function)(self, other)
        if result is not NotImplemented:
            if not np.can_cast(result.dtype, self.dtype, "same_kind"):
                raise TypeError(f"Cannot cast output from {result.dtype} to {self.dtype}")
            self[...] = result
            return self
        return result

    return method


for _name in ("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "and", "or", "xor"):
    _function = getattr(operator, f"{_name}_" if _name in ("and", "or") else _name)
    setattr(ndarray, f"__{_name}__", _binary(_function))
    setattr(ndarray, f"__r{_name}__", _binary(_function, reflected=True))
    if _name != "matmul":  # CuPy has no `@=`
        setattr(ndarray, f"__i{_name}__", _in_place(_function))
for _name in ("eq", "ne", "lt", "le", "gt", "ge"):
    setattr(ndarray, f"__{_name}__", _binary(getattr(operator, _name)))
for _name in ("neg", "abs", "invert"):
    setattr(ndarray, f"__{_name}__", partialmethod(_unary, getattr(operator, _name)))
