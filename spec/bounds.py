"""How far a result may be from the exact one: error bounds derived from rounding analysis, and executable.

    tol = u · E + ½ ulp(r) + floor

`r` is the exact result, `u` the unit roundoff of the dtype in which the operator computes, `E` the bound of this file
that the operator names as its `precision`. The last rounding into the result costs ½ ulp; float16 computes in float32
and is rounded once. `floor` is two subnormals; for float32, whose subnormals a device may flush to zero, it is the
smallest normal number. `E` is the operator itself run on absolute values, times the roundings that a value can meet:

| name                 | E                                                          | because                   |
|----------------------|------------------------------------------------------------|---------------------------|
| function             | 8·abs(r)                                                   | 4 ulp, an ulp ≤ 2u·abs(r) |
| erfc                 | 10·abs(r)                                                  | CUDA's is within 5 ulp    |
| silu                 | 12·abs(r)                                                  | exp, a sum, a quotient    |
| logaddexp            | 2·abs(max(a, b)) + 24·e**-abs(a - b)                       | a sum; exp and log1p      |
| gelu                 | 4·abs(x) + 4·abs(r); for the tanh form 8·abs(x) + 4·abs(r) | erf within 5u absolutely  |
| sum                  | n·Σabs(x)                                                  | n - 1 sums, in any order  |
| mean                 | (n + 1)·mean abs(x)                                        | ... and a quotient        |
| matmul, linear       | (n + 1)·Σabs(x·w)                                          | ... and n products        |
| softmax              | p·(n + 18 + 2(max - x) + 2Σp(max - x))                     | two exps, max - x rounded |
| layer_norm           | (n/2 + 6)·(m/s + abs(y)·(1 + 2·mean abs(x)·mean abs(d)/s²)) | first order in u         |
| cross_entropy        | n + 18 + 10·log Σexp + 8·max abs(x) + 2Σp(max - x)         | the exps, a log, two sums |

Those of `prod` and of the reductions after it are in `pynested.spec.run_bounds`, those of attention are in
`pynested.spec.attention_bounds`; one that is named after its operator and is in no table follows from the definition:
`pynested.spec.rounding`.

In layer_norm d is x - mean, y = d/s and m = abs(x) + mean abs(x). The functions of NumPy and of CUDA stay within 4 ulp.
sum, mean and products are worst cases for every order of evaluation (sequential, pairwise, fused); the others are
of first order in u. Everything here runs on float64 and on the exact numbers of the generator alike.

`floor` counts once for the result. Where numbers on the way to it may be too small to have all their digits, or to be
anything but 0, and are enlarged afterwards, `LOST` says how many floors that is; numbers that are too large are the
business of `pynested.spec.overflow`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from . import attention_bounds, composed_bounds, flex_bounds
from .components import Components, each, promoted
from .definitions.sum import sum as sum_of
from .numerics import NDArray, maximum_along, mean_along, sum_along, wide
from .run_bounds import RUN_BOUNDS, VANISHING, of_result, softmax_factor

__all__ = [
    "BOUNDS", "COMPUTING", "LOST", "NO_TOLERANCE", "ROUNDOFF", "allow", "cross_entropy_divisor", "on_absolutes",
    "tolerance", "ulp",
]  # fmt: skip

# The dtype that results are computed in, and the unit roundoff of each.
COMPUTING = {"float16": "float32", "float32": "float32", "float64": "float64"}
ROUNDOFF = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}

# Precisions whose results are compared bit for bit.
NO_TOLERANCE = ("exact", "correctly_rounded")

ANYTHING = float(np.finfo(np.float64).max)  # the tolerance where an error may be beyond any number
_FLOOR = {"float16": 2.0**-23, "float32": 2.0**-126, "float64": 2.0**-1073}
_PRECISION = {"float16": (11, -24), "float32": (24, -149), "float64": (53, -1074)}

Nested = Any  # Components, or one dense array
Define = Callable[..., Any]
Arguments = Mapping[str, Any]


def ulp(exact: Any, dtype: str) -> NDArray:
    """Return the distance between neighbouring floats of `dtype` around `exact`."""
    precision, smallest = _PRECISION[dtype]
    magnitude = np.abs(np.asarray(exact, dtype=np.float64))
    _, exponent = np.frexp(magnitude)
    return np.asarray(np.ldexp(1.0, np.where(magnitude == 0, smallest, np.maximum(exponent - precision, smallest))))


def tolerance(precision: str, define: Define, arguments: Arguments, result: Nested, dtype: str) -> Nested:
    """Return the allowed absolute error of every element of `result`, the exact result `define(**arguments)`."""
    widened = {name: each(wide, value) if _is_operand(value) else value for name, value in arguments.items()}
    terms = BOUNDS[precision](define, widened, result)
    lost = LOST.get(precision, _nothing)(define, widened)
    return each(lambda error, exact, few: allow(error, exact, dtype, COMPUTING[dtype], few), terms, result, lost)


def allow(error: Any, exact: Any, dtype: str, computing: str, lost: Any = 0) -> NDArray:
    """Return `u * error + ½ ulp` and a floor, and as many floors of the dtype that is computed in as may be lost.

    It is 0 where the exact result is not finite.
    """
    finite = np.isfinite(np.asarray(exact, dtype=np.float64))
    inside = np.asarray(
        ROUNDOFF[computing] * np.asarray(error) + _FLOOR[computing] * np.asarray(lost), dtype=np.float64
    )
    outside = ulp(np.where(finite, exact, 0.0), dtype) / 2 + _FLOOR[dtype]
    return np.where(finite, np.minimum(inside + outside, ANYTHING), 0.0)


def _is_operand(value: Any) -> bool:
    return isinstance(value, (Components, np.ndarray))


def on_absolutes(define: Define, arguments: Arguments) -> Nested:
    """Return the operator run on absolute values."""

    def absolute(array: NDArray) -> NDArray:
        """That of the least integer is no integer of its dtype."""
        return np.asarray(np.abs(array.astype(np.float64) if array.dtype.kind in "iu" else array))

    return define(**{name: each(absolute, value) if _is_operand(value) else value for name, value in arguments.items()})


def _counts(define: Define, arguments: Arguments) -> Nested:
    """Return how many terms each element of the result adds up: the operator run on ones."""

    def ones(array: NDArray) -> NDArray:
        return np.ones(array.shape)

    return define(**{name: each(ones, value) if _is_operand(value) else value for name, value in arguments.items()})


def _nothing(define: Define, arguments: Arguments) -> Any:
    return 0


def _relative(factor: int) -> Callable[..., Nested]:
    return lambda define, arguments, result: each(lambda exact: factor * np.abs(exact), result)


def _logaddexp(define: Define, arguments: Arguments, result: Nested) -> Nested:
    def terms(a: NDArray, b: NDArray) -> Any:
        a, b = a.astype(np.float64), b.astype(np.float64)
        high, apart = np.maximum(a, b), np.where(a == b, 0, np.abs(a - b))
        return 2 * np.abs(high) + 24 * np.exp(-apart)

    return each(terms, *promoted(arguments["self"], arguments["other"]))


def _gelu(define: Define, arguments: Arguments, result: Nested) -> Nested:
    factor = 8 if arguments.get("approximate") == "tanh" else 4
    return each(lambda x, exact: factor * np.abs(x) + 4 * np.abs(exact), arguments["self"], result)


def _sum(define: Define, arguments: Arguments, result: Nested) -> Nested:
    magnitudes, counts = on_absolutes(define, arguments), _counts(define, arguments)
    return each(lambda magnitude, count: count * magnitude, magnitudes, counts)


def _mean(define: Define, arguments: Arguments, result: Nested) -> Nested:
    magnitudes, counts = on_absolutes(define, arguments), _counts(sum_of, arguments)
    return each(lambda magnitude, count: (count + 1) * magnitude, magnitudes, counts)


def _dot(define: Define, arguments: Arguments, result: Nested) -> Nested:
    magnitudes, counts = on_absolutes(define, arguments), _counts(define, arguments)
    return each(lambda magnitude, count: (count + 1) * magnitude, magnitudes, counts)


def _softmax(define: Define, arguments: Arguments, result: Nested) -> Nested:
    axis = arguments["dim"] - 1
    return each(lambda x: np.multiply(*softmax_factor(x, axis)) if x.size else x, arguments["self"])


def layer_norm_parts(x: NDArray, axes: tuple[int, ...], eps: float) -> tuple[NDArray, NDArray, NDArray]:
    """Return y, s, or 1 for 0, and the factor by which cancellation in the variance enlarges a relative error."""
    centred = x - mean_along(x, axes, keepdims=True)
    variance = mean_along(centred * centred, axes, keepdims=True) + eps
    variance = variance + np.asarray(variance == 0, np.bool_)
    spread = mean_along(np.abs(x), axes, keepdims=True) * mean_along(np.abs(centred), axes, keepdims=True)
    s = np.sqrt(variance)
    return centred / s, s, 1 + 2 * spread / variance


def layer_norm_error(x: NDArray, axes: tuple[int, ...], eps: float) -> Any:
    """Return E of the normalised values, before weight and bias."""
    y, s, cancellation = layer_norm_parts(x, axes, eps)
    count = np.prod([x.shape[axis] for axis in axes])
    return (count / 2 + 6) * ((np.abs(x) + mean_along(np.abs(x), axes, keepdims=True)) / s + np.abs(y) * cancellation)


def _layer_norm(define: Define, arguments: Arguments, result: Nested) -> Nested:
    weight, bias = arguments.get("weight"), arguments.get("bias")
    scale = 1.0 if weight is None else np.abs(weight)
    offset = 0.0 if bias is None else np.abs(bias)
    axes, eps = trailing_axes(arguments["normalized_shape"]), arguments.get("eps", 1e-5)
    return each(
        lambda x, r: layer_norm_error(x, axes, eps) * scale + 2 * (np.abs(r) + 2 * offset) if x.size else x,
        arguments["self"],
        result,
    )


def trailing_axes(normalized_shape: int | tuple[int, ...]) -> tuple[int, ...]:
    """Return the axes, counted from the end, that `normalized_shape` covers."""
    return tuple(range(-1 if isinstance(normalized_shape, int) else -len(normalized_shape), 0))


def cross_entropy_row_error(x: NDArray, label: NDArray, smoothing: float) -> Any:
    """Return E of the loss of every row: of its own class, and of the mean of all of them where it is smoothed."""
    p, factor = softmax_factor(x, -1)
    size = np.where(np.abs(x) < np.inf, np.abs(x), 0.0)
    logarithm = np.log(sum_along(np.exp(x - maximum_along(x, -1, keepdims=True)), -1))
    error = maximum_along(factor, -1) + 10 * logarithm + 4 * maximum_along(np.where(p < VANISHING, 0, size), -1)
    if smoothing:
        return error + (x.shape[-1] + 8) * (logarithm + 2 * maximum_along(size, -1))
    return error + 4 * np.take_along_axis(size, label[..., None], -1)[..., 0]


def _cross_entropy(define: Define, arguments: Arguments, result: Nested) -> Nested:
    weight, smoothing = arguments.get("weight"), arguments.get("label_smoothing", 0.0)
    ignored, reduction = arguments.get("ignore_index", -100), arguments.get("reduction", "mean")

    def heavy(label: NDArray) -> Any:
        """The weight of a row's class, or the largest of all that it meets."""
        return 1.0 if weight is None else np.max(np.abs(weight)) if smoothing else np.abs(weight)[label]

    def of_rows(x: NDArray, y: NDArray) -> Any:
        if x.size == 0:
            return np.zeros(y.shape)
        label = np.where(y == ignored, 0, y)
        return np.where(y == ignored, 0.0, cross_entropy_row_error(x, label, smoothing) * heavy(label))

    target = arguments["target"]
    rows = each(of_rows, arguments["self"], target, shape=target.shape)
    if reduction == "none":
        return rows
    added = sum(np.sum(row) for row in rows) / (cross_entropy_divisor(arguments) if reduction == "mean" else 1.0)
    return np.asarray(added + (sum(row.size for row in rows) + 2) * np.abs(result))


