"""The definition of `abs`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def abs(self: Components) -> Components:
    """ABS: |x|, element by element."""
    return each(lambda x: np.abs(wide(x)), self)
