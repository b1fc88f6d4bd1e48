"""The definition of `unflatten`."""

from __future__ import annotations

import math

from pynested.spec.numerics import NDArray


def unflatten(self: list[NDArray], dim: int, sizes: tuple[int, ...]) -> list[NDArray]:
    """UNFLATTEN: dimension `dim` becomes dimensions of the given sizes, in C order; -1 is what the others leave."""
    known = math.prod(size for size in sizes if size != -1)

    def one(x: NDArray) -> NDArray:
        new = [x.shape[dim - 1] // max(known, 1) if size == -1 else size for size in sizes]
        return x.reshape(*x.shape[: dim - 1], *new, *x.shape[dim:])

    return [one(component) for component in self]
