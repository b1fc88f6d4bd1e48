"""The definition of `sub`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import promoted
from pynested.spec.numerics import NDArray


def sub(self: Any, other: Any, alpha: Any = 1) -> list[NDArray]:
    """SUB: a - alpha * b, element by element."""
    return [a - (b if type(alpha) is int and alpha == 1 else alpha * b) for a, b in promoted(self, other)]
