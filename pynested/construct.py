"""Nested arrays from lists of arrays, and from dense arrays: the components are copied into one buffer.

dtypes are those of pynested (clauses DTYPES-1 and DTYPES-2). DeviceError: a device that is not there. The jagged layout
has one irregular dimension, the strided one any number.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.create import array, check_conversion
from pynested.autograd.dense.canonical import as_array, canonical_dtype
from pynested.autograd.dense.reduction import to_dtype
from pynested.autograd.rules import movement as moves
from pynested.backends import get_backend
from pynested.backends.errors import (
    ArgumentError,
    DeviceError,
    DTypeError,
    StructureError,
)

from . import packing
from .layouts import Layout, canonical_layout, jagged
from .nested_array import NestedArray
from .operands import Components, DType
from .structure import Jagged, Strided, frozen


def _components(name: str, given: Any, dtype: Any) -> list[Any]:
    """The entries of a list (or of a dense array, along its first dimension), as bare arrays of the array module."""
    if type(given) is NestedArray:
        raise ArgumentError(f"{name}: the input is nested already; use pn.as_nested_array, .to(layout=…) or .clone().")
    if isinstance(given, Array | np.ndarray):
        values = as_array(name, given)
        if values.ndim < 2:
            raise StructureError(
                f"{name}: a dense array needs 2 dimensions or more to be a batch, this one has {values.ndim}."
            )
        return list(values.data)
    if isinstance(given, str | bytes | dict) or not hasattr(given, "__iter__"):
        raise ArgumentError(f"{name}: a list of arrays makes a nested array, not {type(given).__name__}.")
    entries = list(given)
    if set(map(type, entries)) == {np.ndarray}:
        return entries
    arrays = [x.data if type(x) is Array else _as_numpy(name, i, x) for i, x in enumerate(entries)]
    return _typed(arrays, entries, dtype)


def _typed(arrays: list[Any], entries: list[Any], dtype: Any) -> list[Any]:
    """Lists without elements, which NumPy makes float64, in the dtype that is asked for, or that the others have."""
    blank = [type(x) in (list, tuple) and not array.size for x, array in zip(entries, arrays, strict=True)]
    if True not in blank or (dtype is None and all(blank)):
        return arrays
    kind = canonical_dtype(arrays[blank.index(False)].dtype if dtype is None else dtype)
    return [array.astype(kind) if empty else array for array, empty in zip(arrays, blank, strict=True)]


def _as_numpy(name: str, i: int, value: Any) -> np.ndarray[Any, Any]:
    if type(value) is np.ndarray:
        return value
    if type(value) is NestedArray:
        raise StructureError(f"{name}: entry {i} is nested; there is one level of nesting only.")
    try:
        return np.asarray(value)
    except ValueError as error:
        raise ArgumentError(f"{name}: entry {i} is no array: {error}.") from None


def _checked_list(name: str, arrays: list[Any]) -> None:
    """All of one rank."""
    ranks = {x.ndim for x in arrays}
    if len(ranks) > 1:
        i = next(i for i, x in enumerate(arrays) if x.ndim != arrays[0].ndim)
        raise StructureError(
            f"{name}: all arrays must have the same dimension. Found dimension {arrays[i].ndim} for the array at index "
            f"{i} "
            f"and dimension {arrays[0].ndim} for the array at index 0."
        )


def _list_dtype(name: str, arrays: list[Any], dtype: Any) -> np.dtype[Any]:
    """The dtype asked for, if it can hold the values, else that of the first array, if it holds all other dtypes."""
    kinds = {x.dtype for x in arrays}
    for kind in kinds:
        if dtype is None or kind.kind not in "biufc":
            canonical_dtype(kind)
    wanted = canonical_dtype(arrays[0].dtype if dtype is None else dtype)
    for kind in kinds:
        if np.can_cast(kind, wanted):
            continue
        if dtype is None:
            i = next(i for i, x in enumerate(arrays) if x.dtype == kind)
            raise DTypeError(
                f"{name}: array {i} has dtype {kind}, which {wanted} cannot hold without loss. Give dtype=, or convert "
                "it."
            )
        for i, x in enumerate(arrays):
            if x.dtype == kind:
                check_conversion(f"{name}: array {i}", x.data if type(x) is Array else x, wanted)
    return wanted


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
        By default that of the first array, into which all others fit without loss. Floats are rounded to one that
        is asked for; every other change of a value is an error, as for `array`.
    layout : Layout, optional
        `strided`, the default, or `jagged`, whose ragged dimension is the irregular one, or 1 where all sizes agree.
    device : str, optional
        ``"cpu"`` by default.
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
        For an integer outside the range of ``dtype``.
    ArgumentError
        For what is no sequence of arrays.
    DeviceError
        For a device that is not there, and ``pin_memory`` without an accelerator.

    Notes
    -----
    Arrays of size 0 are components like every other. An empty list makes a strided float64 batch of no components.
    Gradient: accumulates in ``grad`` of the result; nothing reaches the arrays.

    Clauses: NESTED_ARRAY-1 to NESTED_ARRAY-9. After `torch.nested.nested_tensor`.

    Examples
    --------
    >>> pn.nested_array([[1, 2, 3], [4]], layout=pn.jagged)
    nested_array([
      array([1, 2, 3]),
      array([4]),
    ], shape=(2, j1), layout=pn.jagged)
    """
    chosen = canonical_layout("nested_array", layout)
    where = _device("nested_array", device)
    if pin_memory:
        raise DeviceError("nested_array: pin_memory=True needs an accelerator, and none is in use. Leave it out.")
    arrays = _components("nested_array", tensor_list, dtype)
    if not arrays:
        return _of_nothing(chosen, dtype, where, requires_grad)
    _checked_list("nested_array", arrays)
    kind = _list_dtype("nested_array", arrays, dtype)
    with np.errstate(over="ignore"):  # a float beyond the range of a narrower dtype becomes an infinity
        made = _packed_list(arrays, kind, chosen, where)
    return made.requires_grad_() if requires_grad else made


