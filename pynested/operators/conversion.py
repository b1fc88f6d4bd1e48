"""The chapter *conversion*: padded arrays, and a nested array in another placement, layout or dtype.

What makes nested arrays out of others is in `pynested.construct`.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np

from pynested.autograd import Array, dense
from pynested.autograd.dense.canonical import together
from pynested.autograd.dense.shapes import canonical_shape, possible_shape
from pynested.autograd.numbers import scalar
from pynested.autograd.rules import elementwise as rules
from pynested.autograd.rules import movement as moves
from pynested.backends import get_backend, strided_index
from pynested.backends.errors import DeviceError, GradientError, ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.components import packing
from pynested.components.packing import lead, packed, to_strided
from pynested.construct import as_nested_array, nested_array
from pynested.construct.buffers import nested_array_from_jagged, nested_array_from_strided
from pynested.construct.cuts import masked_select, narrow
from pynested.nested.array import NestedArray
from pynested.nested.operands import DType, Kind
from pynested.structure import Jagged, packed_strides
from pynested.structure.layouts import Layout, canonical_layout

from .indexing import getitem

__all__ = [
    "as_nested_array", "contiguous", "getitem", "masked_select", "narrow", "nested_array", "nested_array_from_jagged",
    "nested_array_from_strided", "pin_memory", "to", "to_dense", "to_padded_array",
]  # fmt: skip


def to_padded_array(
    input: NestedArray, padding: float, output_size: Sequence[int] | None = None, out: Array | None = None
) -> Array:
    """Every component in the leading corner of its row, ``padding`` elsewhere: ``(B, *, D) -> (B, max(*), D)``.

    Parameters
    ----------
    input : NestedArray
        Its holes never show; the result has its dtype.
    padding : number
        Converted to the dtype, which must be able to hold it: 0.0 pads integers with 0.
    output_size : sequence of int, optional
        A size for every dimension, the batch included, each as large as needed or larger; rows beyond the last
        component are all ``padding``. By default the size of the largest component.
    out : Array, optional
        Is filled and returned; it has the shape and dtype of the result. Where a gradient is wanted it is refused.

    Raises
    ------
    ShapeError
        For a size that is smaller than needed (nothing is truncated), another number of sizes, and an ``out`` of
        another shape or dtype.
    DTypeError
        For a ``padding`` that no element can equal: 0.5, inf or NaN for integers, 2 for bools.
    OverflowError
        For an integer outside the range of the integer dtype: 300 for int8.

    Notes
    -----
    All components empty gives (B, 0, ...), no components (0, ...). Gradient: each element gets the cotangent of its
    place; that of the padding goes nowhere.

    Clauses: TO_PADDED_ARRAY-1 to TO_PADDED_ARRAY-10. After `torch.nested.to_padded_tensor`.

    Examples
    --------
    >>> nt = pn.nested_array([[1, 2], [3]], layout=pn.jagged)
    >>> pn.to_padded_array(nt, -1, output_size=(2, 3))
    array([[ 1,  2, -1],
           [ 3, -1, -1]])
    """
    if type(input) is not NestedArray:
        raise StructureError(f"to_padded_array: the input must be nested, not {type(input).__name__}.")
    fill = scalar("to_padded_array", padding, input.dtype)
    _, target = together("to_padded_array", input.data, out)
    needed = (len(input), *input.outline.max(axis=0, initial=0).tolist())
    shape = (
        needed
        if output_size is None
        else _checked_size(input, canonical_shape("to_padded_array", (output_size,)), needed)
    )
    padded = _padded(packed(input), possible_shape("to_padded_array", shape), fill)
    return padded if target is None else _written(padded, target)


def _checked_size(x: NestedArray, shape: tuple[int, ...], needed: tuple[int, ...]) -> tuple[int, ...]:
    if len(shape) != len(needed):
        raise ShapeError(
            f"to_padded_array: output_size {shape} has {len(shape)} sizes and the nested array has {len(needed)} "
            "dimensions."
        )
    for dim, (size, least) in enumerate(zip(shape, needed, strict=True)):
        if size < least:
            raise ShapeError(
                "to_padded_array: Value in output_size is less than NestedArray padded size. Truncation is not "
                f"supported: dimension {dim} needs {least}, output_size {shape} has {size}. Slice the nested array "
                "first."
            )
    return shape


def _padded(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    rows = packing.as_rows(x)
    x = x if rows is None else rows
    structure = x.structure
    if isinstance(structure, Jagged) and shape[0] == len(x):
        r = structure.ragged_dim
        rest = x.data.shape[: r - 1] + x.data.shape[r:]
        if rest == shape[1:r] + shape[r + 1 :]:
            leading = moves.transpose(x.data, lead(r - 1, x.data.ndim)) if r > 1 else x.data
            filled = _pad_rows(leading, structure, shape[r], fill)
            back = (0, *range(2, r + 1), 1, *range(r + 1, x.ndim))
            return filled if r == 1 else moves.transpose(filled, back)
    return _pad_places(to_strided(x), shape, fill)


def _pad_rows(rows: Array, structure: Jagged, length: int, fill: Any) -> Array:
    if not rows.requires_grad:
        return Array(get_backend(rows.device).pad(rows.data, structure.segments, length, fill), rows.device)
    padded = moves.pad(rows, structure.segments, length)
    if fill == 0 and not np.signbit(fill):
        return padded
    inside = np.arange(length) < structure.component_lengths[:, None]
    mask = inside.reshape(*inside.shape, *[1] * (rows.ndim - 1))
    return rules.where(padded, fill, from_host(mask, rows.device))


def _pad_places(x: NestedArray, shape: tuple[int, ...], fill: Any) -> Array:
    """Any rank and any irregular dims: each element to its place in the flat dense array."""
    steps = packed_strides(np.array([shape], np.int64))[0]
    sizes = x.component_sizes()
    count = len(x)
    strides = np.broadcast_to(steps[1:], sizes.shape)
    places = strided_index(sizes, strides, np.arange(count) * steps[0])
    total = prod(shape)
    source = np.full(total, places.size, np.int64)
    source[places] = np.arange(places.size)
    filler = Array(from_host(np.full(1, fill, x.dtype), x.device), x.device)
    flat = moves.concatenate([packing.gathered(x), filler], 0)
    return moves.reshape(moves.take_rows(flat, source), shape)  # type: ignore[no-any-return]


def _written(padded: Array, target: Array) -> Array:
    """``padded`` in the memory of ``target``."""
    if target.shape != padded.shape or target.dtype != padded.dtype:
        raise ShapeError(
            f"to_padded_array: out has shape {target.shape} and dtype {target.dtype}; it must have shape "
            f"{padded.shape} and "
            f"dtype {padded.dtype}."
        )
    if padded.requires_grad:
        raise GradientError("to_padded_array: out= cannot be used where a gradient is wanted; leave it out.")
    return target.copy_(padded)


def contiguous(self: Kind) -> Kind:
    """The same components, one after the other in C order: ``(B, *, D) -> (B, *, D)``.

    ``self`` itself if they lie so already, else a copy: bit by bit equal, in the same layout and dtype; holes are gone,
    empty components stay. Gradient: the cotangent, unchanged.

    Clauses: CONTIGUOUS-1 to CONTIGUOUS-2. After `torch.Tensor.contiguous`.

    Examples
    --------
    >>> nt = pn.narrow(pn.array([[1, 2, 3], [4, 5, 6]]), 1, 0, [1, 2], layout=pn.jagged)
    >>> pn.contiguous(nt).values()
    array([1, 4, 5])
    """
    return packing.contiguous(self) if isinstance(self, NestedArray) else dense.contiguous(self)


def to(
    self: Kind,
    *targets: DType | Layout,
    dtype: DType | None = None,
    device: str | None = None,
    layout: Layout | None = None,
) -> Kind:
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
        For an unsupported dtype, and bfloat16 on the CPU, which only the devices have; ``to("cpu",
        pn.float32)`` takes its values there.

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
        return dense.to(self, *targets, dtype=dtype, device=device)
    if targets and isinstance(targets[-1], Layout):
        *targets, layout = targets  # type: ignore[assignment]
    x = NestedArray(dense.to(self.data, *targets, dtype=dtype, device=device), self.structure)
    return x if layout is None else packing.in_layout(x, canonical_layout("to", layout))


def to_dense(self: NestedArray | Array) -> Array:
    """The components, all of one shape, as a dense array: ``(B, L, D) -> (B, L, D)``.

    StructureError where two components differ in shape, naming the first that does; `to_padded_array` takes any. A
    dense array is returned as it is. Gradient: the cotangent, component by component.

    Examples
    --------
    >>> pn.nested_array([[1, 2], [3, 4]], layout=pn.jagged).to_dense()
    array([[1, 2],
           [3, 4]])
    """
    return packing.as_dense("to_dense", self) if isinstance(self, NestedArray) else self


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
