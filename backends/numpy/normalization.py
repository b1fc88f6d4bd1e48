"""Softmax of runs and of rows, and layer normalization.

Row sums are dot products with ones: quick, and unlike a matrix product BLAS keeps them on the calling thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..memory import empty
from ..segments import Segments
from .elementwise import where
from .extremes import best_of_rows
from .running import as_matrix, blocks, maximum_of, minimum_of, ones, run, scratch
from .segment import best_of_runs, spans_of, sum_runs, with_runs

TAME = {np.dtype(np.float32): 40.0, np.dtype(np.float64): 300.0}  # exp of +-this, and sums of it, are ordinary numbers
ROUNDING = {np.dtype(np.float32): 2.0**-23, np.dtype(np.float64): 2.0**-52}  # between 1 and its neighbour
ROOT = {
    np.dtype(np.float32): 2.0**-40,
    np.dtype(np.float64): 2.0**-300,
}  # its square shrinks, or enlarges, numbers that have none


def segment_softmax(x: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """(N, ...) -> (N, ...): exp(x - max) / sum over each run; NaN where the run holds NaN, +inf, or -inf only."""
    rows = as_matrix(x)
    out = empty(rows.shape, x.dtype)
    if not out.size:  # nor is a number wanted for each of the columns, of which there may be many
        return out.reshape(x.shape)
    dtype = computing_dtype(x.dtype)

    def work(start: int, stop: int, first: int, last: int) -> None:
        block = rows[start:stop].astype(dtype, copy=False)
        target = out[start:stop] if dtype == out.dtype else np.empty(block.shape, dtype)
        if not tame(block):
            most = best_of_runs(np.maximum, block, segments, first, last)
            base = lowered_by(best_of_runs(np.minimum, block, segments, first, last), most)
            with_runs(np.subtract, block, base, segments, first, last, target)
            block = target
        np.exp(block, out=target)
        with_runs(np.divide, target, sum_runs(target, segments, first, last), segments, first, last, out[start:stop])

    run(work, spans_of(rows, segments), rows.nbytes)
    return out.reshape(x.shape)


def segment_softmax_backward(cotangent: NDArray[Any], y: NDArray[Any], segments: Segments, /) -> NDArray[Any]:
    """``y * (cotangent - sum of y * cotangent over the run)``, for y = segment_softmax(x)."""
    rows, cotangents = as_matrix(y), as_matrix(cotangent)
    out = empty(rows.shape, y.dtype)
    if not out.size:
        return out.reshape(y.shape)
    dtype = computing_dtype(y.dtype)

    def work(start: int, stop: int, first: int, last: int) -> None:
        ys, gs = rows[start:stop].astype(dtype, copy=False), cotangents[start:stop].astype(dtype, copy=False)
        target = out[start:stop] if dtype == out.dtype else np.empty(ys.shape, dtype)
        np.multiply(gs, ys, out=target)
        with_runs(np.subtract, gs, sum_runs(target, segments, first, last), segments, first, last, target)
        np.multiply(target, ys, out=out[start:stop], casting="same_kind")

    run(work, spans_of(rows, segments), rows.nbytes)
    return out.reshape(y.shape)


def _rows_of_last(x: NDArray[Any]) -> NDArray[Any]:
    width = x.shape[-1]
    return np.ascontiguousarray(x).reshape(x.size // max(1, width), width)


def softmax_last(x: NDArray[Any], /) -> NDArray[Any]:
    """(..., D) -> (..., D): the softmax of each row; NaN where the row holds NaN, +inf, or -inf only."""
    rows = _rows_of_last(x)
    out = empty(rows.shape, x.dtype)
    if not out.size:
        return out.reshape(x.shape)
    dtype = computing_dtype(x.dtype)
    row_of_ones = ones(rows.shape[1], dtype)

    def work(start: int, stop: int) -> None:
        block = rows[start:stop].astype(dtype, copy=False)
        target = out[start:stop] if dtype == out.dtype else np.empty(block.shape, dtype)
        if not tame(block):
            least, most = np.empty((2, len(block)), dtype)
            best_of_rows(np.minimum, block, least)
            best_of_rows(np.maximum, block, most)
            block = np.subtract(block, lowered_by(least, most)[:, None], out=target)
        np.exp(block, out=target)
        sums = np.vecdot(target, row_of_ones)
        np.divide(target, sums[:, None], out=out[start:stop], casting="same_kind")

    run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return out.reshape(x.shape)


def softmax_last_backward(cotangent: NDArray[Any], y: NDArray[Any], /) -> NDArray[Any]:
    """``y * (cotangent - sum of y * cotangent over the row)``, for y = softmax_last(x)."""
    rows, cotangents = _rows_of_last(y), _rows_of_last(cotangent)
    out = empty(rows.shape, y.dtype)
    dtype = computing_dtype(y.dtype)

    def work(start: int, stop: int) -> None:
        ys, gs = rows[start:stop].astype(dtype, copy=False), cotangents[start:stop].astype(dtype, copy=False)
        target = out[start:stop] if dtype == out.dtype else np.empty(ys.shape, dtype)
        np.subtract(gs, np.vecdot(gs, ys)[:, None], out=target)
        np.multiply(target, ys, out=out[start:stop], casting="same_kind")

    if out.size:
        run(work, blocks(len(rows), rows[:1].nbytes), rows.nbytes)
    return out.reshape(y.shape)


def tame(block: NDArray[Any]) -> bool:
    """Whether exp cannot overflow nor a sum of exps vanish, so that no maximum need be subtracted first."""
    if block.size == 0:
        return True
    limit = TAME[block.dtype]
    # NaN compares false, so that a block with one is not tame.
    return minimum_of(block) > -limit and maximum_of(block) < limit  # type: ignore[no-any-return]


def lowered_by(least: NDArray[Any], most: NDArray[Any]) -> NDArray[Any]:
    """Return what is subtracted from each run: its maximum, but 0 if the run is tame.

    A tame run has the same bits beside other runs that are not.
    """
    limit = TAME[most.dtype]
    lowered: NDArray[Any] = where((least > -limit) & (most < limit), most.dtype.type(0), most)
    return lowered


def layer_norm(
    x: NDArray[Any], weight: NDArray[Any] | None, bias: NDArray[Any] | None, eps: float, /
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """(N, D) -> (N, D), and each row's mean and std, sqrt(variance + eps): (x - mean) / std * weight + bias.

    Mean and std keep the dtype that is computed in, float32 for float16.
    """
    rows, width = np.ascontiguousarray(x), x.shape[1]
    out = empty(rows.shape, x.dtype)
    dtype = computing_dtype(x.dtype)
    if not out.size:
        return out, *np.full((2, len(rows)), np.nan, dtype)
    mean, std = np.empty(len(rows), dtype), np.empty(len(rows), dtype)
    row_of_ones, count, added = ones(width, dtype), np.array(width, dtype), np.array(eps, dtype)

    def work(start: int, stop: int) -> None:
        block = rows[start:stop].astype(dtype, copy=False)
        target = out[start:stop] if dtype == out.dtype else np.empty(block.shape, dtype)
        means, scale = mean[start:stop], std[start:stop]
        np.vecdot(block, row_of_ones, out=means)
        np.divide(means, count, out=means)
        np.subtract(block, means[:, None], out=target)
        np.vecdot(target, target, out=scale)
        np.divide(scale, count, out=scale)
        doubtful = _doubtful(means, scale, width, eps)
        again = None if doubtful is None else _normalized_again(block[doubtful], scale[doubtful], eps)
        np.add(scale, added, out=scale)
        np.sqrt(scale, out=scale)
        np.divide(target, scale[:, None], out=target)
        if again is not None:
            target[doubtful], means[doubtful], scale[doubtful] = again
        if weight is not None:
            np.multiply(target, weight, out=target)
        if bias is not None:
            np.add(target, bias, out=target)
        if target.dtype != out.dtype:
            out[start:stop] = target

    run(work, blocks(len(rows), width * x.itemsize), rows.nbytes)
    return out, mean, std


def _doubtful(means: NDArray[Any], variances: NDArray[Any], width: int, eps: float) -> NDArray[Any] | None:
    """The rows, if any, whose variance is beyond all numbers, or no more than rounding leaves of equal elements.

    And those whose squares may be too small for all their digits, where ``eps`` does not cover that.
    """
    error, small = width * ROUNDING[means.dtype], ROOT[means.dtype] ** 2
    enough = small if eps < small else 0
    rounding = 2 * error * error * means.dot(means)  # of all rows together, and more than that of each as it is rounded
    if minimum_of(variances) >= max(rounding, enough) and maximum_of(variances) < np.inf:
        return None
    rows = np.flatnonzero(~((variances >= np.maximum(np.square(error * means), enough)) & (variances < np.inf)))
    return rows if rows.size else None


def _normalized_again(
    rows: NDArray[Any], variances: NDArray[Any], eps: float
) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Rows normalized, and their means and stds, from the distances to their first element, and on another scale.

    Equal elements have no distance, so that their mean is exact; where ``eps`` is 0 too their std is inf, which makes
    them and their gradient 0. Numbers whose squares are too large or too small are multiplied by a power of two first.
    """
    root = ROOT[rows.dtype] ** 2
    small = (variances + eps < root) & (abs(rows[:, 0]) < 1)  # equal ones may be large
    shrink = where(small, 1 / root, where(variances < np.inf, 1, root)).astype(rows.dtype)
    centred = rows * shrink[:, None]
    first = centred[:, 0].copy()
    centred -= first[:, None]
    shift = np.add.reduce(centred, axis=1) / rows.shape[1]
    centred -= shift[:, None]
    mean, variance = (first + shift) / shrink, np.vecdot(centred, centred) / rows.shape[1]
    std = np.sqrt(variance + (eps * shrink.astype(np.float64) * shrink).astype(rows.dtype))
    kept = np.minimum(std / shrink, np.finfo(rows.dtype).max)
    std[std == 0] = 1  # nothing is left to be divided
    kept[variance == 0] = max(eps**0.5, np.finfo(rows.dtype).smallest_subnormal) if eps else np.inf
    return centred / std[:, None], mean, kept


