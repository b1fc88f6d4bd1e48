"""The definition of `log`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def log(self: Components) -> Components:
    """LOG: the natural logarithm of each element."""
    return each(lambda x: np.log(1.0 * wide(x)), self)  # 1.0 makes float64 of ints
