"""Primitives that reduce axes of a dense array. The axes are canonical, and the result keeps none of them.

``k`` has the kernels of a backend, ``g`` is the cotangent of the result ``y``, ``t`` a tangent of ``x``. The string in
``saves`` names the values that the derivatives for ``x`` read.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pynested.backends import Segments
from pynested.backends.dtypes import computing_dtype
from pynested.backends.numpy.products import extremum_last

from ..array import Array, raw
from .binary import where_or_zero
from .movement import broadcast_to, reshape, sum_raw, to_dtype
from .primitive import LINEAR, Primitive


def keepdim_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """Return ``shape`` with 1 along ``axes``: the shape of a result before its axes are dropped."""
    return tuple([1 if i in axes else size for i, size in enumerate(shape)])


def equals_extreme(x: Any, extreme: Any) -> Any:
    """Return where x is equal to the maximum or minimum, ``extreme``, as a raw bool array; NaN is equal to NaN."""
    x, extreme = raw(x), raw(extreme)
    is_equal, is_nan = x == extreme, extreme != extreme
    if type(is_nan) is np.ndarray and not is_nan.any():
        return is_equal
    return is_equal | ((x != x) & is_nan)


def divide_by_count(g: Any, count: Any, reduce: Callable[[Any], Any] = lambda g: g) -> Any:
    """Return ``reduce(g) / count``; float16 and bfloat16 are computed in float32, as their sums can overflow."""
    dtype = computing_dtype(g.dtype)
    return to_dtype(reduce(to_dtype(g, dtype)) / Array(count.astype(dtype), g.device), g.dtype)


def _share_between_ties(g: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the cotangent of x: that of each maximum, divided evenly between the elements equal to it."""
    shape = keepdim_shape(x.shape, axes)
    ties = equals_extreme(x, raw(y).reshape(shape))
    share = reshape(g, shape)
    if not (type(ties) is np.ndarray and np.count_nonzero(ties) == y.size):  # some maximum has ties
        share = divide_by_count(share, ties.sum(axis=axes, keepdims=True))
    return where_or_zero(share, ties)


def _mean_over_ties(t: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the mean of the tangents of the elements equal to the maximum."""
    ties = equals_extreme(x, raw(y).reshape(keepdim_shape(x.shape, axes)))
    return divide_by_count(where_or_zero(t, ties), ties.sum(axis=axes), lambda t: sum_axes(t, axes))


def _extreme(max_or_min: str, k: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the maximum (minimum) over ``axes``: the least (greatest) value of the dtype if there is no element."""
    if not axes:
        return x.copy()
    if x.size == 0 and 0 in [x.shape[i] for i in axes]:
        result_shape = tuple(size for i, size in enumerate(x.shape) if i not in axes)
        segment_extreme = getattr(k, f"segment_{max_or_min}")
        return segment_extreme(k.xp.empty((0, *result_shape), x.dtype), Segments(np.zeros(2, np.int64)))[0]
    if axes == (x.ndim - 1,) and type(x) is np.ndarray:
        return extremum_last(np.maximum if max_or_min == "max" else np.minimum, x)
    return getattr(k.xp, max_or_min)(x, axis=axes)


sum_axes: Primitive = Primitive(
    "sum",
    sum_raw,
    [lambda g, y, x, axes: broadcast_to(reshape(g, keepdim_shape(x.shape, axes)), x.shape)],
    LINEAR,
)
amax = Primitive("amax", partial(_extreme, "max"), [_share_between_ties], [_mean_over_ties], saves=["y x"])
amin = Primitive("amin", partial(_extreme, "min"), [_share_between_ties], [_mean_over_ties], saves=["y x"])
