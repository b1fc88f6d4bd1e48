"""Plain softmax, layer norm and cross entropy of the rows of a matrix, and their derivatives."""

# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import numpy as np

from ..dtypes import computing_dtype
from .widening import RawArray, wide


def softmax_last(x: RawArray, /) -> RawArray:
    """(..., D) -> (..., D): the softmax of each row; NaN in a row that holds NaN, +inf, or -inf alone."""
    exponentials = np.exp(wide(x) - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return (exponentials / exponentials.sum(axis=-1, keepdims=True)).astype(x.dtype)


def softmax_last_backward(cotangent: RawArray, y: RawArray, /) -> RawArray:
    """(..., D) -> (..., D): ``y * (cotangent - sum of y * cotangent over the row)`` for y = softmax_last(x)."""
    weighted = wide(cotangent) * wide(y)
    return (weighted - wide(y) * weighted.sum(axis=-1, keepdims=True)).astype(y.dtype)


def layer_norm(
    x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
) -> tuple[RawArray, RawArray, RawArray]:
    """(N, D) -> (N, D), the means (N,) and the stds (N,): (x - mean) / std * weight + bias.

    The std is sqrt(variance + eps), or inf if that is 0. Means and stds of halves are float32.
    """
    # A power of two makes the largest element of each row nearly 1, so that no square overflows or vanishes.
    exponent = np.maximum(np.frexp(abs(wide(x)).max(axis=1, initial=0, keepdims=True))[1], -1000)
    scaled = np.ldexp(wide(x), -exponent)
    first = scaled[:, :1].sum(axis=1, keepdims=True)
    mean = first + (scaled - first).sum(axis=1, keepdims=True) / x.shape[1]  # exact if all elements are equal
    centred = scaled - mean
    deviation = np.sqrt((centred * centred).sum(axis=1, keepdims=True) / x.shape[1])
    std = np.hypot(deviation, np.ldexp(np.sqrt(eps), -exponent))
    std = np.where(std == 0, np.inf, std)  # a row of equal elements is 0, and so is its gradient
    normalized = centred / std
    result = normalized * (1 if weight is None else weight) + (0 if bias is None else bias)
    saved = [np.ldexp(number, exponent)[:, 0].astype(computing_dtype(x.dtype)) for number in (mean, std)]
    return result.astype(x.dtype), saved[0], saved[1]


def layer_norm_backward(
    cotangent: RawArray, x: RawArray, weight: RawArray | None, mean: RawArray, std: RawArray, /
) -> tuple[RawArray, RawArray | None, RawArray]:
    """Return the cotangents of ``x``, of ``weight`` (None without a weight) and of the bias."""
    mean, std = wide(mean)[:, None], wide(std)[:, None]
    normalized = 2 * ((wide(x) / 2 - mean / 2) / std)  # elements are divided by 2: no difference overflows
    weighted = wide(cotangent) * (1 if weight is None else weight)
    mean_of_weighted, mean_of_product = (
        rows.sum(axis=1, keepdims=True) / x.shape[1] for rows in (weighted, weighted * normalized)
    )
    x_gradient = (weighted - mean_of_weighted - normalized * mean_of_product) / std
    weight_gradient = None if weight is None else (cotangent * normalized).sum(axis=0).astype(weight.dtype)
    return x_gradient.astype(x.dtype), weight_gradient, wide(cotangent).sum(axis=0).astype(x.dtype)


def cross_entropy(
    x: RawArray, target: RawArray, weight: RawArray | None, ignore_index: int, label_smoothing: float, /
) -> tuple[RawArray, RawArray]:
    """(N, C) and int (N,) -> the loss of each row, 0 if ignored, and what the derivative needs, (2, N).

    With l_c = logsumexp(x) - x_c, weights w and s = label_smoothing, the loss is (1 - s) w_t l_t + s / C * sum of
    w_c l_c. The derivative needs the maximum of each row, and log sum exp(x - maximum). They are two numbers, because
    their sum would lose a small log-sum beside a large maximum. For halves they are float32.
    """
    loss, classes = np.zeros(len(x)), x.shape[1]
    weights = np.ones(classes) if weight is None else wide(weight)
    maximum = wide(x).max(axis=1, initial=-np.inf)
    shifted = wide(x) - maximum[:, None]
    log_sum = np.log(np.exp(shifted).sum(axis=1))
    for i in np.flatnonzero(target != ignore_index) if classes else ():
        class_losses = weights * (log_sum[i] - shifted[i])
        loss[i] = (1 - label_smoothing) * class_losses[target[i]]
        if label_smoothing:  # otherwise 0 times the infinite loss of a class with -inf is NaN
            loss[i] += label_smoothing / classes * class_losses.sum()
    return loss.astype(x.dtype), np.stack([maximum, log_sum]).astype(computing_dtype(x.dtype))


def cross_entropy_backward(
    cotangent: RawArray,
    x: RawArray,
    target: RawArray,
    weight: RawArray | None,
    ignore_index: int,
    label_smoothing: float,
    max_and_log_sum: RawArray,
    /,
) -> RawArray:
    """(N,) -> (N, C): the cotangent of x for the losses of the rows; exactly 0 in ignored rows.

    With p = softmax(x), the derivative of a loss is (1 - s) w_t (p_c - [c = t]) + s / C * (p_c sum(w) - w_c).
    """
    out, classes = np.zeros(x.shape, x.dtype), x.shape[1]
    weights = np.ones(classes) if weight is None else wide(weight)
    probabilities = softmax_last(wide(x))
    for i in np.flatnonzero(target != ignore_index) if classes else ():
        p, is_target = probabilities[i], np.arange(classes) == target[i]
        target_part = (1 - label_smoothing) * weights[target[i]] * (p - is_target)
        out[i] = cotangent[i] * (target_part + label_smoothing / classes * (p * weights.sum() - weights))
    return out
