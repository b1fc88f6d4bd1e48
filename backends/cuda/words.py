"""Data that is only moved is moved as words: few instantiations serve every dtype."""

from __future__ import annotations

from ..storage import address
from .device import Array, Device
from .naming import WORDS


def in_words(device: Device, row_bytes: int, *arrays: Array) -> tuple[str, int]:
    """The widest word that divides rows of ``row_bytes`` and the arrays' addresses, and how many make a row."""
    size = next(size for size in WORDS if row_bytes % size == 0 and not any(address(x) % size for x in arrays))
    return WORDS[size], row_bytes // size
