"""Truncation: a picture shows the ends of long things, and the number of those between them."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

Gap = range  # of hidden things


def visible_indices(count: int, limit: int) -> list[int]:
    """Return which of ``count`` things are shown: all, or ``limit`` of them, the last among these if limit is over 2.

    The first two are shown if ``limit`` allows, because a picture of strides shows the step from one to the next. One
    thing alone is never hidden.

    >>> visible_indices(5, 4), visible_indices(6, 4), visible_indices(100, 2)
    ([0, 1, 2, 3, 4], [0, 1, 2, 5], [0, 1])
    """
    if count < limit + 2:
        return list(range(count))
    return list(range(limit)) if limit <= 2 else [*range(limit - 1), count - 1]


def with_gaps(shown: Sequence[int], count: int) -> list[int | Gap]:
    """Return ``shown``, ascending, with a gap wherever some of ``range(count)`` are hidden.

    >>> with_gaps([0, 1, 9], 10)
    [0, 1, range(2, 9), 9]
    """
    items: list[int | Gap] = []
    for before, after in pairwise([-1, *shown, count]):
        if after - before > 1:
            items.append(Gap(before + 1, after))
        if after < count:
            items.append(after)
    return items


def hidden_count(count: int, noun: str = "") -> str:
    """Return the text of a gap.

    >>> hidden_count(1204), hidden_count(1, "row"), hidden_count(3, "row")
    ('⋯ 1 204', '⋯ 1 row', '⋯ 3 rows')
    """
    plural = "s" if noun and count > 1 else ""
    return f"⋯ {count:,} {noun}{plural}".replace(",", " ").rstrip()


def listing(numbers: Sequence[int], limit: int = 8) -> str:
    """Return a few integers as text.

    >>> listing([2, 0, 4]), listing(range(100), 4)
    ('2, 0, 4', '0, 1, 2, …, 99')
    """
    items = with_gaps(visible_indices(len(numbers), limit), len(numbers))
    return ", ".join("…" if isinstance(k, Gap) else str(numbers[k]) for k in items)
