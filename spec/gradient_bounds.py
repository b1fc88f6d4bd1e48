"""How far a gradient may be from the exact one, where the backward formula cancels or contains a rounded result.

The default, used by every operator that is not listed here, is the one of a sum of products: with K cotangents g that
reach an input through slopes s, `E = (K + 4) · Σ abs(s · g)`. The operators of this file subtract numbers that are
themselves rounded; their E adds the magnitudes instead. `tol = u · E + ½ ulp + floor` as for results, with u the
unit roundoff of the dtype itself.

Where slopes, cotangents or what lies between them are too small for all their digits, `GRADIENT_LOST` says how many
floors that costs; by default it is `Σ (1 + abs(s) + abs(g))`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from . import attention_bounds, composed_bounds, flex_bounds
from .bounds import Arguments, Nested, cross_entropy_divisor, layer_norm_error, layer_norm_parts, trailing_axes
from .components import each
from .function import Function
from .functions import FUNCTIONS
from .numerics import NDArray, mean_along, sum_along, wide
from .pair_bounds import logaddexp_error, pow_error, pow_lost
from .run_bounds import RUN_BOUNDS, of_gradient, softmax_factor

__all__ = ["GRADIENT_BOUNDS", "GRADIENT_LOST"]

Errors = dict[str, Nested]


def _of_slope(function: Function) -> Callable[[Arguments, Nested], Errors]:
    """Of a slope and a product; 1 - y * y, say, is off by 16u where y, within 4 ulp, is 1."""
    relative, absolute = function.slope_error

    def errors(arguments: Arguments, cotangent: Nested) -> Errors:
        def one(x: NDArray, g: NDArray) -> Any:
            return (relative * np.abs(function.slope(x)) + absolute) * np.abs(g)

        return {"self": each(one, arguments["self"], cotangent)}

    return errors


def _silu(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of s * (1 + x * (1 - s)): the last difference cancels where s is nearly 1, until s is 1 and nothing is left."""

    def one(x: NDArray, g: NDArray) -> Any:
        return 20 * np.abs(g) * (1 + np.minimum(np.abs(wide(x)), 40)) / (1 + np.exp(-wide(x)))

    return {"self": each(one, arguments["self"], cotangent)}


def _gelu(arguments: Arguments, cotangent: Nested) -> Errors:
    """The tanh form multiplies 1 - t * t, which cancels until it is 0, by x and by the slope of a cubic."""

    def one(x: NDArray, g: NDArray) -> Any:
        x = np.minimum(np.abs(wide(x)), 10)
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
        count = np.prod([x.shape[axis] for axis in axes])
        most = np.minimum(size, np.sqrt(count))  # of y, whatever is wrong with it
        along = most * mean_along(h * size, axes, keepdims=True) + size * mean_along(h * most, axes, keepdims=True)
        return (count + 12) * (h + mean_along(h, axes, keepdims=True) + along) * cancellation / s

    runs = sum(math.prod(x.shape[: -len(axes)]) for x in arguments["self"])

    def of_weight(x: NDArray, g: NDArray) -> Any:
        y = layer_norm_parts(wide(x), axes, eps)[0]
        return np.abs(g) * (2 * layer_norm_error(wide(x), axes, eps) + (runs + 4) * np.abs(y))

    def of_bias(x: NDArray, g: NDArray) -> Any:
        return (runs + 4) * np.abs(g)

    return {
        "self": each(one, arguments["self"], cotangent),
        "weight": _over_runs(of_weight, arguments, cotangent),
        "bias": _over_runs(of_bias, arguments, cotangent),
    }


def _over_runs(function: Callable[[NDArray, NDArray], NDArray], arguments: Arguments, cotangent: Nested) -> Any:
    parts = [function(x, g) for x, g in zip(arguments["self"], cotangent, strict=True) if x.size]
    nothing = np.zeros(arguments["normalized_shape"])
    return sum((part.sum(axis=tuple(range(part.ndim - nothing.ndim))) for part in parts), start=nothing)


def _cross_entropy(arguments: Arguments, cotangent: Nested) -> Errors:
    """Of scale · (p - q), with q the probabilities of the target; ignored rows are exact."""
    components, targets = arguments["self"], arguments["target"]
    weight, smoothing = arguments.get("weight"), arguments.get("label_smoothing", 0.0)
    ignored = arguments.get("ignore_index", -100)
    classes = np.arange(components.shape[-1])
    heavy = np.ones(classes.size) if weight is None else wide(weight)
    counted = [y != ignored for y in targets]
    labels = [np.where(counts, y, 0) for counts, y in zip(counted, targets, strict=True)]
    divisor = cross_entropy_divisor(arguments) if arguments.get("reduction", "mean") == "mean" else 1.0

    def one(x: NDArray, label: NDArray, counts: NDArray, g: NDArray) -> Any:
        if x.size == 0:
            return np.zeros(x.shape)
        p, factor = softmax_factor(wide(x), -1)
        q = (1 - smoothing) * (classes == label[..., None]) + smoothing / classes.size
        share = np.where(counts, np.abs(g) * float(heavy.max()) / divisor, 0.0)[..., None]
        return (2 * factor.max(axis=-1, keepdims=True) + len(components)) * (p + q) * share

    groups = zip(components, labels, counted, _of_losses(arguments, cotangent), strict=True)
    return {"self": [one(*group) for group in groups]}


