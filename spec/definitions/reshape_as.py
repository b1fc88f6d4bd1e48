"""The definition of `reshape_as`."""

from __future__ import annotations

from pynested.spec.components import Components, each


def reshape_as(self: Components, other: Components) -> Components:
    """RESHAPE_AS: the elements of component i in C order under the shape of component i of `other`."""
    return each(lambda x, like: x.reshape(like.shape), self, other, shape=other.shape, dtype=self.dtype)
