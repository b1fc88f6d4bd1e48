"""The definition of `permute`."""

from __future__ import annotations

import numpy as np

from pynested.spec.components import Components, each


def permute(self: Components, dims: tuple[int, ...]) -> Components:
    """PERMUTE: the dimensions of every component in the order `dims`, which begins with the batch."""
    shape = [self.shape[dim] for dim in dims]
    return each(lambda x: np.transpose(x, [dim - 1 for dim in dims[1:]]), self, shape=shape)
