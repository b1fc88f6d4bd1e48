"""New arrays: from data, filled with one value, or of evenly spaced numbers.

*dtype*   one of nine dtypes, or bfloat16 on the devices "cuda" and "emulated". The default is the dtype of the data;
          without data, and for Python's floats, it is the default dtype. DTypeError for any other dtype.
*shape*   several sizes or one tuple. ArgumentError for a negative size, ShapeError for more dimensions or elements
          than an array can have.
*device*  by default the default device. DeviceError for a missing device.
*requires_grad*  whether to record operations on the array, which is then a leaf.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import reduce
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends import allocator, transfer
from pynested.backends.dtypes import is_bfloat16, is_float, promoted
from pynested.backends.errors import ArgumentError, DTypeError, PynestedError
from pynested.backends.limits import MOST_ELEMENTS

from .arguments.operands import canonical_dtype, chosen_device, numpy_array, types_of_numbers
from .arguments.scalars import Number, canonical_number, check_fits, checked_scalar, dtype_of, promote_dtype, value_text
from .arguments.shapes import canonical_shape, check_possible_shape
from .array import Array
from .call_errors import check_flags
from .decorators import operator
from .default_device_and_dtype import default_dtype
from .primitives.movement import converted

_FLOAT64, _INT64 = np.dtype(np.float64), np.dtype(np.int64)


@operator
def array(
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    copy: bool = True,
) -> Array:
    """Return an array with the values of ``data``: anything that NumPy takes, or another array. It has no history.

    Parameters
    ----------
    data : array_like
        The values are copied, unless ``copy`` is False and neither the dtype nor the device changes.
    dtype : dtype, optional
        By default the dtype of the data, and the default dtype for Python's floats. A floating dtype rounds integers
        and wider floats, large ones to infinities. Any other change of a value is an error; `Array.to` makes such
        changes.
    device : str, optional
        By default the device of an array, and the default device for other data.
    requires_grad : bool
        Whether to record operations on it.
    copy : bool
        False shares the memory of an array of the same dtype and device. pynested notices its own writes that would
        make a gradient wrong, but not writes of NumPy.

    Raises
    ------
    DTypeError
        For an unsupported dtype, for floats in a dtype of integers or bools, and for integers that require grad.
    OverflowError
        For an integer that the dtype, or int64, cannot represent.
    ArgumentError
        For ragged lists, which make a nested array, and for masked arrays, whose masked elements have no value.

    Examples
    --------
    >>> pn.array([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    check_flags("array", requires_grad=requires_grad, copy=copy)
    device = chosen_device("array", device, data)
    source = data.detach() if type(data) is Array else (Array if copy else Array.from_memory)(_as_numpy(data))
    check_possible_shape("array", source.shape)
    dtype = canonical_dtype("array", dtype_of_data(data, source.dtype) if dtype is None else dtype, device)
    if source.data.size or not isinstance(data, list | tuple):  # an empty list is float64 by NumPy's convention only
        check_fits("array", source.data, dtype)
    result = converted(source, device, dtype)
    if result is source and copy:
        result = Array(transfer(source.data, device), device)
    return result.requires_grad_(requires_grad)


def _as_numpy(data: Any) -> np.ndarray[Any, Any]:
    try:
        values = numpy_array("array", data)
    except PynestedError:
        raise
    except ValueError as error:
        raise ArgumentError(
            f"array: {str(error).rstrip('.')}. Ragged data makes a nested array: pn.nested_array([...])."
        ) from None
    except TypeError as error:  # memory that NumPy cannot reach
        raise ArgumentError(f"array: {error} An array on a GPU comes in with pn.from_dlpack.") from None
    if values.dtype.kind not in "biufc" and not is_bfloat16(values.dtype):
        raise DTypeError(f"array: {type(data).__name__} with elements of dtype {values.dtype} is not numeric.")
    return values


def dtype_of_data(data: Any, inferred_dtype: np.dtype[Any]) -> np.dtype[Any]:
    """Return the dtype of an array of ``data``: the default one for Python's floats, else ``inferred_dtype``."""
    if inferred_dtype == _FLOAT64 != default_dtype.value and types_of_numbers("array", data) <= {float, int, bool}:
        return default_dtype.value
    return inferred_dtype


@operator
def empty(
    *shape: int | Sequence[int], dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False
) -> Array:
    """Return an array with arbitrary values: ``empty(2, 3)`` or ``empty((2, 3))``.

    Examples
    --------
    >>> pn.empty(2, 3).shape
    (2, 3)
    """
    return _new("empty", shape, dtype, device, requires_grad)


def _new(
    name: str,
    shape: Any,
    dtype: DTypeLike | None,
    device: str | None,
    requires_grad: bool = False,
    value: int | None = None,
) -> Array:
    """Return an array with ``value`` everywhere, or with arbitrary values for None; errors begin with ``name``."""
    check_flags(name, requires_grad=requires_grad)
    device = chosen_device(name, device)
    result = Array(allocator(device)(nonnegative_shape(name, shape), dtype_or_default(name, dtype, device)), device)
    if value is not None:
        result.data[...] = value
    return result.requires_grad_() if requires_grad else result


def dtype_or_default(name: str, dtype: DTypeLike | None, device: str) -> np.dtype[Any]:
    """Return the dtype that the caller names, or the default one."""
    return canonical_dtype(name, default_dtype.value if dtype is None else dtype, device)


def nonnegative_shape(name: str, shape: tuple[Any, ...]) -> tuple[int, ...]:
    """Return the shape of a new array; raise ArgumentError for a negative size."""
    sizes = canonical_shape(name, shape)
    if min(sizes, default=0) < 0:
        raise ArgumentError(f"{name}: shape {sizes} has a negative size.")
    return sizes


@operator
def full(
    shape: int | Sequence[int],
    fill_value: float,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Array:
    """Return an array with ``fill_value`` everywhere; its dtype is that of the value if the caller names none.

    DTypeError and OverflowError for a value that the dtype cannot represent.

    Examples
    --------
    >>> pn.full((2,), 7)
    array([7, 7])
    """
    check_flags("full", requires_grad=requires_grad)
    return new_full("full", (shape,), fill_value, dtype, device).requires_grad_(requires_grad)


def new_full(name: str, shape: Any, fill_value: Any, dtype: DTypeLike | None, device: str | None) -> Array:
    """Return what `full` returns; errors begin with ``name``."""
    number = canonical_number(name, "fill_value", fill_value)
    if dtype is None:
        dtype = dtype_of_data(fill_value, getattr(fill_value, "dtype", dtype_of(number)))
    result = _new(name, shape, dtype, device)
    result.data[...] = checked_scalar(name, number, result.dtype)
    return result


@operator
def zeros(
    *shape: int | Sequence[int], dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False
) -> Array:
    """Return an array of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``.

    Examples
    --------
    >>> pn.zeros(2, dtype=pn.int8)
    array([0, 0], dtype=int8)
    """
    return _new("zeros", shape, dtype, device, requires_grad, value=0)


@operator
def ones(
    *shape: int | Sequence[int], dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False
) -> Array:
    """Return an array of ones: ``ones(2, 3)`` or ``ones((2, 3))``.

    Examples
    --------
    >>> pn.ones(2)
    array([1., 1.])
    """
    return _new("ones", shape, dtype, device, requires_grad, value=1)


@operator
def arange(
    start: Any,
    stop: Any = None,
    step: Any = 1,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
) -> Array:
    """Return evenly spaced numbers from ``start`` to ``stop``, which is left out; ``arange(stop)`` begins with 0.

    By default the dtype is that to which the arguments are promoted, in which an array counts as a Python number. For
    Python's floats it is the default dtype. ArgumentError for limits that are not finite, and for a step of 0.
    OverflowError for a dtype that cannot represent all numbers, DTypeError for a fraction in a dtype of integers.

    Examples
    --------
    >>> pn.arange(3), pn.arange(0, 1, 0.25)
    (array([0, 1, 2]), array([0.  , 0.25, 0.5 , 0.75]))
    >>> pn.arange(start=5, stop=0, step=-2)
    array([5, 3, 1])
    """
    check_flags("arange", requires_grad=requires_grad)
    arguments = (0, start, step) if stop is None else (start, stop, step)
    numbers = [canonical_number("arange", "an argument", argument) for argument in arguments]
    if not all(-math.inf < number < math.inf for number in numbers) or not numbers[2]:
        raise ArgumentError(f"arange: limits and step must be finite, and the step not 0; these are {arguments}.")
    device = chosen_device("arange", device)
    dtype = _dtype_of_range(arguments, numbers) if dtype is None else canonical_dtype("arange", dtype, device)
    computing_dtype = _FLOAT64 if is_float(dtype) and float in map(type, numbers) else _INT64
    start, stop, step = (checked_scalar("arange", number, computing_dtype).item() for number in numbers)
    count = (stop - start) / step if computing_dtype is _FLOAT64 else -((start - stop) // step)
    if count > MOST_ELEMENTS or abs(stop - start) == math.inf:
        raise ArgumentError(
            f"arange: from {value_text(start)} to {value_text(stop)} there are more numbers than an array can have."
        )
    values = start + step * np.arange(math.ceil(max(0, count)), dtype=computing_dtype)
    if dtype != computing_dtype:
        check_fits("arange", values, dtype)
        for extreme in values[[0, -1]] if values.size and is_float(dtype) else ():
            checked_scalar("arange", extreme, dtype)
    return array(values, dtype=dtype, device=device, requires_grad=requires_grad, copy=False)


def _dtype_of_range(arguments: tuple[Any, ...], numbers: list[Number]) -> np.dtype[Any]:
    """Return the dtype to which the arguments are promoted by the rules of operators; Python's ints alone are int64."""
    dtypes = [argument.dtype for argument in arguments if isinstance(argument, np.generic)]
    common = promoted(*dtypes) if dtypes else _INT64
    return dtype_of_data(arguments, reduce(lambda dtype, number: promote_dtype(number, dtype), numbers, common))
