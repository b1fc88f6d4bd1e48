"""The definition of `squeeze`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, dims_of, each, without


def squeeze(self: Components, dim: int | tuple[int, ...] | None = None) -> Components:
    """SQUEEZE: every component without the dimensions `dim`, which have size 1."""
    dims = dims_of(dim, self.shape)
    return each(lambda x: np.squeeze(x, tuple(d - 1 for d in dims)), self, shape=without(self.shape, dims))
