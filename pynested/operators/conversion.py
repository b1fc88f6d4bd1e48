"""The chapter *conversion*: an array in another placement, layout or dtype.

What pads nested arrays is in `padding`, what makes them out of others in `pynested.construct`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, canonical_dtype
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.devices import converted
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, StructureError
from pynested.backends.registry import canonical_device, devices
from pynested.construct import as_nested_array, nested_array
from pynested.construct.buffers import nested_array_from_jagged, nested_array_from_strided
from pynested.construct.cuts import masked_select, narrow
from pynested.nested import layout_conversion
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayT, DType
from pynested.structure.layout import Layout, canonical_layout

from .indexing import getitem
from .padding import to_padded_array

__all__ = [
    "as_nested_array", "contiguous", "getitem", "masked_select", "narrow", "nested_array", "nested_array_from_jagged",
    "nested_array_from_strided", "pin_memory", "to", "to_dense", "to_padded_array",
]  # fmt: skip


@operator
def contiguous(self: ArrayT) -> ArrayT:
    """The same components, one after the other in C order: ``(B, *, D) -> (B, *, D)``.

    ``self`` itself if they lie so already, a view if other memory lies before or behind them, else a copy: bit by bit
    equal, in the same layout and dtype; holes are gone, empty components stay. Gradient: the cotangent, unchanged.

    Clauses: CONTIGUOUS-1 to CONTIGUOUS-3. After `torch.Tensor.contiguous`.

    Examples
    --------
    >>> nt = pn.narrow(pn.array([[1, 2, 3], [4, 5, 6]]), 1, 0, [1, 2], layout=pn.jagged)
    >>> pn.contiguous(nt).values()
    array([1, 4, 5])
    """
    if isinstance(self, NestedArray):
        return layout_conversion.contiguous(self)
    x = as_array("contiguous", self)
    return x if x.is_contiguous() else moves.copy(x)


@operator
def to(
    self: ArrayT,
    *targets: DType | Layout,
    dtype: DType | None = None,
    device: str | None = None,
    layout: Layout | None = None,
) -> ArrayT:
    """The array in another dtype, layout, or both: ``(B, *, D) -> (B, *, D)``.

    The one operator that is there to make numbers narrower, and the same bits come out on every processor and device.

    Parameters
    ----------
    self : NestedArray or Array
        Of any dtype.
    *targets : dtype, device, or both, and then a layout
        What is not named stays, and where nothing changes the result is ``self``.
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
        For a layout of a dense array.
    DTypeError
        For an unsupported dtype, and bfloat16 on ``"cpu"`` and ``"plain"``; ``to("cpu", pn.float32)`` takes its
        values there.
    ArgumentError
        For two dtypes or two devices.

    Notes
    -----
    To a float: rounded once, an infinity beyond the largest. A float to an integer: without its fraction; the nearest
    end of the range where it lies outside, and 0 for NaN. An integer to a narrower one: its low bits. To bool: False
    for zeros only. Gradient: between floats the cotangent, in the dtype and layout of ``self``.

    Clauses: TO-1 to TO-9. After `torch.Tensor.to`.

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
        return _placed(as_array("to", self), *targets, dtype=dtype, device=device)
    if targets and isinstance(targets[-1], Layout):
        *targets, layout = targets  # type: ignore[assignment]
    x = NestedArray(_placed(self.data, *targets, dtype=dtype, device=device), self.structure)
    return x if layout is None else layout_conversion.to_layout(x, canonical_layout("to", layout))


def _placed(x: Array, *targets: Any, dtype: Any, device: str | None) -> Array:
    """The array in another dtype, on another device, or both; itself where nothing changes."""
    places: list[str] = []
    kinds: list[Any] = []
    for target in (*targets, *[one for one in (device, dtype) if one is not None]):
        place = canonical_device(target) if isinstance(target, str) else ""
        if place in devices():
            places.append(place)
        elif target is None:
            raise DTypeError("to: None is neither a dtype nor a device.")
        else:
            kinds.append(target)
    for what, given in (("devices", places), ("dtypes", kinds)):
        if len(given) > 1:
            raise ArgumentError(f"to: two {what} are given, {given[0]!r} and {given[1]!r}; an array has one.")
    place = places[0] if places else x.device
    return converted(x, place, _kind(kinds[0], place) if kinds else canonical_dtype(x.dtype, place))


def _kind(dtype: Any, place: str) -> np.dtype[Any]:
    try:
        return canonical_dtype(dtype, place)
    except DTypeError as error:
        if not isinstance(dtype, str):
            raise
        raise DTypeError(f"to: {error} Devices are {', '.join(map(repr, devices()))}.") from None


@operator
def to_dense(self: NestedArray | Array) -> Array:
    """The components, all of one shape, as a dense array: ``(B, L, D) -> (B, L, D)``.

    StructureError where two components differ in shape, naming the first that does; `to_padded_array` takes any. A
    dense array is returned as it is. Gradient: the cotangent, component by component.

    Clauses: TO_DENSE-1 to TO_DENSE-4.

    Examples
    --------
    >>> pn.nested_array([[1, 2], [3, 4]], layout=pn.jagged).to_dense()
    array([[1, 2],
           [3, 4]])
    """
    return layout_conversion.as_dense("to_dense", self) if isinstance(self, NestedArray) else self


@operator
def pin_memory(self: Any) -> Any:
    """The array in page-locked memory, which only a device can offer; DeviceError on the CPU.

    Examples
    --------
    >>> pn.nested_array([[1, 2]]).pin_memory()
    Traceback (most recent call last):
    pynested.backends.errors.DeviceError: pin_memory: an array on 'cpu' cannot be pinned, ...
    """
    raise DeviceError(
        f"pin_memory: an array on {self.device!r} cannot be pinned, as no accelerator is in use. Leave it out."
    )
