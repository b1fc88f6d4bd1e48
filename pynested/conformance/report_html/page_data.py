"""The numbers and texts of each page, as the templates need them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import product
from typing import Any, NamedTuple

from ..coverage import Coverage, coverage
from ..differences import Cause
from ..judge import ADAPTER, PARTS, UNREACHED
from ..kinds import KINDS
from ..placements import LAYOUTS
from ..records import Record
from ..replies import MISSING, UNASKED
from ..report import IN_FULL, Report
from .columns import Column
from .page_index import Index

_REASON_BY_VERDICT = {  # why a check was not made
    MISSING: "need what it does not have",
    UNASKED: "were not asked",
    UNREACHED: "are gradients of results that are missing or wrong",
    ADAPTER: "ended in an error of the adapter",
}


class CheckCell(NamedTuple):
    """A cell that counts checks; its bar shows the percentages of all checks that agree, and that were made."""

    text: str
    href: str
    kind: str
    agree: int
    made: int


def check_cell(results: Iterable[Record], href: str) -> CheckCell | None:
    """Return the cell of some results; None if they have no check."""
    found = coverage(results)
    if not found.total:
        return None
    kind = "none" if not found.made else "some" if found.differ else "all"
    agree, made = ((100 * count) // found.total for count in (found.made - found.differ, found.made))
    return CheckCell(in_brief(found), href, kind, agree, made)


def in_brief(found: Coverage) -> str:
    """Return the checks of an operator in a few characters, as the legend explains them.

    >>> in_brief(Coverage(total=9, agree=6, differ=1, missing=2, unasked=0, narrow=0))
    '6/7 +2'
    """
    left, good = found.total - found.made, found.made - found.differ
    if not found.made:
        return "none"
    return (f"{good}/{found.made}" if found.differ else f"{good}") + (f" +{left}" if left else "")


def verdict_sentence(column: Column) -> str:
    """Return the result of a run as one sentence."""
    found, target = column.coverage, column.target
    if column.run.footer is None:
        results, promised = len(column.run.results), column.run.header["results"]
        return f"The run broke off: it has {results:,} of {promised:,} results."
    if not found.made:
        return f"Nothing is known about {target}: no check could be made, which is no agreement."
    if found.differ:
        return f"{target} differs in {found.differ:,} of {found.made:,} checks."
    return f"{target} agrees in all checks" + (" that could be made." if found.made < found.total else ".")


def front_page(columns: Sequence[Column], index: Index) -> dict[str, Any]:
    """Return the data of the first page: the targets, their causes by kind, and the matrix."""
    differing = [column for column in columns if column.causes]
    by_kind = {
        kind: [[len(cause.members) for cause in column.causes if cause.kind == kind] for column in differing]
        for kind in KINDS
    }
    matrix = {
        chapter: {
            name: [
                check_cell(column.operators.get(name, ()), f"{index.page(name)}#{column.slug}") for column in columns
            ]
            for name in names
        }
        for chapter, names in index.chapters.items()
    }
    return {
        "columns": columns,
        "index": index,
        "specs": sorted({column.run.header["spec"] for column in columns}),
        "vectors": sorted({column.run.header["vectors"][:12] for column in columns}),
        "num_cases": len({result["id"] for column in columns for result in column.run.results}),
        "differing": differing,
        "sizes_by_kind": {kind: sizes for kind, sizes in by_kind.items() if any(sizes)},
        "matrix": matrix,
    }


def target_page(column: Column, index: Index) -> dict[str, Any]:
    """Return the data of the page of a target: its causes by kind, its checks by operator, its run."""
    by_kind: dict[str, list[tuple[int, Cause]]] = {}
    for number, cause in enumerate(column.causes, 1):
        by_kind.setdefault(cause.kind, []).append((number, cause))
    names = [name for names in index.chapters.values() for name in names if name in column.operators]
    layouts = column.run.header["selection"]["layout"]
    return {
        "column": column,
        "index": index,
        "claims": _claims(column),
        "causes_by_kind": by_kind,
        "num_open": IN_FULL,
        "titles": ["operator", *_titles(layouts)],
        "rows": {name: _cells(column, name, layouts, f"../{index.page(name)}#{column.slug}") for name in names},
        "facts": _facts(column),
        "report": Report(column.run).text(),
    }


def operator_page(name: str, columns: Sequence[Column], index: Index) -> dict[str, Any]:
    """Return the data of the page of an operator, which has no clauses if the specification does not know it."""
    operator = index.table.get(name)
    clauses = operator.clauses if operator else ()
    return {
        "name": name,
        "operator": operator,
        "index": index,
        "differing": {clause.id: [column for column in columns if clause.id in column.breaks] for clause in clauses},
        "titles": ["target", *_titles(LAYOUTS)],
        "rows": [
            (column, _cells(column, name, LAYOUTS, f"#{column.slug}")) for column in columns if name in column.operators
        ],
    }


def _titles(layouts: Sequence[str]) -> list[str]:
    return [f"{layout} {part}" for layout in layouts for part in PARTS]


def _cells(column: Column, name: str, layouts: Sequence[str], href: str) -> list[CheckCell | None]:
    """Return a cell for each layout and part of the checks of an operator."""
    cells = []
    for layout, part in product(layouts, PARTS):
        results = [result for result in column.operators[name] if result["layout"] == layout]
        only = ({**result, "parts": {part: result["parts"][part]}} for result in results if part in result["parts"])
        cells.append(check_cell(only, href))
    return cells


def _claims(column: Column) -> dict[str, str]:
    """Return the extent of the run."""
    found = column.coverage
    verdicts = Counter(verdict for result in column.run.results for verdict in result["parts"].values())
    left = [f"{verdicts[verdict]:,} {reason}" for verdict, reason in _REASON_BY_VERDICT.items() if verdicts[verdict]]
    claims = {
        "held to": f"{found.share()}: {found.agree:,} agree, {found.differ:,} differ",
        "not made": "; ".join(left),
        "in part": f"{found.narrow:,} agree, but were not answered in every placement" if found.narrow else "",
        "declared": f"{found.declared:,} follow a convention of its own" if found.declared else "",
    }
    return {name: claim for name, claim in claims.items() if claim}


def _facts(column: Column) -> dict[str, str]:
    """Return what was run, and the machine."""
    header = column.run.header
    target, machine = header["target"], header["machine"]
    selection = {
        name: " ".join(map(str, value)) if isinstance(value, list) else str(value)
        for name, value in header["selection"].items()
        if value and (name, value) != ("layout", [*LAYOUTS])
    }
    facts = {
        **{name: target.get(name, "") for name in ("runtime", "language", "device", "dense", "conventions")},
        "specification": f"{header['spec']}, vectors {header['vectors'][:12]}",
        "chosen": ", ".join(f"{name} {value}" for name, value in selection.items()),
        "machine": f"{machine['system']} {machine['processor']}, {machine['cores']} cores",
        "kit": f"Python {machine['python']}, NumPy {machine['numpy']}",
        "seconds": f"{column.run.footer['seconds']:.1f}" if column.run.footer else "",
    }
    return {name: str(fact) for name, fact in facts.items() if fact}
