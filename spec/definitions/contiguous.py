"""The definition of `contiguous`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray


def contiguous(self: list[NDArray]) -> list[NDArray]:
    """CONTIGUOUS: the same components, in C order."""
    return [x.copy() for x in self]
