"""Every verb in a few lines: read this first. The modules beside it do the same in blocks, on threads, and quickly.

What each one does is said in `backends/interface.py`. Floats are computed in float64 and rounded once; a loop takes one
run, or one component, after the other. No operator calls these: `tests/backends/test_plain.py` holds the quick verbs to
them, on every path, and so are the kernels held. Where numbers overflow on the way these give up sooner; the
specification says what is right there.
"""

# ruff: noqa: D103 - a verb is described once, where it is promised
# mypy: disable-error-code="no-any-return"

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any, TypeAlias

import numpy as np
import scipy
from numpy.lib.stride_tricks import as_strided
from numpy.typing import NDArray

from ..dtypes import computing_dtype
from ..matrices import Matrices
from ..segments import Segments
from .plain_attention import attention as attention
from .plain_attention import attention_backward as attention_backward

Array: TypeAlias = NDArray[Any]


def wide(x: Array) -> Array:
    """Floats as float64, bools and integers as int64."""
    return x.astype(np.float64 if x.dtype.kind == "f" else np.int64)


def folded(x: Array) -> np.dtype[Any]:
    """The dtype of a sum or a product: floats keep theirs."""
    return x.dtype if x.dtype.kind == "f" else np.dtype(np.int64)


def runs(x: Array, segments: Segments) -> Iterator[Array]:
    """The rows of each run."""
    for start, stop in pairwise(segments.offsets.tolist()):
        yield x[start:stop]


def of_each_run(function: Callable[..., Any], segments: Segments, dtype: Any, *arrays: Array) -> Array:
    """(N, ...) -> (B, ...): what ``function`` gives for the rows of each run."""
    out = np.empty((segments.count, *arrays[0].shape[1:]), dtype)
    for i, rows in enumerate(zip(*[runs(x, segments) for x in arrays], strict=True)):
        out[i] = function(*rows)
    return out


# ---- elements -------------------------------------------------------------------------------------------------------


def relu(x: Array) -> Array:
    return np.where(x < 0, x.dtype.type(0), x)


def relu_backward(cotangent: Array, y: Array) -> Array:
    return np.where((y > 0) | np.isnan(y), cotangent, cotangent.dtype.type(0))


def gelu(x: Array, approximate: str = "none") -> Array:
    w = wide(x)
    if approximate == "none":
        return (w * scipy.special.ndtr(w)).astype(x.dtype)
    return (w * (1 + np.tanh(np.sqrt(2 / np.pi) * (w + 0.044715 * w**3))) / 2).astype(x.dtype)


def gelu_backward(cotangent: Array, x: Array, approximate: str = "none") -> Array:
    w = wide(x)
    if approximate == "none":
        slope = scipy.special.ndtr(w) + w * np.exp(-w * w / 2) / np.sqrt(2 * np.pi)
    else:
        t = np.tanh(np.sqrt(2 / np.pi) * (w + 0.044715 * w**3))
        slope = (1 + t) / 2 + w * (1 - t * t) / 2 * np.sqrt(2 / np.pi) * (1 + 3 * 0.044715 * w * w)
    return (cotangent * slope).astype(x.dtype)


def silu(x: Array) -> Array:
    return (wide(x) * scipy.special.expit(wide(x))).astype(x.dtype)


def silu_backward(cotangent: Array, x: Array) -> Array:
    s = scipy.special.expit(wide(x))
    return (cotangent * (s + wide(x) * s * (1 - s))).astype(x.dtype)


def erf(x: Array) -> Array:
    return scipy.special.erf(wide(x)).astype(x.dtype)


def erfc(x: Array) -> Array:
    return np.vectorize(math.erfc, otypes=[np.float64])(wide(x)).astype(x.dtype)


def sgn(x: Array) -> Array:
    return np.where(np.isnan(x), x, (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)) if x.dtype != bool else x


# ---- runs -----------------------------------------------------------------------------------------------------------


def segment_sum(x: Array, segments: Segments) -> Array:
    return of_each_run(lambda run: wide(run).sum(axis=0), segments, folded(x), x)


def segment_prod(x: Array, segments: Segments) -> Array:
    return of_each_run(lambda run: wide(run).prod(axis=0), segments, folded(x), x)


