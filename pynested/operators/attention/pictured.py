"""Blocks of a mask as characters, or as fewer of them."""

from __future__ import annotations

import numpy as np

from .lists import PARTIAL, States

PICTURE = np.array(["·", "░", "█"])  # empty, partial, full


def pictured(states: States, rows: int, columns: int) -> str:
    """A character for each block, or for several."""
    return "\n".join("".join(line) for line in PICTURE[reduced(states, rows, columns)])


def reduced(states: States, rows: int, columns: int) -> States:
    """At most so many rows and columns, -1 for as many as there are; blocks that become one are partial or alike."""
    pairs = zip(states.shape, (rows, columns), strict=True)
    steps = [1 if most < 0 else -(-size // max(1, most)) or 1 for size, most in pairs]
    starts = [np.arange(0, size, step) for size, step in zip(states.shape, steps, strict=True)]
    if not states.size:
        return states[:0]
    least, most = (
        f.reduceat(f.reduceat(states, starts[0], axis=0), starts[1], axis=1) for f in (np.minimum, np.maximum)
    )
    return np.where(least == most, least, PARTIAL).astype(np.int8)
