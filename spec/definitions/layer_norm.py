"""The definition of `layer_norm`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, maximum_along, mean_along, real, wide


def layer_norm(
    self: Components,
    normalized_shape: int | tuple[int, ...],
    weight: Any = None,
    bias: Any = None,
    eps: float = 1e-5,
) -> Components:
    """LAYER_NORM: (x - mean) / sqrt(variance + eps) * weight + bias over the trailing dimensions.

    Where `eps` is 0 the size of a run is of no matter: divided by its greatest element first, it has squares whatever
    that was. Where nothing is left to divide by, no element deviates: all are 0, a constant.
    """
    axes = tuple(range(-1 if isinstance(normalized_shape, int) else -len(normalized_shape), 0))

    def one(x: NDArray) -> NDArray:
        x = wide(x)
        if x.size == 0:
            return x
        if eps == 0:
            greatest = maximum_along(np.abs(real(x)), axes, keepdims=True)
            x = x / (greatest + np.asarray(greatest == 0, np.bool_))
        centred = x - mean_along(x, axes, keepdims=True)
        deviating = np.asarray(real(centred) != 0, np.bool_)
        level = mean_along(deviating, axes, keepdims=True) + eps == 0
        variance = mean_along(centred * centred, axes, keepdims=True)
        y: NDArray = centred * ~level / np.sqrt(variance + eps + level)
        scaled = y if weight is None else y * wide(weight)
        return scaled if bias is None else scaled + wide(bias)

    return each(one, self)
