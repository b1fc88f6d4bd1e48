"""What a run may claim: how many checks there were, how many of them could be made, and how they came out.

A check is one part of one case in one layout: the result, its gradient, or the refusal. It is made where the target
answered it in at least one placement; where it did not answer in all of them, that is said too.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from .judge import CONVENTION, DIFFERS, FORWARD, GRADIENT, OK
from .replies import MISSING, UNASKED

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Coverage:
    """How many checks came to what.

    ``narrow`` are those that agree, but were not answered in every placement; in ``declared`` ones the target follows a
    convention of its own.
    """

    total: int
    agree: int
    differ: int
    missing: int
    unasked: int
    narrow: int
    declared: int = 0

    @property
    def made(self) -> int:
        """How many checks could be made."""
        return self.agree + self.differ + self.declared

    def share(self) -> str:
        """Return how many of how many checks were made; 100 % is said of all and of nothing less."""
        return f"{self.made:,} of {self.total:,} checks ({100 * self.made // max(self.total, 1)} %)"


def coverage(results: Iterable[Record]) -> Coverage:
    """Count the checks of a run."""
    verdicts: Counter[str] = Counter()
    narrow = 0
    for result in results:
        verdicts.update(result["parts"].values())
        narrow += sum(verdict == OK and bool(unanswered(result, part)) for part, verdict in result["parts"].items())
    differ = sum(verdicts[one] for one in DIFFERS)
    missing, unasked, declared = (verdicts[one] for one in (MISSING, UNASKED, CONVENTION))
    return Coverage(verdicts.total(), verdicts[OK], differ, missing, unasked, narrow, declared)


def unanswered(result: Record, part: str) -> set[str]:
    """Return the placements in which a part was not asked, or is not implemented; no gradient without the result."""
    parts = (FORWARD, GRADIENT) if part == GRADIENT else (part,)
    left = (one for one in result["findings"] if one["part"] in parts and one["verdict"] in (MISSING, UNASKED))
    return {placement for one in left for placement in one["placements"]}
