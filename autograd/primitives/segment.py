"""Primitives over segments of rows, and the softmax of rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends import Segments, get_backend
from pynested.backends.host import from_host

from ..array import raw
from .binary import where, where_or_zero
from .movement import broadcast_to, reshape, take_rows
from .primitive import LINEAR, SYMMETRIC, Primitive
from .reduction import attained, divided_by_count, sum_axes


def sum_over_last(x: Any) -> Any:
    """Return the sum over the last axis, broadcast to the shape of ``x``."""
    axis = len(x.shape) - 1
    return broadcast_to(reshape(sum_axes(x, (axis,)), (*x.shape[:-1], 1)), x.shape)


# ---- sums and maxima ----------------------------------------------------------------------------------------------


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


def _mean_of_attaining(t: Any, y: Any, x: Any, segments: Segments) -> Any:
    """Return the mean of the tangents of the rows that attain the maximum, or minimum, of their segment."""
    k = get_backend(y.device)
    ties = attained(x, k.spread(raw(y), segments))
    count = k.xp.maximum(k.segment_sum(ties, segments), 1)  # 1 for an empty segment
    return divided_by_count(where_or_zero(t, ties), count, lambda t: segment_sum(t, segments))


segment_max = Primitive(
    "segment_max",
    lambda k, x, segments: k.segment_max(x, segments),
    [lambda g, y, x, segments: segment_max_backward(g, y, x, segments)],
    [_mean_of_attaining],
    ["y x"],
    public="amax",
)
segment_min = Primitive(
    "segment_min",
    lambda k, x, segments: k.segment_min(x, segments),
    [lambda g, y, x, segments: segment_max_backward(g, y, x, segments)],
    [_mean_of_attaining],
    ["y x"],
    public="amin",
)
segment_max_backward: Primitive = Primitive(
    "segment_max_backward",
    lambda k, g, top, x, segments: k.segment_max_backward(g, x, top, segments),
    [lambda h, _, g, top, x, segments: _mean_of_attaining(h, top, x, segments), None, None],
    [lambda t, _, g, top, x, segments: segment_max_backward(t, top, x, segments)],
    ["top x"],
)


# ---- products -----------------------------------------------------------------------------------------------------


def _neighbours(segments: Segments, step: int) -> tuple[Any, Any]:
    """Return the number of the row ``step`` rows before each row, and whether its segment is the same.

    The number is that of the row itself if the segment is another.
    """

    def find() -> tuple[Any, Any]:
        rows, numbers = np.arange(segments.rows), segments.segment_of_row
        other = np.clip(rows - step, 0, segments.rows - 1)
        inside = (other == rows - step) & (numbers[other] == numbers)
        return np.where(inside, other, rows), inside

    return segments.cached(("neighbours", step), find)


def _shifted(x: Any, segments: Segments, step: int) -> Any:
    """Return the row ``step`` rows before each row of ``x``; ones if the segment begins later."""
    other, inside = (from_host(array, x.device) for array in _neighbours(segments, step))
    return where(take_rows(x, other), x.dtype.type(1), inside.reshape(-1, *[1] * (len(x.shape) - 1)))


def products_of_others(x: Any, segments: Segments) -> Any:
    """Return for each row the product of the other rows of its segment.

    It is the product of the rows before it and of the rows after it. Each step doubles the number of rows in the two
    products. Nothing is divided, so zeros are no special case, and every order of derivative follows.
    """
    before, after = _shifted(x, segments, 1), _shifted(x, segments, -1)
    step = 1
    while step < segments.longest:
        before, after = before * _shifted(before, segments, step), after * _shifted(after, segments, -step)
        step *= 2
    return before * after


segment_prod = Primitive(
    "segment_prod",
    lambda k, x, segments: k.segment_prod(x, segments),
    [lambda g, y, x, segments: spread(g, segments) * products_of_others(x, segments)],
    [lambda t, y, x, segments: segment_sum(t * products_of_others(x, segments), segments)],
    ["x"],
    public="prod",
)


# ---- softmax ------------------------------------------------------------------------------------------------------
# The derivative is y * (g - sum(y * g)), with y the softmax. It is linear in g, and its Jacobian is symmetric, so vjp
# and jvp are one formula. In the derivatives of a derivative, p is the softmax and h the cotangent of the result.

segment_softmax = Primitive(
    "segment_softmax",
    lambda k, x, segments: k.segment_softmax(x, segments),
    [lambda g, y, x, segments: segment_softmax_backward(g, y, segments)],
    SYMMETRIC,
    ["y"],
    public="softmax",
)
softmax_last = Primitive(
    "softmax_last",
    lambda k, x: k.softmax_last(x),
    [lambda g, y, x: softmax_last_backward(g, y)],
    SYMMETRIC,
    ["y"],
    public="softmax",
)


def _softmax_backward(name: str, compute: Callable[..., Any], sums: Callable[..., Any]) -> Primitive:
    """Return the derivative of a softmax; ``sums`` are those of the segments, or rows, at each of their elements."""
    backward: Primitive = Primitive(
        name,
        compute,
        vjps=[
            lambda h, _, g, p, *segments: backward(h, p, *segments),
            lambda h, _, g, p, *segments: h * (g - sums(p * g, *segments)) - g * sums(h * p, *segments),
        ],
        jvps=[
            lambda t, _, g, p, *segments: backward(t, p, *segments),
            lambda t, _, g, p, *segments: t * (g - sums(p * g, *segments)) - p * sums(t * g, *segments),
        ],
        saves=["p", "g p"],
    )
    return backward


def _sums(x: Any, segments: Segments) -> Any:
    """Return the sum of each segment, at each of its rows."""
    return spread(segment_sum(x, segments), segments) if 0 not in x.shape else x


segment_softmax_backward: Primitive = _softmax_backward(
    "segment_softmax_backward", lambda k, g, p, segments: k.segment_softmax_backward(g, p, segments), _sums
)
softmax_last_backward: Primitive = _softmax_backward(
    "softmax_last_backward", lambda k, g, p: k.softmax_last_backward(g, p), sum_over_last
)
