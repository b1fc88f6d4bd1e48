"""Shrinking: from a plan that shows a difference to a smaller one that shows the same."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

from ..judge import Found

P = TypeVar("P")
ATTEMPTS = 1000


def shrunk(
    plan: P,
    found: Found,
    candidates: Callable[[P, Found], Iterator[P]],
    shows: Callable[[P], Found | None],
    kind: Callable[[Found], Any],
    attempts: int = ATTEMPTS,
) -> tuple[P, Found]:
    """The smallest plan that was met and shows a difference of the same ``kind``, and that difference.

    ``candidates`` are simpler plans, the boldest first. After each that still shows it, they are drawn anew; so the
    last one shows nothing simpler, or ``attempts`` are used up.
    """
    due, left = kind(found), attempts
    better: tuple[P, Found] | None = (plan, found)
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
