"""The definition of `equal`."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.spec.numerics import NDArray


def equal(self: Any, other: Any) -> bool:
    """EQUAL: the same number of components, the same shapes, and the same elements."""
    if len(self) != len(other) or len(self.shape) != len(other.shape):
        return False
    same_sizes = all(None in pair or pair[0] == pair[1] for pair in zip(self.shape, other.shape, strict=True))
    same = (a.shape == b.shape and bool(np.all(exactly(a) == exactly(b))) for a, b in zip(self, other, strict=True))
    return same_sizes and all(same)


def exactly(x: NDArray) -> NDArray:
    """Return the elements as Python's numbers, which know that 2**53 + 1 is not 2.0**53."""
    return x.astype(object)
