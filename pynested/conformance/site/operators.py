"""The page of an operator: its clauses, and what each target does about them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pynested.spec.table import Clause, Operator

from ..judge import PARTS
from ..placements import LAYOUTS
from .causes import entry
from .columns import Column
from .frame import LEGEND, page, table
from .index import Index
from .markup import Child, Markup, prose, tag
from .targets import parts_of


def operator_page(name: str, columns: Sequence[Column], index: Index) -> str:
    """Return the page; one that the table does not have is there without clauses."""
    operator = index.table.get(name)
    asked = [column for column in columns if name in column.operators]
    return page(
        name,
        *(_introduced(operator) if operator else ()),
        *(_checks(name, asked) if asked else ()),
        *(_clauses(operator, columns) if operator else ()),
        *(part for column in asked for part in _differences(name, column, index)),
        back="../index.html",
    )


def _introduced(operator: Operator) -> Iterator[Markup]:
    if operator.is_idea:
        yield tag("p", "What all operators have in common.")
        return
    yield tag("p", prose(operator.summary))
    yield tag("pre", tag("code", operator.signature))
    known = f", {operator.torch} in PyTorch" if operator.torch else ""
    yield tag("p", f"Chapter {operator.chapter}{known}.")


def _checks(name: str, asked: Sequence[Column]) -> Iterator[Markup]:
    pairs = [(layout, part) for layout in LAYOUTS for part in PARTS]
    titles = ["target", *(f"{layout} {part}" for layout, part in pairs)]
    yield table("Checks", titles, (_row(name, column, pairs) for column in asked), class_="matrix")
    yield tag("p", LEGEND, class_="legend")


def _row(name: str, column: Column, pairs: Sequence[tuple[str, str]]) -> Markup:
    cells = parts_of(column, name, f"#{column.slug}")
    title = tag("th", tag("a", column.name, href=f"../{column.page}"), scope="row")
    return tag("tr", title, (cells.get(pair, tag("td", "·", class_="nothing")) for pair in pairs))


def _clauses(operator: Operator, columns: Sequence[Column]) -> Iterator[Markup]:
    yield tag("h2", "Clauses")
    yield tag("dl", (_clause(clause, columns) for clause in operator.clauses), class_="clauses")


def _clause(clause: Clause, columns: Sequence[Column]) -> Markup:
    """Return a clause, and the targets of which a cause names it."""
    kind = f"{clause.kind_class}: {clause.error}" if clause.error else clause.kind_class
    broken: list[Child] = []
    for column in columns:
        if clause.id in column.breaks:
            place = f"../{column.page}#cause-{column.breaks[clause.id] + 1}"
            broken += [", " if broken else "Differs: ", tag("a", column.name, href=place)]
    name = tag("dt", tag("code", clause.id), " ", tag("span", kind, class_="extent"), id=clause.id)
    return Markup(name + tag("dd", prose(clause.text), tag("p", broken) if broken else None))


def _differences(name: str, column: Column, index: Index) -> Iterator[Markup]:
    """Yield what a target does otherwise, with the easiest case of this operator for each cause."""
    yield tag("h2", tag("a", column.name, href=f"../{column.page}"), id=column.slug)
    found = column.causes_of(name)
    if not found:
        yield tag("p", "No difference was found.")
    for number, cause in found:
        whole = tag(
            "a", f"this cause, of all operators of {column.target}", href=f"../{column.page}#cause-{number + 1}"
        )
        yield entry(cause, column, index.link, more=whole)
