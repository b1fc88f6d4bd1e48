"""The definition of `clone`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray


def clone(self: list[NDArray]) -> list[NDArray]:
    """CLONE: a copy."""
    return [x.copy() for x in self]
