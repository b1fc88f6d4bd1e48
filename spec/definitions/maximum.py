"""The definition of `maximum`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import each, promoted
from pynested.spec.numerics import greater


def maximum(self: Any, other: Any) -> Any:
    """MAXIMUM: the greater of a and b, element by element."""
    return each(greater, *promoted(self, other))
