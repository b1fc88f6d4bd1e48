"""What no array can exceed, on any device."""

from __future__ import annotations

MOST_DIMENSIONS = 64  # NumPy's own limit; dimensions of a nested array count with its batch, so that it can be padded
MOST_ELEMENTS = 2**59 - 1  # 8 bytes each, and what allocators add, can be counted in int64; sizes of 0 count as 1
