"""One cause as HTML: the clause that the calls break, what came instead, and code that shows it."""

from __future__ import annotations

from collections.abc import Callable

from ..differences import Cause, memory, where
from ..kinds import KINDS
from .columns import Column
from .markup import Child, Markup, prose, tag

_MOST = 400  # cases that are listed
_WIDE = 100  # characters of what came, in the line of a cause


def entry(
    cause: Cause,
    column: Column,
    link: Callable[[str, str], Markup],
    open_: bool = False,
    id_: str | None = None,
    more: Markup | None = None,
) -> Markup:
    """Return a cause, folded but for its first line; ``link`` leads from an operator or clause to its page.

    ``more`` is shown where only a part of the cause is: what leads to all of it.
    """
    result, finding = cause.example
    facts: list[tuple[str, Child]] = [
        ("kind", f"{column.target} {KINDS[cause.kind]}"),
        ("clause", (link(cause.clause.rpartition("-")[0].lower(), cause.clause), ": ", prose(finding["text"]))),
        ("operators", _listed([link(name, name) for name in cause.operators]) if more is None else more),
        ("case", (tag("code", result["id"]), ", ", where(result, finding))),
        *(("memory", text) for text in memory(finding["placements"])),
        *((name, tag("code", finding[key])) for name, key in (("call", "call"), ("expected", "want"), ("got", "got"))),
        *((name, finding[name]) for name in ("again", "dense") if name in finding),
    ]
    return tag(
        "details",
        tag("summary", _in_a_line(cause, column, "" if more else f", of {', '.join(cause.operators)}")),
        tag("dl", ((tag("dt", name), tag("dd", what)) for name, what in facts)),
        tag("pre", tag("code", finding["snippet"]), tabindex="0", aria_label="code that shows it"),
        _cases(cause),
        class_="cause",
        open=open_,
        id=id_,
    )


def _in_a_line(cause: Cause, column: Column, operators: str) -> list[Child]:
    """Return what is seen of a cause that is folded."""
    got = cause.example[1]["got"]
    return [
        *(tag("code", cause.clause), " ", tag("strong", f"{column.target} {cause.what}")),
        *(" ", tag("span", f"{cause.extent}{operators}", class_="extent"), ": "),
        tag("code", got if len(got) <= _WIDE else f"{got[: _WIDE - 1]}…", class_="extent"),
    ]


def _listed(parts: list[Markup]) -> list[Markup | str]:
    """Return parts with commas between them."""
    return [one for part in parts for one in (", ", part)][1:]


def _cases(cause: Cause) -> Markup | None:
    """Return all cases of a cause; one alone is the example."""
    if len(cause.members) == 1:
        return None
    lines = [f"{result['id']}, {where(result, finding)}" for result, finding in cause.members]
    more = [f"and {len(lines) - _MOST:,} more"] if len(lines) > _MOST else []
    shown = tag("ul", (tag("li", line) for line in [*lines[:_MOST], *more]))
    return tag("details", tag("summary", f"All {len(lines):,} cases"), shown, class_="cases")
