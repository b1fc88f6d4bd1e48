"""Operands of operators: type aliases, the first nested operand, and checks of devices and dimensions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from types import EllipsisType
from typing import Any, TypeAlias, TypeVar

import numpy as np
from numpy.typing import DTypeLike

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.autograd.primitives.primitive import device_mismatch_error
from pynested.backends.errors import ArgumentError, DimensionError

from .nested_array import NestedArray

Dense: TypeAlias = Array | np.ndarray[Any, Any]
DenseLike: TypeAlias = Dense | np.generic | float  # for type checkers, float includes int and bool
Operand: TypeAlias = NestedArray | DenseLike
DType: TypeAlias = DTypeLike
IntsLike: TypeAlias = int | Sequence[int] | Sequence[Sequence[int]] | Dense
Components: TypeAlias = NestedArray | Dense | Iterable[Any]
IndexEntry: TypeAlias = int | slice | EllipsisType | None
IndexArray: TypeAlias = Sequence[int] | Sequence[bool] | Dense  # integers, or a mask
Index: TypeAlias = IndexEntry | IndexArray | NestedArray | tuple[IndexEntry | IndexArray, ...]
Dims: TypeAlias = int | tuple[int, ...] | None
Flag: TypeAlias = bool | None  # None if it is not given

ArrayResult: TypeAlias = NestedArray | Array  # nested if an operand is nested

ArrayT = TypeVar("ArrayT", NestedArray, Array)  # a nested operand gives a nested result, a dense one a dense result


def first_nested(name: str, operands: Sequence[Any]) -> NestedArray:
    """Return the first nested operand; raise if there is none."""
    for operand in operands:
        if type(operand) is NestedArray:
            return operand
    raise ArgumentError(
        f"{name}: no operand is nested. Call the function itself, or nest an operand: pn.as_nested_array(x)."
    )


def on_one_device(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands as arrays on the same device; a number is moved to the device of the other operand."""
    if type(a) is not NestedArray and type(a) is not Array:
        a = as_array(name, a, b.device)
    if type(b) is not NestedArray and type(b) is not Array:
        b = as_array(name, b, a.device)
    if a.device != b.device:
        raise device_mismatch_error(name, {a.device, b.device})
    return a, b


def check_devices(name: str, operands: Sequence[Any]) -> None:
    """Raise if the arrays among ``operands`` lie on different devices."""
    devices = {operand.device for operand in operands if isinstance(operand, NestedArray | Array)}
    if len(devices) > 1:
        raise device_mismatch_error(name, devices)


def canonical_component_dim(name: str, dim: Any, ndim: int) -> int:
    """Return ``dim`` counted from the front; raise for the batch dimension, and name the dimensions to use instead."""
    dim = canonical_dim(name, dim, ndim)
    if dim:
        return dim  # type: ignore[no-any-return]
    if ndim < 3:
        advice = "The only other dimension is 1." if ndim == 2 else "The components have no dimensions."
    else:
        advice = f"Name a dimension from 1 to {ndim - 1}."
    raise DimensionError(
        f"{name}: dimension 0 is the batch dimension of a nested array, which is not supported here. {advice}"
    )
