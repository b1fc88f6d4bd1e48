"""The definition of `sin`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def sin(self: Components) -> Components:
    """SIN: the sine of each element."""
    return each(lambda x: np.sin(1.0 * wide(x)), self)  # 1.0 makes float64 of ints
