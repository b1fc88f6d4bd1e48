"""Quick softmax, layer norm and cross entropy of the rows of a matrix, in blocks of rows that stay in the cache.

`numpy.einsum` adds up a short row in half of the time of `numpy.sum`.
"""

from __future__ import annotations

import numpy as np

from ..caching_allocator import empty
from ..dtypes import computing_dtype
from ..plain.normalization import layer_norm as plain_layer_norm
from ..plain.widening import RawArray
from .blocks import blocks, compute_rows, last_rows
from .parallel import run
from .products import extremum_last
from .segment import is_exp_safe, softmax_shift

EPSILON = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}  # between 1 and the next larger number
LEAST_STD = {np.dtype(np.float32): 2.0**-40, np.dtype(np.float64): 2.0**-300}  # squares of smaller stds can vanish


def softmax_last(x: RawArray, /) -> RawArray:
    """Subtract maxima only if exp could overflow, or a sum of exps vanish."""

    def work(block: RawArray, out: RawArray) -> None:
        if not is_exp_safe(block):
            shift = softmax_shift(extremum_last(np.minimum, block), extremum_last(np.maximum, block))
            block = np.subtract(block, shift[:, None], out=out)
        np.exp(block, out=out)
        out /= np.einsum("ij->i", out)[:, None]

    rows = last_rows(x)
    return compute_rows(work, empty(rows.shape, x.dtype), rows).reshape(x.shape)


def softmax_last_backward(cotangent: RawArray, y: RawArray, /) -> RawArray:
    """Compute the formula of the plain kernel block by block."""

    def work(gs: RawArray, ys: RawArray, out: RawArray) -> None:
        np.subtract(gs, np.vecdot(gs, ys)[:, None], out=out)
        out *= ys

    rows = last_rows(y)
    return compute_rows(work, empty(rows.shape, y.dtype), last_rows(cotangent), rows).reshape(y.shape)


def layer_norm(
    x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
) -> tuple[RawArray, RawArray, RawArray]:
    """Compute in the dtype of x, halves in float32. The accurate plain kernel computes doubtful rows once more."""
    width, dtype = x.shape[1], computing_dtype(x.dtype)
    mean, std = np.full((2, len(x)), np.nan, dtype)

    def work(block: RawArray, means: RawArray, stds: RawArray, out: RawArray) -> None:
        np.divide(np.einsum("ij->i", block), dtype.type(width), out=means)
        np.subtract(block, means[:, None], out=out)
        variances = np.vecdot(out, out) / dtype.type(width)
        np.sqrt(variances + dtype.type(eps), out=stds)
        out /= stds[:, None]
        doubtful = _doubtful_rows(means, variances, width, eps)
        if doubtful.size:
            out[doubtful], means[doubtful], stds[doubtful] = plain_layer_norm(block[doubtful], None, None, eps)
        if weight is not None:
            out *= weight.astype(dtype, copy=False)
        if bias is not None:
            out += bias.astype(dtype, copy=False)

    return compute_rows(work, empty(x.shape, x.dtype), np.ascontiguousarray(x), mean, std), mean, std


def _doubtful_rows(means: RawArray, variances: RawArray, width: int, eps: float) -> RawArray:
    """Return the rows whose variance may be wrong.

    Such a variance is not finite, or not above the rounding errors of a row of equal elements, or below
    ``LEAST_STD**2``, which does not matter if ``eps`` is larger than that.
    """
    least_exact, rounding_errors = LEAST_STD[means.dtype] ** 2, width * EPSILON[means.dtype] * means
    least_variance = np.maximum(np.square(rounding_errors), least_exact if eps < least_exact else 0)
    is_exact: RawArray = (variances >= least_variance) & (variances < np.inf)
    return (~is_exact).nonzero()[0]


