"""The definition of `reshape`."""

from __future__ import annotations

from pynested.spec.components import Components, Shape, each


def reshape(self: Components, shape: tuple[int, ...]) -> Components:
    """RESHAPE: the elements of every component in C order under the sizes `shape[1:]`; -1 keeps the size there."""

    def sizes(old: Shape) -> Shape:
        return [old[d] if size == -1 else size for d, size in enumerate(shape[1:])]

    return each(lambda x: x.reshape(sizes(x.shape)), self, shape=(len(self), *sizes(self.shape[1:])), dtype=self.dtype)