def segment_max(x: Array, segments: Segments) -> Array:
    least = -np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).min if x.dtype != bool else False
    return of_each_run(lambda run: run.max(axis=0, initial=least), segments, x.dtype, x)


def segment_min(x: Array, segments: Segments) -> Array:
    most = np.inf if x.dtype.kind == "f" else np.iinfo(x.dtype).max if x.dtype != bool else True
    return of_each_run(lambda run: run.min(axis=0, initial=most), segments, x.dtype, x)


def segment_argmax(x: Array, segments: Segments) -> Array:
    return of_each_run(lambda run: run.argmax(axis=0) if len(run) else -1, segments, np.int64, x)


def segment_argmin(x: Array, segments: Segments) -> Array:
    return of_each_run(lambda run: run.argmin(axis=0) if len(run) else -1, segments, np.int64, x)


def segment_max_backward(cotangent: Array, x: Array, maximum: Array, segments: Segments) -> Array:
    attained = x == spread(maximum, segments)
    share = np.where(attained, spread(wide(cotangent) / segment_sum(attained, segments), segments), 0)
    return np.where(np.isnan(spread(maximum, segments)), np.nan, share).astype(cotangent.dtype)


def segment_softmax(x: Array, segments: Segments) -> Array:
    powers = np.exp(wide(x) - spread(segment_max(wide(x), segments), segments))
    return (powers / spread(segment_sum(powers, segments), segments)).astype(x.dtype)


def segment_softmax_backward(cotangent: Array, y: Array, segments: Segments) -> Array:
    weighted = wide(cotangent) * wide(y)
    return (weighted - wide(y) * spread(segment_sum(weighted, segments), segments)).astype(y.dtype)


def segment_cumsum(x: Array, segments: Segments, backwards: bool = False) -> Array:
    step = -1 if backwards else 1
    return np.concatenate([x[:0].astype(folded(x)), *[
        wide(run)[::step].cumsum(axis=0)[::step].astype(folded(x)) for run in runs(x, segments)
    ]])  # fmt: skip


def spread(y: Array, segments: Segments) -> Array:
    return np.repeat(y, segments.lengths, axis=0)


# ---- rows -----------------------------------------------------------------------------------------------------------


def softmax_last(x: Array) -> Array:
    powers = np.exp(wide(x) - x.max(axis=-1, keepdims=True, initial=-np.inf))
    return (powers / powers.sum(axis=-1, keepdims=True)).astype(x.dtype)


def softmax_last_backward(cotangent: Array, y: Array) -> Array:
    weighted = wide(cotangent) * wide(y)
    return (weighted - wide(y) * weighted.sum(axis=-1, keepdims=True)).astype(y.dtype)


def layer_norm(x: Array, weight: Array | None, bias: Array | None, eps: float) -> tuple[Array, Array, Array]:
    mean = wide(x).sum(axis=1) / x.shape[1]
    centred = x - mean[:, None]
    std = np.sqrt((centred * centred).sum(axis=1) / x.shape[1] + eps)
    normal = centred / std[:, None]
    result = normal * (1 if weight is None else weight) + (0 if bias is None else bias)
    kept = computing_dtype(x.dtype)
    return result.astype(x.dtype), mean.astype(kept), std.astype(kept)


def layer_norm_backward(
    cotangent: Array, x: Array, weight: Array | None, mean: Array, std: Array, with_bias: bool = True
) -> tuple[Array, Array | None, Array | None]:
    normal = (x - wide(mean)[:, None]) / wide(std)[:, None]
    h = wide(cotangent) * (1 if weight is None else weight)
    pulled = h - (h.sum(axis=1) / x.shape[1])[:, None] - normal * ((h * normal).sum(axis=1) / x.shape[1])[:, None]
    of_weight = None if weight is None else (cotangent * normal).sum(axis=0).astype(weight.dtype)
    of_bias = wide(cotangent).sum(axis=0).astype(x.dtype) if with_bias else None
    return (pulled / wide(std)[:, None]).astype(x.dtype), of_weight, of_bias


