"""Reductions of dense arrays over one dimension, several, or all."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype, is_float
from pynested.backends.errors import DTypeError, EmptyReductionError

from ..array import Array, new_zeros
from ..rules import movement as moves
from ..rules import reduction as rules
from .canonical import as_array, canonical_dims, canonical_dtype


def accumulated(x: Array, dtype: Any) -> tuple[Array, np.dtype[Any]]:
    """``x`` in a dtype in which it can be added up, and the dtype of the sum: that asked for, its own, or int64."""
    own = x.dtype if is_float(x.dtype) else np.dtype(np.int64)
    wanted = own if dtype is None else canonical_dtype(dtype, x.device)
    added = computing_dtype(wanted) if is_float(wanted) else np.dtype(np.int64)
    return to_dtype(to_dtype(x, wanted), added), wanted


def to_dtype(x: Array, dtype: np.dtype[Any]) -> Array:
    """``x`` in ``dtype``, itself if that is its own; a gradient flows between floating point dtypes only."""
    if x.dtype == dtype:
        return x
    return moves.cast(x if is_float(dtype) else x.detach(), dtype)


def _kept(x: Array, reduced: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    return moves.reshape(reduced, rules.kept(x.shape, dims)) if keepdim else reduced


def sum(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    """The sum over ``dim``; +0 where there is nothing to add."""
    x = as_array("sum", self)
    dims = canonical_dims("sum", dim, x.ndim)
    x, kind = accumulated(x, dtype)
    return to_dtype(_kept(x, rules.sum_axes(x, dims), dims, keepdim), kind)


def mean_dtype(name: str, x: Array, dtype: Any) -> np.dtype[Any]:
    """The dtype of a mean: that asked for, which must be floating, else the array's own, float64 for integers."""
    if dtype is None:
        return x.dtype if is_float(x.dtype) else np.dtype(np.float64)
    wanted = canonical_dtype(dtype, x.device)
    if not is_float(wanted):
        raise DTypeError(f"{name}: a mean is a floating point number; dtype={wanted} cannot hold one.")
    return wanted


def mean(self: Any, dim: Any = None, keepdim: bool = False, *, dtype: Any = None) -> Array:
    """The sum over ``dim`` by the number of its elements; NaN where there are none."""
    x = as_array("mean", self)
    dims = canonical_dims("mean", dim, x.ndim)
    kind = mean_dtype("mean", x, dtype)
    x = to_dtype(x, computing_dtype(kind))
    count = int(np.prod([x.shape[i] for i in dims], dtype=np.int64))
    total = rules.sum_axes(x, dims)
    return to_dtype(_kept(x, total / count if count else total * np.nan, dims, keepdim), kind)


def amax(self: Any, dim: Any = None, keepdim: bool = False) -> Array:
    """The maximum over ``dim``; NaN wins, and a maximum of nothing is an error."""
    x = as_array("amax", self)
    dims = canonical_dims("amax", dim, x.ndim)
    empty = [i for i in dims if x.shape[i] == 0]
    kept_size = int(np.prod([size for i, size in enumerate(x.shape) if i not in dims], dtype=np.int64))
    if empty and kept_size:
        raise EmptyReductionError(
            f"amax: dimension {empty[0]} of an array of shape {x.shape} is empty, and nothing has no maximum. "
            "Leave it out of dim, or join an element to it first."
        )
    if empty:
        return _kept(
            x,
            rules.sum_axes(x, dims) if is_float(x.dtype) else new_zeros(_rest(x, dims), x),
            dims,
            keepdim,
        )
    return _kept(x, rules.amax(x, dims), dims, keepdim)


def _rest(x: Array, dims: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(size for i, size in enumerate(x.shape) if i not in dims)
