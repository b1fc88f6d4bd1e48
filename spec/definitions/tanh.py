"""The definition of `tanh`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def tanh(self: Components) -> Components:
    """TANH: the hyperbolic tangent of each element."""
    return each(lambda x: np.tanh(1.0 * wide(x)), self)  # 1.0 makes float64 of ints
