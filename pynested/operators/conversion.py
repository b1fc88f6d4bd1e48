"""Conversion of an array to a new dtype, device, layout or memory: the chapter *conversion* of the specification.

The chapter also has `getitem` (folder `indexing`) and the functions that make nested arrays (`pynested.construct`).
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, as_arrays_on_one_device, canonical_dtype
from pynested.autograd.arguments.scalars import checked_scalar
from pynested.autograd.arguments.shapes import canonical_shape, check_possible_shape
from pynested.autograd.decorators import operator
from pynested.autograd.default_device_and_dtype import checked_device
from pynested.autograd.primitives import movement
from pynested.backends import packed_strides, strided_index
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, GradientError, ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.backends.registry import devices
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
from pynested.structure import Jagged
from pynested.structure.layout import Layout, canonical_layout

from .indexing.getitem import getitem
from .indexing.in_place_writes import write_value

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

    The result has the same bits on every processor and device. A number that becomes a float is rounded once; beyond
    the largest float it becomes an infinity. A float that becomes an integer loses its fraction; outside the range it
    becomes the nearest end of the range, and NaN becomes 0. An integer that becomes a narrower integer keeps its low
    bits. Only zeros become the bool False. Gradient: between floats the cotangent, in the dtype and layout of ``self``.
    Clauses: TO-1 to TO-9. After `torch.Tensor.to`.

    Parameters
    ----------
    *targets : dtype, device, or both, and then a layout
        The properties that the result must have. Without any change the result is ``self``.
    dtype : dtype, optional
        The dtype of the result, as a keyword.
    device : str, optional
        The device of the result, as a keyword. DeviceError for an unknown device.
    layout : Layout, optional
        `strided` or `jagged`, of a nested array.

    Raises
    ------
    LayoutError
        If a jagged result would have several irregular dimensions.
    StructureError
        If a layout is given for a dense array.
    DTypeError
        For an unsupported dtype, and for a layout that is not the last target. For bfloat16 on ``"cpu"`` and
        ``"plain"``; use ``to("cpu", pn.float32)``.
    ArgumentError
        For two dtypes, two devices or two layouts.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]]).to(pn.float32, layout=pn.jagged)
    >>> nt.dtype, nt.layout
    (dtype('float32'), pynested.jagged)
    >>> pn.to(pn.array([2.9, -1e30, np.nan]), pn.int8), pn.array([300, -1]).to(pn.uint8)
    (array([   2, -128,    0], dtype=int8), array([ 44, 255], dtype=uint8))
    """
    if targets and isinstance(targets[-1], Layout):
        if layout is not None:
            raise ArgumentError(f"to: two layouts are given, {targets[-1]!r} and {layout!r}. Give only one.")
        *targets, layout = targets  # type: ignore[assignment]
    if not isinstance(self, NestedArray):
        if layout is not None:
            raise StructureError("to: a dense array has no nested layout; nest it: pn.as_nested_array(x, layout=…).")
        return _convert_dense(as_array("to", self), *targets, dtype=dtype, device=device)
    values = _convert_dense(self.data, *targets, dtype=dtype, device=device)
    x = self if values is self.data else NestedArray(values, self.structure)
    return x if layout is None else layout_conversion.to_layout("to", x, canonical_layout("to", layout))


def _convert_dense(x: Array, *targets: Any, dtype: Any, device: str | None) -> Array:
    """Convert a dense array to a new dtype, a new device, or both. If nothing changes, the result is ``x``."""
    target_devices = [] if device is None else [checked_device("to", device)]
    target_dtypes = [] if dtype is None else [dtype]
    for target in targets:
        if isinstance(target, str) and target.partition(":")[0] in devices():
            target_devices.append(checked_device("to", target))
        elif target is None or isinstance(target, Layout):
            raise DTypeError(f"to: {target!r} is neither a dtype nor a device; only the last target can be a layout.")
        else:
            target_dtypes.append(target)
    for what, names in (("devices", target_devices), ("dtypes", target_dtypes)):
        if len(names) > 1:
            raise ArgumentError(f"to: two {what} are given, {names[0]!r} and {names[1]!r}. Give only one.")
    new_device = target_devices[0] if target_devices else x.device
    dtype = target_dtypes[0] if target_dtypes else x.dtype
    try:
        new_dtype = canonical_dtype("to", dtype, new_device)
    except DTypeError as error:
        if not isinstance(dtype, str):
            raise
        # The unknown name could mean a dtype or a device.
        raise DTypeError(f"{error} Devices are {', '.join(map(repr, devices()))}.") from None
    return movement.converted(x, new_device, new_dtype)


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
    return layout_conversion.as_dense("to_dense", self) if isinstance(self, NestedArray) else as_array("to_dense", self)


@operator
def pin_memory(self: Any) -> Any:
    """Raise DeviceError, as no device pins memory.

    >>> pn.nested_array([[1, 2]]).pin_memory()
    Traceback (most recent call last):
    pynested.backends.errors.DeviceError: pin_memory: an array on 'cpu' cannot be pinned; ...
    """
    x = self if isinstance(self, NestedArray) else as_array("pin_memory", self)
    raise DeviceError(f"pin_memory: an array on {x.device!r} cannot be pinned; no device pins memory. Leave it out.")


