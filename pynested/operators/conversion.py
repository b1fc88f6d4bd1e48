"""The chapter *conversion*: conversion of an array to a new dtype, device, layout or memory.

The chapter also has `to_padded_array` (module `padding`), `getitem` (folder `indexing`) and the functions that make
nested arrays (`pynested.construct`).
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, canonical_dtype
from pynested.autograd.dispatch import operator
from pynested.autograd.primitives import movement
from pynested.autograd.primitives.movement import converted
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, StructureError
from pynested.backends.registry import canonical_device, devices
from pynested.construct import (
    as_nested_array,
    masked_select,
    narrow,
    nested_array,
    nested_array_from_jagged,
    nested_array_from_strided,
)
from pynested.nested import layout_conversion
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, DType
from pynested.structure.layout import Layout, canonical_layout

from .indexing.getitem import getitem
from .padding import to_padded_array

__all__ = [
    "as_nested_array", "contiguous", "getitem", "masked_select", "narrow", "nested_array", "nested_array_from_jagged",
    "nested_array_from_strided", "pin_memory", "to", "to_dense", "to_padded_array",
]  # fmt: skip


@operator
def contiguous(self: ArrayT) -> ArrayT:
    """Return the components one after another in memory, each in C order: ``(B, *, D) -> (B, *, D)``.

    The result is ``self`` if it is contiguous, a view if gaps are only before or behind the components, else a copy. It
    has the same layout, dtype and bits, keeps empty components, and has no gaps. Gradient: the cotangent. Clauses:
    CONTIGUOUS-1 to CONTIGUOUS-3. After `torch.Tensor.contiguous`.

    >>> nt = pn.narrow(pn.array([[1, 2, 3], [4, 5, 6]]), 1, 0, [1, 2], layout=pn.jagged)
    >>> pn.contiguous(nt).values()
    array([1, 4, 5])
    """
    if isinstance(self, NestedArray):
        return layout_conversion.contiguous(self)
    x = as_array("contiguous", self)
    return x if x.is_contiguous() else movement.copy(x)


@operator
def to(
    self: ArrayT,
    *targets: DType | Layout,
    dtype: DType | None = None,
    device: str | None = None,
    layout: Layout | None = None,
) -> ArrayT:
    """Convert an array to a new dtype, device or layout: ``(B, *, D) -> (B, *, D)``.

    This is the only operator that narrows numbers. The result has the same bits on every processor and device. A number
    that becomes a float is rounded once; beyond the largest float it becomes an infinity. A float that becomes an
    integer loses its fraction; outside the range it becomes the nearest end of the range, and NaN becomes 0. An integer
    that becomes a narrower integer keeps its low bits. Only zeros become the bool False. Gradient: between floats the
    cotangent, in the dtype and layout of ``self``. Clauses: TO-1 to TO-9. After `torch.Tensor.to`.

    Parameters
    ----------
    *targets : dtype, device, or both, and then a layout
        The properties that the result must have. Without any change the result is ``self``.
    dtype : dtype, optional
        The dtype of the result, as a keyword.
    device : str, optional
        The device of the result, as a keyword.
    layout : Layout, optional
        `strided` or `jagged`, of a nested array.

    Raises
    ------
    LayoutError
        For more than one irregular dimension in the jagged layout.
    StructureError
        For a dense array and a layout.
    DTypeError
        For an unsupported dtype, and for bfloat16 on ``"cpu"`` and ``"plain"``; use ``to("cpu", pn.float32)``.
    ArgumentError
        For two dtypes or two devices.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]]).to(pn.float32, layout=pn.jagged)
    >>> nt.dtype, nt.layout
    (dtype('float32'), pynested.jagged)
    >>> pn.to(pn.array([2.9, -1e30, np.nan]), pn.int8), pn.array([300, -1]).to(pn.uint8)
    (array([   2, -128,    0], dtype=int8), array([ 44, 255], dtype=uint8))
    """
    if not isinstance(self, NestedArray):
        if layout is not None:
            raise StructureError(
                "to: a dense array has no nested layout; nest it first: pn.as_nested_array(x, layout=…)."
            )
        return _convert_dense(as_array("to", self), *targets, dtype=dtype, device=device)
    if targets and isinstance(targets[-1], Layout):
        *targets, layout = targets  # type: ignore[assignment]
    x = NestedArray(_convert_dense(self.data, *targets, dtype=dtype, device=device), self.structure)
    return x if layout is None else layout_conversion.to_layout(x, canonical_layout("to", layout))


def _convert_dense(x: Array, *targets: Any, dtype: Any, device: str | None) -> Array:
    """Convert a dense array to a new dtype, a new device, or both. If nothing changes, the result is ``x``."""
    target_devices: list[str] = []
    target_dtypes: list[Any] = []
    keywords = [target for target in (device, dtype) if target is not None]
    for target in (*targets, *keywords):
        device_name = canonical_device(target) if isinstance(target, str) else ""
        if device_name in devices():
            target_devices.append(device_name)
        elif target is None:
            raise DTypeError("to: None is neither a dtype nor a device.")
        else:
            target_dtypes.append(target)
    for what, names in (("devices", target_devices), ("dtypes", target_dtypes)):
        if len(names) > 1:
            raise ArgumentError(f"to: two {what} are given, {names[0]!r} and {names[1]!r}. Give only one.")
    new_device = target_devices[0] if target_devices else x.device
    new_dtype = _target_dtype(target_dtypes[0] if target_dtypes else x.dtype, new_device)
    return converted(x, new_device, new_dtype)


def _target_dtype(dtype: Any, device: str) -> np.dtype[Any]:
    """Return a dtype of the device. An unknown name could mean a dtype or a device, so the error lists both."""
    try:
        return canonical_dtype(dtype, device)
    except DTypeError as error:
        if not isinstance(dtype, str):
            raise
        raise DTypeError(f"to: {error} Devices are {', '.join(map(repr, devices()))}.") from None


@operator
def to_dense(self: NestedArray | Array) -> Array:
    """Convert components of one shape to a dense array: ``(B, L, D) -> (B, L, D)``.

    Components of different shapes raise StructureError, which names the first that differs; use `to_padded_array`. The
    result for a dense array is ``self``. Gradient: the cotangent, component by component. Clauses: TO_DENSE-1 to
    TO_DENSE-4.

    >>> pn.nested_array([[1, 2], [3, 4]], layout=pn.jagged).to_dense()
    array([[1, 2],
           [3, 4]])
    """
    return layout_conversion.as_dense("to_dense", self) if isinstance(self, NestedArray) else self


@operator
def pin_memory(self: Any) -> Any:
    """Copy an array to page-locked memory: ``(B, *, D) -> (B, *, D)``. Without an accelerator it raises DeviceError.

    >>> pn.nested_array([[1, 2]]).pin_memory()
    Traceback (most recent call last):
    pynested.backends.errors.DeviceError: pin_memory: an array on 'cpu' cannot be pinned, ...
    """
    raise DeviceError(
        f"pin_memory: an array on {self.device!r} cannot be pinned, as no accelerator is in use. Leave it out."
    )
