"""The definition of `flatten`."""

from __future__ import annotations

import math

from pynested.spec.components import Components, each


def flatten(self: Components, start_dim: int = 0, end_dim: int = -1) -> Components:
    """FLATTEN: the dimensions from `start_dim` to `end_dim` of every component as one, elements in C order."""
    end_dim %= len(self.shape)
    sizes = self.shape[start_dim : end_dim + 1]
    whole = None if None in sizes else math.prod(size or 0 for size in sizes)
    shape = (*self.shape[:start_dim], whole, *self.shape[end_dim + 1 :])
    a, b = start_dim - 1, end_dim
    return each(lambda x: x.reshape(*x.shape[:a], math.prod(x.shape[a:b]), *x.shape[b:]), self, shape=shape)
