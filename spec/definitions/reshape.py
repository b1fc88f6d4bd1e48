"""The definition of `reshape`."""

from __future__ import annotations

from pynested.spec.numerics import NDArray


def reshape(self: list[NDArray], shape: tuple[int, ...]) -> list[NDArray]:
    """RESHAPE: the elements of every component in C order under the sizes `shape[1:]`; -1 keeps the size there."""

    def sizes(x: NDArray) -> list[int]:
        return [x.shape[d] if size == -1 else size for d, size in enumerate(shape[1:])]

    return [x.reshape(sizes(x)) for x in self]
