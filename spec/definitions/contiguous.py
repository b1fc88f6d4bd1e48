"""The definition of `contiguous`."""

from __future__ import annotations

from pynested.spec.components import Components, each


def contiguous(self: Components) -> Components:
    """CONTIGUOUS: the same components, in C order."""
    return each(lambda x: x.copy(), self)
