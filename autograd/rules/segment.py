"""Rules over segments of rows.

A rule with a kernel for its gradient (``fused=``) uses it in passes that are not recorded. A recorded pass uses the
formula in tracked operations, which can be differentiated again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import Segments, get_backend
from pynested.backends.host import from_host

from ..array import raw
from .elementwise import where
from .kinds import Custom, Linear
from .movement import broadcast_to, reshape, take_rows
from .reduction import attained, by_count, sum_axes


def sum_over_last(x: Any) -> Any:
    """The sum over the last axis, at every place of it."""
    axis = len(x.shape) - 1
    return broadcast_to(reshape(sum_axes(x, (axis,)), (*x.shape[:-1], 1)), x.shape)


# ---- sums and maxima ----------------------------------------------------------------------------------------------


def _ties(x: Any, y: Any, segments: Segments) -> tuple[Any, Any]:
    """Where rows attain the maximum (or minimum) of their segment, and how many of each do (1 for an empty one)."""
    backend = get_backend(y.device)
    ties = attained(x, backend.spread(raw(y), segments))
    return ties, backend.xp.maximum(backend.segment_sum(ties, segments), 1)


def _max_pull(g: Any, y: Any, inputs: Any, segments: Segments) -> tuple[Any]:
    ties, count = _ties(inputs[0], y, segments)
    return (where(spread(by_count(g, count), segments), g.dtype.type(0), ties),)


def _max_push(tangents: list[Any], y: Any, inputs: Any, segments: Segments) -> Any:
    ties, count = _ties(inputs[0], y, segments)
    chosen = where(tangents[0], tangents[0].dtype.type(0), ties)
    return by_count(chosen, count, lambda t: segment_sum(t, segments))


segment_sum: Linear = Linear(
    "segment_sum",
    "segment_sum",
    lambda g, shapes, segments: spread(g, segments),
)
spread: Linear = Linear(
    "spread",
    "spread",
    lambda g, shapes, segments: segment_sum(g, segments),
)
segment_cumsum: Linear = Linear(
    "segment_cumsum",
    "segment_cumsum",
    lambda g, shapes, segments, backwards=False: segment_cumsum(g, segments, not backwards),
)


def _extremum(name: str) -> Custom:
    return Custom(
        name,
        name,
        "ya",
        _max_pull,
        _max_push,
        fused=lambda k, g, y, inputs, segments: (k.segment_max_backward(g, inputs[0], y, segments),),
    )


segment_max = _extremum("segment_max")
segment_min = _extremum("segment_min")


# ---- products -----------------------------------------------------------------------------------------------------


def _neighbours(segments: Segments, step: int) -> tuple[Any, Any]:
    """Return for each row the row ``step`` before it if that is in its segment, else itself; and whether it is."""

    def find() -> tuple[Any, Any]:
        rows, numbers = np.arange(segments.rows), segments.segment_of_row
        other = np.clip(rows - step, 0, segments.rows - 1)
        inside = (other == rows - step) & (numbers[other] == numbers)
        return np.where(inside, other, rows), inside

    return segments.cached(("neighbours", step), find)


def _shifted(x: Any, segments: Segments, step: int) -> Any:
    """Return for each row the row ``step`` before it in its segment, or ones if there is none."""
    other, inside = (from_host(one, x.device) for one in _neighbours(segments, step))
    return where(take_rows(x, other), x.dtype.type(1), inside.reshape(-1, *[1] * (len(x.shape) - 1)))


def products_of_others(x: Any, segments: Segments) -> Any:
    """Return for each row the product of the other rows of its segment.

    It is the product of the rows before it and of those after it; each step doubles how many. Nothing is divided, so
    zeros need no care, and every order of derivative follows.
    """
    before, after = _shifted(x, segments, 1), _shifted(x, segments, -1)
    step = 1
    while step < segments.longest:
        before, after = before * _shifted(before, segments, step), after * _shifted(after, segments, -step)
        step *= 2
    return before * after


segment_prod = Custom(
    "segment_prod",
    "segment_prod",
    "a",
    lambda g, y, inputs, segments: (spread(g, segments) * products_of_others(inputs[0], segments),),
    lambda tangents, y, inputs, segments: segment_sum(tangents[0] * products_of_others(inputs[0], segments), segments),
)


# ---- softmax ------------------------------------------------------------------------------------------------------


def _softmax_derivative(t: Any, y: Any, segments: Segments) -> Any:
    """Return ``y * (t - sum(y * t))``, y the softmax. The Jacobian is symmetric: this is the jvp as well as the vjp."""
    return y * (t - spread(segment_sum(y * t, segments), segments)) if 0 not in y.shape else y * t


def _last_derivative(t: Any, y: Any) -> Any:
    return y * (t - sum_over_last(y * t))


segment_softmax = Custom(
    "segment_softmax",
    "segment_softmax",
    "y",
    lambda g, y, inputs, segments: (_softmax_derivative(g, y, segments),),
    lambda tangents, y, inputs, segments: _softmax_derivative(tangents[0], y, segments),
    fused=lambda k, g, y, inputs, segments: (k.segment_softmax_backward(g, y, segments),),
)
softmax_last = Custom(
    "softmax_last",
    "softmax_last",
    "y",
    lambda g, y, inputs: (_last_derivative(g, y),),
    lambda tangents, y, inputs: _last_derivative(tangents[0], y),
    fused=lambda k, g, y, inputs: (k.softmax_last_backward(g, y),),
)
