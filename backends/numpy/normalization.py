"""Quick kernels of rows, in blocks that stay in cache: softmax, layer norm and cross entropy.

Row sums are dot products with ones: quick, and unlike a matrix product BLAS keeps them on the calling thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import empty
from ..plain import normalization as plain
from .parallel import blocks, maximum_of, minimum_of, run
from .reduction import extremum_of_rows
from .segment import is_exp_safe, softmax_shift

RawArray = NDArray[Any]

ROUNDING = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}  # between 1 and its neighbour
LEAST_STD = {np.dtype(np.float32): 2.0**-40, np.dtype(np.float64): 2.0**-300}  # whose square has all of its digits


def _as_rows(x: RawArray) -> RawArray:
    width = x.shape[-1]
    return np.ascontiguousarray(x).reshape(x.size // max(1, width), width)


def _blocks(rows: RawArray) -> list[tuple[int, int]]:
    """Return the first row of each block and the row after its last; no block if there are no elements."""
    return blocks(len(rows), rows[:1].nbytes) if rows.size else []


def softmax_last(x: RawArray, /) -> RawArray:
    """Subtract maxima only if exp could overflow, or a sum of exps vanish."""
    rows, dtype = _as_rows(x), computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)

    def work(start: int, stop: int) -> None:
        block = rows[start:stop].astype(dtype, copy=False)
        if not is_exp_safe(block):
            block = (
                block - softmax_shift(extremum_of_rows(np.minimum, block), extremum_of_rows(np.maximum, block))[:, None]
            )
        powers = np.exp(block)
        sums = np.vecdot(powers, np.ones(rows.shape[1], dtype))
        np.divide(powers, sums[:, None], out=out[start:stop], casting="same_kind")

    run(work, _blocks(rows), rows.nbytes)
    return out.reshape(x.shape)


def softmax_last_backward(cotangent: RawArray, y: RawArray, /) -> RawArray:
    """Compute the formula of the plain kernel block by block."""
    rows, cotangents, dtype = _as_rows(y), _as_rows(cotangent), computing_dtype(y.dtype)
    out = empty(rows.shape, y.dtype)

    def work(start: int, stop: int) -> None:
        ys, gs = rows[start:stop].astype(dtype, copy=False), cotangents[start:stop].astype(dtype, copy=False)
        np.multiply(gs - np.vecdot(gs, ys)[:, None], ys, out=out[start:stop], casting="same_kind")

    run(work, _blocks(rows), rows.nbytes)
    return out.reshape(y.shape)


def layer_norm(
    x: RawArray, weight: RawArray | None, bias: RawArray | None, eps: float, /
) -> tuple[RawArray, RawArray, RawArray]:
    """Compute most rows in the dtype of x, and the rows for which that is not exact enough by the plain kernel."""
    rows, width, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    mean, std = np.full((2, len(rows)), np.nan, dtype)

    def work(start: int, stop: int) -> None:
        block, means, stds = rows[start:stop].astype(dtype, copy=False), mean[start:stop], std[start:stop]
        means[...] = np.vecdot(block, np.ones(width, dtype)) / dtype.type(width)
        normal = block - means[:, None]
        variances = np.vecdot(normal, normal) / dtype.type(width)
        stds[...] = np.sqrt(variances + dtype.type(eps))
        normal /= stds[:, None]
        doubtful = _doubtful_rows(means, variances, width, eps)
        if doubtful.size:
            normal[doubtful], means[doubtful], stds[doubtful] = plain.layer_norm(block[doubtful], None, None, eps)
        if weight is not None:
            normal *= weight.astype(dtype, copy=False)
        if bias is not None:
            normal += bias.astype(dtype, copy=False)
        out[start:stop] = normal

    run(work, _blocks(rows), rows.nbytes)
    return out, mean, std


def _doubtful_rows(means: RawArray, variances: RawArray, width: int, eps: float) -> NDArray[np.intp]:
    """Return the rows whose variance is infinite or NaN, or not more than rounding leaves of equal elements.

    So are the rows whose squares may be too small for all of their digits, unless ``eps`` hides that.
    """
    error, small = width * ROUNDING[means.dtype], LEAST_STD[means.dtype] ** 2
    enough = small if eps < small else 0
    rounding = 2 * error * error * means.dot(means)  # of all rows together, and more than that of each of them
    if minimum_of(variances) >= max(rounding, enough) and maximum_of(variances) < np.inf:
        return np.zeros(0, np.intp)
    is_exact = (variances >= np.maximum(np.square(error * means), enough)) & (variances < np.inf)
    return np.flatnonzero(~is_exact)


def layer_norm_backward(
    cotangent: RawArray, x: RawArray, weight: RawArray | None, mean: RawArray, std: RawArray, /, with_bias: bool = True
) -> tuple[RawArray, RawArray | None, RawArray | None]:
    """Compute the formula of the plain kernel block by block."""
    rows, width, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    if not out.size:
        zeros = np.broadcast_to(x.dtype.type(0), width)  # which takes no memory, as there may be many columns
        return out, None if weight is None else zeros.astype(weight.dtype, copy=False), zeros if with_bias else None
    weights = np.ones(width, dtype) if weight is None else weight.astype(dtype, copy=False)
    row_of_ones, largest = np.ones(width, dtype), 1 / LEAST_STD[dtype]
    cuts = blocks(len(rows), 2 * rows[:1].nbytes)
    of_weight, of_bias = np.zeros((2, len(cuts), width), dtype)

    def work(number: int, start: int, stop: int) -> None:
        block, gs = (whole[start:stop].astype(dtype, copy=False) for whole in (rows, cotangent))
        means, stds = mean[start:stop, None], std[start:stop, None]
        normal = (block - means) / stds
        if (large := np.flatnonzero(stds > largest)).size:  # halves, so that no difference overflows
            normal[large] = 2 * ((block[large] / 2 - means[large] / 2) / stds[large])
        h = gs * weights
        slopes = np.vecdot(h, normal) / dtype.type(width)
        centred = h - (np.vecdot(h, row_of_ones) / dtype.type(width))[:, None] - normal * slopes[:, None]
        np.divide(centred, stds, out=out[start:stop], casting="same_kind")
        of_weight[number] = np.ones(len(gs), dtype) @ (gs * normal)
        of_bias[number] = np.ones(len(gs), dtype) @ gs

    run(work, [(number, *cut) for number, cut in enumerate(cuts)], rows.nbytes)
    total_of_weight = None if weight is None else of_weight.sum(axis=0).astype(weight.dtype, copy=False)
    return out, total_of_weight, of_bias.sum(axis=0).astype(x.dtype, copy=False) if with_bias else None


def cross_entropy(
    x: RawArray, target: RawArray, weight: RawArray | None, ignore_index: int, label_smoothing: float, /
) -> tuple[RawArray, RawArray]:
    """Compute the losses of a block of rows at once; no array of probabilities is kept."""
    rows, classes, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    loss, scale = np.zeros(len(rows), x.dtype), np.full((2, len(rows)), -np.inf, dtype)
    weights = None if weight is None else weight.astype(dtype, copy=False)

    def work(start: int, stop: int) -> None:
        block, is_valid = rows[start:stop].astype(dtype, copy=False), target[start:stop] != ignore_index
        label = np.where(is_valid, target[start:stop], 0)
        maximum = extremum_of_rows(np.maximum, block)
        below = block - maximum[:, None]  # so that a likely class has an accurate small loss
        log_sum = np.log(np.vecdot(np.exp(below), np.ones(classes, dtype)))
        scale[:, start:stop] = maximum, log_sum
        losses = log_sum - below[np.arange(stop - start), label]
        if weights is not None:
            losses *= weights[label]
        if label_smoothing:
            smooth = np.vecdot(log_sum[:, None] - below, np.ones(classes, dtype) if weights is None else weights)
            losses = (1 - label_smoothing) * losses + label_smoothing / classes * smooth
        loss[start:stop] = np.where(is_valid, losses, 0)

    run(work, _blocks(rows), rows.nbytes)
    return loss, scale


def cross_entropy_backward(
    cotangent: RawArray,
    x: RawArray,
    target: RawArray,
    weight: RawArray | None,
    ignore_index: int,
    label_smoothing: float,
    scale: RawArray,
    /,
) -> RawArray:
    """Compute the formula of the plain kernel block by block, from the scale."""
    rows, classes, dtype = np.ascontiguousarray(x), x.shape[1], computing_dtype(x.dtype)
    out = empty(rows.shape, x.dtype)
    if not out.size:
        return out
    weights = np.ones(classes, dtype) if weight is None else weight.astype(dtype, copy=False)
    smoothing = label_smoothing / classes
    total_weight = np.add.reduce(weights)

    def work(start: int, stop: int) -> None:
        maximum, log_sum = scale[:, start:stop, None]
        is_valid = target[start:stop] != ignore_index
        label = np.where(is_valid, target[start:stop], 0)
        of_label = (1 - label_smoothing) * weights[label]
        result = np.exp(rows[start:stop] - maximum - log_sum)  # the probabilities
        result *= (of_label + dtype.type(smoothing * total_weight))[:, None]
        result[np.arange(stop - start), label] -= of_label
        if label_smoothing:
            result -= smoothing * weights
        result *= cotangent[start:stop, None]
        result[~is_valid] = 0
        out[start:stop] = result

    run(work, _blocks(rows), rows.nbytes)
    return out
