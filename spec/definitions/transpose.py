"""The definition of `transpose`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each


def transpose(self: Components, dim0: int, dim1: int) -> Components:
    """TRANSPOSE: two dimensions of every component change places."""
    shape = list(self.shape)
    shape[dim0], shape[dim1] = shape[dim1], shape[dim0]
    return each(lambda x: np.swapaxes(x, dim0 - 1, dim1 - 1), self, shape=shape)
