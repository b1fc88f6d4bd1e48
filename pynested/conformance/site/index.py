"""Which operators have a page, and what leads there."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from pynested.spec.table import Operator

from .columns import Slugs
from .markup import Markup, tag, text

OTHERS = "in no chapter of this specification"


class Index:
    """The operators of the table, its ideas, and whatever else was asked for; each has one page."""

    def __init__(self, table: Mapping[str, Operator], asked: Iterable[str]) -> None:
        self.table = table
        self._asked = dict.fromkeys(asked)
        slugs = Slugs()
        self._pages = {name: f"operators/{slugs(name)}.html" for name in [*table, *self._asked]}
        self._clauses = {clause.id for operator in table.values() for clause in operator.clauses}

    @property
    def names(self) -> list[str]:
        """Everything that has a page, the table first."""
        return list(self._pages)

    @property
    def chapters(self) -> Mapping[str, list[str]]:
        """The operators that were asked for, by chapter, in the order of the table."""
        found: dict[str, list[str]] = {}
        for name, operator in self.table.items():
            if name in self._asked:
                found.setdefault(operator.chapter, []).append(name)
        others = [name for name in self._asked if name not in self.table]
        return {**found, OTHERS: others} if others else found

    def page(self, name: str) -> str:
        """Return the file of an operator, from the folder of the site."""
        return self._pages[name]

    def link(self, name: str, label: str) -> Markup:
        """Return the label as what leads to an operator, or to its clause if the label is one, from another page."""
        if name not in self._pages:
            return text(label)
        place = f"#{label}" if label in self._clauses else ""
        return tag("a", label, href=f"../{self.page(name)}{place}")
