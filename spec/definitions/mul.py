"""The definition of `mul`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import each, promoted


def mul(self: Any, other: Any) -> Any:
    """MUL: a * b, element by element."""
    return each(lambda a, b: a * b, *promoted(self, other))
