"""The definition of `unflatten`."""

from __future__ import annotations

import math

from pynested.spec.components import Components, each


def unflatten(self: Components, dim: int, sizes: tuple[int, ...]) -> Components:
    """UNFLATTEN: dimension `dim` becomes dimensions of the given sizes, in C order; -1 is what the others leave."""
    known = math.prod(size for size in sizes if size != -1)
    new = [(self.shape[dim] or 0) // max(known, 1) if size == -1 else size for size in sizes]
    shape = (*self.shape[:dim], *new, *self.shape[dim + 1 :])
    return each(lambda x: x.reshape(*x.shape[: dim - 1], *new, *x.shape[dim:]), self, shape=shape)
