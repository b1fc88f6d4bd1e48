"""What to leave out: a picture shows the ends of long things and says how much is between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

_WIDTHS = ((5, 3), (7, 3), (7, 1))  # characters of a number, and the fewest digits that so many must leave
_WIDTHS_IN_ROWS = ((5, 2), (7, 2), (7, 1))  # where several numbers stand in a cell
_DIGITS = 5
_HIDDEN = 3  # the block that says how many are left out is as wide as two


def ends(count: int, limit: int, hidden: int = _HIDDEN) -> list[int]:
    """Return which of `count` things are shown: all, or `limit` of them, the last among these where `limit` is over 2.

    The first two are always there where `limit` allows, because the step from one to the next is what a picture of
    strides is about. No fewer than `hidden` are left out: where it is one or two, that would save no room.

    >>> ends(6, 4), ends(7, 4), ends(100, 2)
    ([0, 1, 2, 3, 4, 5], [0, 1, 2, 6], [0, 1])
    """
    if count < limit + hidden:
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


def digits_of_all(numbers: Sequence[Any], in_rows: bool = False) -> int:
    """Return with how many digits to write numbers that stand side by side, so that all are equally precise.

    As many as leave each at most five characters or, where that were fewer than three digits, seven. Two are enough
    where rows of numbers stand in the cells.

    >>> digits_of_all([1.5, 2.0, 1 / 3]), digits_of_all([-812345.0, 25252.0]), digits_of_all([123456, 7])
    (3, 3, 7)
    """
    if all(isinstance(number, int) and len(str(number)) <= 7 for number in numbers):
        return 7
    for width, fewest in _WIDTHS_IN_ROWS if in_rows else _WIDTHS:
        for digits in range(_DIGITS, fewest - 1, -1):
            if all(len(short(number, digits)) <= width for number in numbers):
                return digits
    return 1


def short(value: Any, digits: int) -> str:
    """Write a number with so many digits at most, and no zeros that say nothing.

    >>> short(1.0, 5), short(-0.0, 5), short(1 / 3, 3), short(-812345.0, 3), short(float("-inf"), 1)
    ('1', '-0', '0.333', '-8.12e5', '-inf')
    """
    if isinstance(value, bool):
        return str(value)
    return f"{value:.{digits}g}".replace("e+", "e").replace("e0", "e").replace("e-0", "e-")


def written(cell: NDArray[np.generic]) -> list[Any]:
    """Return which numbers of a cell are written out: up to three, else the first and the last.

    >>> written(np.arange(2)), written(np.arange(10))
    ([0, 1], [0, 9])
    """
    numbers: list[Any] = cell.reshape(-1).tolist()
    return numbers if len(numbers) <= 3 else [numbers[0], numbers[-1]]


def in_short(cell: NDArray[np.generic], digits: int) -> str:
    """Return what is written into a cell of a buffer, which may itself hold a row of numbers.

    >>> in_short(np.array([1.0, 0.25]), 5), in_short(np.arange(10), 5)
    ('1 0.25', '0 … 9')
    """
    between = " … " if cell.size > 3 else " "
    return between.join(short(number, digits) for number in written(cell))


def cell_label(cell: NDArray[np.generic], digits: int) -> tuple[str, str]:
    """Return what is written into a cell, and the same in full.

    >>> cell_label(np.array([1.0, 0.25]), 5)
    ('1 0.25', '[1.   0.25]')
    """
    return in_short(cell, digits), np.array2string(cell, threshold=12)


def more(count: int, what: str = "") -> str:
    """Say how much is left out.

    >>> more(1204), more(1, "row"), more(3, "row")
    ('⋯ 1 204', '⋯ 1 row', '⋯ 3 rows')
    """
    plural = "s" if what and count > 1 else ""
    return f"⋯ {count:,} {what}{plural}".replace(",", " ").rstrip()


def listing(numbers: Sequence[int], limit: int = 8) -> str:
    """Write a few integers for a caption.

    >>> listing([2, 0, 4]), listing(range(100), 4)
    ('2, 0, 4', '0, 1, 2, …, 99')
    """
    items = with_gaps(ends(len(numbers), limit), len(numbers))
    return ", ".join("…" if isinstance(k, Gap) else str(numbers[k]) for k in items)
