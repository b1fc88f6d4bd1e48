"""The definition of `neg`."""

from __future__ import annotations

from pynested.spec.components import Components, each
from pynested.spec.numerics import wide


def neg(self: Components) -> Components:
    """NEG: -x, element by element."""
    return each(lambda x: -wide(x), self)
