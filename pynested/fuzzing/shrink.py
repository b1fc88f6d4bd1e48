"""Shrinking: from a plan that shows a difference to a smaller one that shows the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

__all__ = ["ATTEMPTS", "shrunk"]

P = TypeVar("P")
F = TypeVar("F")
ATTEMPTS = 1000


def shrunk(
    plan: P,
    found: F,
    candidates: Callable[[P, F], Iterator[P]],
    shows: Callable[[P], F | None],
    kind: Callable[[F], Any],
    attempts: int = ATTEMPTS,
) -> tuple[P, F]:
    """The smallest plan that was met and shows a difference of the same ``kind``, and that difference.

    ``candidates`` are simpler plans, the boldest first. After each that still shows it, they are drawn anew; so the
    last one shows nothing simpler, or ``attempts`` are used up.

    Examples
    --------
    >>> def half_or_less(n, found):
    ...     return iter((n // 2, n - 1))
    >>> shrunk(100, "odd", half_or_less, lambda n: "even" if n >= 7 else None, lambda found: True)
    (7, 'even')
    """
    due, left = kind(found), attempts
    better: tuple[P, F] | None = (plan, found)
    while better is not None:
        plan, found = better
        better = None
        for candidate in candidates(plan, found):
            if not left:
                return plan, found
            left -= 1
            again = shows(candidate)
            if again is not None and kind(again) == due:
                better = candidate, again
                break
    return plan, found
