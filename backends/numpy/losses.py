"""Cross entropy, fused: no array of probabilities is kept."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import empty
from .extremes import best_of_rows
from .running import blocks, run, scratch


def cross_entropy(
    x: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None,
    ignore_index: int,
    label_smoothing: float,
    /,
) -> tuple[NDArray[Any], NDArray[Any]]:
    """(N, C) and int (N,) -> the loss of each row (0 where ignored, not reduced) and its scale.

    With l_c = logsumexp - x_c, weights w and s = label_smoothing: (1 - s) w_t l_t + s / C * sum of w_c l_c.
    The scale is the maximum and log sum exp(x - maximum): (2, N), two numbers because their sum, the logsumexp, would
    lose the small one beside a large maximum. It keeps the dtype that is computed in, float32 for float16.
    """
    rows, classes = np.ascontiguousarray(x), x.shape[1]
    dtype = computing_dtype(x.dtype)
    if not rows.size:
        return np.zeros(len(rows), x.dtype), np.full((2, len(rows)), -np.inf, dtype)
    loss, scale = np.empty(len(rows), x.dtype), np.empty((2, len(rows)), dtype)
    kept = target != ignore_index
    weights = None if weight is None else weight.astype(dtype, copy=False)
    ones = np.ones(classes, dtype)

    def work(start: int, stop: int) -> None:
        block, valid = rows[start:stop].astype(dtype, copy=False), kept[start:stop]
        which = np.where(valid, target[start:stop], 0)
        maximum = scale[0, start:stop]
        best_of_rows(np.maximum, block, maximum)
        below, powers = scratch("losses", (2, *block.shape), dtype)
        np.subtract(block, maximum[:, None], out=below)  # so that a likely class has an accurate small loss
        np.exp(below, out=powers)
        log_sum = np.log(np.vecdot(powers, ones))
        scale[1, start:stop] = log_sum
        row_loss = log_sum - below[np.arange(stop - start), which]
        if weights is not None:
            row_loss *= weights[which]
        if label_smoothing:
            np.subtract(log_sum[:, None], below, out=below)
            smooth = np.vecdot(below, ones if weights is None else weights)
            row_loss = (1 - label_smoothing) * row_loss + label_smoothing / classes * smooth
        loss[start:stop] = np.where(valid, row_loss, 0)

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return loss, scale


def cross_entropy_backward(
    cotangent: NDArray[Any],
    x: NDArray[Any],
    target: NDArray[Any],
    weight: NDArray[Any] | None,
    ignore_index: int,
    label_smoothing: float,
    scale: NDArray[Any],
    /,
) -> NDArray[Any]:
    """(N,) -> (N, C): the cotangent of x for the rows' losses; exactly 0 in ignored rows.

    With p the softmax: (1 - s) w_t (p_c - [c = t]) + s / C * (p_c sum(w) - w_c).
    """
    rows, classes = np.ascontiguousarray(x), x.shape[1]
    dtype = computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    kept = target != ignore_index
    weights = None if weight is None else weight.astype(dtype, copy=False)
    total_weight = classes if weights is None else np.add.reduce(weights)
    part = label_smoothing / max(1, classes)

    def work(start: int, stop: int) -> None:
        valid = kept[start:stop]
        which = np.where(valid, target[start:stop], 0)
        own = np.full(stop - start, 1 - label_smoothing, dtype)
        if weights is not None:
            own *= weights[which]
        result = out[start:stop] if dtype == out.dtype else np.empty((stop - start, classes), dtype)
        np.subtract(rows[start:stop], scale[0, start:stop, None], out=result)
        result -= scale[1, start:stop, None]
        np.exp(result, out=result)
        result *= (own + dtype.type(part * total_weight))[:, None]
        result[np.arange(stop - start), which] -= own
        if label_smoothing:
            result -= part if weights is None else part * weights
        result *= cotangent[start:stop, None]
        result[~valid] = 0
        if dtype != out.dtype:
            out[start:stop] = result

    if out.size:
        run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return out
