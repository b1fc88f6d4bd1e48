"""Where bounds end: what is added up may be larger than the largest float, and then an infinity or NaN is right too.

`ADDED` holds, for every operator that adds, the sum of the finite magnitudes. Where it exceeds the largest float of the
dtype that is computed in, some order of evaluation overflows: NUMERICS-8. Entries of gradients are dicts by argument;
without an entry a gradient adds up slopes times cotangents, and a slope of its own may be beyond the largest float.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from . import attention_bounds, composed_bounds, flex_bounds
from .bounds import (
    COMPUTING,
    Arguments,
    Define,
    Nested,
    cross_entropy_divisor,
    layer_norm_parts,
    on_absolutes,
    trailing_axes,
)
from .components import Components, each
from .definitions.sum import sum as sum_of
from .numerics import NDArray, maximum_along, sum_along, wide
from .pair_bounds import pow_added
from .run_bounds import RUN_BOUNDS, of_gradient, of_result

__all__ = ["ADDED", "GRADIENT_ADDED", "LARGEST", "beyond", "overflowing"]

_OPERAND = (Components, np.ndarray)
LARGEST = {dtype: float(np.finfo(dtype).max) for dtype in COMPUTING}


def overflowing(precision: str, define: Define, arguments: Arguments, result: Nested, dtype: str) -> Nested:
    """Return for every element of the result whether an infinity or NaN is right there too."""
    if precision not in ADDED:
        return each(lambda exact: np.zeros(np.shape(exact), np.bool_), result)
    return each(lambda added: beyond(added, COMPUTING[dtype]), ADDED[precision](define, arguments))


def beyond(added: Any, dtype: str) -> NDArray:
    """Say where numbers whose magnitudes have this sum may exceed the largest of `dtype`, rounding included."""
    return np.asarray(np.asarray(added) > LARGEST[dtype] * (1 - 2.0**-8), dtype=np.bool_)


def _of_finite(define: Define, arguments: Arguments) -> Nested:
    """The operator run on magnitudes; those of infinities count as 0, for what they add up to is so in any order."""

    def finite(array: NDArray) -> NDArray:
        return np.where(np.abs(array) < np.inf, array, 0) if array.dtype.kind in "fO" else array

    given = {name: each(finite, one) if isinstance(one, _OPERAND) else one for name, one in arguments.items()}
    return on_absolutes(define, given)


def _mean(define: Define, arguments: Arguments) -> Nested:
    return _of_finite(sum_of, arguments)


def _layer_norm(define: Define, arguments: Arguments) -> Nested:
    """The most of Σ abs(x), Σ x² and, as y is at most √n, √n·weight + bias."""
    weight, bias = arguments.get("weight"), arguments.get("bias")
    axes = trailing_axes(arguments["normalized_shape"])

    def one(x: NDArray) -> Any:
        x = np.abs(wide(x))
        count = np.prod([x.shape[axis] for axis in axes])
        scaled = np.sqrt(count) * (1.0 if weight is None else np.abs(wide(weight)))
        moments = [sum_along(power, axes, keepdims=True) for power in (x, x * x)]
        return np.maximum(np.maximum(*moments), scaled + (0.0 if bias is None else np.abs(wide(bias)))) + 0 * x

    return each(one, arguments["self"])


def _cross_entropy(define: Define, arguments: Arguments) -> Nested:
    """The losses with and without weights: of all classes where they are smoothed, of all rows where they are added."""
    weight, reduction = arguments.get("weight"), arguments.get("reduction", "mean")
    rows = [define(**{**arguments, "weight": own, "reduction": "none"}) for own in (None, weight)]
    smoothing = arguments.get("label_smoothing", 0.0)
    classes = arguments["self"].shape[-1] / smoothing if smoothing else 1
    added = each(lambda bare, own: classes * np.maximum(bare, np.abs(own)), *rows)
    if reduction == "none":
        return added
    return np.asarray(max(sum_of(added), cross_entropy_divisor(arguments)))


def _runs(block: Callable[..., Any], keeps: bool) -> Callable[[Define, Arguments], Nested]:
    return lambda define, arguments: of_result(block, arguments, keeps)


ADDED: Mapping[str, Callable[[Define, Arguments], Nested]] = {
    "sum": _of_finite,
    "mean": _mean,
    "matmul": _of_finite,
    "linear": _of_finite,
    "layer_norm": _layer_norm,
    "cross_entropy": _cross_entropy,
    "attention": attention_bounds.added,
    "flex_attention": flex_bounds.added,
    "composed": composed_bounds.added,
    **{name: _runs(bound.added, bound.keeps) for name, bound in RUN_BOUNDS.items()},
}


def _of_softmax(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """A cotangent, and the mean of those of its run."""
    axis = arguments["dim"] - 1
    return {"self": each(lambda g: abs(g) + maximum_along(abs(g), axis, keepdims=True) if g.size else g, cotangent)}


def _of_layer_norm(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """What the moments add, and products of cotangents, weights and deviations, divided by s before or after."""
    axes, eps = trailing_axes(arguments["normalized_shape"]), arguments.get("eps", 1e-5)
    weight = 0.0 if arguments.get("weight") is None else np.abs(wide(arguments["weight"]))

    def products(x: NDArray, g: NDArray, heavy: Any, power: int) -> Any:
        y, s, _ = layer_norm_parts(wide(x), axes, eps)
        return np.abs(g) * (1 + heavy) * (1 + np.abs(y * s)) * (1 + 1 / s) ** power

    def one(x: NDArray, g: NDArray, moments: NDArray) -> Any:
        return np.maximum(moments, sum_along(products(x, g, weight, 2), axes, keepdims=True)) if x.size else x

    groups = zip(arguments["self"], cotangent, strict=True)
    terms = [np.sum(products(x, g, 0.0, 1)) for x, g in groups if x.size]
    to_self = each(one, arguments["self"], cotangent, _layer_norm(sum_of, arguments))
    return {"self": to_self, "weight": sum(terms, start=0 * weight)}


def _of_cross_entropy(arguments: Arguments, cotangent: Nested) -> dict[str, Nested]:
    """The weights of all classes, times a cotangent and divided by the weights of all targets, before or after."""
    weight, divisor = arguments.get("weight"), 1.0
    heaviest = 1.0 if weight is None else 1 + np.sum(np.abs(wide(weight)))
    if arguments.get("reduction", "mean") == "mean":
        divisor = cross_entropy_divisor(arguments)
    parts = cotangent if isinstance(cotangent, Components) else [cotangent]
    greatest = max((np.max(np.abs(g)) for g in parts if g.size), default=0.0)
    most = max((1 + greatest) * heaviest * (1 + 1 / divisor), divisor)
    return {"self": each(lambda x: 0 * wide(x) + most, arguments["self"])}


GRADIENT_ADDED: Mapping[str, Callable[[Arguments, Nested], dict[str, Nested]]] = {
    "pow": pow_added,
    "softmax": _of_softmax,
    "layer_norm": _of_layer_norm,
    "cross_entropy": _of_cross_entropy,
    "scaled_dot_product_attention": attention_bounds.gradient_added,
    "flex_attention": flex_bounds.gradient_added,
    **{op: composed_bounds.gradient_added(op) for op in composed_bounds.COMPOSED},
    **{name: partial(of_gradient, bound.gradient_added, keeps=bound.keeps) for name, bound in RUN_BOUNDS.items()},
}
