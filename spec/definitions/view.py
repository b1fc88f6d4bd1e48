"""The definition of `view`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray

from .reshape import reshape


def view(self: list[NDArray], shape: tuple[int, ...]) -> list[NDArray]:
    """VIEW: the values of `reshape`, in the memory of `self`."""
    return reshape(self, shape)
