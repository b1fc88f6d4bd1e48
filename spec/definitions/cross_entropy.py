"""The definition of `cross_entropy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, maximum_along, mean_along, sum_along, wide


def cross_entropy(
    self: Components,
    target: Components,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0,
) -> Components | NDArray:
    """CROSS_ENTROPY: -weight[y] * log_softmax(x)[y] for each target y, smoothed towards all classes."""

    def heavy(x: NDArray) -> NDArray:
        return np.ones(x.shape[-1]) if weight is None else wide(weight)

    def loss(x: NDArray, y: NDArray) -> NDArray:
        x, label = wide(x), np.where(y == ignore_index, 0, y)
        shifted = x - maximum_along(x, -1, keepdims=True)
        surprise = heavy(x) * (np.log(sum_along(np.exp(shifted), -1, keepdims=True)) - shifted)
        own, smooth = np.take_along_axis(surprise, label[..., None], axis=-1)[..., 0], mean_along(surprise, -1)
        mixed = (1 - label_smoothing) * own + label_smoothing * smooth if label_smoothing > 0 else own
        return np.where(y == ignore_index, 0.0, mixed)

    def counted(x: NDArray, y: NDArray) -> NDArray:
        return np.where(y == ignore_index, 0.0, heavy(x)[np.where(y == ignore_index, 0, y)])

    losses = each(loss, self, target, shape=target.shape)
    if reduction == "none":
        return losses
    total, count = (_total(one) for one in (losses, each(counted, self, target, shape=target.shape)))
    return total if reduction == "sum" else total / count if count else total * np.nan


def _total(x: Components) -> NDArray:
    return sum_along(np.concatenate([np.zeros(0), *(one.ravel() for one in x)]), None)
