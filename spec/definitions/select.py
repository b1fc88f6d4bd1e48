"""The definition of `select`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def select(self: list[NDArray], dim: int, index: int) -> list[NDArray] | NDArray:
    """SELECT: the slice at `index` along `dim`, counted from the end of each component where it is negative."""
    if dim == 0:
        return self[index]
    return [np.take(component, index, axis=dim - 1) for component in self]
