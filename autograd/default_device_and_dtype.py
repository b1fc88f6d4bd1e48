"""The device and the dtype of new arrays if the caller names none. Each thread has its own defaults.

Operators do not read the defaults: their results follow the operands.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends import get_backend
from pynested.backends.errors import DeviceError, DTypeError

from .decorators import operator
from .thread_values import ThreadValue, ValueChange

_FLOAT64 = np.dtype(np.float64)
_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), _FLOAT64)
default_device = ThreadValue(lambda: "cpu")
default_dtype = ThreadValue(lambda: _FLOAT64)


@operator
def set_default_device(device: str | None) -> ValueChange[str]:
    """Make ``device`` the device of new arrays, from now on or for the length of a ``with`` block.

    Parameters
    ----------
    device : str or None
        ``"cpu"``, ``"plain"``, ``"cuda"`` or ``"emulated"``; None stands for ``"cpu"``, the first default.

    Returns
    -------
    ValueChange
        Usable in a ``with`` block. At its end the default is the device before this call.

    Raises
    ------
    DeviceError
        For a missing device: without CuPy, a driver or a GPU.
    MissingDependency
        For the emulation without a compiler.

    Notes
    -----
    Every constructor of filled arrays, of random arrays, and of arrays from lists or from NumPy uses this device if the
    caller gives no ``device=``. A result that is made from an array, or like an array, lies on the device of that
    array. So does the result of `from_dlpack`. Operators do not read the default: a number goes to the device of the
    other operand, and a NumPy array among operands is on the CPU. Every thread has its own default, as in PyTorch.

    Modelled on `torch.set_default_device`, and on the block ``with torch.device(...)``.

    Examples
    --------
    >>> with pn.set_default_device("cpu"):  # "cuda" with a GPU
    ...     pn.zeros(2).device
    'cpu'
    """
    return ValueChange(default_device, checked_device("set_default_device", "cpu" if device is None else device))


def checked_device(name: str, device: str) -> str:
    """Return ``device`` without the number 0; raise DeviceError, which begins with ``name``, for a missing device."""
    try:
        return get_backend(device).device
    except DeviceError as error:
        raise DeviceError(f"{name}: {error}") from error.__cause__


@operator
def get_default_device() -> str:
    """Return the device on which the current thread makes new arrays.

    Examples
    --------
    >>> pn.get_default_device()
    'cpu'
    """
    return default_device.value


@operator
def set_default_dtype(dtype: DTypeLike | None) -> ValueChange[np.dtype[Any]]:
    """Make ``dtype`` the dtype of new arrays of floats, from now on or for the length of a ``with`` block.

    Parameters
    ----------
    dtype : dtype or None
        ``pn.float16``, ``pn.float32`` or ``pn.float64``; None stands for float64, the first default.

    Returns
    -------
    ValueChange
        Usable in a ``with`` block. At its end the default is the dtype before this call.

    Raises
    ------
    DTypeError
        For any other dtype.

    Notes
    -----
    Arrays of zeros, ones and random floats, and arrays of Python's floats, get this dtype. NumPy's arrays and scalars
    keep their dtype. Operators do not read the default: the sine of integers is float64. Every thread has its own
    default, as in PyTorch.

    `repr` of an array omits the dtype if `pn.array` of the printed numbers has that dtype by default.

    Modelled on `torch.set_default_dtype`, whose first default is float32.

    Examples
    --------
    >>> with pn.set_default_dtype(pn.float32):
    ...     pn.zeros(2).dtype, pn.array([0.5]).dtype, pn.array([1]).dtype
    (dtype('float32'), dtype('float32'), dtype('int64'))
    """
    try:
        default = _FLOAT64 if dtype is None else np.dtype(dtype)
    except (TypeError, ValueError, SyntaxError):
        default = np.dtype(object)  # which is refused, too
    if default not in _FLOATS:
        raise DTypeError(f"set_default_dtype: {dtype!r} is not a dtype of floats. Use float16, float32 or float64.")
    return ValueChange(default_dtype, default)


@operator
def get_default_dtype() -> np.dtype[Any]:
    """Return the dtype in which the current thread makes new arrays of floats.

    Examples
    --------
    >>> pn.get_default_dtype()
    dtype('float64')
    """
    return default_dtype.value


def is_dtype_of_python_numbers(dtype: np.dtype[Any], count: int) -> bool:
    """Return whether `pn.array` gives this dtype to ``count`` Python numbers of one kind."""
    return dtype == default_dtype.value or (count > 0 and (dtype.kind == "b" or dtype == np.int64))
