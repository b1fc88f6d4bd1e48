"""The paths of the pages of operators, and links to their clauses."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from pynested.spec.table import Operator

LONGEST_NAME = 60  # characters of the name of a file
OTHERS = "in no chapter of this specification"


class Slugs:
    """Names of files made of any text; each differs from all others on every file system."""

    def __init__(self) -> None:
        self._by_name: dict[str, str] = {}

    def __call__(self, name: str) -> str:
        """Return the slug of a name, the same for the same name."""
        if name not in self._by_name:
            plain = re.sub(r"[^a-z0-9_]+", "-", name.lower()).strip("-")[:LONGEST_NAME] or "unnamed"
            slug, number = plain, 1
            while slug in self._by_name.values():
                number += 1
                slug = f"{plain}-{number}"
            self._by_name[name] = slug
        return self._by_name[name]


class Index:
    """The operators that have a page: those of the specification, and all others that a run has results of."""

    def __init__(self, table: Mapping[str, Operator], names_of_runs: Iterable[str]) -> None:
        self.table = table
        self._in_runs = dict.fromkeys(names_of_runs)
        slugs = Slugs()
        self._pages = {name: f"operators/{slugs(name)}.html" for name in [*table, *self._in_runs]}
        self._clauses = {clause.id for operator in table.values() for clause in operator.clauses}

    @property
    def names(self) -> list[str]:
        """Everything that has a page, the operators of the specification first."""
        return list(self._pages)

    @property
    def chapters(self) -> Mapping[str, list[str]]:
        """The operators that a run has results of, by chapter, in the order of the specification."""
        chapters: dict[str, list[str]] = {}
        for name, operator in self.table.items():
            if name in self._in_runs:
                chapters.setdefault(operator.chapter, []).append(name)
        others = [name for name in self._in_runs if name not in self.table]
        return {**chapters, OTHERS: others} if others else chapters

    def page(self, name: str) -> str:
        """Return the path of the page of an operator, from the folder of the site."""
        return self._pages[name]

    def href(self, name: str) -> str:
        """Return the link from a page in a folder to an operator or to one of its clauses; "" without such a page."""
        operator = name if name in self._pages else name.rpartition("-")[0].lower()
        if operator not in self._pages:
            return ""
        return f"../{self._pages[operator]}" + (f"#{name}" if name in self._clauses else "")
