"""Limits of the sizes of arrays, on all devices."""

from __future__ import annotations

MOST_DIMENSIONS = 64  # NumPy's own limit; dimensions of a nested array count with its batch, so that it can be padded
MOST_ELEMENTS = 2**59 - 1  # of 8 bytes, so that int64 can count the bytes; sizes of 0 count as 1
