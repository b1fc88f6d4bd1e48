"""The definition of `split`."""

from __future__ import annotations

import itertools
import math

from pynested.spec.components import Components

from .getitem import getitem


def split(self: Components, sizes: int | tuple[int, ...], dim: int = 0) -> list[Components]:
    """SPLIT: consecutive pieces of `sizes` along `dim`; of one size until nothing is left."""
    if isinstance(sizes, int):
        sizes = (sizes,) * max(math.ceil((self.shape[dim] or 0) / sizes), 1)
    before, ends = [slice(None)] * dim, itertools.accumulate(sizes)
    return [getitem(self, (*before, slice(end - size, end))) for size, end in zip(sizes, ends, strict=True)]
