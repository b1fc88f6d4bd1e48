"""Checks of dtypes, devices and operands. They return dtypes of NumPy, names of devices, and `Array` or numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.dtypes import bfloat16, is_bfloat16
from pynested.backends.errors import ArgumentError, DTypeError
from pynested.backends.host import as_raw_array, from_host, refuse_masked
from pynested.backends.limits import MOST_ELEMENTS
from pynested.backends.registry import NUMPY_KERNEL_DEVICES

from ..array import Array
from ..default_device_and_dtype import checked_device, default_device
from ..primitives.movement import to_device
from ..primitives.primitive import common_device
from .scalars import canonical_number, checked_scalar, dtype_of, value_text
from .shapes import check_possible_shape

DTYPES = tuple(
    np.dtype(name) for name in ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
)
_DTYPE_SET = frozenset(DTYPES)
_DTYPE_NAMES = ", ".join(map(str, DTYPES))
_PYTHON_NUMBERS = frozenset((int, float, bool))
_OPERANDS = _PYTHON_NUMBERS | {Array}


def canonical_dtype(name: str, dtype: Any, device: str = "cpu") -> np.dtype[Any]:
    """Return ``dtype`` as a NumPy dtype; raise DTypeError for a dtype that is not supported on ``device``.

    Errors begin with ``name``, the public function.
    """
    has_bfloat16 = device not in NUMPY_KERNEL_DEVICES
    names = f"{_DTYPE_NAMES}, bfloat16" if has_bfloat16 else _DTYPE_NAMES
    try:
        canonical: np.dtype[Any] = bfloat16() if isinstance(dtype, str) and dtype == "bfloat16" else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        raise DTypeError(f"{name}: {value_text(dtype)} is not a dtype. Use one of {names}.") from None
    if canonical in _DTYPE_SET or (has_bfloat16 and is_bfloat16(canonical)):
        return canonical
    if is_bfloat16(canonical):
        raise DTypeError(
            f"{name}: bfloat16 is computed on the devices 'cuda' and 'emulated': give device= where an array is made, "
            "or convert to float32 first: x.to(dtype=pn.float32)."
        )
    raise DTypeError(f"{name}: dtype {canonical} is not supported. Convert to one of {names}.")


def checked_ndarray(name: str, value: np.ndarray[Any, Any], device: str = "cpu") -> np.ndarray[Any, Any]:
    """Return ``value`` as an ndarray of no subclass, in the same memory; raise for an unsupported dtype or shape."""
    if type(value) is not np.ndarray:
        value = as_raw_array(name, value)
    canonical_dtype(name, value.dtype, device)
    if not 0 < value.size <= MOST_ELEMENTS:
        check_possible_shape(name, value.shape)
    return value


def numpy_array(name: str, value: Any) -> np.ndarray[Any, Any]:
    """Return an array of NumPy, of any dtype, for anything that NumPy accepts, such as a list.

    Raise for values that NumPy would change: ArgumentError for masks, OverflowError for integers beyond int64.
    """
    if type(value) is np.ndarray:
        return value
    types = types_of_numbers(name, value)
    array = np.asarray(value)
    numeric_types = (int, float, np.number) if array.dtype.kind == "O" else int  # NumPy makes objects of large integers
    if array.size and array.dtype.kind not in "bi" and all(issubclass(kind, numeric_types) for kind in types):
        raise OverflowError(f"{name}: there are integers beyond the range of int64, the widest dtype of integers.")
    return array


def types_of_numbers(name: str, value: Any) -> set[type]:
    """Return the types of all numbers and arrays in lists of lists; raise ArgumentError for masked arrays."""
    types: set[type] = set()
    visited: set[int] = set()  # a list can hold itself
    pending: list[Any] = [value if isinstance(value, list | tuple) else [value]]
    while pending:
        entries = pending.pop()
        if id(entries) in visited:
            continue
        visited.add(id(entries))
        types_of_entries = set(map(type, entries))
        types |= types_of_entries
        for entry in () if types_of_entries <= _PYTHON_NUMBERS else entries:
            if isinstance(entry, list | tuple):
                pending.append(entry)
            else:
                refuse_masked(name, entry)
    return {kind for kind in types if not issubclass(kind, (list, tuple))}


def as_operand(name: str, value: Any, device: str = "cpu") -> Any:
    """Return ``value`` as an Array or a Python number, which changes the dtype of an array only if its kind is higher.

    A NumPy scalar belongs to no device, so it is moved to ``device``, the device of the other operands. A NumPy array
    lies on the CPU.
    """
    if type(value) in _OPERANDS:
        return value
    if isinstance(value, np.generic):
        canonical_dtype(name, value.dtype, device)
        return Array(from_host(np.asarray(value), device), device)
    if isinstance(value, np.ndarray):
        return Array.from_memory(checked_ndarray(name, value, device))
    if isinstance(value, int | float | complex):
        return canonical_number(name, "an operand", value)
    if getattr(value, "is_nested", False):
        raise ArgumentError(
            f"{name}: this argument must be dense, not a nested array. Give an Array, such as nt.values() or "
            "pn.to_padded_array(nt, padding)."
        )
    raise ArgumentError(
        f"{name}: {type(value).__name__} is neither an array nor a number. Make an array of it first: pn.array(value)."
    )


def as_operand_pair(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Return two operands of the same function. A NumPy scalar is moved to the device of the other operand."""
    if type(a) not in _OPERANDS:
        a = as_operand(name, a, device_of(b))
    if type(b) not in _OPERANDS:
        b = as_operand(name, b, device_of(a))
    return a, b


