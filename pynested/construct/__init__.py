"""Nested arrays from lists of arrays, and from dense arrays: the components are copied into one buffer.

dtypes are those of pynested (clause DTYPES-1). DeviceError: a device that is not there. The jagged layout
has one irregular dimension, the strided one any number.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import canonical_dtype
from pynested.autograd.call_errors import check_flags
from pynested.autograd.create import array
from pynested.autograd.default_device import chosen_device, placed
from pynested.autograd.dispatch import operator
from pynested.autograd.numbers import check_fits
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.devices import converted
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import get_backend, transfer
from pynested.backends.dtypes import is_bfloat16, promoted
from pynested.backends.errors import DeviceError, StructureError
from pynested.nested import layout_conversion
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Components, DType
from pynested.structure import Jagged, Strided, regular_sizes
from pynested.structure.layout import Layout, canonical_layout, jagged

from .entries import bare_arrays, check_ranks, common_dtype, entries_of


@operator
def nested_array(
    tensor_list: Components,
    *,
    dtype: DType | None = None,
    layout: Layout | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    pin_memory: bool = False,
) -> NestedArray:
    """A new nested array that holds a copy of each array, without history: ``(*, D), ... -> (B, *, D)``.

    Parameters
    ----------
    tensor_list : sequence of array_like, or a dense array
        The components, all of one rank; of a dense array its slices along dimension 0. Numbers, and nested lists of
        them, stand for what NumPy makes of them.
    dtype : dtype, optional
        By default that of the first array, into which all others fit without loss. Numbers are rounded to a floating
        one that is asked for; every other change of a value is an error, as for `array`.
    layout : Layout, optional
        `strided`, the default, or `jagged`, whose ragged dimension is the irregular one, or 1 where all sizes agree.
    device : str, optional
        By default that of the first `Array`; without one, that of `set_default_device`.
    requires_grad : bool
        Whether to record operations on the result, a leaf.
    pin_memory : bool
        True needs an accelerator.

    Raises
    ------
    StructureError
        For arrays of different rank, naming the first that differs; a nested array among them; in the jagged layout
        also for no arrays, and arrays without dimensions.
    LayoutError
        For more than one irregular dimension in the jagged layout.
    DTypeError
        For an array that the dtype of the first cannot hold without possible loss: float64 after int64; and floats in
        a ``dtype`` of integers.
    OverflowError
        For an integer that ``dtype`` cannot hold.
    ArgumentError
        For what is no sequence of arrays.
    DeviceError
        For a device that is not there, and ``pin_memory`` without an accelerator.

    Notes
    -----
    Arrays of size 0 are components like every other. An empty list makes a strided float64 batch of no components.
    Gradient: accumulates in ``grad`` of the result; nothing reaches the arrays.

    Clauses: NESTED_ARRAY-1 to NESTED_ARRAY-13. After `torch.nested.nested_tensor`.

    Examples
    --------
    >>> pn.nested_array([[1, 2, 3], [4]], layout=pn.jagged)
    nested_array([
      array([1, 2, 3]),
      array([4]),
    ], shape=(2, j1), layout=pn.jagged)
    """
    check_flags("nested_array", requires_grad=requires_grad, pin_memory=pin_memory)
    chosen = canonical_layout("nested_array", layout)
    entries = entries_of("nested_array", tensor_list, device)
    where = chosen_device(device, (tensor_list, *entries))
    get_backend(where)
    if pin_memory:
        raise DeviceError("nested_array: pin_memory=True needs an accelerator, and none is in use. Leave it out.")
    arrays = bare_arrays("nested_array", entries, dtype, where)
    if not arrays and isinstance(tensor_list, Array | np.ndarray):  # whose slices would have had a shape
        nothing = array(tensor_list, dtype=dtype, device=where)
        return _of_dense(nothing, None, chosen).requires_grad_(requires_grad)
    if not arrays:
        return _of_nothing(chosen, dtype, where, requires_grad)
    check_ranks("nested_array", arrays)
    kind, mixed = common_dtype("nested_array", arrays, dtype, where)
    arrays, here = _gathered(arrays, where)
    if mixed:
        common = promoted(*[x.dtype for x in arrays]) if here == "cpu" and is_bfloat16(kind) else kind
        arrays = [x if x.dtype == common else get_backend(here).cast(x, common) for x in arrays]
    packed = _packed_list(arrays, chosen, here)
    made = NestedArray(converted(packed.data, where, kind), packed.structure)
    return made.requires_grad_() if requires_grad else made


def _gathered(arrays: list[Any], device: str) -> tuple[list[Any], str]:
    """The arrays on one device, and which: ``device``, or the CPU if all are there, to be moved in one piece."""
    kind = get_backend(device).xp.ndarray
    kinds = set(map(type, arrays))
    if kinds == {kind}:
        return arrays, device
    if kinds == {np.ndarray}:
        return arrays, "cpu"
    return [x if type(x) is kind else transfer(x, device) for x in arrays], device


def _of_nothing(layout: Layout, dtype: Any, device: str, requires_grad: bool) -> NestedArray:
    if layout is jagged:
        raise StructureError(
            "nested_array: an empty list says nothing of the components' dimensions; use "
            "pn.nested_array_from_jagged(values, offsets=[0]) for a jagged array without components."
        )
    values = array([], dtype=dtype, device=device, requires_grad=requires_grad)
    return NestedArray(values, Strided.from_extents(np.zeros((1, 0), np.int64), 0))


def _packed_list(arrays: list[Any], layout: Layout, device: str) -> NestedArray:
    """One copy of everything; shapes are looked at as sets first, as most lists are uniform but for one dimension."""
    rank, backend = arrays[0].ndim, get_backend(device)
    if layout is jagged and not rank:
        raise StructureError(
            "nested_array: the jagged layout needs components of one dimension or more. Use layout=pn.strided."
        )
    if layout is jagged and len({x.shape[1:] for x in arrays}) == 1:
        rows, lengths = backend.pack_list(arrays)
        return NestedArray(Array(rows, device), Jagged.from_lengths(lengths))
    sizes = np.array([x.shape for x in arrays], np.int64).reshape(len(arrays), rank)
    if layout is jagged:
        at = layout_conversion.irregular_dim(regular_sizes(sizes))
        values = backend.xp.concatenate(arrays, axis=at - 1)
        return NestedArray(Array(values, device), Jagged.from_lengths(sizes[:, at - 1], at))
    flat = backend.xp.concatenate(arrays, axis=None)
    return NestedArray(Array(flat, device), Strided.from_extents(sizes, len(arrays)))


@operator
def as_nested_array(
    tensor_list: Components, dtype: DType | None = None, device: str | None = None, layout: Layout | None = None
) -> NestedArray:
    """A nested array of the arrays, with their history: ``(*, D), ... -> (B, *, D)``.

    Parameters
    ----------
    tensor_list : sequence of array_like, a dense array, or a NestedArray
        As for `nested_array`. A dense array gives its slices along dimension 0, where possible as a view.
    dtype : dtype, optional
        What the components are converted to; by default as for `nested_array`.
    device : str, optional
        By default that of the arrays, and for lists and NumPy arrays alone that of `set_default_device`. Arrays that
        are elsewhere are moved.
    layout : Layout, optional
        By default that of a nested argument, else `strided`.

    Raises
    ------
    LayoutError
        For more than one irregular dimension in the jagged layout.
    StructureError
        For a dense array of fewer than two dimensions, and what `nested_array` refuses.
    DeviceError
        Without ``device`` for arrays on different devices.

    Notes
    -----
    Edges and dtypes are those of `nested_array`. Gradient: each array, or the one dense array, gets the cotangent of
    its own components.

    Clauses: AS_NESTED_ARRAY-1 to AS_NESTED_ARRAY-6. After `torch.nested.as_nested_tensor`.

    Examples
    --------
    >>> a, b = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0], requires_grad=True)
    >>> (pn.as_nested_array([a, b], layout=pn.jagged) * 3).sum().backward()
    >>> a.grad, b.grad
    (array([3., 3.]), array([3.]))
    """
    if device is not None:
        get_backend(device)
    if type(tensor_list) is NestedArray:
        x = tensor_list if device is None else tensor_list.to(device=device)
        if dtype is not None and canonical_dtype(dtype, x.device) != x.dtype:
            tight = layout_conversion.packed(x)
            x = NestedArray(_converted(tight.data, dtype), tight.structure)
        return x if layout is None else layout_conversion.to_layout(x, canonical_layout("as_nested_array", layout))
    chosen = canonical_layout("as_nested_array", layout)
    if isinstance(tensor_list, Array | np.ndarray):
        return _of_dense(placed("as_nested_array", tensor_list, device), dtype, chosen)
    entries = entries_of("as_nested_array", tensor_list, device)
    where = chosen_device(device, entries)
    arrays = bare_arrays("as_nested_array", entries, dtype, where)
    if not arrays:
        return _of_nothing(chosen, dtype, where, False)
    given = [
        placed("as_nested_array", x, device) if type(x) is Array else placed("as_nested_array", Array(y), where)
        for x, y in zip(entries, arrays, strict=True)
    ]
    check_ranks("as_nested_array", given)
    kind, _ = common_dtype("as_nested_array", given, dtype, where)
    devices = {x.device for x in given}
    if len(devices) > 1:
        raise DeviceError(f"as_nested_array: the arrays lie on different devices: {', '.join(sorted(devices))}.")
    return layout_conversion.nest([to_dtype(x, kind) for x in given], chosen)


def _converted(x: Array, dtype: Any) -> Array:
    """``x`` in ``dtype``, if that can hold the values."""
    kind = canonical_dtype(dtype, x.device)
    check_fits("as_nested_array", x.data, kind)
    return to_dtype(x, kind)


def _of_dense(x: Array, dtype: Any, layout: Layout) -> NestedArray:
    """The batch of equal components that a dense array is: a view where its memory is in order."""
    if x.ndim < 2:
        raise StructureError(
            f"as_nested_array: a dense array needs 2 dimensions or more to be a batch, this one has {x.ndim}."
        )
    x = x if dtype is None else _converted(x, dtype)
    count, *shape = x.shape
    extents = np.tile(np.array(shape, np.int64), (max(count, 1), 1))
    if layout is jagged:
        rows = Jagged.from_lengths(extents[:count, 0])
        return NestedArray(moves.reshape(x, (count * shape[0], *shape[1:])), rows)
    return NestedArray(moves.reshape(x, (x.numel(),)).contiguous(), Strided.from_extents(extents, count))
