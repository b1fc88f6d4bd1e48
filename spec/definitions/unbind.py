"""The definition of `unbind`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray


def unbind(self: list[NDArray], dim: int = 0) -> list[NDArray]:
    """UNBIND: the components, in their order."""
    return list(self)
