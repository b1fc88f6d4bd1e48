"""The definition of `unbind`."""

from __future__ import annotations

from pynested.spec.components import Components
from pynested.spec.numerics import NDArray


def unbind(self: Components, dim: int = 0) -> list[NDArray]:
    """UNBIND: the components, in their order."""
    return list(self)
