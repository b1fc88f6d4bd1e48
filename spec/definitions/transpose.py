"""The definition of `transpose`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def transpose(self: list[NDArray], dim0: int, dim1: int) -> list[NDArray]:
    """TRANSPOSE: two dimensions of every component change places."""
    return [np.swapaxes(component, dim0 - 1, dim1 - 1) for component in self]
