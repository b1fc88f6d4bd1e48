"""The definition of `mul`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import promoted
from pynested.spec.numerics import NDArray


def mul(self: Any, other: Any) -> list[NDArray]:
    """MUL: a * b, element by element."""
    return [a * b for a, b in promoted(self, other)]
