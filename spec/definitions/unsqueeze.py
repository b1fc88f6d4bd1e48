"""The definition of `unsqueeze`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each


def unsqueeze(self: Components, dim: int) -> Components:
    """UNSQUEEZE: a new dimension of size 1 at place `dim`."""
    return each(lambda x: np.expand_dims(x, dim - 1), self, shape=(*self.shape[:dim], 1, *self.shape[dim:]))
