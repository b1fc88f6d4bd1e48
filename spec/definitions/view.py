"""The definition of `view`."""

from __future__ import annotations

from pynested.spec.components import Components

from .reshape import reshape


def view(self: Components, shape: tuple[int, ...]) -> Components:
    """VIEW: the values of `reshape`, in the memory of `self`."""
    return reshape(self, shape)
