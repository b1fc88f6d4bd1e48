"""The definition of `neg`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray, wide


def neg(self: list[NDArray]) -> list[NDArray]:
    """NEG: -x, element by element."""
    return [-wide(x) for x in self]