def cross_entropy(
    x: Array, target: Array, weight: Array | None, ignore_index: int, label_smoothing: float
) -> tuple[Array, Array]:
    loss, classes = np.zeros(len(x), x.dtype), x.shape[1]
    weights = np.ones(classes) if weight is None else weight
    for i, row in enumerate(wide(x)):
        if classes and target[i] != ignore_index:
            of_class = weights * (scipy.special.logsumexp(row) - row)
            loss[i] = (1 - label_smoothing) * of_class[target[i]] + label_smoothing * of_class.sum() / classes
    maximum = wide(x).max(axis=1, initial=-np.inf)
    scale = np.stack([maximum, np.log(np.exp(wide(x) - maximum[:, None]).sum(axis=1))])
    return loss, scale.astype(computing_dtype(x.dtype))


def cross_entropy_backward(
    cotangent: Array,
    x: Array,
    target: Array,
    weight: Array | None,
    ignore_index: int,
    label_smoothing: float,
    scale: Array,
) -> Array:
    out, classes = np.zeros(x.shape, x.dtype), x.shape[1]
    weights = np.ones(classes) if weight is None else wide(weight)
    for i, row in enumerate(softmax_last(wide(x))):
        if classes and target[i] != ignore_index:
            own = (1 - label_smoothing) * weights[target[i]] * (row - (np.arange(classes) == target[i]))
            out[i] = cotangent[i] * (own + label_smoothing / classes * (row * weights.sum() - weights))
    return out


# ---- movement -------------------------------------------------------------------------------------------------------


def pad(x: Array, segments: Segments, length: int, fill: Any) -> Array:
    out = np.full((segments.count, length, *x.shape[1:]), fill, x.dtype)
    for i, run in enumerate(runs(x, segments)):
        out[i, : len(run)] = run
    return out


def unpad(padded: Array, segments: Segments) -> Array:
    lengths = segments.lengths.tolist()
    return np.concatenate(
        [
            padded[:0].reshape(0, *padded.shape[2:]),
            *[entry[:length] for entry, length in zip(padded, lengths, strict=True)],
        ]
    )


def take_rows(x: Array, index: Array) -> Array:
    return x[index]


def add_rows(x: Array, index: Array, rows: int) -> Array:
    out = np.zeros((rows, *x.shape[1:]), wide(x).dtype)
    np.add.at(out, index, x)
    return out.astype(x.dtype)


def components(buffer: Array, sizes: Array, strides: Array, offsets: Array) -> Iterator[Array]:
    """A view of each component in its place."""
    for shape, steps, offset in zip(sizes.tolist(), strides.tolist(), offsets.tolist(), strict=True):
        yield as_strided(buffer[offset:], shape, [step * buffer.itemsize for step in steps])


def gather_components(buffer: Array, sizes: Array, strides: Array, offsets: Array) -> Array:
    found = [component.ravel() for component in components(buffer, sizes, strides, offsets)]
    return np.concatenate([buffer[:0], *found])


def scatter_components(flat: Array, sizes: Array, strides: Array, offsets: Array, buffer_size: int) -> Array:
    place = gather_components(np.arange(buffer_size), sizes, strides, offsets)
    return add_rows(flat, place, buffer_size)


def pack_list(arrays: Sequence[Array]) -> tuple[Array, Array]:
    return np.concatenate(arrays), np.array([len(x) for x in arrays])


# ---- products and totals --------------------------------------------------------------------------------------------


def matrices(flat: Array, which: Matrices) -> Iterator[Array]:
    """Each matrix with its logical shape."""
    for offset, rows, cols in which.places:
        stored = flat[offset : offset + rows * cols]
        yield wide(stored).reshape(cols, rows).T if which.transposed else wide(stored).reshape(rows, cols)


def matmul_components(a: Array, b: Array, left: Matrices, right: Matrices) -> Array:
    pairs = zip(matrices(a, left), matrices(b, right), strict=True)
    dtype = np.result_type(a, b)
    return np.concatenate([np.empty(0, dtype), *[(one @ other).ravel().astype(dtype) for one, other in pairs]])


def sum_all(x: Array) -> Array:
    return np.asarray(wide(x).sum().astype(folded(x)))


def sum_last(x: Array) -> Array:
    return wide(x).sum(axis=-1).astype(folded(x))
