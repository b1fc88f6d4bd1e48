"""The definition of `sin`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def sin(self: list[NDArray]) -> list[NDArray]:
    """SIN: the sine of each element."""
    return [np.sin(1.0 * wide(x)) for x in self]  # 1.0 makes float64 of ints
