"""How far a result may be from the exact one: error bounds derived from rounding analysis, and executable.

    tol = u · E + ½ ulp(r) + floor

`r` is the exact result, `u` the unit roundoff of the dtype in which the operator computes, `E` the bound of this file
that the operator names as its `precision`. The last rounding into the result costs ½ ulp; float16 computes in float32
and is rounded once. `floor` is two subnormals; for float32, whose subnormals a device may flush to zero, it is the
smallest normal number. `E` is the operator itself run on absolute values, times the roundings that a value can meet:

| name                 | E                                                          | because                   |
|----------------------|------------------------------------------------------------|---------------------------|
| exp, log, sin, tanh  | 8·abs(r)                                                   | 4 ulp, an ulp ≤ 2u·abs(r) |
| silu                 | 12·abs(r)                                                  | exp, a sum, a quotient    |
| gelu                 | 4·abs(x) + 4·abs(r); for the tanh form 8·abs(x) + 4·abs(r) | erf within 5u absolutely  |
| sum                  | n·Σabs(x)                                                  | n - 1 sums, in any order  |
| mean                 | (n + 1)·mean abs(x)                                        | ... and a quotient        |
| matmul, linear       | (n + 1)·Σabs(x·w)                                          | ... and n products        |
| softmax              | p·(n + 18 + 2(max - x) + 2Σp(max - x))                     | two exps, max - x rounded |
| layer_norm           | (n/2 + 6)·(m/s + abs(y)·(1 + 2·mean abs(x)·mean abs(d)/s²)) | first order in u         |
| cross_entropy        | n + 18 + 10·log Σexp + 4·max abs(x) + 2Σp(max - x)         | the exps, a log, two sums |

In layer_norm d is x - mean, y = d/s and m = abs(x) + mean abs(x). The functions of NumPy and of CUDA stay within 4 ulp.
sum, mean and products are worst cases for every order of evaluation (sequential, pairwise, fused); the others are
of first order in u. Everything here runs on float64 and on the exact numbers of the generator alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from .components import Components, each
from .numerics import NDArray, maximum_along, mean_along, sum_along, wide

__all__ = ["BOUNDS", "COMPUTING_ROUNDOFF", "NO_TOLERANCE", "ROUNDOFF", "allow", "tolerance", "ulp"]

# Unit roundoff of a dtype, and of the dtype its results are computed in.
ROUNDOFF = {"float16": 2.0**-11, "float32": 2.0**-24, "float64": 2.0**-53}
COMPUTING_ROUNDOFF = {**ROUNDOFF, "float16": 2.0**-24}

# Precisions whose results are compared bit for bit.
NO_TOLERANCE = ("exact", "correctly_rounded")

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
    return each(lambda error, exact: allow(error, exact, COMPUTING_ROUNDOFF[dtype], dtype), terms, result)


def allow(error: Any, exact: Any, roundoff: float, dtype: str) -> NDArray:
    """Return `roundoff * error + ½ ulp + floor`, and 0 where the exact result is not finite."""
    finite = np.isfinite(np.asarray(exact, dtype=np.float64))
    allowed = roundoff * np.asarray(error, dtype=np.float64) + ulp(np.where(finite, exact, 0.0), dtype) / 2
    return np.asarray(np.where(finite, allowed + _FLOOR[dtype], 0.0))


def _is_operand(value: Any) -> bool:
    return isinstance(value, (Components, np.ndarray))


def _on_absolutes(define: Define, arguments: Arguments) -> Nested:
    """Return the operator run on absolute values."""
    return define(**{name: each(np.abs, value) if _is_operand(value) else value for name, value in arguments.items()})


def _counts(define: Define, arguments: Arguments) -> Nested:
    """Return how many terms each element of the result adds up: the operator run on ones."""

    def ones(array: NDArray) -> NDArray:
        return np.ones(array.shape)

    return define(**{name: each(ones, value) if _is_operand(value) else value for name, value in arguments.items()})


def _function(define: Define, arguments: Arguments, result: Nested) -> Nested:
    return each(lambda exact: 8 * np.abs(exact), result)


def _silu(define: Define, arguments: Arguments, result: Nested) -> Nested:
    return each(lambda exact: 12 * np.abs(exact), result)


def _gelu(define: Define, arguments: Arguments, result: Nested) -> Nested:
    factor = 8 if arguments.get("approximate") == "tanh" else 4
    return each(lambda x, exact: factor * np.abs(x) + 4 * np.abs(exact), arguments["self"], result)


def _sum(define: Define, arguments: Arguments, result: Nested) -> Nested:
    magnitudes, counts = _on_absolutes(define, arguments), _counts(define, arguments)
    return each(lambda magnitude, count: count * magnitude, magnitudes, counts)


def _mean(define: Define, arguments: Arguments, result: Nested) -> Nested:
    longest = max((component.size for component in arguments["self"]), default=0) * len(arguments["self"])
    return each(lambda magnitude: (longest + 1) * magnitude, _on_absolutes(define, arguments))


def _dot(define: Define, arguments: Arguments, result: Nested) -> Nested:
    magnitudes, counts = _on_absolutes(define, arguments), _counts(define, arguments)
    return each(lambda magnitude, count: (count + 1) * magnitude, magnitudes, counts)


def softmax_factor(x: NDArray, axis: int) -> tuple[NDArray, NDArray]:
    """Return the softmax of `x` and the factor of u in its relative error."""
    below = maximum_along(x, axis, keepdims=True) - x
    powers = np.exp(-below)
    p = powers / sum_along(powers, axis, keepdims=True)
    below = np.where(p == 0, 0, below)  # -inf: exactly 0, and not 0 * inf
    return p, x.shape[axis] + 18 + 2 * below + 2 * sum_along(p * below, axis, keepdims=True)


def _softmax(define: Define, arguments: Arguments, result: Nested) -> Nested:
    axis = arguments["dim"] - 1
    return each(lambda x: np.multiply(*softmax_factor(x, axis)) if x.size else x, arguments["self"])


def layer_norm_parts(x: NDArray, axes: tuple[int, ...], eps: float) -> tuple[NDArray, NDArray, NDArray]:
    """Return y, s and the factor by which cancellation in the variance enlarges a relative error."""
    centred = x - mean_along(x, axes, keepdims=True)
    variance = mean_along(centred * centred, axes, keepdims=True) + eps
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


def cross_entropy_row_error(x: NDArray) -> Any:
    """Return E of the loss of every row."""
    p, factor = softmax_factor(x, -1)
    greatest = maximum_along(x, -1, keepdims=True)
    logarithm = np.log(sum_along(np.exp(x - greatest), -1))
    return maximum_along(factor, -1) + 10 * logarithm + 4 * maximum_along(np.where(p == 0, 0, np.abs(x)), -1)


def _cross_entropy(define: Define, arguments: Arguments, result: Nested) -> Nested:
    weight = arguments.get("weight")
    heaviest = 1.0 if weight is None else float(np.max(np.abs(weight)))
    ignored = arguments.get("ignore_index", -100)

    def of_rows(x: NDArray, y: NDArray) -> Any:
        errors = heaviest * cross_entropy_row_error(x) if x.size else np.zeros(y.shape)
        return np.where(y == ignored, 0.0, errors)

    target = arguments["target"]
    rows = each(of_rows, arguments["self"], target, shape=target.shape)
    if arguments.get("reduction", "mean") == "none":
        return rows
    worst = max((float(np.max(row)) for row in rows if row.size), default=0.0)
    count = sum(row.size for row in rows)
    terms = count if arguments.get("reduction") == "sum" else 1
    return np.asarray(terms * worst + (count + 2) * np.abs(result))


BOUNDS: Mapping[str, Callable[..., Nested]] = {
    "exp": _function,
    "log": _function,
    "sin": _function,
    "tanh": _function,
    "silu": _silu,
    "gelu": _gelu,
    "sum": _sum,
    "mean": _mean,
    "matmul": _dot,
    "linear": _dot,
    "softmax": _softmax,
    "layer_norm": _layer_norm,
    "cross_entropy": _cross_entropy,
}
