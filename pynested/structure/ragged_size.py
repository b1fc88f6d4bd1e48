"""`RaggedSize`: the entry of a nested array's shape for an irregular dimension.

A ragged size prints as ``j1``, ``j2``, …. Equal lengths compare equal and print the same name, in all arrays.
"""

from __future__ import annotations

import hashlib
from threading import RLock
from typing import Any

import numpy as np

from pynested.backends.errors import ArgumentError

from .extents import Ints

_numbers_by_digest: dict[bytes, int] = {}
_lock = RLock()


class RaggedSize:
    """Sizes of all components along one irregular dimension. Two ragged sizes are equal if their lengths are equal.

    Attributes
    ----------
    lengths : int64 (B,)
        The size of each component.
    """

    __slots__ = ("lengths",)

    def __init__(self, lengths: Ints) -> None:
        self.lengths = lengths

    def _digest(self) -> bytes:
        return hashlib.blake2b(self.lengths.tobytes(), digest_size=16).digest()

    @property
    def number(self) -> int:
        """The number in the name. Ragged sizes are numbered in the order in which they are first printed."""
        with _lock:
            return _numbers_by_digest.setdefault(self._digest(), len(_numbers_by_digest) + 1)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RaggedSize) and np.array_equal(self.lengths, other.lengths)

    def __hash__(self) -> int:
        return hash(self._digest())

    def __repr__(self) -> str:
        return f"j{self.number}"

    def _refuse_arithmetic(self, *operands: Any) -> Any:
        raise ArgumentError(
            f"{self!r} is the size of a dimension along which components differ, so it is not a number. Use the sizes "
            "of all components: x.lengths_along(dim)."
        )

    __int__ = __index__ = __float__ = __add__ = __radd__ = __sub__ = __rsub__ = __mul__ = __rmul__ = _refuse_arithmetic
    __truediv__ = __rtruediv__ = __floordiv__ = __rfloordiv__ = __divmod__ = __rdivmod__ = _refuse_arithmetic
    __mod__ = __rmod__ = __pow__ = __rpow__ = __neg__ = __pos__ = __abs__ = _refuse_arithmetic
    __lt__ = __le__ = __gt__ = __ge__ = _refuse_arithmetic
