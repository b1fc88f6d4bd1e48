"""The definition of `minimum`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import each, promoted
from pynested.spec.numerics import lesser


def minimum(self: Any, other: Any) -> Any:
    """MINIMUM: the lesser of a and b, element by element."""
    return each(lesser, *promoted(self, other))
