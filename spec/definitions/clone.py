"""The definition of `clone`."""

from __future__ import annotations

from pynested.spec.components import Components, each


def clone(self: Components) -> Components:
    """CLONE: a copy."""
    return each(lambda x: x.copy(), self)