def _device(name: str, device: str | None) -> str:
    where = "cpu" if device is None else device
    get_backend(where)
    return where


def _of_nothing(layout: Layout, dtype: Any, device: str, requires_grad: bool) -> NestedArray:
    if layout is jagged:
        raise StructureError(
            "nested_array: an empty list says nothing of the components' dimensions; use "
            "pn.nested_array_from_jagged(values, offsets=[0]) for a jagged array without components."
        )
    values = array(np.zeros(0), dtype=dtype or np.float64, device=device, requires_grad=requires_grad)
    return NestedArray(values, Strided.of_packed(np.zeros((0, 0), np.int64)))


def _packed_list(arrays: list[Any], dtype: np.dtype[Any], layout: Layout, device: str) -> NestedArray:
    """One copy of everything; shapes are looked at as sets first, as most lists are uniform but for one dimension."""
    rank = arrays[0].ndim
    if layout is jagged and not rank:
        raise StructureError(
            "nested_array: the jagged layout needs components of one dimension or more. Use layout=pn.strided."
        )
    if layout is jagged and len({x.shape[1:] for x in arrays}) == 1:
        rows, lengths = get_backend(device).pack_list(arrays)
        offsets = np.zeros(len(arrays) + 1, np.int64)
        np.cumsum(lengths, out=offsets[1:])
        return NestedArray(Array(rows.astype(dtype, copy=False), device), Jagged(frozen(offsets)))
    sizes = np.array([x.shape for x in arrays], np.int64).reshape(len(arrays), rank)
    if layout is jagged:
        at = packing.irregular_dim(sizes, rank + 1)
        offsets = np.concatenate([np.zeros(1, np.int64), np.cumsum(sizes[:, at - 1])])
        values = np.concatenate(arrays, axis=at - 1).astype(dtype, copy=False)
        return NestedArray(Array(values, device), Jagged(frozen(offsets), None, at))
    flat = np.concatenate(arrays, axis=None).astype(dtype, copy=False)
    return NestedArray(Array(flat, device), Strided.of_packed(sizes))


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
        Where lists of numbers go, ``"cpu"`` by default; arrays stay where they are.
    layout : Layout, optional
        By default that of a nested argument, else `strided`.

    Raises
    ------
    LayoutError
        For more than one irregular dimension in the jagged layout.
    StructureError
        For a dense array of fewer than two dimensions, and what `nested_array` refuses.

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
    where = _device("as_nested_array", device)
    if type(tensor_list) is NestedArray:
        x = tensor_list
        if dtype is not None and canonical_dtype(dtype) != x.dtype:
            x = NestedArray(_converted(packing.packed(x).data, dtype), x.structure.packed)
        return x if layout is None else packing.in_layout(x, canonical_layout("as_nested_array", layout))
    chosen = canonical_layout("as_nested_array", layout)
    if isinstance(tensor_list, Array | np.ndarray):
        return _of_dense(as_array("as_nested_array", tensor_list), dtype, chosen)
    entries = list(tensor_list) if isinstance(tensor_list, Iterator) else tensor_list
    arrays = _components("as_nested_array", entries, dtype)
    given = [x if type(x) is Array else Array(y, where) for x, y in zip(entries, arrays, strict=True)]
    if not given:
        return _of_nothing(chosen, dtype, where, False)
    _checked_list("as_nested_array", given)
    kind = _list_dtype("as_nested_array", given, dtype)
    devices = {x.device for x in given}
    if len(devices) > 1:
        raise DeviceError(f"as_nested_array: the arrays lie on different devices: {', '.join(sorted(devices))}.")
    with np.errstate(over="ignore"):
        return packing.nest([to_dtype(x, kind) for x in given], chosen)


def _converted(x: Array, dtype: Any) -> Array:
    """``x`` in ``dtype``, if that can hold the values."""
    kind = canonical_dtype(dtype)
    check_conversion("as_nested_array", x.data, kind)
    with np.errstate(over="ignore"):
        return to_dtype(x, kind)


def _of_dense(x: Array, dtype: Any, layout: Layout) -> NestedArray:
    """The batch of equal components that a dense array is: a view where its memory is in order."""
    if x.ndim < 2:
        raise StructureError(
            f"as_nested_array: a dense array needs 2 dimensions or more to be a batch, this one has {x.ndim}."
        )
    x = x if dtype is None else _converted(x, dtype)
    if layout is jagged:
        offsets = frozen(np.arange(x.shape[0] + 1) * x.shape[1])
        return NestedArray(moves.reshape(x, (x.shape[0] * x.shape[1], *x.shape[2:])), Jagged(offsets))
    sizes = np.tile(np.array(x.shape[1:], np.int64), (x.shape[0], 1))
    return NestedArray(moves.reshape(x, (x.numel(),)), Strided.of_packed(sizes))
