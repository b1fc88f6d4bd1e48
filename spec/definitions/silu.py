"""The definition of `silu`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray, wide


def silu(self: list[NDArray]) -> list[NDArray]:
    """SILU: x / (1 + exp(-x)), element by element."""
    return [x / (1 + np.exp(-x)) for x in map(wide, self)]
