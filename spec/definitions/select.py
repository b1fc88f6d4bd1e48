"""The definition of `select`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each, without
from pynested.spec.numerics import NDArray


def select(self: Components, dim: int, index: int) -> Components | NDArray:
    """SELECT: the slice at `index` along `dim`, counted from the end of each component where it is negative."""
    if dim == 0:
        return self[index]
    shape = without(self.shape, (dim,))
    return each(lambda x: np.take(x, index, axis=dim - 1), self, shape=shape, dtype=self.dtype)
