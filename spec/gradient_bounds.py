"""How far a gradient may be from the exact one, where the backward formula cancels or contains a rounded result.

The default, used by every operator that is not listed here, is the one of a sum of products: with K cotangents g that
reach an input through slopes s, `E = (K + 4) · Σ abs(s · g)`. The operators of this file subtract numbers that are
themselves rounded; their E adds the magnitudes instead. `tol = u · E + ½ ulp + floor` as for results, with u the
unit roundoff of the dtype itself.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .bounds import Arguments, Nested, layer_norm_error, layer_norm_parts, softmax_factor, trailing_axes
from .components import each
from .numerics import NDArray, mean_along, sum_along, wide

__all__ = ["GRADIENT_BOUNDS"]

Errors = dict[str, Nested]


def _tanh(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of 1 - y * y: an error of 4 ulp in y is 16u where y is 1."""
    return {"self": each(lambda g: 20 * np.abs(g), cotangent)}


def _sin(arguments: Arguments, cotangent: Nested) -> Errors:
    """A cosine within 4 ulp of the result or, next to its zeros, of 1/16."""
    return {"self": each(lambda x, g: (8 * np.abs(np.cos(wide(x))) + 0.5) * np.abs(g), arguments["self"], cotangent)}


def _silu(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of s * (1 + x * (1 - s)): the last difference cancels where s is nearly 1."""

    def one(x: NDArray, g: NDArray) -> Any:
        return 20 * np.abs(g) * (1 + np.abs(wide(x))) / (1 + np.exp(-wide(x)))

    return {"self": each(one, arguments["self"], cotangent)}


def _gelu(arguments: Arguments, cotangent: Nested) -> Errors:
    """The tanh form multiplies 1 - t * t, which cancels, by x and by the slope of a cubic."""

    def one(x: NDArray, g: NDArray) -> Any:
        x = np.abs(wide(x))
        return np.abs(g) * (20 + 10 * x * (1 + 0.14 * x * x))

    return {"self": each(one, arguments["self"], cotangent)}


def _softmax(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of y * (g - Σ y g), with y as far off as its own bound says."""
    axis = arguments["dim"] - 1

    def one(x: NDArray, g: NDArray) -> Any:
        if x.size == 0:
            return np.zeros(x.shape)
        p, factor = softmax_factor(wide(x), axis)
        reach = np.abs(g) + sum_along(p * np.abs(g), axis, keepdims=True)
        return (2 * factor.max(axis=axis, keepdims=True) + x.shape[axis] + 4) * p * reach

    return {"self": each(one, arguments["self"], cotangent)}


def _layer_norm(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of (h - mean h - y · mean(h · y)) / s with h = g · weight, where y carries its own error; and sums over runs."""
    axes, eps = trailing_axes(arguments["normalized_shape"]), arguments.get("eps", 1e-5)
    weight = arguments.get("weight")

    def one(x: NDArray, g: NDArray) -> Any:
        if x.size == 0:
            return np.zeros(x.shape)
        _, s, cancellation = layer_norm_parts(wide(x), axes, eps)
        h = np.abs(g if weight is None else g * wide(weight))
        size = (np.abs(wide(x)) + mean_along(np.abs(x), axes, keepdims=True)) / s
        reach = h + mean_along(h, axes, keepdims=True) + size * mean_along(h * size, axes, keepdims=True)
        return (np.prod([x.shape[axis] for axis in axes]) + 12) * reach * cancellation / s

    runs = sum(math.prod(x.shape[: -len(axes)]) for x in arguments["self"])

    def of_weight(x: NDArray, g: NDArray) -> Any:
        y = layer_norm_parts(wide(x), axes, eps)[0]
        return np.abs(g) * (2 * layer_norm_error(wide(x), axes, eps) + (runs + 4) * np.abs(y))

    def of_bias(x: NDArray, g: NDArray) -> Any:
        return (runs + 4) * np.abs(g)

    return {
        "self": each(one, arguments["self"], cotangent),
        "weight": _over_runs(of_weight, arguments, cotangent, len(axes)),
        "bias": _over_runs(of_bias, arguments, cotangent, len(axes)),
    }


def _over_runs(
    function: Callable[[NDArray, NDArray], NDArray], arguments: Arguments, cotangent: Nested, trailing: int
) -> Any:
    parts = [function(x, g) for x, g in zip(arguments["self"], cotangent, strict=True) if x.size]
    return sum(part.sum(axis=tuple(range(part.ndim - trailing))) for part in parts)


def _cross_entropy(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of scale · (p - q), with q the probabilities of the target; ignored rows are exact."""
    components, targets = arguments["self"], arguments["target"]
    weight, smoothing = arguments.get("weight"), arguments.get("label_smoothing", 0.0)
    reduction, ignored = arguments.get("reduction", "mean"), arguments.get("ignore_index", -100)
    classes = np.arange(components.shape[-1])
    heavy = np.ones(classes.size) if weight is None else wide(weight)
    counted = [y != ignored for y in targets]
    labels = [np.where(counts, y, 0) for counts, y in zip(counted, targets, strict=True)]
    weights = [np.where(counts, heavy[label], 0.0) for counts, label in zip(counted, labels, strict=True)]
    divisor = sum(float(one.sum()) for one in weights) if reduction == "mean" else 1.0

    def one(x: NDArray, label: NDArray, counts: NDArray, g: NDArray) -> Any:
        if x.size == 0:
            return np.zeros(x.shape)
        p, factor = softmax_factor(wide(x), -1)
        q = (1 - smoothing) * (classes == label[..., None]) + smoothing / classes.size
        share = np.where(counts, np.abs(g) * float(heavy.max()) / divisor, 0.0)[..., None]
        return (2 * factor.max(axis=-1, keepdims=True) + len(components)) * (p + q) * share

    each_cotangent = cotangent if reduction == "none" else [cotangent] * len(components)
    groups = zip(components, labels, counted, each_cotangent, strict=True)
    return {"self": [one(*group) for group in groups]}


GRADIENT_BOUNDS: Mapping[str, Callable[[Arguments, Nested], Errors]] = {
    "tanh": _tanh,
    "sin": _sin,
    "silu": _silu,
    "gelu": _gelu,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "cross_entropy": _cross_entropy,
}
