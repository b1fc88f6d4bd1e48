"""The definition of `exp`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def exp(self: Components) -> Components:
    """EXP: e to the power of each element."""
    return each(lambda x: np.exp(1.0 * wide(x)), self)  # 1.0 makes float64 of ints
