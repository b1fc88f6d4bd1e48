"""The definition of `unsqueeze`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def unsqueeze(self: list[NDArray], dim: int) -> list[NDArray]:
    """UNSQUEEZE: a new dimension of size 1 at place `dim`."""
    return [np.expand_dims(x, dim - 1) for x in self]
