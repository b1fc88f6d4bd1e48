"""The page of a target: what was asked of it, every cause by kind, its checks by operator, the report as text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping

from ..coverage import coverage
from ..differences import Cause
from ..judge import ADAPTER, PARTS, UNREACHED
from ..kinds import KINDS
from ..placements import LAYOUTS
from ..replies import MISSING, UNASKED
from ..report import IN_FULL, Report
from .causes import entry
from .columns import Column
from .frame import LEGEND, cell, page, table
from .front import in_a_sentence
from .index import Index
from .markup import Markup, tag

# What became of the checks that could not be made.
_LEFT = {
    MISSING: "need what it does not have",
    UNASKED: "were not asked",
    UNREACHED: "are gradients of results that are missing or wrong",
    ADAPTER: "ended in an error of the adapter",
}


def target_page(column: Column, index: Index) -> str:
    """Return the page."""
    return page(
        column.name,
        tag("p", tag("strong", in_a_sentence(column))),
        tag("dl", _claims(column), class_="facts"),
        *_causes(column, index),
        tag("h2", "Its checks"),
        tag("p", LEGEND, class_="legend"),
        table("Checks by operator", _titles(column), _rows(column, index), class_="matrix"),
        tag("h2", "The run"),
        tag("dl", _facts(column), class_="facts"),
        tag("details", tag("summary", "the report as text"), tag("pre", Report(column.run).text(), tabindex="0")),
        back="../index.html",
    )


def _claims(column: Column) -> Iterator[Markup]:
    """Yield how far the run came."""
    found = column.coverage
    yield _fact("held to", f"{found.share()}: {found.agree:,} agree, {found.differ:,} differ")
    verdicts = Counter(verdict for result in column.run.results for verdict in result["parts"].values())
    left = [f"{verdicts[one]:,} {why}" for one, why in _LEFT.items() if verdicts[one]]
    if left:
        yield _fact("not made", "; ".join(left))
    if found.narrow:
        yield _fact("in part", f"{found.narrow:,} agree, but were not answered in every placement")
    if found.declared:
        yield _fact("declared", f"{found.declared:,} follow a convention of its own")


def _facts(column: Column) -> Iterator[Markup]:
    """Yield what was run on what."""
    header = column.run.header
    target, machine = header["target"], header["machine"]
    chosen = {name: one for name, one in header["selection"].items() if one and (name, one) != ("layout", [*LAYOUTS])}
    facts = {
        **{name: target.get(name, "") for name in ("runtime", "language", "device", "dense", "conventions")},
        "specification": f"{header['spec']}, vectors {header['vectors'][:12]}",
        "chosen": ", ".join(f"{name} {_words(one)}" for name, one in chosen.items()),
        "machine": f"{machine['system']} {machine['processor']}, {machine['cores']} cores",
        "kit": f"Python {machine['python']}, NumPy {machine['numpy']}",
        "seconds": f"{column.run.footer['seconds']:.1f}" if column.run.footer else "",
    }
    return (_fact(name, str(fact)) for name, fact in facts.items() if fact)


def _fact(name: str, fact: str) -> Markup:
    return Markup(tag("dt", name) + tag("dd", fact))


def _words(chosen: object) -> str:
    return " ".join(map(str, chosen)) if isinstance(chosen, list) else str(chosen)


def _causes(column: Column, index: Index) -> Iterator[Markup]:
    """Yield the causes, those of one kind together; the first few of all are open."""
    by_kind: dict[str, list[tuple[int, Cause]]] = {}
    for number, cause in enumerate(column.causes):
        by_kind.setdefault(cause.kind, []).append((number, cause))
    if by_kind:
        yield tag("h2", "Its differences, a cause at a time")
        yield tag("ul", (tag("li", _line(column, kind, found)) for kind, found in by_kind.items()))
    for kind, found in by_kind.items():
        yield tag("h3", _sentence(column, kind), id=kind)
        for number, cause in found:
            yield entry(cause, column, index.link, open_=number < IN_FULL, id_=f"cause-{number + 1}")


def _line(column: Column, kind: str, found: list[tuple[int, Cause]]) -> list[Markup | str]:
    cases = sum(len(cause.members) for _, cause in found)
    causes = f"{len(found):,} cause{'s' * (len(found) > 1)}, {cases:,} case{'s' * (cases > 1)}"
    return [tag("a", _sentence(column, kind), href=f"#{kind}"), f": {causes}"]


def _sentence(column: Column, kind: str) -> str:
    return f"{column.target} {KINDS[kind]}"


def _titles(column: Column) -> list[str]:
    return ["operator", *(f"{layout} {part}" for layout in _layouts(column) for part in PARTS)]


def _layouts(column: Column) -> list[str]:
    return [str(one) for one in column.run.header["selection"]["layout"]]


def _rows(column: Column, index: Index) -> Iterator[Markup]:
    for names in index.chapters.values():
        for name in names:
            if name in column.operators:
                cells = parts_of(column, name, f"../{index.page(name)}#{column.slug}")
                yield tag("tr", tag("th", index.link(name, name), scope="row"), cells.values())


def parts_of(column: Column, name: str, href: str) -> Mapping[tuple[str, str], Markup]:
    """Return a cell for each layout and part of the checks of an operator."""
    found = {}
    for layout in _layouts(column):
        results = [one for one in column.operators.get(name, ()) if one["layout"] == layout]
        for part in PARTS:
            only = ({**one, "parts": {part: one["parts"][part]}} for one in results if part in one["parts"])
            found[layout, part] = cell(coverage(only), href)
    return found
