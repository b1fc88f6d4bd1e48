"""Primitives over segments of rows, and the softmax of rows.

``k`` has the kernels of a backend, ``g`` is the cotangent of the result ``y``, ``t`` a tangent. A derivative with a
kernel of its own is a primitive whose first argument is ``g``. The cotangent of its result is ``gg``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends import Segments, get_backend
from pynested.backends.host import from_host

from ..array import raw
from .binary import where, where_or_zero
from .movement import broadcast_to, reshape, take_rows
from .primitive import LINEAR, Primitive
from .reduction import divide_by_count, sum_axes

segment_sum: Primitive = Primitive(
    "segment_sum",
    lambda k, x, segments: k.segment_sum(x, segments),
    [lambda g, y, x, segments: spread(g, segments)],
    LINEAR,
    public="sum",
)
spread: Primitive = Primitive(
    "spread",
    lambda k, x, segments: k.spread(x, segments),
    [lambda g, y, x, segments: segment_sum(g, segments)],
    LINEAR,
)
segment_cumsum: Primitive = Primitive(
    "segment_cumsum",
    lambda k, x, segments, backwards=False: k.segment_cumsum(x, segments, backwards),
    [lambda g, y, x, segments, backwards=False: segment_cumsum(g, segments, not backwards)],
    LINEAR,
    public="cumsum",
)


def _mean_over_ties(t: Any, y: Any, x: Any, segments: Segments) -> Any:
    """Return the mean of the tangents of the rows equal to the extreme ``y`` of their segment: NaN if it is NaN."""
    k = get_backend(y.device)
    is_equal = raw(x) == k.spread(raw(y), segments)
    count = k.segment_sum(is_equal, segments)
    return divide_by_count(where_or_zero(t, is_equal), count, lambda t: segment_sum(t, segments))


segment_max = Primitive(
    "segment_max",
    lambda k, x, segments: k.segment_max(x, segments),
    [lambda g, y, x, segments: segment_max_backward(g, x, y, segments)],
    [_mean_over_ties],
    saves=["y x"],
    public="amax",
)
segment_min = Primitive(
    "segment_min",
    lambda k, x, segments: k.segment_min(x, segments),
    [lambda g, y, x, segments: segment_max_backward(g, x, y, segments)],
    [_mean_over_ties],
    saves=["y x"],
    public="amin",
)
# Also the vjp of segment_min: the rows equal to the extreme of their segment share its cotangent.
segment_max_backward: Primitive = Primitive(
    "segment_max_backward",
    lambda k, g, x, extreme, segments: k.segment_max_backward(g, x, extreme, segments),
    [lambda gg, _, g, x, extreme, segments: _mean_over_ties(gg, extreme, x, segments), None, None],
    [lambda t, _, g, x, extreme, segments: segment_max_backward(t, x, extreme, segments)],
    saves=["x extreme"],
)


def _shifted_rows(x: Any, segments: Segments, step: int) -> Any:
    """Return for each row the row ``step`` rows before it (behind it if negative), or ones if that is outside."""

    def find() -> tuple[Any, Any]:
        rows, segment_of_row = np.arange(segments.rows), segments.segment_of_row
        before = np.clip(rows - step, 0, segments.rows - 1)
        is_inside = (before == rows - step) & (segment_of_row[before] == segment_of_row)
        return np.where(is_inside, before, rows), is_inside

    before, is_inside = (from_host(array, x.device) for array in segments.cached(("shifted rows", step), find))
    return where(take_rows(x, before), x.dtype.type(1), is_inside.reshape(-1, *[1] * (len(x.shape) - 1)))


def products_of_others(x: Any, segments: Segments) -> Any:
    """Return for each row the product of the other rows of its segment.

    It is the product of the rows before it and of the rows after it. After s steps, the two products have up to 2**s
    rows each. Nothing is divided, so zeros are no special case, and every order of derivative follows.
    """
    before, after = _shifted_rows(x, segments, 1), _shifted_rows(x, segments, -1)
    step = 1
    while step < segments.longest:
        before = before * _shifted_rows(before, segments, step)
        after = after * _shifted_rows(after, segments, -step)
        step *= 2
    return before * after


segment_prod = Primitive(
    "segment_prod",
    lambda k, x, segments: k.segment_prod(x, segments),
    [lambda g, y, x, segments: spread(g, segments) * products_of_others(x, segments)],
    [lambda t, y, x, segments: segment_sum(t * products_of_others(x, segments), segments)],
    saves=["x"],
    public="prod",
)


# The vjp of a softmax p is p * (g - sum(p * g)). Its Jacobian is symmetric, so the jvp is the same function.

segment_softmax = Primitive(
    "segment_softmax",
    lambda k, x, segments: k.segment_softmax(x, segments),
    [lambda g, y, x, segments: segment_softmax_backward(g, y, segments)],
    saves=["y"],
    public="softmax",
)
softmax_last = Primitive(
    "softmax_last",
    lambda k, x: k.softmax_last(x),
    [lambda g, y, x: softmax_last_backward(g, y)],
    saves=["y"],
    public="softmax",
)


def _softmax_backward(name: str, compute: Callable[..., Any], spread_sum: Callable[..., Any]) -> Primitive:
    """Return the vjp of a softmax; ``spread_sum`` returns at each element the sum over its segment or row."""
    backward: Primitive = Primitive(
        name,
        compute,
        vjps=[
            lambda gg, _, g, p, *segments: backward(gg, p, *segments),
            lambda gg, _, g, p, *segments: gg * (g - spread_sum(p * g, *segments)) - g * spread_sum(gg * p, *segments),
        ],
        jvps=[
            lambda t, _, g, p, *segments: backward(t, p, *segments),
            lambda t, _, g, p, *segments: t * (g - spread_sum(p * g, *segments)) - p * spread_sum(t * g, *segments),
        ],
        saves=["p", "g p"],
    )
    return backward


def spread_sum_last(x: Any) -> Any:
    """Return the sum over the last axis, at each of its elements."""
    axis = len(x.shape) - 1
    return broadcast_to(reshape(sum_axes(x, (axis,)), (*x.shape[:-1], 1)), x.shape)


# A sum over no rows may take memory: one row for each segment, of any number of columns.
segment_softmax_backward: Primitive = _softmax_backward(
    "segment_softmax_backward",
    lambda k, g, p, segments: k.segment_softmax_backward(g, p, segments),
    lambda x, segments: spread(segment_sum(x, segments), segments) if 0 not in x.shape else x,
)
softmax_last_backward: Primitive = _softmax_backward(
    "softmax_last_backward", lambda k, g, p: k.softmax_last_backward(g, p), spread_sum_last
)
