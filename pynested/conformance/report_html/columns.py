"""A run as a column of the matrix: its name, its checks by operator, its causes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from ..coverage import Coverage, coverage
from ..differences import Cause, causes
from ..printable import printable
from ..records import Record, Run
from .page_index import LONGEST_NAME, Slugs


@dataclass(frozen=True)
class Column:
    """The run of one target; ``slug`` names its page, and its section on the pages of operators."""

    name: str
    slug: str
    run: Run

    @property
    def page(self) -> str:
        """Path of the page of the target."""
        return f"targets/{self.slug}.html"

    @property
    def target(self) -> str:
        """Name that the target gave itself."""
        return str(self.run.header["target"]["name"])

    @cached_property
    def coverage(self) -> Coverage:
        """Number of checks by outcome."""
        return coverage(self.run.results)

    @cached_property
    def causes(self) -> Sequence[Cause]:
        """Causes of all differences, in the order of a report."""
        return causes(self.run)

    @cached_property
    def operators(self) -> Mapping[str, Sequence[Record]]:
        """Results by operator."""
        results: dict[str, list[Record]] = {}
        for result in self.run.results:
            results.setdefault(result["op"], []).append(result)
        return results

    @cached_property
    def breaks(self) -> Mapping[str, int]:
        """Broken clauses, each with the number of the first cause that has a case of the clause."""
        numbers: dict[str, int] = {}
        for number, cause in enumerate(self.causes, 1):
            for _, finding in cause.members:
                numbers.setdefault(finding["clause"], number)
        return numbers

    def causes_of(self, op: str) -> list[tuple[int, Cause]]:
        """Return the number of each cause that affects an operator, and the cause with the cases of the operator."""
        parts = (
            (number, replace(cause, members=[pair for pair in cause.members if pair[0]["op"] == op]))
            for number, cause in enumerate(self.causes, 1)
        )
        return [(number, cause) for number, cause in parts if cause.members]


def columns(runs: Iterable[Run]) -> list[Column]:
    """Return a column for each run; a number tells targets of the same name and version apart."""
    names: list[str] = []
    slugs = Slugs()
    result = []
    for run in runs:
        target = run.header["target"]
        device = "" if target["device"] == "cpu" else f" on {target['device']}"
        names.append(printable(f"{target['name']} {target['version']}{device}", LONGEST_NAME))
        count = names.count(names[-1])
        name = f"{names[-1]} ({count})" if count > 1 else names[-1]
        result.append(Column(name, slugs(name), run))
    return result