def _runs(block: Callable[..., Any], keeps: bool) -> Callable[..., Nested]:
    return lambda define, arguments, result=None: of_result(block, arguments, keeps)


BOUNDS: Mapping[str, Callable[..., Nested]] = {
    "function": _relative(8),
    "erfc": _relative(10),
    "silu": _relative(12),
    "logaddexp": _logaddexp,
    "gelu": _gelu,
    "sum": _sum,
    "mean": _mean,
    "matmul": _dot,
    "linear": _dot,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "cross_entropy": _cross_entropy,
    "attention": attention_bounds.error,
    "flex_attention": flex_bounds.error,
    "composed": composed_bounds.error,
    **{name: _runs(bound.error, bound.keeps) for name, bound in RUN_BOUNDS.items()},
}


def _lost_by_layer_norm(define: Define, arguments: Arguments) -> Nested:
    """A mean and a difference, divided by s and multiplied by the weight."""
    axes, eps = trailing_axes(arguments["normalized_shape"]), arguments.get("eps", 1e-5)
    weight = arguments.get("weight")
    scale = 1.0 if weight is None else np.abs(weight)
    return each(lambda x: scale * (3 / layer_norm_parts(x, axes, eps)[1]) + 0 * x if x.size else x, arguments["self"])


def _lost_by_cross_entropy(define: Define, arguments: Arguments) -> Nested:
    """What the classes of a row lose, and its loss; and in a sum or a mean, what all rows do."""
    rows, classes = arguments["target"], arguments["self"].shape[-1] or 0
    reduction = arguments.get("reduction", "mean")
    if reduction == "none":
        return each(lambda y: np.full(y.shape, classes + 2.0), rows)
    floors = (classes + 2.0) * sum(y.size for y in rows)
    return np.asarray(floors / cross_entropy_divisor(arguments) if reduction == "mean" else floors)


def cross_entropy_divisor(arguments: Arguments) -> Any:
    """Return what the mean is divided by, the weights of all targets that count, or 1 where there is none."""
    weight, ignored = arguments.get("weight"), arguments.get("ignore_index", -100)
    labels = [y[y != ignored] for y in arguments["target"]]
    total = sum(label.size if weight is None else wide(weight)[label].sum() for label in labels)
    return total if total else 1.0


LOST: Mapping[str, Callable[[Define, Arguments], Nested]] = {
    "silu": lambda define, arguments: each(np.abs, arguments["self"]),
    "gelu": lambda define, arguments: each(np.abs, arguments["self"]),
    "sum": _counts,
    "mean": _counts,
    "matmul": _counts,
    "linear": _counts,
    "layer_norm": _lost_by_layer_norm,
    "cross_entropy": _lost_by_cross_entropy,
    "attention": attention_bounds.lost,
    "flex_attention": flex_bounds.lost,
    "composed": composed_bounds.lost,
    **{name: _runs(bound.lost, bound.keeps) for name, bound in RUN_BOUNDS.items()},
}
