"""The definition of `logical_not`."""

from __future__ import annotations

import numpy as np

from pynested.spec.numerics import NDArray


def logical_not(self: list[NDArray]) -> list[NDArray]:
    """LOGICAL_NOT: True where the element equals 0."""
    return [np.logical_not(x) for x in self]
