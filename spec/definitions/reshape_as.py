"""The definition of `reshape_as`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray


def reshape_as(self: list[NDArray], other: list[NDArray]) -> list[NDArray]:
    """RESHAPE_AS: the elements of component i in C order under the shape of component i of `other`."""
    return [x.reshape(like.shape) for x, like in zip(self, other, strict=True)]