def layer_norm_backward(
    cotangent: RawArray, x: RawArray, weight: RawArray | None, mean: RawArray, std: RawArray, /
) -> tuple[RawArray, RawArray | None, RawArray]:
    """Compute the formula of the plain kernel block by block."""
    rows, width, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    if not out.size:
        zeros = np.broadcast_to(x.dtype.type(0), width)  # without memory, as there may be many columns
        return out, None if weight is None else zeros.astype(weight.dtype, copy=False), zeros
    weights = np.ones(width, dtype) if weight is None else weight.astype(dtype, copy=False)
    large_std = 1 / LEAST_STD[dtype]
    row_blocks = blocks(len(rows), 2 * rows[:1].nbytes)
    weight_gradients, bias_gradients = np.zeros((2, len(row_blocks), width))  # of the rows of each block

    def work(block_index: int, start: int, stop: int) -> None:
        block, gs = (whole[start:stop].astype(dtype, copy=False) for whole in (rows, cotangent))
        means, stds = mean[start:stop, None], std[start:stop, None]
        normalized = block - means
        normalized /= stds
        if (large := np.flatnonzero(stds > large_std)).size:  # elements are divided by 2: no difference overflows
            normalized[large] = 2 * ((block[large] / 2 - means[large] / 2) / stds[large])
        product = gs * normalized
        ones = np.ones(len(gs), np.float64 if len(gs) > 2048 else dtype)  # a sum of many float32s would lose digits
        weight_gradients[block_index], bias_gradients[block_index] = ones @ product, ones @ gs
        normalized *= (product @ weights)[:, None] / dtype.type(width)
        normalized += (gs @ weights)[:, None] / dtype.type(width)
        weighted = np.multiply(gs, weights, out=product)
        weighted -= normalized
        np.divide(weighted, stds, out=out[start:stop], casting="same_kind")

    run(work, [(i, *start_and_stop) for i, start_and_stop in enumerate(row_blocks)], rows.nbytes)
    weight_gradient = None if weight is None else weight_gradients.sum(axis=0).astype(weight.dtype, copy=False)
    return out, weight_gradient, bias_gradients.sum(axis=0).astype(x.dtype, copy=False)


def cross_entropy(
    x: RawArray, target: RawArray, weight: RawArray | None, ignore_index: int, label_smoothing: float, /
) -> tuple[RawArray, RawArray]:
    """Compute the losses of a block of rows at once, without an array of all probabilities."""
    classes, dtype = x.shape[1], computing_dtype(x.dtype)
    loss, max_and_log_sum = np.zeros(len(x), x.dtype), np.full((2, len(x)), -np.inf, dtype)
    if not x.size:  # without memory for weights, as there may be many classes
        return loss, max_and_log_sum
    weights = np.ones(classes, dtype) if weight is None else weight.astype(dtype, copy=False)

    def work(block: RawArray, targets: RawArray, maximum: RawArray, log_sum: RawArray, out: RawArray) -> None:
        is_valid = targets != ignore_index
        label = np.where(is_valid, targets, 0)
        maximum[...] = extremum_last(np.maximum, block)
        shifted = block - maximum[:, None]  # subtracted before the log sum, so that a small loss is accurate
        np.log(np.einsum("ij->i", np.exp(shifted)), out=log_sum)
        np.subtract(log_sum, shifted[np.arange(len(label)), label], out=out)
        out *= (1 - label_smoothing) * weights[label]
        if label_smoothing:
            np.subtract(log_sum[:, None], shifted, out=shifted)
            out += label_smoothing / classes * np.vecdot(shifted, weights)
        out[~is_valid] = 0

    return compute_rows(work, loss, np.ascontiguousarray(x), target, *max_and_log_sum), max_and_log_sum


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
    """Compute the formula of the plain kernel block by block, from the saved maxima and log-sums."""
    classes, dtype = x.shape[1], computing_dtype(x.dtype)
    if not x.size:
        return empty(x.shape, x.dtype)
    weights = np.ones(classes, dtype) if weight is None else weight.astype(dtype, copy=False)
    smoothing = label_smoothing / classes
    total_weight = np.add.reduce(weights)

    def work(
        block: RawArray, targets: RawArray, maximum: RawArray, log_sum: RawArray, gs: RawArray, out: RawArray
    ) -> None:
        is_valid = targets != ignore_index
        label = np.where(is_valid, targets, 0)
        label_weight = (1 - label_smoothing) * weights[label]
        np.subtract(block, maximum[:, None], out=out)
        out -= log_sum[:, None]
        np.exp(out, out=out)  # the probabilities
        out *= (label_weight + dtype.type(smoothing * total_weight))[:, None]
        out[np.arange(len(label)), label] -= label_weight
        if label_smoothing:
            out -= smoothing * weights
        out *= gs[:, None]
        out[~is_valid] = 0

    return compute_rows(work, empty(x.shape, x.dtype), np.ascontiguousarray(x), target, *max_and_log_sum, cotangent)
