"""A run as a column of the matrix: its name, its checks by operator, its causes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..coverage import Coverage, coverage
from ..differences import Cause, causes
from ..printable import printable
from ..records import Record, Run

_LONGEST = 60  # characters of the name of a file


@dataclass(frozen=True)
class Column:
    """One target as it was held against the specification; ``slug`` names its page, and its place on others."""

    name: str
    slug: str
    run: Run

    @property
    def page(self) -> str:
        """The file of its page."""
        return f"targets/{self.slug}.html"

    @property
    def target(self) -> str:
        """What the target calls itself."""
        return str(self.run.header["target"]["name"])

    @cached_property
    def coverage(self) -> Coverage:
        """How its checks came out."""
        return coverage(self.run.results)

    @cached_property
    def causes(self) -> Sequence[Cause]:
        """Its causes in the order of a report; the place of a cause in it is its number."""
        return causes(self.run)

    @cached_property
    def operators(self) -> Mapping[str, Sequence[Record]]:
        """The results of each operator."""
        found: dict[str, list[Record]] = {}
        for result in self.run.results:
            found.setdefault(result["op"], []).append(result)
        return found

    @cached_property
    def breaks(self) -> Mapping[str, int]:
        """The clauses that are broken, each with the number of the first cause that has a case of it."""
        found: dict[str, int] = {}
        for number, cause in enumerate(self.causes):
            for _, finding in cause.members:
                found.setdefault(finding["clause"], number)
        return found

    def causes_of(self, op: str) -> list[tuple[int, Cause]]:
        """Return the number of each cause that affects an operator, and what of it does."""
        parts = (
            (number, [pair for pair in one.members if pair[0]["op"] == op]) for number, one in enumerate(self.causes)
        )
        return [(number, replace(self.causes[number], members=members)) for number, members in parts if members]


def columns(runs: Iterable[Run]) -> list[Column]:
    """Return a column for each run; targets of the same name and version are told apart by a number."""
    names: list[str] = []
    slugs = Slugs()
    found = []
    for run in runs:
        target = run.header["target"]
        device = "" if target["device"] == "cpu" else f" on {target['device']}"
        names.append(printable(f"{target['name']} {target['version']}{device}", _LONGEST))
        again = names.count(names[-1])
        name = f"{names[-1]} ({again})" if again > 1 else names[-1]
        found.append(Column(name, slugs(name), run))
    return found


class Slugs:
    """Makes of any text the name of a file that exists nowhere else, on no file system."""

    def __init__(self) -> None:
        self._taken: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Return the slug of a name, the same for the same name."""
        if name not in self._taken:
            plain = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:_LONGEST] or "unnamed"
            tries = (plain if not number else f"{plain}-{number + 1}" for number in range(len(self._taken) + 1))
            self._taken[name] = next(one for one in tries if one not in self._taken.values())
        return self._taken[name]