def device_of(*values: Any, default: str = "cpu") -> str:
    """Return the device of the first Array among ``values``, or ``default`` if there is none."""
    return next((value.storage.device for value in values if type(value) is Array), default)


def chosen_device(name: str, device: str | None, *values: Any) -> str:
    """Return ``device`` if it is given, else the device of the first Array among ``values``, else the default one."""
    return device_of(*values, default=default_device.value) if device is None else checked_device(name, device)


def as_array(name: str, value: Any, device: str = "cpu") -> Array:
    """Return ``value`` as an Array; a number, also NumPy's, becomes an array without dimensions on ``device``."""
    operand = as_operand(name, value, device)
    if type(operand) is Array:
        return operand
    return Array(from_host(np.asarray(checked_scalar(name, operand, dtype_of(operand))), device), device)


def as_device_array(name: str, value: Any, device: str | None = None) -> Array:
    """Return ``value`` as an array on ``device``, by default the device of an `Array`, else the default device.

    An `Array` on this device is returned as it is. A NumPy array shares its memory on the CPU.
    """
    target = chosen_device(name, device, value)
    x = as_array(name, value, target)
    return x if x.device == target else to_device(x, target, x.device)


def as_arrays_on_one_device(name: str, *values: Any, optional: int = 0) -> list[Any]:
    """Return ``values`` as Arrays on one device, that of the first Array; raise for Arrays on several devices.

    The last ``optional`` values can be None, and stay None.
    """
    device, num_required = device_of(*values), len(values) - optional
    arrays = [
        x if type(x) is Array or (x is None and i >= num_required) else as_array(name, x, device)
        for i, x in enumerate(values)
    ]
    common_device(name, arrays)
    return arrays


def as_raw_bools(name: str, argument: str, value: Any, *others: Any) -> Any:
    """Return ``value`` as a raw bool array on the device of the arrays among ``others``; raise for other dtypes."""
    mask = as_operand(name, value, device_of(*others))
    if type(mask) is bool:
        return from_host(np.asarray(mask), common_device(name, others))
    if type(mask) is not Array or mask.dtype != np.bool_:
        kind = mask.dtype if type(mask) is Array else type(mask).__name__
        raise DTypeError(f"{name}: {argument} must be bool, not {kind}. Make one with a comparison, such as x < 0.")
    common_device(name, (mask, *others))
    return mask.data
