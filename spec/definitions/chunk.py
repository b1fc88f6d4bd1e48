"""The definition of `chunk`."""

from __future__ import annotations

import math

from pynested.spec.numerics import NDArray


def chunk(self: list[NDArray], chunks: int, dim: int = 0) -> list[list[NDArray]]:
    """CHUNK: consecutive pieces of ceil(n / chunks) along `dim`."""
    count = len(self) if dim == 0 else self[0].shape[dim - 1]
    size = math.ceil(count / chunks)
    pieces = [slice(i * size, (i + 1) * size) for i in range(math.ceil(count / size) if size else chunks)]
    if dim == 0:
        return [self[piece] for piece in pieces]
    before = (slice(None),) * (dim - 1)
    return [[x[(*before, piece)] for x in self] for piece in pieces]
