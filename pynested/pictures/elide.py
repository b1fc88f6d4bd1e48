"""What to leave out: a picture shows the ends of long things and says how much is between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

_LABEL = 5  # characters that fit a cell


def ends(count: int, limit: int) -> list[int]:
    """Return which of `count` things are shown: all, or `limit` of them, the last among these where `limit` is over 2.

    The first two are always there, because the step from one to the next is what a picture of strides is about.
    Leaving out a single one would save nothing.

    >>> ends(5, 4), ends(100, 4), ends(100, 2)
    ([0, 1, 2, 3, 4], [0, 1, 2, 99], [0, 1])
    """
    if count <= limit + 1:
        return list(range(count))
    return list(range(limit)) if limit <= 2 else [*range(limit - 1), count - 1]


class Gap(NamedTuple):
    """A stretch ``[start, stop)`` that is left out."""

    start: int
    stop: int

    @property
    def size(self) -> int:
        """How many are left out."""
        return self.stop - self.start


def with_gaps(shown: Sequence[int], count: int) -> list[int | Gap]:
    """Return `shown`, ascending, with a gap in every place where some of ``range(count)`` are left out.

    >>> with_gaps([0, 1, 9], 10)
    [0, 1, Gap(start=2, stop=9), 9]
    """
    items: list[int | Gap] = []
    for before, after in pairwise([-1, *shown, count]):
        if after - before > 1:
            items.append(Gap(before + 1, after))
        if after < count:
            items.append(after)
    return items


def short(value: object) -> str:
    """Write a number in at most five characters, as many digits as fit.

    >>> short(1.0), short(-0.0), short(1 / 3), short(123456), short(float("-inf"))
    ('1', '-0', '0.333', '1.2e5', '-inf')
    """
    if isinstance(value, (bool, np.bool_)):
        return str(bool(value))
    if len(str(value)) <= _LABEL and not isinstance(value, (float, np.floating)):
        return str(value)
    texts = [_without_zeros(f"{value:.{digits}g}") for digits in range(_LABEL, 0, -1)]
    return next((text for text in texts if len(text) <= _LABEL), texts[-1])


def _without_zeros(text: str) -> str:
    return text.replace("e+", "e").replace("e0", "e").replace("e-0", "e-")


def cell_label(cell: NDArray[np.generic]) -> tuple[str, str]:
    """Return what is written into a cell of a buffer, and the same in full.

    A cell of the values of a jagged array may itself hold a row of numbers: up to three are written out.

    >>> cell_label(np.array([1.0, 0.25]))
    ('1 0.25', '[1.   0.25]')
    """
    numbers = cell.reshape(-1)
    in_full = np.array2string(cell, threshold=12)
    if numbers.size <= 3:
        return " ".join(short(number) for number in numbers.tolist()), in_full
    return f"{short(numbers[0].item())} … {short(numbers[-1].item())}", in_full


def more(count: int) -> str:
    """Say how much is left out.

    >>> more(1204)
    '⋯ 1 204'
    """
    return f"⋯ {count:,}".replace(",", " ")


def listing(numbers: Sequence[int], limit: int = 8) -> str:
    """Write a few integers for a caption.

    >>> listing([2, 0, 4]), listing(range(100), 4)
    ('2, 0, 4', '0, 1, 2, …, 99')
    """
    items = with_gaps(ends(len(numbers), limit), len(numbers))
    return ", ".join("…" if isinstance(k, Gap) else str(numbers[k]) for k in items)
