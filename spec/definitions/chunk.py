"""The definition of `chunk`."""

from __future__ import annotations

import math

from pynested.spec.components import Components

from .getitem import getitem


def chunk(self: Components, chunks: int, dim: int = 0) -> list[Components]:
    """CHUNK: consecutive pieces of ceil(n / chunks) along `dim`."""
    count = self.shape[dim] or 0
    size = math.ceil(count / chunks)
    pieces = [slice(i * size, (i + 1) * size) for i in range(math.ceil(count / size) if size else chunks)]
    before = [slice(None)] * dim
    return [getitem(self, (*before, piece)) for piece in pieces]
