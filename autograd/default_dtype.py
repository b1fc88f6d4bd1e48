"""The dtype of new arrays of floats if nobody says it. Operators do not look here: their results follow operands."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import DTypeLike

from pynested.backends.errors import DTypeError

from .dispatch import operator
from .thread_defaults import DefaultBlock, ThreadDefault

_FLOAT64 = np.dtype(np.float64)
_FLOATS = (np.dtype(np.float16), np.dtype(np.float32), _FLOAT64)
_default = ThreadDefault(_FLOAT64)


@operator
def set_default_dtype(dtype: DTypeLike | None) -> DefaultBlock[np.dtype[Any]]:
    """Let new arrays of floats have ``dtype`` if nothing else is said, from now on or for the length of a block.

    Parameters
    ----------
    dtype : dtype or None
        ``pn.float16``, ``pn.float32`` or ``pn.float64``; None stands for float64, which it is at first.

    Returns
    -------
    DefaultBlock
        For a ``with`` block, at whose end the dtype before the call is the default again.

    Raises
    ------
    DTypeError
        For any other dtype.

    Notes
    -----
    It is the dtype of filled and of random arrays, and of arrays that are made of Python's floats. Arrays of NumPy and
    NumPy's scalars keep the dtype that they have. Operators do not look at it: the sine of integers is float64. Every
    thread has a default of its own.

    `repr` names a dtype only if the numbers alone would not make an array of it.

    After `torch.set_default_dtype`, which begins with float32.

    Examples
    --------
    >>> with pn.set_default_dtype(pn.float32):
    ...     pn.zeros(2).dtype, pn.array([0.5]).dtype, pn.array([1]).dtype
    (dtype('float32'), dtype('float32'), dtype('int64'))
    """
    found = _FLOAT64 if dtype is None else np.dtype(dtype)
    if found not in _FLOATS:
        raise DTypeError(f"set_default_dtype: {found} is not a dtype of floats. Use float16, float32 or float64.")
    return DefaultBlock(_default, found)


@operator
def get_default_dtype() -> np.dtype[Any]:
    """The dtype in which the current thread makes new arrays of floats.

    Examples
    --------
    >>> pn.get_default_dtype()
    dtype('float64')
    """
    return _default.value


def chosen_dtype(dtype: DTypeLike | None) -> DTypeLike:
    """``dtype`` if it is named, else the default one."""
    return _default.value if dtype is None else dtype


def is_default_dtype(dtype: np.dtype[Any]) -> bool:
    """Return whether an array made of Python numbers alone gets this dtype."""
    return dtype == _default.value or dtype.kind == "b" or dtype == np.int64


def dtype_of_python(data: Any, made: np.dtype[Any]) -> np.dtype[Any]:
    """The dtype of an array of ``data``: of Python's floats the default one, else the one that NumPy ``made``."""
    if made != _FLOAT64 or _default.value == _FLOAT64 or not _is_of_python(data):
        return made
    return _default.value


def _is_of_python(data: Any) -> bool:
    return all(map(_is_of_python, data)) if isinstance(data, list | tuple) else type(data) in (float, int, bool)
