"""The definition of `tanh`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def tanh(self: list[NDArray]) -> list[NDArray]:
    """TANH: the hyperbolic tangent of each element."""
    return [np.tanh(1.0 * wide(x)) for x in self]  # 1.0 makes float64 of ints
