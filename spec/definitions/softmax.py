"""The definition of `softmax`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.components import cast
from pynested.spec.numerics import NDArray, maximum_along, sum_along, wide


def softmax(self: list[NDArray], dim: int, dtype: Any = None) -> list[NDArray]:
    """SOFTMAX: exp(x - max) / sum of exp(x - max) along `dim`, each component on its own."""
    axis = dim - 1

    def one(x: Any) -> Any:
        if x.size == 0:
            return x
        shifted = np.exp(x - maximum_along(x, axis, keepdims=True))
        return shifted / sum_along(shifted, axis, keepdims=True)

    return [one(wide(cast(component, dtype))) for component in self]