def _of_losses(arguments: Arguments, cotangent: Nested) -> Nested:
    """Return what every component of the losses gets: its own cotangent, or that of their sum or mean."""
    return cotangent if arguments.get("reduction") == "none" else [cotangent] * len(arguments["self"])


GRADIENT_BOUNDS: Mapping[str, Callable[[Arguments, Nested], Errors]] = {
    **{name: _of_slope(one) for name, one in FUNCTIONS.items()},
    "pow": pow_error,
    "logaddexp": logaddexp_error,
    "silu": _silu,
    "gelu": _gelu,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "cross_entropy": _cross_entropy,
    "scaled_dot_product_attention": attention_bounds.gradient_error,
    "flex_attention": flex_bounds.gradient_error,
    **{op: composed_bounds.gradient_error(op) for op in composed_bounds.COMPOSED},
    **{name: partial(of_gradient, bound.gradient, keeps=bound.keeps) for name, bound in RUN_BOUNDS.items()},
}


def _lost_by_functions(arguments: Arguments, cotangent: Nested) -> Errors:
    """Products of x, a cotangent, and a number that may have vanished."""
    return {"self": each(lambda x, g: (1 + np.abs(g)) * (1 + np.abs(wide(x))), arguments["self"], cotangent)}


def _lost_by_softmax(arguments: Arguments, cotangent: Nested) -> Errors:
    """Every probability of a run, times its cotangent."""
    axis = arguments["dim"] - 1
    return {"self": each(lambda g: 0 * g + 2 * sum_along(1 + np.abs(g), axis, keepdims=True), cotangent)}


def _lost_by_layer_norm(arguments: Arguments, cotangent: Nested) -> Errors:
    """What the normalized rows lose, and products of deviations, cotangents and weights, divided by s up to twice."""
    axes, eps = trailing_axes(arguments["normalized_shape"]), arguments.get("eps", 1e-5)
    weight = arguments.get("weight")

    def one(x: NDArray, g: NDArray) -> Any:
        if x.size == 0:
            return np.zeros(x.shape)
        s = layer_norm_parts(wide(x), axes, eps)[1]
        heavy = 1.0 if weight is None else np.abs(wide(weight))
        most = np.abs(g) * heavy + heavy
        return 1 + 3 * x.size * (4 + most + mean_along(most, axes, keepdims=True)) * (1 + 1 / s) / s

    def of_weight(x: NDArray, g: NDArray) -> Any:
        return 2 + (1 + np.abs(g)) * (3 / layer_norm_parts(wide(x), axes, eps)[1])

    return {
        "self": each(one, arguments["self"], cotangent),
        "weight": _over_runs(of_weight, arguments, cotangent),
    }


def _lost_by_cross_entropy(arguments: Arguments, cotangent: Nested) -> Errors:
    """Products of a probability, a cotangent, a weight and 1 / divisor, any of which may have vanished."""
    weight, mean = arguments.get("weight"), arguments.get("reduction", "mean") == "mean"
    heavy = 1.0 if weight is None else float(np.max(wide(weight)))
    factor = (1 + heavy) * (1 + 1 / cross_entropy_divisor(arguments) if mean else 1)

    def one(x: NDArray, g: NDArray) -> Any:
        return np.zeros(x.shape) + np.asarray((1 + np.abs(g)) * factor)[..., None]

    return {"self": [one(*pair) for pair in zip(arguments["self"], _of_losses(arguments, cotangent), strict=True)]}


GRADIENT_LOST: Mapping[str, Callable[[Arguments, Nested], Errors]] = {
    "pow": pow_lost,
    "silu": _lost_by_functions,
    "gelu": _lost_by_functions,
    "softmax": _lost_by_softmax,
    "layer_norm": _lost_by_layer_norm,
    "cross_entropy": _lost_by_cross_entropy,
    "scaled_dot_product_attention": attention_bounds.gradient_lost,
    "flex_attention": flex_bounds.gradient_lost,
    **{op: composed_bounds.gradient_lost(op) for op in composed_bounds.COMPOSED},
    **{name: partial(of_gradient, bound.gradient_lost, keeps=bound.keeps) for name, bound in RUN_BOUNDS.items()},
}
