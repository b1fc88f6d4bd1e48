"""The definition of `softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import Components, cast, each
from pynested.spec.numerics import NDArray, maximum_along, sum_along, wide


def softmax(self: Components, dim: int, dtype: Any = None) -> Components:
    """SOFTMAX: exp(x - max) / sum of exp(x - max) along `dim`, each component on its own."""
    axis = dim - 1

    def one(x: NDArray) -> Any:
        x = wide(x)
        if x.size == 0:
            return x
        shifted = np.exp(x - maximum_along(x, axis, keepdims=True))
        return shifted / sum_along(shifted, axis, keepdims=True)

    return each(one, cast(self, dtype))
