"""The definition of `log_softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast, each
from pynested.spec.numerics import NDArray, maximum_along, sum_along, wide


def log_softmax(self: Components, dim: int, dtype: Any = None) -> Components:
    """LOG_SOFTMAX: x - max less the logarithm of the sum of exp(x - max) along `dim`, each component on its own."""
    axis = dim - 1

    def one(x: NDArray) -> Any:
        x = wide(x)
        if x.size == 0:
            return x
        below = x - maximum_along(x, axis, keepdims=True)
        return below - np.log(sum_along(np.exp(below), axis, keepdims=True))

    return each(one, cast(self, dtype))
