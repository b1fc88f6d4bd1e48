"""Primitives over the rows of a matrix: layer normalization and cross entropy.

Their kernels return residuals: the mean and std of each row, or its maximum and log sum. The kernels of the gradients
read them. A gradient is differentiated by its formula.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import computing_dtype

from ..array import Array, raw
from .binary import where_or_zero
from .derivatives_from_formula import derivatives_of
from .movement import broadcast_to, reshape, to_dtype
from .primitive import Primitive
from .reduction import sum_axes
from .segment import softmax_last, sum_over_last
from .unary import sqrt

# ---- layer normalization ------------------------------------------------------------------------------------------


def _normalized(x: Any, eps: float) -> tuple[Any, Any]:
    """Return the rows of x, centred and scaled, and 1 / std, in tracked operations, as the kernels compute them.

    Halves become float32. A row is multiplied by a power of two if its squares would overflow, or underflow beside an
    ``eps`` that is no larger. The mean is computed of distances to the first element, so that it is exact for equal
    elements; the first element cancels, and is a constant here.
    """
    x = to_dtype(x, computing_dtype(x.dtype))
    xp, kind, size = get_backend(x.device).xp, np.finfo(x.dtype), max(x.shape[-1], 1)
    numbers, shrink = raw(x), _scale(xp, raw(x), eps)
    apart = x * _beside(x, shrink) - _beside(x, numbers[:, :1] * shrink)
    centred = apart - sum_over_last(apart) / size
    variance = sum_over_last(centred * centred) / size
    wide = shrink.astype(np.float64)
    added = (wide * eps * wide).astype(x.dtype)
    is_zero = ~raw(centred).any(axis=-1, keepdims=True) & (added < kind.tiny)  # the variance and what is added to it
    steepness = xp.minimum(eps**-0.5 / wide if eps else 0 * wide, float(kind.max)).astype(x.dtype)
    rstd = 1 / sqrt(variance + _beside(x, xp.where(is_zero, kind.dtype.type(1), added)))
    rstd = rstd * _beside(x, xp.where(is_zero, steepness, kind.dtype.type(1)))
    return centred * rstd, rstd * _beside(x, shrink)


def _scale(xp: Any, numbers: Any, eps: float) -> Any:
    """Return for each row a power of two, if the square of its largest number, or eps, would overflow or underflow."""
    kind, root = numbers.dtype.type, 2.0 ** (np.finfo(numbers.dtype).minexp // 3)
    if not numbers.size:
        return xp.ones((len(numbers), 1), numbers.dtype)
    size = xp.maximum(abs(numbers).max(axis=-1, keepdims=True), kind(eps**0.5))
    return xp.where(size > 1 / root, kind(root * root), xp.where(size < root, kind(1 / root**2), kind(1)))


def _beside(x: Any, constant: Any) -> Any:
    """Return a raw array as an operand of x."""
    return Array(constant, x.device)


def _projected(t: Any, normal: Any, rstd: Any) -> Any:
    """Return t without its mean and its part along the normalized rows, times rstd: a symmetric function of t."""
    size = max(t.shape[-1], 1)
    return rstd * (t - sum_over_last(t) / size - normal * (sum_over_last(t * normal) / size))


def _layer_norm_gradients(g: Any, x: Any, weight: Any, mean: Any, std: Any, eps: float) -> tuple[Any, Any, Any]:
    normal, rstd = _normalized(x, eps)
    wide = to_dtype(g, normal.dtype)
    to_x = to_dtype(_projected(wide if weight is None else wide * weight, normal, rstd), x.dtype)
    to_weight = None if weight is None else to_dtype(sum_axes(wide * normal, (0,)), weight.dtype)
    return to_x, to_weight, sum_axes(g, (0,))


def _layer_norm_jvp(
    tangents: list[Any], y: Any, x: Any, weight: Any, bias: Any, eps: float, mean: Any, std: Any
) -> Any:
    normal, rstd = _normalized(x, eps)
    terms = []
    if tangents[0] is not None:
        moved = _projected(to_dtype(tangents[0], normal.dtype), normal, rstd)
        terms.append(moved if weight is None else moved * weight)
    if tangents[1] is not None:
        terms.append(normal * tangents[1])
    if tangents[2] is not None:
        terms.append(broadcast_to(tangents[2], x.shape))
    total, *others = terms
    for term in others:
        total = total + term
    return to_dtype(total, x.dtype)


layer_norm = Primitive(
    "layer_norm",
    lambda k, x, weight, bias, eps: k.layer_norm(x, weight, bias, eps),
    vjps=lambda g, y, x, weight, bias, eps, mean, std: layer_norm_backward(g, x, weight, mean, std, eps),
    jvps=_layer_norm_jvp,
    saves=["x weight"],
    has_residuals=True,
)
layer_norm_backward: Primitive = Primitive(
    "layer_norm_backward",
    lambda k, g, x, weight, mean, std, eps: k.layer_norm_backward(g, x, weight, mean, std),
    *derivatives_of(_layer_norm_gradients),
    saves=["g x weight"],
)


# ---- cross entropy ------------------------------------------------------------------------------------------------


def _like(x: Any, weight: Any) -> Any:
    """Return the weights of the classes in the dtype of the scores."""
    return None if weight is None else weight.astype(x.dtype, copy=False)


def _gap(x: Any, target: Any, weight: Any, ignore: int, smoothing: float) -> Any:
    """Return the gradient of each row's loss: softmax(x) times the total weight, minus the weight of each class.

    The weights multiply the log probabilities in the loss: those of the target, and with smoothing those of all
    classes. An ignored row has the gradient zero.
    """
    rows, classes = x.shape
    xp = get_backend(x.device).xp
    valid = target != ignore
    labelled = (target[:, None] == xp.arange(classes)).astype(x.dtype)
    share = xp.full((rows, classes), smoothing / max(classes, 1), x.dtype) + labelled * x.dtype.type(1 - smoothing)
    shares = Array(share if weight is None else share * _like(x, weight), x.device)
    gap = softmax_last(x) * sum_over_last(shares) - shares
    return where_or_zero(gap, valid[:, None])


def _cross_entropy_gradient(g: Any, x: Any, target: Any, weight: Any, ignore: int, smoothing: float, scale: Any) -> Any:
    gradient = reshape(g, (x.shape[0], 1)) * _gap(x, target, weight, ignore, smoothing)
    return where_or_zero(gradient, (target != ignore)[:, None])


def _cross_entropy_jvp(
    t: Any, y: Any, x: Any, target: Any, weight: Any, ignore: int, smoothing: float, scale: Any
) -> Any:
    moved = t * _gap(x, target, weight, ignore, smoothing)
    return sum_axes(where_or_zero(moved, (target != ignore)[:, None]), (1,))


cross_entropy = Primitive(
    "cross_entropy",
    lambda k, x, target, weight, ignore, smoothing: k.cross_entropy(x, target, _like(x, weight), ignore, smoothing),
    vjps=[lambda g, y, x, *options: cross_entropy_backward(g, x, *options)],
    jvps=[_cross_entropy_jvp],
    saves=["x"],
    has_residuals=True,
)
cross_entropy_backward: Primitive = Primitive(
    "cross_entropy_backward",
    lambda k, g, x, target, weight, ignore, smoothing, scale: k.cross_entropy_backward(
        g, x, target, weight, ignore, smoothing, scale
    ),
    *derivatives_of(_cross_entropy_gradient),
    saves=["g x"],
)