@operator
def to_padded_array(
    input: NestedArray, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
) -> Array:
    """Pad the components with ``padding`` at the end of each dimension to one size: ``(B, *, D) -> (B, max(*), D)``.

    The dtype stays. Gaps have no effect. If all components are empty, the result has the shape (B, 0, ...); without
    components it has the shape (0, ...). Gradient: the cotangent at the position of each element; the cotangent of the
    padding is not used. Clauses: TO_PADDED_ARRAY-1 to TO_PADDED_ARRAY-10. After `torch.nested.to_padded_tensor`.

    Parameters
    ----------
    padding : number
        The dtype must be able to represent it: 0.0 pads integers with 0.
    output_size : sequence of int, optional
        A size for every dimension, the batch included, large enough for all components; by default the smallest sizes.
        Slices beyond the last component contain only ``padding``.
    out : Array, optional
        The array to write to and to return, of the shape and dtype of the result. It is refused if ``input`` requires
        grad.

    Raises
    ------
    ShapeError
        For a size that is too small (components are not truncated), for a wrong number of sizes, and for an ``out`` of
        the wrong shape or dtype.
    DTypeError
        For a ``padding`` that no element can equal: 0.5, inf or NaN for integers, 2 for bools.
    OverflowError
        For a number outside the range of the dtype: 300 for int8, 1e5 for float16.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_padded_array(nt, -1, output_size=(2, 3))
    array([[ 1,  2, -1],
           [ 3, -1, -1]])
    """
    if type(input) is not NestedArray:
        raise StructureError(f"to_padded_array: the input must be nested, not {type(input).__name__}.")
    fill = checked_scalar("to_padded_array", padding, input.dtype)
    _, target = as_arrays_on_one_device("to_padded_array", input.data, out, optional=1)
    min_shape = (len(input), *input.extents.max(axis=0, initial=0).tolist())
    shape = min_shape if output_size is None else _checked_output_size(output_size, min_shape)
    padded = _padded(layout_conversion.packed(input), check_possible_shape("to_padded_array", shape), fill)
    return padded if target is None else _copy_to_out(padded, target)


def _checked_output_size(output_size: Any, min_shape: tuple[int, ...]) -> tuple[int, ...]:
    shape = canonical_shape("to_padded_array", (output_size,))
    if len(shape) != len(min_shape):
        raise ShapeError(
            f"to_padded_array: output_size {shape} has {len(shape)} sizes and the nested array has {len(min_shape)} "
            "dimensions."
        )
    for dim, (size, min_size) in enumerate(zip(shape, min_shape, strict=True)):
        if size < min_size:
            raise ShapeError(
                f"to_padded_array: dimension {dim} needs size {min_size} or more, and output_size {shape} has {size}. "
                "Components are not truncated; slice the nested array first."
            )
    return shape


def _padded(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Pad a packed array: as segments if only the ragged dimension needs padding, else element by element."""
    jagged_view = layout_conversion.as_jagged_view(x)
    x = x if jagged_view is None else jagged_view
    structure = x.structure
    if isinstance(structure, Jagged) and shape[0] == len(x):
        ragged_dim = structure.ragged_dim
        regular_sizes = x.data.shape[: ragged_dim - 1] + x.data.shape[ragged_dim:]
        if regular_sizes == shape[1:ragged_dim] + shape[ragged_dim + 1 :]:
            if ragged_dim == 1:
                return movement.pad(x.data, structure.segments, shape[1], fill)
            rows = layout_conversion.axis_to_front(x.data, ragged_dim - 1)
            padded = movement.pad(rows, structure.segments, shape[ragged_dim], fill)
            # The padded ragged dimension is dimension 1; move it back to its position.
            order = (0, *range(2, ragged_dim + 1), 1, *range(ragged_dim + 1, x.ndim))
            return movement.transpose(padded, order).contiguous()
    return _pad_elements(layout_conversion.to_strided(x), shape, fill)


def _pad_elements(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Pad along any dimensions: gather the result from one flat array of all elements and one element of padding."""
    strides = packed_strides(np.array([shape], np.int64))[0]
    sizes = x.component_sizes()
    component_strides = np.broadcast_to(strides[1:], sizes.shape)
    positions = strided_index(sizes, component_strides, np.arange(len(x)) * strides[0])
    total = prod(shape)
    element_index = np.full(total, positions.size, np.int64)  # the index of the padding, the last element of `flat`
    element_index[positions] = np.arange(positions.size)
    padding = Array(from_host(np.full(1, fill, x.dtype), x.device), x.device)
    flat = movement.concatenate([layout_conversion.gather_elements(x), padding], 0)
    return movement.reshape(movement.take_rows(flat, element_index), shape)


def _copy_to_out(padded: Array, target: Array) -> Array:
    """Copy ``padded`` into ``target``."""
    if target.shape != padded.shape or target.dtype != padded.dtype:
        raise ShapeError(
            f"to_padded_array: out has shape {target.shape} and dtype {target.dtype}; it must have shape "
            f"{padded.shape} and dtype {padded.dtype}."
        )
    if padded.requires_grad:
        raise GradientError("to_padded_array: out= cannot be used if the input requires grad. Leave it out.")
    return write_value(target, "to_padded_array", padded)
