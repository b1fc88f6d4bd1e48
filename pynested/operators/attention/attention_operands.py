"""Checks of the arguments of attention: dtypes, devices and numbers of dimensions of arrays, the scale."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_operand, device_of
from pynested.autograd.arguments.scalars import canonical_number, nearest_float, value_text
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError
from pynested.lifting.result_dtypes import check_float
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import check_devices

MASK = "attn_mask"
NAMES = ("query", "key", "value", MASK)


def checked_operands(op: str, query: Any, key: Any, value: Any, mask: Any) -> dict[str, Any]:
    """Return query, key, value and, if it is not None, mask as arrays by name; raise for dtypes that do not fit."""
    arrays = as_arrays(op, [query, key, value] if mask is None else [query, key, value, mask])
    named = dict(zip(NAMES, arrays, strict=False))
    for name, x in named.items():
        if type(x) not in (NestedArray, Array):
            raise ArgumentError(f"{op}: {name} must be an array, not {value_text(x)}.")
    check_devices(op, arrays)
    for name, x in named.items():
        if name != MASK:
            check_float(op, x if type(x) is Array else x.data)
        elif x.dtype != np.bool_ and not is_float(x.dtype):
            raise DTypeError(
                f"{op}: attn_mask is {x.dtype}; it must be bool, true where a key takes part, or floats, which are "
                "added to the scores. Compare it, such as mask != 0."
            )
    return named


def as_arrays(op: str, operands: list[Any]) -> list[Any]:
    """Return operands as arrays of pynested, on the device of the first nested operand if there is one."""
    device = next((x.device for x in operands if type(x) is NestedArray), None) or device_of(*operands)
    return [x if type(x) is NestedArray else as_operand(op, x, device) for x in operands]


def checked_scale(op: str, scale: Any) -> float | None:
    """Return the scale as a float, or None; raise unless it is finite."""
    if scale is None:
        return None
    number = canonical_number(op, "scale", scale)
    if type(number) is bool or not math.isfinite(nearest_float(number)):
        raise ArgumentError(f"{op}: scale must be a finite number, not {value_text(number)}.")
    return float(number)


def check_dims(op: str, named: dict[str, Any], rank: int) -> None:
    """Raise unless nested operands have ``rank`` dimensions, and dense ones at most ``rank``, but not too few."""
    for name, x in named.items():
        if type(x) is not NestedArray:
            least = 0 if name == MASK else 2
            if not least <= x.ndim <= rank:
                raise ShapeError(
                    f"{op}: {name} has shape {x.shape}; if it is dense, it must have from {least} to {rank} dimensions."
                )
        elif x.ndim < 3:
            raise StructureError(
                f"{op}: the components of {name} have {x.ndim - 1} dimensions; they must be matrices at least. Use "
                "unsqueeze."
            )
        elif x.ndim != rank:
            raise StructureError(f"{op}: nested operands have {rank} and {x.ndim} dimensions; they must have as many.")
        elif name != MASK and x.regular_size(rank - 1) is None:
            raise StructureError(
                f"{op}: dimension {rank - 1} of {name}, the last one, is irregular; it must be regular."
            )


def component_count(op: str, named: dict[str, Any], rank: int) -> int:
    """Return the number of components; operands with fewer than ``rank`` dimensions have no batch dimension.

    The batch dimension of a dense operand can also have the size 1.
    """
    batches = {name: x for name, x in named.items() if x.ndim == rank}
    nested_counts = [len(x) for x in batches.values() if type(x) is NestedArray]
    count = [*nested_counts, *[len(x) for x in batches.values() if len(x) != 1], 1][0]
    for name, x in batches.items():
        if type(x) is NestedArray and len(x) != count:
            raise StructureError(f"{op}: nested operands have {count} and {len(x)} components; they must have as many.")
        if len(x) not in (1, count):
            raise ShapeError(
                f"{op}: {name} has shape {x.shape}, and there are {count} components; its first size must be that or 1."
            )
    return count
