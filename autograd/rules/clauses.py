"""The line of a docstring that names the clauses of an operator."""

from __future__ import annotations

from collections.abc import Collection
from itertools import groupby

__all__ = ["listed_clauses"]


def listed_clauses(name: str, last: int, retired: Collection[int] = ()) -> str:
    """Return the clauses of an operator up to number ``last``, without ``retired`` numbers.

    >>> listed_clauses("sum", 10), listed_clauses("argmax", 9, [8])
    ('SUM-1 to SUM-10', 'ARGMAX-1 to ARGMAX-7, ARGMAX-9')
    """
    numbers = [number for number in range(1, last + 1) if number not in retired]
    stretches = [[n for _, n in group] for _, group in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0])]
    ends = [dict.fromkeys((stretch[0], stretch[-1])) for stretch in stretches]
    return ", ".join(" to ".join(f"{name.upper()}-{number}" for number in pair) for pair in ends)
