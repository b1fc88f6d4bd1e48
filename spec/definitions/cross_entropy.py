"""The definition of `cross_entropy`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray, maximum_along, mean_along, sum_along, wide


def cross_entropy(
    self: Any,
    target: Any,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0,
) -> list[NDArray] | NDArray:
    """CROSS_ENTROPY: -weight[y] * log_softmax(x)[y] for each target y, smoothed towards all classes."""

    def one(x: NDArray, y: NDArray) -> tuple[NDArray, NDArray]:
        heavy = np.ones(x.shape[-1]) if weight is None else wide(weight)
        counted, label = y != ignore_index, np.where(y == ignore_index, 0, y)
        shifted = x - maximum_along(x, -1, keepdims=True)
        surprise = heavy * (np.log(sum_along(np.exp(shifted), -1, keepdims=True)) - shifted)
        own, smooth = np.take_along_axis(surprise, label[..., None], axis=-1)[..., 0], mean_along(surprise, -1)
        loss = (1 - label_smoothing) * own + label_smoothing * smooth if label_smoothing > 0 else own
        return np.where(counted, loss, 0.0), np.where(counted, heavy[label], 0.0)

    pairs = [one(wide(x), y) for x, y in zip(self, target, strict=True)]
    if reduction == "none":
        return [loss for loss, _ in pairs]
    joined = [np.concatenate([np.zeros(0), *(pair[part].ravel() for pair in pairs)]) for part in (0, 1)]
    total, count = (sum_along(parts, None) for parts in joined)
    return total if reduction == "sum" else total / count if count else np.full_like(total, np.nan)
