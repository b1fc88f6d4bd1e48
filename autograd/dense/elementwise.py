"""Elementwise operators on dense arrays; operands broadcast."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import ArgumentError, DTypeError

from ..array import Array
from ..numbers import canonical_number, in_words, scalar, weak_dtype
from ..rules import elementwise as rules
from ..rules.kinds import same_device
from ..rules.movement import copy
from .canonical import as_array, device_of, operands
from .reduction import to_dtype
from .shapes import broadcast_shape

__all__ = ["abs", "add", "clamp", "gelu", "neg", "relu", "sgn", "silu", "sub"]

BOOLS, INTEGERS = "b", "iu"  # kinds of dtype that an operator may refuse


def paired(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, at least one of them an Array, whose shapes broadcast."""
    if type(a) is not Array or type(b) is not Array:
        a, b = operands(name, a, b)
        if type(a) is not Array and type(b) is not Array:
            return as_array(name, a), b
    if type(a) is Array and type(b) is Array and a._bare.shape != b._bare.shape:
        broadcast_shape(name, a._bare.shape, b._bare.shape)
    return a, b


def _is_bool(value: Any) -> bool:
    return value.dtype == np.bool_ if type(value) is Array else type(value) is bool


def _scaled(name: str, a: Any, b: Any, alpha: Any) -> Array:
    """``alpha * b`` in the dtype that ``a`` and ``b`` have in common, beside which alpha is weak."""
    factor = canonical_number(name, "alpha", alpha)
    if type(factor) is bool:
        raise ArgumentError(f"{name}: alpha must be a number, not {factor!r}.")
    if type(a) is Array and type(b) is Array:
        same_device(name, (a, b))
        kind = promoted(a.dtype, b.dtype)
    elif type(b) is Array:
        kind = weak_dtype(a, b.dtype)
        if not is_float(kind):
            scalar(name, a, kind)  # which holds it, though a floating alpha makes the result wider
    else:
        kind = weak_dtype(b, a.dtype)
        b = as_array(name, scalar(name, b, np.dtype(np.float64) if is_float(kind) else kind), device_of(a))
    try:
        return rules.mul(to_dtype(b, kind), factor)
    except OverflowError:
        raise OverflowError(f"{name}: alpha={in_words(factor)} is out of bounds for {kind}.") from None


def add(self: Any, other: Any, *, alpha: Any = 1) -> Array:
    """``self + alpha * other``; bools are or-ed."""
    a, b = paired("add", self, other)
    if type(alpha) is not int or alpha != 1:
        b = _scaled("add", a, b, alpha)
    result: Array = rules.add(a, b)
    return result


def sub(self: Any, other: Any, *, alpha: Any = 1) -> Array:
    """``self - alpha * other``; two bools are refused."""
    a, b = paired("sub", self, other)
    if _is_bool(a) and _is_bool(b):
        raise DTypeError("sub: bools have no difference; use logical_not or convert to int8 first.")
    if type(alpha) is not int or alpha != 1:
        b = _scaled("sub", a, b, alpha)
    result: Array = rules.sub(a, b)
    return result


def clamp(self: Any, min: Any = None, max: Any = None) -> Array:
    """``self``, but at least ``min`` and at most ``max``; NaN wins."""
    if min is not None:
        self = rules.clamp_min(*paired("clamp", self, min))
    if max is not None:
        self = rules.clamp_max(*paired("clamp", self, max))
    return copy(as_array("clamp", self)) if min is None and max is None else self


def unary(name: str, rule: Callable[[Array], Array], refused: str = "") -> Callable[[Any], Array]:
    """The function of one operand that a rule computes; kinds of dtype may be refused."""

    def function(self: Any) -> Array:
        x = self if type(self) is Array else as_array(name, self)
        if refused and x.dtype.kind in refused:
            taken = "floating point" if INTEGERS in refused else "numbers"
            raise DTypeError(f"{name}: takes {taken}, not {x.dtype}. Convert the array first: x.to(pn.float64).")
        return rule(x)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = f"``{name}`` of every element."
    return function


neg = unary("neg", rules.neg, BOOLS)
abs = unary("abs", rules.abs_)
sgn = unary("sgn", rules.sgn, BOOLS)
relu = unary("relu", rules.relu, BOOLS)
silu = unary("silu", rules.silu, BOOLS + INTEGERS)
_gelu = {
    "none": unary("gelu", rules.gelu, BOOLS + INTEGERS),
    "tanh": unary("gelu", rules.gelu_tanh, BOOLS + INTEGERS),
}


def gelu(self: Any, approximate: str = "none") -> Array:
    """``x Phi(x)``, or its tanh approximation."""
    if approximate not in _gelu:
        raise ArgumentError(f"gelu: approximate must be 'none' or 'tanh', not {approximate!r}.")
    return _gelu[approximate](self)


_OPERANDS = frozenset((Array, int, float, bool, complex, np.ndarray))
_OPERANDS_TOO = (np.generic, np.ndarray, int, float)  # and what is derived from them


def refuse_list(name: str, value: Any) -> None:
    """Refuse to compare with a list, of which Python would say that it is another object."""
    if name in ("eq", "ne") and isinstance(value, list | tuple):
        raise ArgumentError(
            f"{name}: a {type(value).__name__} is no array. Make one of it: pn.array(values), or "
            "pn.nested_array(values)."
        )


def binary(function: Callable[[Any, Any], Array], a: Any, b: Any) -> Array:
    """``function`` as Python's infix operators need it: NotImplemented for operands of another class."""
    if type(a) in _OPERANDS and type(b) in _OPERANDS:
        return function(a, b)
    if isinstance(a, _OPERANDS_TOO) or isinstance(b, _OPERANDS_TOO):
        return function(a, b)
    refuse_list(function.__name__, a)
    refuse_list(function.__name__, b)
    return NotImplemented  # type: ignore[no-any-return]
