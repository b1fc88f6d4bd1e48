"""Nested arrays from a list of components: `nested_array` and `as_nested_array`.

`nested_array` copies the components into one buffer and records no history. `as_nested_array` keeps the history. Both
functions check the list first, and convert every component to a raw array, an ndarray of NumPy or CuPy. All components
must have equal rank and fit the same dtype. A dense array stands for its slices, see `from_dense`. A dimension is
*irregular* if components differ in size along it: one dimension in the jagged layout, any number in the strided layout.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_device_array, canonical_dtype, chosen_device, numpy_array
from pynested.autograd.arguments.scalars import check_fits
from pynested.autograd.call_errors import check_flags
from pynested.autograd.creation import array, dtype_of_data
from pynested.autograd.decorators import operator
from pynested.autograd.primitives.movement import converted, copy, to_dtype
from pynested.backends import get_backend, transfer
from pynested.backends.dtypes import is_bfloat16, promoted
from pynested.backends.errors import ArgumentError, DeviceError, DTypeError, PynestedError, StructureError, named_type
from pynested.nested import layout_conversion
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Components, DType
from pynested.structure import Jagged, Strided, regular_sizes
from pynested.structure.layout import Layout, canonical_layout, jagged

from .from_dense import slices_as_nested


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
    """Copy arrays into a new nested array without history: ``(*, D), ... -> (B, *, D)``.

    All components have equal rank. The components of a dense array are its slices along dimension 0. NumPy converts
    numbers and lists of numbers. An array of size 0 becomes an empty component. An empty list makes a strided float64
    batch of no components. Gradient: accumulates in ``grad`` of the result; no gradient flows to the arrays. Clauses:
    NESTED_ARRAY-1 to NESTED_ARRAY-13. After `torch.nested.nested_tensor`.

    Parameters
    ----------
    tensor_list : sequence of arrays, or a dense array
        The components, under PyTorch's name for them.
    dtype : dtype, optional
        The dtype of the result; by default the dtype of the first array, which must represent all others without loss.
        A floating dtype rounds numbers, beyond its range to infinity; every other change of a value is an error.
    layout : Layout, optional
        `strided`, the default, or `jagged`. The ragged dimension of a jagged result is the irregular dimension, or 1 if
        all sizes are equal.
    device : str, optional
        The device of the result; by default that of the first `Array`, or of `set_default_device` if there is no Array.
    requires_grad : bool
        Whether to record operations on the result, which is a leaf.
    pin_memory : bool
        Page-locked memory, which is not supported: True raises DeviceError.

    Raises
    ------
    StructureError
        For arrays of different rank, naming the first that differs; for a nested array in the list; in the jagged
        layout also for an empty list, and for arrays without dimensions.
    LayoutError
        For more than one irregular dimension in the jagged layout.
    DTypeError
        For an array that the first array's dtype cannot represent without loss, such as float64 after int64, or an
        int64 beyond 2**53 after float64. For floats in an integer ``dtype``.
    OverflowError
        For an integer that ``dtype`` cannot represent, and for a Python integer beyond int64.
    ArgumentError
        For an argument that is not a sequence of arrays.
    DeviceError
        For an unknown device, and for ``pin_memory=True``.

    Examples
    --------
    >>> pn.nested_array([[1, 2, 3], [4]], layout=pn.jagged)
    nested_array([
      array([1, 2, 3]),
      array([4]),
    ], shape=(2, j1), layout=pn.jagged)
    """
    check_flags("nested_array", requires_grad=requires_grad, pin_memory=pin_memory)
    layout = canonical_layout("nested_array", layout)
    if pin_memory:
        raise DeviceError("nested_array: pin_memory=True is not supported, as no memory can be pinned. Leave it out.")
    if isinstance(tensor_list, Array | np.ndarray):
        batch = copy(_dense_batch("nested_array", tensor_list, dtype, device).detach())
        return slices_as_nested("nested_array", batch, layout).requires_grad_(requires_grad)
    entries = _list_entries("nested_array", tensor_list)
    device = chosen_device("nested_array", device, *entries)
    arrays = _raw_arrays("nested_array", entries, dtype, device)
    if not arrays:
        return _empty_batch("nested_array", layout, dtype, device, requires_grad)
    _check_ranks("nested_array", arrays)
    dtype, is_mixed = _common_dtype("nested_array", arrays, dtype, device)
    arrays, packing_device = _on_one_device(arrays, device)
    if is_mixed:
        # The CPU cannot hold bfloat16: the arrays are packed in the promoted dtype, and converted on the device.
        lacks_dtype = packing_device == "cpu" and is_bfloat16(dtype)
        packing_dtype = promoted(*[x.dtype for x in arrays]) if lacks_dtype else dtype
        backend = get_backend(packing_device)
        arrays = [x if x.dtype == packing_dtype else backend.cast(x, packing_dtype) for x in arrays]
    packed = _pack_arrays(arrays, layout, packing_device)
    result = NestedArray(converted(packed.data, device, dtype), packed.structure)
    return result.requires_grad_() if requires_grad else result


def _on_one_device(arrays: list[Any], device: str) -> tuple[list[Any], str]:
    """Return the arrays on the same device, and its name: the CPU if all arrays lie on the CPU, else ``device``.

    Arrays on the CPU stay on the CPU, so that they are packed first, and one transfer moves the buffer.
    """
    device_type = get_backend(device).xp.ndarray
    types = set(map(type, arrays))
    if types == {device_type}:
        return arrays, device
    if types == {np.ndarray}:
        return arrays, "cpu"
    return [x if type(x) is device_type else transfer(x, device) for x in arrays], device


def _empty_batch(name: str, layout: Layout, dtype: Any, device: str, requires_grad: bool) -> NestedArray:
    """Return a strided batch of no components."""
    if layout is jagged:
        raise StructureError(
            f"{name}: an empty list does not define the number of dimensions of a component. Use "
            "pn.nested_array_from_jagged(values, offsets=[0]) for a jagged array without components."
        )
    values = array([], dtype=dtype, device=device, requires_grad=requires_grad)
    return NestedArray(values, Strided.from_extents(np.zeros((1, 0), np.int64), 0))


def _pack_arrays(arrays: list[Any], layout: Layout, device: str) -> NestedArray:
    """Copy the arrays into one buffer."""
    backend = get_backend(device)
    # The components of most lists differ along dimension 1 only. A set of shapes shows this faster than a table.
    if layout is jagged and arrays[0].ndim and len({x.shape[1:] for x in arrays}) == 1:
        rows, lengths = backend.xp.concatenate(arrays), np.array([len(x) for x in arrays])
        return NestedArray(Array(rows, device), Jagged.from_lengths(lengths))
    sizes = np.array([x.shape for x in arrays], np.int64)
    if layout is jagged:
        ragged_dim = layout_conversion.irregular_dim("nested_array", regular_sizes(sizes))
        values = backend.xp.concatenate(arrays, axis=ragged_dim - 1)
        return NestedArray(Array(values, device), Jagged.from_lengths(sizes[:, ragged_dim - 1], ragged_dim))
    flat = backend.xp.concatenate(arrays, axis=None)
    return NestedArray(Array(flat, device), Strided.from_extents(sizes, len(arrays)))


@operator
def as_nested_array(
    tensor_list: Components, dtype: DType | None = None, device: str | None = None, layout: Layout | None = None
) -> NestedArray:
    """Make a nested array of arrays and keep their history: ``(*, D), ... -> (B, *, D)``.

    Components and dtypes are as in `nested_array`. The components of a contiguous dense array are views of it. A nested
    array is converted. Gradient: each array of the list, or the dense array, gets the cotangent of its components.
    Clauses: AS_NESTED_ARRAY-1 to AS_NESTED_ARRAY-6. After `torch.nested.as_nested_tensor`.

    Parameters
    ----------
    tensor_list : sequence of arrays, or an array, nested or dense
        The components, under PyTorch's name for them.
    dtype : dtype, optional
        The dtype of the result, by default as for `nested_array`.
    device : str, optional
        The device to which the arrays are moved; by default their own device. If all are lists or NumPy arrays, the
        default is the device of `set_default_device`.
    layout : Layout, optional
        The layout of the result; by default the layout of a nested argument, else `strided`.

    Raises
    ------
    LayoutError
        For more than one irregular dimension in the jagged layout.
    StructureError
        For a dense array of fewer than two dimensions, and for the same arguments as in `nested_array`.
    DeviceError
        For arrays on different devices if ``device`` is not given.

    Examples
    --------
    >>> a, b = pn.array([1.0, 2.0], requires_grad=True), pn.array([3.0], requires_grad=True)
    >>> (pn.as_nested_array([a, b], layout=pn.jagged) * 3).sum().backward()
    >>> a.grad, b.grad
    (array([3., 3.]), array([3.]))
    """
    target_layout = canonical_layout("as_nested_array", layout)
    if type(tensor_list) is NestedArray:
        new_device = chosen_device("as_nested_array", device, tensor_list.data)
        x = tensor_list if device is None else tensor_list.to(device=new_device)
        if dtype is not None and canonical_dtype("as_nested_array", dtype, x.device) != x.dtype:
            packed = layout_conversion.packed(x)
            x = NestedArray(_with_dtype("as_nested_array", packed.data, dtype), packed.structure)
        return x if layout is None else layout_conversion.to_layout("as_nested_array", x, target_layout)
    if isinstance(tensor_list, Array | np.ndarray):
        dense = _dense_batch("as_nested_array", tensor_list, dtype, device)
        return slices_as_nested("as_nested_array", dense, target_layout)
    entries = _list_entries("as_nested_array", tensor_list)
    new_device = chosen_device("as_nested_array", device, *entries)
    arrays = _raw_arrays("as_nested_array", entries, dtype, new_device)
    if not arrays:
        return _empty_batch("as_nested_array", target_layout, dtype, new_device, False)
    components = [
        as_device_array("as_nested_array", entry, device)
        if type(entry) is Array
        else as_device_array("as_nested_array", Array(raw_array), new_device)
        for entry, raw_array in zip(entries, arrays, strict=True)
    ]
    _check_ranks("as_nested_array", components)
    dtype, _ = _common_dtype("as_nested_array", components, dtype, new_device)
    devices = {component.device for component in components}
    if len(devices) > 1:
        raise DeviceError(f"as_nested_array: the arrays lie on different devices: {', '.join(sorted(devices))}.")
    converted_components = [to_dtype(component, dtype) for component in components]
    return layout_conversion.nest("as_nested_array", converted_components, target_layout)


def _dense_batch(name: str, value: Any, dtype: Any, device: str | None) -> Array:
    """Return a dense array, whose slices are components, on ``device`` and in ``dtype``; without a copy if possible."""
    x = as_device_array(name, value, device)
    return x if dtype is None else _with_dtype(name, x, dtype)


def _with_dtype(name: str, x: Array, dtype: Any) -> Array:
    """Convert ``x`` to ``dtype``, which must be able to represent its values."""
    dtype = canonical_dtype(name, dtype, x.device)
    check_fits(name, x.data, dtype)
    return to_dtype(x, dtype)


# ---- checks of a list of components ---------------------------------------------------------------------------------


def _list_entries(name: str, components: Any) -> list[Any]:
    """Return the entries of a list of components."""
    if type(components) is NestedArray:
        raise ArgumentError(f"{name}: the input is nested already; use pn.as_nested_array, .to(layout=…) or .clone().")
    if isinstance(components, str | bytes | dict | set | frozenset) or not hasattr(components, "__iter__"):
        raise ArgumentError(f"{name}: takes a list of arrays, not {type(components).__name__}.")
    return list(components)


def _raw_arrays(name: str, entries: list[Any], dtype: Any, device: str) -> list[Any]:
    """Return the entries as raw arrays. An Array stays on its device; all others are on the CPU."""
    if set(map(type, entries)) == {np.ndarray}:
        return entries
    arrays = [x.data if type(x) is Array else _entry_to_numpy(name, i, x) for i, x in enumerate(entries)]
    # NumPy makes empty lists float64. They get the dtype of the result, or that of the first other array.
    is_empty = [type(entry) in (list, tuple) and not x.size for entry, x in zip(entries, arrays, strict=True)]
    if True not in is_empty or (dtype is None and all(is_empty)):
        return arrays
    dtype = canonical_dtype(name, arrays[is_empty.index(False)].dtype if dtype is None else dtype, device)
    return [x.astype(dtype) if empty else x for x, empty in zip(arrays, is_empty, strict=True)]


def _entry_to_numpy(name: str, i: int, value: Any) -> np.ndarray[Any, Any]:
    """Convert entry ``i`` of a list, which is not an Array."""
    if type(value) is NestedArray:
        raise StructureError(f"{name}: entry {i} is nested; only one level of nesting is supported.")
    try:
        converted_value = numpy_array(f"{name}: entry {i}", value)
        if converted_value.dtype.kind in "OSU":
            raise DTypeError(f"{name}: entry {i}, {named_type(value)}, does not hold numbers alone.")
        return converted_value.astype(dtype_of_data(value, converted_value.dtype), copy=False)
    except PynestedError:
        raise
    except (ValueError, TypeError) as error:  # ragged lists, and memory that NumPy cannot read
        is_list = isinstance(value, list | tuple)
        hint = " There is one level of nesting; the parts of a component have one length." * is_list
        raise ArgumentError(f"{name}: entry {i} is not an array: {str(error).rstrip('.')}.{hint}") from None


def _check_ranks(name: str, arrays: list[Any]) -> None:
    """Raise StructureError unless all arrays have equal rank."""
    if len({x.ndim for x in arrays}) > 1:
        i = next(i for i, x in enumerate(arrays) if x.ndim != arrays[0].ndim)
        raise StructureError(
            f"{name}: all arrays must have the same dimension. Found dimension {arrays[i].ndim} for the array at index "
            f"{i} and dimension {arrays[0].ndim} for the array at index 0."
        )


def _common_dtype(name: str, arrays: list[Any], dtype: Any, device: str) -> tuple[np.dtype[Any], bool]:
    """Return the dtype of the result, which must represent all arrays, and whether the arrays differ in dtype."""
    array_dtypes = {x.dtype for x in arrays}
    for array_dtype in array_dtypes:
        if dtype is None or (array_dtype.kind not in "biufc" and not is_bfloat16(array_dtype)):
            canonical_dtype(name, array_dtype, device)
    result_dtype = canonical_dtype(name, arrays[0].dtype if dtype is None else dtype, device)
    if array_dtypes == {result_dtype}:
        return result_dtype, False
    for i, x in enumerate(arrays):
        values = x.data if type(x) is Array else x
        if dtype is not None:
            check_fits(f"{name}: array {i}", values, result_dtype)
        elif not _is_exact(values, result_dtype):
            raise DTypeError(
                f"{name}: array {i} has dtype {values.dtype}, which {result_dtype} cannot represent without loss. Give "
                "dtype=, or convert the array."
            )
    return result_dtype, len(array_dtypes) > 1


def _is_exact(values: Any, dtype: np.dtype[Any]) -> bool:
    """Return whether ``dtype`` can represent all values. Only float64 can represent some integers of a dtype alone."""
    if values.dtype != np.int64 or dtype != np.float64:
        return bool(np.can_cast(values.dtype, dtype))
    rounded = values.astype(dtype)
    with np.errstate(invalid="ignore"):  # integers near 2**63 are rounded to 2**63, which is beyond int64
        return bool(((rounded < 2.0**63) & (rounded.astype(np.int64) == values)).all())
