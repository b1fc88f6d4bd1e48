"""The definition of `add`."""

from __future__ import annotations

from typing import Any

from pynested.spec.components import each, promoted


def add(self: Any, other: Any, alpha: Any = 1) -> Any:
    """ADD: a + alpha * b, element by element."""
    return each(lambda a, b: a + (b if type(alpha) is int and alpha == 1 else alpha * b), *promoted(self, other))
