"""The definition of `abs`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def abs(self: list[NDArray]) -> list[NDArray]:
    """ABS: |x|, element by element."""
    return [np.abs(wide(x)) for x in self]
