"""The definition of `log`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def log(self: list[NDArray]) -> list[NDArray]:
    """LOG: the natural logarithm of each element."""
    return [np.log(1.0 * wide(x)) for x in self]  # 1.0 makes float64 of ints
