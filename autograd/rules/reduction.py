"""Rules that reduce over axes of a dense array; the axes are canonical and the result keeps none of them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from pynested.backends import Segments
from pynested.backends.dtypes import computing_dtype
from pynested.backends.numpy.extremes import best_last

from ..array import Array, raw
from .elementwise import where
from .kinds import Custom, Linear
from .movement import broadcast_to, cast, reshape, total


def keepdim_shape(shape: tuple[int, ...], axes: tuple[int, ...]) -> tuple[int, ...]:
    """``shape`` with 1 along ``axes``: what a result looks like before its axes are dropped."""
    return tuple(1 if i in axes else size for i, size in enumerate(shape))


def attained(x: Any, top: Any) -> Any:
    """Where x is the maximum, or minimum, ``top``, as a bare bool array; NaN attains NaN."""
    x, top = raw(x), raw(top)
    found, lost = x == top, top != top
    if type(lost) is np.ndarray and not lost.any():
        return found
    return found | ((x != x) & lost)


def by_count(g: Any, count: Any, total: Callable[[Any], Any] = lambda g: g) -> Any:
    """``g``, or its ``total``, by numbers of elements; in float32 for float16, which ends at 65504, and bfloat16."""
    wide = computing_dtype(g.dtype)
    numbers = Array(count.astype(wide), g.device)
    return cast(total(cast(g, wide)) / numbers, g.dtype) if wide != g.dtype else total(g) / numbers


def _amax_pull(g: Any, y: Any, inputs: Any, axes: tuple[int, ...]) -> tuple[Any]:
    """Each maximum's cotangent, shared evenly by the elements that attain it."""
    shape = inputs[0].shape
    lasting = keepdim_shape(shape, axes)
    ties = attained(inputs[0], raw(y).reshape(lasting))
    share = reshape(g, lasting)
    if not (type(ties) is np.ndarray and np.count_nonzero(ties) == y.size):  # as many as there are, one each
        share = by_count(share, ties.sum(axis=axes, keepdims=True))
    return (where(broadcast_to(share, shape), g.dtype.type(0), ties),)


def _amax_push(tangents: list[Any], y: Any, inputs: Any, axes: tuple[int, ...]) -> Any:
    """The mean of the tangents of the elements that attain the maximum."""
    ties = attained(inputs[0], raw(y).reshape(keepdim_shape(inputs[0].shape, axes)))
    chosen = where(tangents[0], tangents[0].dtype.type(0), ties)
    return by_count(chosen, ties.sum(axis=axes), lambda t: sum_axes(t, axes))


def _best(which: str, k: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The maximum or minimum over ``axes``; where these are empty, that of an empty segment."""
    if not axes:
        return x.copy()
    if x.size == 0 and 0 in [x.shape[i] for i in axes]:
        rest = tuple(size for i, size in enumerate(x.shape) if i not in axes)
        of_segments = getattr(k, f"segment_{which}")
        return of_segments(k.xp.empty((0, *rest), x.dtype), Segments(np.zeros(2, np.int64)))[0]
    if axes == (x.ndim - 1,) and type(x) is np.ndarray:
        return best_last(np.maximum if which == "max" else np.minimum, x)
    return getattr(k.xp, which)(x, axis=axes)


sum_axes: Linear = Linear(
    "sum",
    total,
    lambda g, shapes, axes: broadcast_to(reshape(g, keepdim_shape(shapes[0], axes)), shapes[0]),
)


def _extremum(name: str) -> Custom:
    return Custom(
        name,
        partial(_best, name[1:]),
        "ya",
        _amax_pull,
        _amax_push,
    )


amax = _extremum("amax")
amin = _extremum("amin")
