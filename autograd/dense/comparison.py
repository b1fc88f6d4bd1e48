"""Comparisons and selection by a condition on dense arrays."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import DTypeError, ShapeError
from pynested.backends.host import from_host
from pynested.backends.memory import with_room

from ..array import Array, raw
from ..numbers import scalar, weak_dtype
from ..rules import elementwise as rules
from ..rules.kinds import same_device
from .canonical import as_array, device_of, frozen, operand, together
from .reduction import to_dtype
from .shapes import broadcast_shape

__all__ = ["equal", "logical_not", "masked_fill", "where"]

_INT64 = np.dtype(np.int64)


def logical_not(self: Any) -> Array:
    """Where an element is zero (or false)."""
    x = as_array("logical_not", self)
    return Array(get_backend(x.device).logical_not(x.data), x.device)


def inverted(self: Any, negation: Callable[[Any], Any]) -> Any:
    """``~self`` for an array, or a nested array, of bools; other dtypes are refused."""
    if self.dtype != np.bool_:
        raise DTypeError(f"~: only bool arrays can be inverted, not {self.dtype}. Use logical_not(x), which is x == 0.")
    return negation(self)


@with_room
def equal(self: Any, other: Any) -> bool:
    """Whether shapes are equal and every element equals its counterpart."""
    a, b = together("equal", self, other)
    return a.shape == b.shape and same_elements(a.device, a.data, b.data)


def same_elements(device: str, a: Any, b: Any) -> bool:
    """Whether bare arrays of one shape hold the same numbers: exactly, though float64 has not every int64."""
    same = a == b
    if a.dtype != b.dtype and _INT64 in (a.dtype, b.dtype):
        floats, integers = (b, a) if a.dtype == _INT64 else (a, b)
        if is_float(floats.dtype):
            k = get_backend(device)
            wide = k.cast(floats, np.dtype(np.float64))
            same = same & (wide < 2.0**63) & (k.cast(wide, _INT64) == integers)
    return bool(same.all())


def boolean(name: str, what: str, value: Any, *others: Any) -> Any:
    """``value`` as a bare bool array on the device of the arrays among ``others``; another dtype is refused."""
    given = value if type(value) is Array else operand(name, value, device_of(*others))
    if type(given) is bool:
        return from_host(np.asarray(given), same_device(name, others))
    if type(given) is not Array or given.dtype != np.bool_:
        kind = given.dtype if type(given) is Array else type(given).__name__
        raise DTypeError(f"{name}: {what} must be bool, not {kind}. Make one with a comparison, such as x < 0.")
    if any(type(other) is Array and other.storage.device != given.storage.device for other in others):
        same_device(name, (given, *others))
    return given.data


def where(condition: Any, self: Any, other: Any) -> Array:
    """``self`` where ``condition`` holds, ``other`` elsewhere."""
    place = device_of(self, other, condition)
    a, b = operand("where", self, place), operand("where", other, place)
    if type(a) is not Array and type(b) is not Array:
        a = as_array("where", a, place)
    if type(a) is not Array:
        a = scalar("where", a, weak_dtype(a, b.dtype))
    elif type(b) is not Array:
        b = scalar("where", b, weak_dtype(b, a.dtype))
    elif place != "cpu":  # NumPy's where does not promote bfloat16
        dtype = promoted(a.dtype, b.dtype)
        a, b = to_dtype(a, dtype), to_dtype(b, dtype)
    chosen = boolean("where", "condition", condition, a, b)
    broadcast_shape("where", chosen.shape, np.shape(raw(a)), np.shape(raw(b)))
    result: Array = rules.where(a, b, frozen(chosen, a, b))
    return result


def masked_fill(self: Any, mask: Any, value: Any) -> Array:
    """``self`` with ``value`` where ``mask`` holds, in the shape of ``self``."""
    filled = filled_where(self, mask, value)
    if filled.shape != np.shape(raw(self)):
        raise ShapeError(
            f"masked_fill: a mask of shape {np.shape(raw(mask))} would enlarge an array of shape {np.shape(raw(self))}."
        )
    return filled


def filled_where(self: Any, mask: Any, value: Any) -> Array:
    """`masked_fill`, but for the shape of the result, which may be larger than that of ``self``."""
    x = as_array("masked_fill", self)
    hidden = boolean("masked_fill", "mask", mask, x)
    broadcast_shape("masked_fill", x.shape, hidden.shape)
    return rules.where(x, scalar("masked_fill", value, x.dtype), get_backend(x.device).logical_not(hidden))
