"""Layer normalization and cross entropy of the rows of a matrix, as primitives.

The kernels ``k`` also return residuals, which the kernels of the gradients read: `layer_norm` the mean and std of each
row, `cross_entropy` its maximum and log sum. A second derivative is that of a formula for the gradient, such as
`_layer_norm_gradients`, which is written in other primitives. ``g`` is the cotangent of the result ``y``, and
`Primitive` explains ``saves``.
"""

from __future__ import annotations

from typing import Any

from pynested.backends import get_backend
from pynested.backends.dtypes import computing_dtype

from ..array import Array
from .binary import where_or_zero
from .derivatives_from_formula import derivatives_of
from .movement import broadcast_to, reshape, to_dtype
from .primitive import Primitive
from .reduction import sum_axes
from .segment import softmax_last, spread_sum_last


def _layer_norm_gradients(g: Any, x: Any, weight: Any, mean: Any, std: Any, eps: float) -> tuple[Any, Any, Any]:
    """Return the cotangents of x, weight and bias. Mean and std are computed from x again, to be differentiated."""
    dtype, size = computing_dtype(x.dtype), max(x.shape[-1], 1)
    x_computed, g_result = to_dtype(x, dtype), to_dtype(g, dtype)
    normalized, rstd = layer_norm(x_computed, None, None, eps), reciprocal_std(x_computed, eps)
    g_normalized = g_result if weight is None else g_result * weight
    mean_g, mean_product = spread_sum_last(g_normalized) / size, spread_sum_last(g_normalized * normalized) / size
    g_x = to_dtype(rstd * (g_normalized - mean_g - normalized * mean_product), x.dtype)
    g_weight = None if weight is None else to_dtype(sum_axes(g_result * normalized, (0,)), weight.dtype)
    return g_x, g_weight, sum_axes(g, (0,))


def _reciprocal_std_jvp(t: Any, y: Any, x: Any, eps: float) -> Any:
    products = t * (layer_norm(x, None, None, eps) * y)
    return -reshape(sum_axes(products, (1,)), y.shape) * y / max(x.shape[1], 1)


# The vjp is -g * normalized * y**2 / size, with the layer norm of x as `normalized`. The factors are multiplied in an
# order in which none of their products overflows before the result does.
reciprocal_std = Primitive(
    "reciprocal_std",
    lambda k, x, eps: (1 / k.layer_norm(x, None, None, eps)[2][:, None]).astype(x.dtype, copy=False),
    [lambda g, y, x, eps: -(g * (layer_norm(x, None, None, eps) * y)) * y / max(x.shape[1], 1)],
    [_reciprocal_std_jvp],
    saves=["y x"],
)
layer_norm: Primitive = Primitive(
    "layer_norm",
    lambda k, x, weight, bias, eps: k.layer_norm(x, weight, bias, eps),
    vjps=lambda g, y, x, weight, bias, eps, mean, std: layer_norm_backward(g, x, weight, mean, std, eps),
    jvps=[
        lambda t, y, x, weight, bias, eps, mean, std: (
            layer_norm_backward(t, x, None, mean, std, eps)[0] * (1 if weight is None else weight)
        ),
        lambda t, y, x, weight, bias, eps, mean, std: layer_norm(x, None, None, eps) * t,
        lambda t, y, x, weight, bias, eps, mean, std: broadcast_to(t, x.shape),
    ],
    saves=["x weight"],
    has_residuals=True,
)
layer_norm_backward: Primitive = Primitive(
    "layer_norm_backward",
    lambda k, g, x, weight, mean, std, eps: k.layer_norm_backward(g, x, weight, mean, std),
    *derivatives_of(_layer_norm_gradients),
    saves=["g x weight"],
)


def _cross_entropy_gradient(
    g: Any, x: Any, target: Any, weight: Any, ignore_index: int, label_smoothing: float, _: Any
) -> Any:
    """Return the cotangent of x: ``g * (softmax(x) * sum(w) - w)`` in each row, and zero in an ignored row.

    The loss of a row is ``-sum(w * log(softmax(x)))``. For class c of C, ``w`` is the weight of c times
    ``label_smoothing / C``, plus ``1 - label_smoothing`` times the weight of c if c is the target.
    """
    rows, classes = x.shape
    is_target = (target[:, None] == get_backend(x.device).xp.arange(classes)).astype(x.dtype)
    distribution = is_target * (1 - label_smoothing) + label_smoothing / max(classes, 1)
    w = Array(distribution if weight is None else distribution * weight.astype(x.dtype), x.device)
    is_valid = (target != ignore_index)[:, None]
    slope = where_or_zero(softmax_last(x) * spread_sum_last(w) - w, is_valid)
    return where_or_zero(reshape(g, (rows, 1)) * slope, is_valid)


def _cross_entropy_jvp(t: Any, y: Any, x: Any, target: Any, weight: Any, ignore_index: int, *others: Any) -> Any:
    """Return the tangent of each loss: the sum of its gradient times the tangent of its row."""
    ones = Array(get_backend(x.device).xp.ones(len(target), x.dtype), x.device)
    product = t * cross_entropy_backward(ones, x, target, weight, ignore_index, *others)
    return sum_axes(where_or_zero(product, (target != ignore_index)[:, None]), (1,))


cross_entropy = Primitive(
    "cross_entropy",
    lambda k, x, target, weight, ignore_index, label_smoothing: k.cross_entropy(
        x, target, None if weight is None else weight.astype(x.dtype, copy=False), ignore_index, label_smoothing
    ),
    vjps=[lambda g, y, x, *others: cross_entropy_backward(g, x, *others)],
    jvps=[_cross_entropy_jvp],
    saves=["x"],
    has_residuals=True,
)
cross_entropy_backward: Primitive = Primitive(
    "cross_entropy_backward",
    lambda k, g, x, *others: k.cross_entropy_backward(g, x, *others),
    *derivatives_of(_cross_entropy_gradient),
    saves=["g x"],
)
