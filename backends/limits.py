"""Limits of the sizes of arrays, on all devices."""

from __future__ import annotations

MOST_DIMENSIONS = 64  # NumPy's own limit; the batch counts, so that a nested array can be padded to a dense one
MOST_ELEMENTS = 2**59 - 1  # of 8 bytes, so that int64 can count the bytes; sizes of 0 count as 1
