"""The front page: who was held to what, how that came out, and the matrix of operators and targets."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ..coverage import coverage
from ..kinds import KINDS
from ..report import LAW
from .columns import Column
from .frame import LEGEND, cell, page, table
from .index import Index
from .markup import Markup, tag

_TITLE = "Nested arrays held against their specification"


def front(columns: Sequence[Column], index: Index) -> str:
    """Return the page."""
    return page(
        _TITLE,
        tag("p", _introduced(columns)),
        table(
            "Targets",
            ["target", "agree", "differ", "own conventions", "causes", "checks made", "in one sentence"],
            _targets(columns),
        ),
        *_kinds(columns),
        tag("h2", "Operators"),
        tag("p", LEGEND, class_="legend"),
        table("Operators and targets", ["operator", *map(_named, columns)], _matrix(columns, index), class_="matrix"),
    )


def _introduced(columns: Sequence[Column]) -> str:
    specs = sorted({column.run.header["spec"] for column in columns})
    vectors = sorted({column.run.header["vectors"][:12] for column in columns})
    cases = {result["id"] for column in columns for result in column.run.results}
    text = f"Specification {', '.join(specs)}, vectors {', '.join(vectors)}: {len(cases):,} cases were asked. "
    if len(vectors) > 1:
        text += "The targets were held to different vectors: where they differ, so may the cases. "
    return (
        f"{text}{LAW} "
        + "Every difference is a call with its numbers, the clause that it breaks, and code that shows it."
    )


def _named(column: Column) -> Markup:
    return tag("a", column.name, href=column.page)


def _targets(columns: Sequence[Column]) -> Iterator[Markup]:
    for column in columns:
        found = column.coverage
        numbers = (found.agree, found.differ, found.declared, len(column.causes))
        counts = (*(f"{one:,}" for one in numbers), found.share())
        name = tag("th", _named(column), scope="row")
        yield tag("tr", name, (tag("td", one, class_="number") for one in counts), tag("td", in_a_sentence(column)))


def in_a_sentence(column: Column) -> str:
    """Return what a run says of its target."""
    found, target = column.coverage, column.target
    if column.run.footer is None:
        results, promised = len(column.run.results), column.run.header["results"]
        return f"The run broke off: it has {results:,} of {promised:,} results."
    if not found.made:
        return f"Nothing is known about {target}: no check could be made, which is no agreement."
    if found.differ:
        return f"{target} differs in {found.differ:,} of {found.made:,} checks."
    return f"{target} agrees in all checks" + (" that could be made." if found.made < found.total else ".")


def _kinds(columns: Sequence[Column]) -> Iterator[Markup]:
    """Yield a table of the kinds, if anything differs: how many causes, and in brackets of how many cases."""
    differing = [column for column in columns if column.causes]
    found = [kind for kind in KINDS if any(cause.kind == kind for column in differing for cause in column.causes)]
    if found:
        titles = ["the target", *map(_named, differing)]
        yield table("Causes by kind, and in brackets the cases", titles, (_kind(one, differing) for one in found))


def _kind(kind: str, columns: Sequence[Column]) -> Markup:
    cells = []
    for column in columns:
        sizes = [len(cause.members) for cause in column.causes if cause.kind == kind]
        shown = tag("a", f"{len(sizes):,} ({sum(sizes):,})", href=f"{column.page}#{kind}") if sizes else "·"
        cells.append(tag("td", shown, class_="number"))
    return tag("tr", tag("th", KINDS[kind], scope="row"), cells)


def _matrix(columns: Sequence[Column], index: Index) -> Iterator[Markup]:
    for chapter, names in index.chapters.items():
        yield tag("tr", tag("th", chapter, scope="colgroup", colspan=str(len(columns) + 1)), class_="chapter")
        for name in names:
            cells = []
            for column in columns:
                results = column.operators.get(name)
                href = f"{index.page(name)}#{column.slug}"
                cells.append(cell(coverage(results) if results else None, href))
            yield tag("tr", tag("th", tag("a", name, href=index.page(name)), scope="row"), cells)