def layer_norm_backward(
    cotangent: NDArray[Any],
    x: NDArray[Any],
    weight: NDArray[Any] | None,
    mean: NDArray[Any],
    std: NDArray[Any],
    /,
    with_bias: bool = True,
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
    """The cotangents of x, of weight (None without one) and of bias (None unless ``with_bias``).

    With h = cotangent * weight and n the normalized rows, that of x is (h - mean(h) - n mean(h n)) / std.
    """
    rows, cotangents, width = np.ascontiguousarray(x), np.ascontiguousarray(cotangent), x.shape[1]
    out = empty(rows.shape, x.dtype)
    if not out.size:
        zeros = np.broadcast_to(x.dtype.type(0), width)  # which takes no memory, as there may be many columns
        return out, None if weight is None else zeros.astype(weight.dtype, copy=False), zeros if with_bias else None
    dtype = computing_dtype(x.dtype)
    scale_of = ones(width, dtype) if weight is None else weight.astype(dtype, copy=False)
    cuts = blocks(len(rows), 2 * width * x.itemsize)
    weight_sums, bias_sums = np.zeros((len(cuts), width), dtype), np.zeros((len(cuts), width), dtype)

    def work(number: int, start: int, stop: int) -> None:
        gs = cotangents[start:stop].astype(dtype, copy=False)
        own = std[start:stop]
        centred, row_of_ones = scratch("centred", gs.shape, dtype), ones(len(gs), dtype)
        stds = _centred_on_a_scale(rows[start:stop], mean[start:stop], own, centred)
        scale = np.divide(1, stds)
        target = np.multiply(gs, centred, out=out[start:stop] if dtype == out.dtype else None)
        slope = np.vecdot(target, scale_of)  # sum(h n) * std
        np.multiply(slope, scale * scale / width, out=slope)
        np.multiply(centred, slope[:, None], out=centred)
        np.add(centred, (np.vecdot(gs, scale_of) / width)[:, None], out=centred)
        if weight is not None:
            np.multiply(target, scale[:, None], out=target)
            np.matmul(row_of_ones, target, out=weight_sums[number])
        if with_bias:
            np.matmul(row_of_ones, gs, out=bias_sums[number])
        np.multiply(gs, scale_of, out=target)
        np.subtract(target, centred, out=target)
        if stds is not own:
            np.divide(1, own, out=scale)
        np.multiply(target, scale[:, None], out=out[start:stop], casting="same_kind")

    run(work, [(number, *cut) for number, cut in enumerate(cuts)], rows.nbytes)
    weight_cotangent = None if weight is None else np.add.reduce(weight_sums, axis=0).astype(weight.dtype, copy=False)
    bias_cotangent = np.add.reduce(bias_sums, axis=0).astype(x.dtype, copy=False) if with_bias else None
    return out, weight_cotangent, bias_cotangent


def _centred_on_a_scale(
    block: NDArray[Any], means: NDArray[Any], stds: NDArray[Any], out: NDArray[Any]
) -> NDArray[Any]:
    """Write block - means, and return the stds; both times a power of two where the square of a std is no number."""
    small, large = ROOT[stds.dtype], 1 / ROOT[stds.dtype]
    if maximum_of(stds) <= large and minimum_of(stds) >= small:
        np.subtract(block, means[:, None], out=out)
        return stds
    other = ((stds > large) & (stds < np.inf)) | (stds < small)
    exponents = where(other, -np.frexp(stds)[1], 0)
    shrink = np.ldexp(stds.dtype.type(1), np.minimum(exponents, 0))
    enlarge = np.ldexp(stds.dtype.type(1), np.clip(exponents, 0, np.finfo(stds.dtype).maxexp - 2))
    np.subtract(block * shrink[:, None], (means * shrink)[:, None], out=out)
    np.multiply(out, enlarge[:, None], out=out)
    scaled: NDArray[Any] = stds * shrink * enlarge
    return scaled
