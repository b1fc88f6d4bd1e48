"""New arrays: from data, and filled. `pynested.autograd.counted` has evenly spaced ones, and `drawn` random ones.

The dtype is one of nine, and bfloat16 on devices with kernels; DTypeError for every other. Unless one is named, it is
that of the data, or that of `set_default_dtype`. A shape is given as numbers or as one tuple; ArgumentError for a
negative size, ShapeError for more dimensions or elements than an array can have. The device is that of
`set_default_device` unless one is named; DeviceError for one that is not there. With ``requires_grad`` operations on
the array, a leaf, are recorded.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends import allocate, get_backend, transfer
from pynested.backends.dtypes import is_bfloat16
from pynested.backends.errors import ArgumentError, DTypeError, PynestedError

from .arguments.operands import canonical_dtype, numpy_array
from .arguments.scalars import canonical_number, check_fits, checked_scalar, dtype_of
from .arguments.shapes import canonical_shape, check_possible_shape
from .array import Array
from .call_errors import check_flags
from .default_device import chosen_device
from .default_dtype import chosen_dtype, dtype_of_python
from .dispatch import operator
from .primitives.devices import converted


def finished(array: Array, requires_grad: bool) -> Array:
    """The array, a leaf of the tape if a gradient is wanted."""
    return array.requires_grad_() if requires_grad else array


@operator
def array(
    data: Any,
    *,
    dtype: DTypeLike | None = None,
    device: str | None = None,
    requires_grad: bool = False,
    copy: bool = True,
) -> Array:
    """An array with the values of ``data``: anything NumPy takes, or another array.

    Parameters
    ----------
    data : array_like
        Copied, unless ``copy`` is False and neither dtype nor device need a copy.
    dtype : dtype, optional
        That of the data by default, and of Python's floats that of `set_default_dtype`. Integers and wider floats are
        rounded to a floating one; every other change of a value is an error, for which `Array.to` is there.
    device : str, optional
        By default that of an array, and for other data that of `set_default_device`.
    requires_grad : bool
        Whether to record operations on it.
    copy : bool
        False shares the memory of an array of the same dtype and device. Writes of pynested are noticed where they
        would make a gradient wrong, those of NumPy are not.

    Raises
    ------
    DTypeError
        For a dtype that pynested has not, floats in a dtype of integers or bools, and a gradient for other than floats.
    OverflowError
        For an integer that the dtype has not, and one that not even int64 has.
    ArgumentError
        For ragged lists, which make a nested array, and for masked arrays, of which elements have no value.

    Examples
    --------
    >>> pn.array([[1, 2], [3, 4]])
    array([[1, 2],
           [3, 4]])
    """
    check_flags("array", requires_grad=requires_grad, copy=copy)
    place = chosen_device(device, (data,))
    get_backend(place)
    given = data.detach() if type(data) is Array else (Array if copy else Array.over)(_as_numpy(data))
    check_possible_shape("array", given.shape)
    kind = canonical_dtype(dtype_of_python(data, given.dtype) if dtype is None else dtype, place)
    if given.data.size or not isinstance(data, list | tuple):  # lists without elements have no dtype to convert from
        check_fits("array", given.data, kind)
    made = converted(given, place, kind)
    if made is given and copy:
        made = Array(transfer(given.data, place), place)
    return finished(made, requires_grad)


def _as_numpy(data: Any) -> np.ndarray[Any, Any]:
    try:
        values = numpy_array("array", data)
    except PynestedError:
        raise
    except ValueError as error:
        raise ArgumentError(f"array: {error}. Ragged data makes a nested array: pn.nested_array([...]).") from None
    except TypeError as error:  # memory that NumPy cannot reach
        raise ArgumentError(f"array: {error} An array on a GPU comes in with pn.from_dlpack.") from None
    if values.dtype.kind not in "biufc" and not is_bfloat16(values.dtype):
        raise DTypeError(f"array: {type(data).__name__} with elements of dtype {values.dtype} is not numeric.")
    return values


@operator
def empty(
    *shape: int | Sequence[int], dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False
) -> Array:
    """An array with arbitrary values: ``empty(2, 3)`` or ``empty((2, 3))``.

    Examples
    --------
    >>> pn.empty(2, 3).shape
    (2, 3)
    """
    check_flags("empty", requires_grad=requires_grad)
    return finished(_new("empty", shape, dtype, device), requires_grad)


def _new(name: str, shape: Any, dtype: DTypeLike | None, device: str | None) -> Array:
    """An array of this shape, of the dtype and on the device that are named, or of the default ones."""
    place = chosen_device(device)
    return Array(allocate(place, sizes_of(name, shape), kind_of(dtype, place)), place)


def _filled(name: str, shape: Any, value: Any, dtype: DTypeLike | None, device: str | None) -> Array:
    made = _new(name, shape, dtype, device)
    made.data[...] = checked_scalar(name, value, made.dtype)
    return made


def kind_of(dtype: DTypeLike | None, place: str) -> np.dtype[Any]:
    """The dtype that is named, or the default one."""
    return canonical_dtype(chosen_dtype(dtype), place)


def sizes_of(name: str, shape: tuple[Any, ...]) -> tuple[int, ...]:
    """The sizes of a new array for the function ``name``."""
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
    """An array with ``fill_value`` everywhere, of its dtype unless another is given.

    DTypeError and OverflowError for a value that the dtype cannot hold.

    Examples
    --------
    >>> pn.full((2,), 7)
    array([7, 7])
    """
    check_flags("full", requires_grad=requires_grad)
    return finished(filled("full", shape, fill_value, dtype, device), requires_grad)


def filled(name: str, shape: Any, fill_value: Any, dtype: DTypeLike | None, device: str | None) -> Array:
    """`full` for the function ``name``."""
    number = canonical_number(name, "fill_value", fill_value)
    own = getattr(fill_value, "dtype", dtype_of(number))
    kind = dtype_of_python(fill_value, own) if dtype is None else dtype
    return _filled(name, (shape,), number, kind, device)


@operator
def zeros(
    *shape: int | Sequence[int], dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False
) -> Array:
    """An array of zeros: ``zeros(2, 3)`` or ``zeros((2, 3))``.

    Examples
    --------
    >>> pn.zeros(2, dtype=pn.int8)
    array([0, 0], dtype=int8)
    """
    check_flags("zeros", requires_grad=requires_grad)
    return finished(_filled("zeros", shape, 0, dtype, device), requires_grad)


@operator
def ones(
    *shape: int | Sequence[int], dtype: DTypeLike | None = None, device: str | None = None, requires_grad: bool = False
) -> Array:
    """An array of ones: ``ones(2, 3)`` or ``ones((2, 3))``.

    Examples
    --------
    >>> pn.ones(2)
    array([1., 1.])
    """
    check_flags("ones", requires_grad=requires_grad)
    return finished(_filled("ones", shape, 1, dtype, device), requires_grad)
