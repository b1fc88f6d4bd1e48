"""Checks of the arguments of attention: arrays of floats on one device, a mask, a scale, shapes of parameters."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_operand, device_of
from pynested.autograd.arguments.scalars import canonical_number, number_text
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError
from pynested.lifting.result_dtypes import check_float
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import check_devices

_LARGEST = float(np.finfo(np.float64).max)  # math.isfinite raises OverflowError for larger integers


def checked_operands(op: str, query: Any, key: Any, value: Any, mask: Any) -> tuple[list[Any], Any]:
    """Return query, key, value, of floats, and a mask of floats or bools, or None: arrays on one device."""
    arrays = _as_arrays(op, [query, key, value, *([] if mask is None else [mask])])
    for name, x in zip(("query", "key", "value", "attn_mask"), arrays, strict=False):
        if type(x) not in (NestedArray, Array):
            raise ArgumentError(f"{op}: {name} must be an array, not {number_text(x)}.")
    check_devices(op, arrays)
    for x in arrays[:3]:
        check_float(op, x if type(x) is Array else x.data)
    mask = None if mask is None else arrays[3]
    if mask is not None and mask.dtype != np.bool_ and not is_float(mask.dtype):
        raise DTypeError(
            f"{op}: attn_mask is {mask.dtype}; it must be bool, true where a key takes part, or floats, which are "
            "added to the scores. Compare it, such as mask != 0."
        )
    return arrays[:3], mask


def checked_rows(op: str, **operands: Any) -> list[NestedArray | Array]:
    """Return operands whose components are matrices with rows of one size: (B, *, E), or dense (B, L, E) or (L, E)."""
    arrays = _as_arrays(op, list(operands.values()))
    for name, x in zip(operands, arrays, strict=True):
        if type(x) is NestedArray:
            if x.ndim != 3 or x.regular_size(2) is None:
                raise StructureError(
                    f"{op}: {name} has the shape {x.shape}; it must be (B, *, E), with rows of one size."
                )
        elif type(x) is not Array or x.ndim not in (2, 3):
            raise ShapeError(f"{op}: {name} must be an array (B, L, E) or (L, E), not {number_text(x)}.")
    return arrays


def _as_arrays(op: str, operands: list[Any]) -> list[Any]:
    """Return operands as arrays of pynested, on the device of the first nested one if there is one."""
    device = next((x.device for x in operands if type(x) is NestedArray), None) or device_of(*operands)
    return [x if type(x) is NestedArray else as_operand(op, x, device) for x in operands]


def row_width(x: NestedArray | Array) -> int:
    """Return the number of elements of a row."""
    return x.regular_size(2) or 0 if isinstance(x, NestedArray) else x.shape[-1]


def check_shape(op: str, name: str, weight: Any, expected: tuple[int, ...]) -> None:
    """Raise unless a parameter has the expected shape."""
    shape = shape_of(weight)
    if shape != expected:
        raise ShapeError(f"{op}: {name} has the shape {shape}; with these rows it must be {expected}.")


def shape_of(x: Any) -> tuple[int, ...]:
    """Return the shape of an array of any library, or of a list."""
    return tuple(getattr(x, "shape", np.shape(x)))


def checked_scale(op: str, scale: Any) -> float | None:
    """Return a finite number, or None."""
    if scale is None:
        return None
    number = canonical_number(op, "scale", scale)
    if type(number) is bool or not -_LARGEST <= number <= _LARGEST:
        raise ArgumentError(f"{op}: scale must be a finite number, not {number_text(number)}.")
    return float(number)
