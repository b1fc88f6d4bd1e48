"""Quick softmax, layer norm and cross entropy of the rows of a matrix, in blocks of rows that stay in the cache.

The sum of a row is its dot product with ones. BLAS computes a dot product quickly, and on the calling thread alone. A
product of matrices would use all threads.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..caching_allocator import empty
from ..dtypes import computing_dtype
from ..plain.normalization import layer_norm as plain_layer_norm
from .elementwise import rowwise
from .parallel import blocks, run
from .reduction import extremum_last
from .segment import is_exp_safe, softmax_shift

RawArray = NDArray[Any]

EPSILON = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}  # between 1 and the next larger number
LEAST_STD = {np.dtype(np.float32): 2.0**-40, np.dtype(np.float64): 2.0**-300}  # squares of smaller ones can vanish


@rowwise
def softmax_last(x: RawArray, /) -> RawArray:
    """Subtract maxima only if exp could overflow, or a sum of exps vanish."""
    if not is_exp_safe(x):
        x = x - softmax_shift(extremum_last(np.minimum, x), extremum_last(np.maximum, x))[:, None]
    exponentials: RawArray = np.exp(x)
    exponentials /= np.vecdot(exponentials, np.ones(x.shape[1], x.dtype))[:, None]
    return exponentials


@rowwise
def softmax_last_backward(cotangent: RawArray, y: RawArray, /) -> RawArray:
    """Compute the formula of the plain kernel block by block."""
    centred: RawArray = cotangent - np.vecdot(cotangent, y)[:, None]
    centred *= y
    return centred


def layer_norm(
    x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
) -> tuple[RawArray, RawArray, RawArray]:
    """Compute in the dtype of x, halves in float32. The accurate plain kernel computes doubtful rows once more."""
    rows, width, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    mean, std = np.full((2, len(rows)), np.nan, dtype)

    def work(start: int, stop: int) -> None:
        block, means, stds = rows[start:stop].astype(dtype, copy=False), mean[start:stop], std[start:stop]
        means[...] = np.vecdot(block, np.ones(width, dtype)) / dtype.type(width)
        centred = np.subtract(block, means[:, None], out=out[start:stop] if dtype == out.dtype else None)
        variances = np.vecdot(centred, centred) / dtype.type(width)
        stds[...] = np.sqrt(variances + dtype.type(eps))
        normalized = np.divide(centred, stds[:, None], out=centred)
        doubtful = _doubtful_rows(means, variances, width, eps)
        if doubtful.size:
            normalized[doubtful], means[doubtful], stds[doubtful] = plain_layer_norm(block[doubtful], None, None, eps)
        if weight is not None:
            normalized *= weight.astype(dtype, copy=False)
        if bias is not None:
            normalized += bias.astype(dtype, copy=False)
        if dtype != out.dtype:
            out[start:stop] = normalized

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return out, mean, std


def _doubtful_rows(means: RawArray, variances: RawArray, width: int, eps: float) -> NDArray[np.intp]:
    """Return the rows whose variance may be wrong.

    Such a variance is infinite or NaN, or so small that rounding errors alone can give it to a row of equal elements.
    Very small variances are inexact, too, but a large ``eps`` hides that.
    """
    least_exact, rounding_errors = LEAST_STD[means.dtype] ** 2, width * EPSILON[means.dtype] * means
    least_variance = np.maximum(np.square(rounding_errors), least_exact if eps < least_exact else 0)
    return np.flatnonzero(~((variances >= least_variance) & (variances < np.inf)))


def layer_norm_backward(
    cotangent: RawArray, x: RawArray, weight: RawArray | None, mean: RawArray, std: RawArray, /, with_bias: bool = True
) -> tuple[RawArray, RawArray | None, RawArray | None]:
    """Compute the formula of the plain kernel block by block."""
    rows, width, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    if not out.size:
        zeros = np.broadcast_to(x.dtype.type(0), width)  # without memory, as there may be many columns
        return out, None if weight is None else zeros.astype(weight.dtype, copy=False), zeros if with_bias else None
    weights = np.ones(width, dtype) if weight is None else weight.astype(dtype, copy=False)
    row_of_ones, large_std = np.ones(width, dtype), 1 / LEAST_STD[dtype]
    row_blocks = blocks(len(rows), 2 * rows[:1].nbytes)
    weight_gradients, bias_gradients = np.zeros((2, len(row_blocks), width), dtype)  # of the rows of each block

    def work(number: int, start: int, stop: int) -> None:
        block, gs = (whole[start:stop].astype(dtype, copy=False) for whole in (rows, cotangent))
        means, stds = mean[start:stop, None], std[start:stop, None]
        normalized = (block - means) / stds
        if (large := np.flatnonzero(stds > large_std)).size:  # elements are divided by 2: no difference overflows
            normalized[large] = 2 * ((block[large] / 2 - means[large] / 2) / stds[large])
        weighted = gs * weights
        mean_of_product = np.vecdot(weighted, normalized)[:, None] / dtype.type(width)
        mean_of_weighted = np.vecdot(weighted, row_of_ones)[:, None] / dtype.type(width)
        centred = weighted - mean_of_weighted - normalized * mean_of_product
        np.divide(centred, stds, out=out[start:stop], casting="same_kind")
        weight_gradients[number] = np.ones(len(gs), dtype) @ (gs * normalized)
        bias_gradients[number] = np.ones(len(gs), dtype) @ gs

    run(work, [(number, *rows_of_block) for number, rows_of_block in enumerate(row_blocks)], rows.nbytes)
    weight_gradient = None if weight is None else weight_gradients.sum(axis=0).astype(weight.dtype, copy=False)
    return out, weight_gradient, bias_gradients.sum(axis=0).astype(x.dtype, copy=False) if with_bias else None


def cross_entropy(
    x: RawArray, target: RawArray, weight: RawArray | None, ignore_index: int, label_smoothing: float, /
) -> tuple[RawArray, RawArray]:
    """Compute the losses of a block of rows at once, without an array of all probabilities."""
    rows, classes, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    loss, max_and_log_sum = np.zeros(len(rows), x.dtype), np.full((2, len(rows)), -np.inf, dtype)
    weights = None if weight is None else weight.astype(dtype, copy=False)

    def work(start: int, stop: int) -> None:
        block, is_valid = rows[start:stop].astype(dtype, copy=False), target[start:stop] != ignore_index
        label = np.where(is_valid, target[start:stop], 0)
        maximum = extremum_last(np.maximum, block)
        shifted = block - maximum[:, None]  # subtracted before the log sum, so that a small loss is accurate
        log_sum = np.log(np.vecdot(np.exp(shifted), np.ones(classes, dtype)))
        max_and_log_sum[:, start:stop] = maximum, log_sum
        losses = log_sum - shifted[np.arange(stop - start), label]
        if weights is not None:
            losses *= weights[label]
        if label_smoothing:
            total = np.vecdot(log_sum[:, None] - shifted, np.ones(classes, dtype) if weights is None else weights)
            losses = (1 - label_smoothing) * losses + label_smoothing / classes * total
        loss[start:stop] = np.where(is_valid, losses, 0)

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return loss, max_and_log_sum


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
    rows, classes, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    if not out.size:
        return out
    weights = np.ones(classes, dtype) if weight is None else weight.astype(dtype, copy=False)
    smoothing = label_smoothing / classes
    total_weight = np.add.reduce(weights)

    def work(start: int, stop: int) -> None:
        maximum, log_sum = max_and_log_sum[:, start:stop, None]
        is_valid = target[start:stop] != ignore_index
        label = np.where(is_valid, target[start:stop], 0)
        label_weight = (1 - label_smoothing) * weights[label]
        result = np.exp(rows[start:stop] - maximum - log_sum)  # the probabilities
        result *= (label_weight + dtype.type(smoothing * total_weight))[:, None]
        result[np.arange(stop - start), label] -= label_weight
        if label_smoothing:
            result -= smoothing * weights
        result *= cotangent[start:stop, None]
        result[~is_valid] = 0
        out[start:stop] = result

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return out
