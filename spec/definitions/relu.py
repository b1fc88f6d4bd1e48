"""The definition of `relu`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, real, wide


def relu(self: list[NDArray]) -> list[NDArray]:
    """RELU: 0 where x is below or equal to 0, x elsewhere."""
    return [np.where(real(x) <= 0, 0, x) for x in map(wide, self)]
