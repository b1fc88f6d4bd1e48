"""In which dtype an operator takes an array, and which one its result has."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import canonical_dtype
from pynested.autograd.rules.movement import to_dtype
from pynested.backends.dtypes import computing_dtype, is_float
from pynested.backends.errors import DTypeError

Kind = np.dtype[Any]


def added(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` in a dtype in which it can be added up, and the dtype of the sum: that asked for, its own, or int64."""
    own = x.dtype if is_float(x.dtype) else np.dtype(np.int64)
    wanted = own if dtype is None else canonical_dtype(dtype, x.device)
    wide = computing_dtype(wanted) if is_float(wanted) else np.dtype(np.int64)
    return to_dtype(to_dtype(x, wanted), wide), wanted


def averaged(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` wide enough, and the dtype of its mean: that asked for, which must be floating, its own, or float64."""
    wanted = x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    if dtype is not None:
        wanted = canonical_dtype(dtype, x.device)
        if not is_float(wanted):
            raise DTypeError(f"{name}: a mean is a floating point number; dtype={wanted} cannot hold one.")
    return added(name, x, wanted)


def unchanged(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x``, whose dtype the result has."""
    return x, x.dtype


def truth(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """Whether each element is true; so is the result."""
    return to_dtype(x, np.dtype(np.bool_)), np.dtype(np.bool_)


def normalized(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` in ``dtype``, or as it is, floating point, for an operator that computes wider on its own."""
    x = x if dtype is None else to_dtype(x, canonical_dtype(dtype, x.device))
    kind = x.data.dtype
    if not is_float(kind):
        raise _no_floats(name, x)
    return x, kind


def floating(name: str, x: Array) -> Array:
    """``x``, which must be floating point."""
    if not is_float(x.data.dtype):
        raise _no_floats(name, x)
    return x


def _no_floats(name: str, x: Array) -> DTypeError:
    return DTypeError(f"{name}: needs a floating point array, this one is {x.dtype}. Convert it: x.to(pn.float64).")


def composed(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x`` wide enough to compute in, and the floating dtype that the result has."""
    x, kind = normalized(name, x, dtype)
    return to_dtype(x, computing_dtype(kind)), kind


def place(name: str, x: Array, dtype: Any) -> tuple[Array, Kind]:
    """``x``, in which places are looked for, without a gradient."""
    return x.detach(), np.dtype(np.int64)
