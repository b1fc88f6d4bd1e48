"""What the operators of attention are given, checked one by one: arrays of floats on one device, a mask, a scale."""

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


def operands_of(op: str, query: Any, key: Any, value: Any, mask: Any) -> tuple[list[Any], Any]:
    """Nested and dense arrays, on one device, of floats, and the mask of floats or bools."""
    found = _as_ours(op, [query, key, value, *([] if mask is None else [mask])])
    for name, x in zip(("query", "key", "value", "attn_mask"), found, strict=False):
        if type(x) not in (NestedArray, Array):
            raise ArgumentError(f"{op}: {name} must be an array, not {number_text(x)}.")
    check_devices(op, found)
    for x in found[:3]:
        check_float(op, x if type(x) is Array else x.data)
    own = None if mask is None else found[3]
    if own is not None and own.dtype != np.bool_ and not is_float(own.dtype):
        raise DTypeError(
            f"{op}: attn_mask is {own.dtype}; it must be bool, true where a key takes part, or floats, which are "
            "added to the scores. Compare it, such as mask != 0."
        )
    return found[:3], own


def rows_of(op: str, **operands: Any) -> list[NestedArray | Array]:
    """The operands, dense ones as arrays: matrices of rows, of each component one."""
    found = _as_ours(op, list(operands.values()))
    for name, x in zip(operands, found, strict=True):
        if type(x) is NestedArray:
            if x.ndim != 3 or x.regular_size(2) is None:
                raise StructureError(
                    f"{op}: {name} has the shape {x.shape}; it must be (B, *, E), with rows of one size."
                )
        elif type(x) is not Array or x.ndim not in (2, 3):
            raise ShapeError(f"{op}: {name} must be an array (B, L, E) or (L, E), not {number_text(x)}.")
    return found


def _as_ours(op: str, given: list[Any]) -> list[Any]:
    """What is given, arrays of other libraries as ours: on the device of the first nested one, if there is one."""
    device = next((x.device for x in given if type(x) is NestedArray), None) or device_of(*given)
    return [x if type(x) is NestedArray else as_operand(op, x, device) for x in given]


def width_of(x: NestedArray | Array) -> int:
    """How many elements a row has."""
    return x.regular_size(2) or 0 if isinstance(x, NestedArray) else x.shape[-1]


def check_shape(op: str, name: str, weight: Any, due: tuple[int, ...]) -> None:
    """A weight that does not fit is named."""
    found = shape_of(weight)
    if found != due:
        raise ShapeError(f"{op}: {name} has the shape {found}; with these rows it must be {due}.")


def shape_of(weight: Any) -> tuple[int, ...]:
    """The shape of an array of any library, or of a list."""
    return tuple(getattr(weight, "shape", np.shape(weight)))


def scale_of(op: str, scale: Any) -> float | None:
    """A finite number, or None."""
    if scale is None:
        return None
    number = canonical_number(op, "scale", scale)
    if type(number) is bool or not -_LARGEST <= number <= _LARGEST:
        raise ArgumentError(f"{op}: scale must be a finite number, not {number_text(number)}.")
    return float(number)
