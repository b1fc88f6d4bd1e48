"""Ragged sizes: what the shape of a nested array says of an irregular dimension.

A ragged size prints as ``j1``, ``j2``, …. Equal lengths are equal sizes and have one name, whichever array they come
from.
"""

from __future__ import annotations

import hashlib
from threading import RLock as Lock
from typing import Any

from pynested.backends.errors import ArgumentError

from . import Ints

_names: dict[bytes, int] = {}
_lock = Lock()


class RaggedSize:
    """The sizes of all components along one dimension, read-only, compared by value."""

    __slots__ = ("_key", "lengths")

    def __init__(self, lengths: Ints) -> None:
        self.lengths = lengths
        self._key: bytes | None = None

    def _digest(self) -> bytes:
        if self._key is None:
            self._key = hashlib.blake2b(self.lengths.tobytes(), digest_size=16).digest()
        return self._key

    @property
    def number(self) -> int:
        """The number in the name: sizes are numbered as they are first shown."""
        with _lock:
            return _names.setdefault(self._digest(), len(_names) + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedSize) and self._digest() == other._digest()

    def __hash__(self) -> int:
        return hash(self._digest())

    def __repr__(self) -> str:
        return f"j{self.number}"

    def _is_no_number(self, *others: Any) -> Any:
        raise ArgumentError(
            f"{self!r} is the size of a dimension that differs from component to component, and no number. The sizes "
            "are those of x.lengths_along(dim)."
        )

    __int__ = __index__ = __float__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _is_no_number
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __lt__ = __le__ = __gt__ = __ge__ = _is_no_number
