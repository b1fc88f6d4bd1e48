"""The definition of `sgn`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def sgn(self: list[NDArray]) -> list[NDArray]:
    """SGN: -1, 0 or 1, the sign of each element; NaN for NaN."""
    return [np.where(x > 0, 1, np.where(x < 0, -1, x * 0)) for x in map(wide, self)]
