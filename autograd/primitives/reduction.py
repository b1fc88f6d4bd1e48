"""Primitives that reduce ``axes``, a tuple of distinct axes, none negative. The result does not keep them.

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


def divide_by_count(g: Any, count: Any, reduce: Callable[[Any], Any] = lambda g: g) -> Any:
    """Return ``reduce(g) / count``; float16 and bfloat16 are computed in float32, as their sums can overflow."""
    dtype = computing_dtype(g.dtype)
    return to_dtype(reduce(to_dtype(g, dtype)) / Array(count.astype(dtype), g.device), g.dtype)


def _share_between_ties(g: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the cotangent of x: that of each extreme, divided evenly between the elements equal to it.

    No element is equal to NaN. There 0 is divided by 0, so that all elements get NaN.
    """
    if not axes:
        return g
    shape = keepdim_shape(x.shape, axes)
    extreme = raw(y).reshape(shape)
    is_equal = raw(x) == extreme
    share = where_or_zero(reshape(g, shape), is_equal)
    if type(is_equal) is np.ndarray and np.count_nonzero(is_equal) == y.size and not np.isnan(extreme).any():
        return share  # no extreme has ties
    return divide_by_count(share, is_equal.sum(axis=axes, keepdims=True))


def _mean_over_ties(t: Any, y: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the mean of the tangents of the elements equal to the extreme: NaN if the extreme is NaN."""
    if not axes:
        return t
    is_equal = raw(x) == raw(y).reshape(keepdim_shape(x.shape, axes))
    return divide_by_count(where_or_zero(t, is_equal), is_equal.sum(axis=axes), lambda t: sum_axes(t, axes))


def _extreme(max_or_min: str, k: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the maximum (minimum) over ``axes``; over no elements, the least (greatest) value of the dtype."""
    if not axes:
        return x.copy()
    if 0 in [x.shape[i] for i in axes]:
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
