"""The definition of `exp`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def exp(self: list[NDArray]) -> list[NDArray]:
    """EXP: e to the power of each element."""
    return [np.exp(1.0 * wide(x)) for x in self]  # 1.0 makes float64 of ints
