"""The definition of `relu`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import NDArray, real, wide


def relu(self: Components) -> Components:
    """RELU: 0 where x is below or equal to 0, x elsewhere."""

    def one(x: NDArray) -> NDArray:
        return np.where(real(x) <= 0, 0, wide(x))

    return each(one, self)
