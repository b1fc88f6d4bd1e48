"""Numbers that carry more than their value, and are compared by it alone."""

from __future__ import annotations

from typing import Any

import numpy as np


class Ordered:
    """What has a ``value``: order and equality look at that of both sides, of which one may be a plain number."""

    __slots__ = ()
    value: Any

    def __eq__(self, other: object) -> bool:
        return bool(self.value == value_of(other))

    def __ne__(self, other: object) -> bool:
        return bool(self.value != value_of(other))

    def __lt__(self, other: Any) -> bool:
        return bool(self.value < value_of(other))

    def __le__(self, other: Any) -> bool:
        return bool(self.value <= value_of(other))

    def __gt__(self, other: Any) -> bool:
        return bool(self.value > value_of(other))

    def __ge__(self, other: Any) -> bool:
        return bool(self.value >= value_of(other))


def value_of(number: Any) -> Any:
    """The value alone, as a number of Python's where it is one of NumPy's scalars."""
    if isinstance(number, Ordered):
        return number.value
    return number.item() if isinstance(number, np.generic) else number
