"""The definition of `sgn`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def sgn(self: Components) -> Components:
    """SGN: -1, 0 or 1, the sign of each element; NaN for NaN."""
    return each(lambda x: np.where(x > 0, 1, np.where(x < 0, -1, wide(x) * 0)), self)
