"""What all pages have in common: head, style, the way back, and tables that a phone can scroll."""

from __future__ import annotations

import functools
from collections.abc import Iterable
from importlib.resources import files

from pynested._version import __version__

from ..coverage import Coverage
from .markup import Child, Markup, tag

MARK = "pynested-site"  # the generator of a front page, by which a folder is known to hold a site
_NOTHING_ELSE = "default-src 'none'; style-src 'unsafe-inline'"  # no script runs, nothing is fetched


def page(title: str, *body: Child, back: str = "") -> str:
    """Return a whole page; ``back`` leads to the front page."""
    head = tag(
        "head",
        tag("meta", charset="utf-8"),
        tag("meta", name="viewport", content="width=device-width, initial-scale=1"),
        tag("meta", name="color-scheme", content="light dark"),
        tag("meta", http_equiv="Content-Security-Policy", content=_NOTHING_ELSE),
        tag("meta", name="generator", content=f"{MARK} {__version__}"),
        tag("title", title),
        tag("style", _style()),
    )
    way = tag("nav", tag("a", "All targets", href=back)) if back else None
    whole = tag("html", head, tag("body", way, tag("main", tag("h1", title), *body)), lang="en")
    return f"<!DOCTYPE html>\n{whole}\n"


@functools.cache
def _style() -> Markup:
    return Markup(files(__package__).joinpath("style.css").read_text(encoding="utf-8"))


def table(caption: str, titles: Iterable[Child], rows: Iterable[Markup], **attributes: str) -> Markup:
    """Return a table that scrolls on its own where the page is narrower."""
    head = tag("thead", tag("tr", (tag("th", one, scope="col") for one in titles)))
    whole = tag("table", tag("caption", caption), head, tag("tbody", rows), **attributes)
    return tag("div", whole, class_="scrolls", role="region", tabindex="0", aria_label=caption)


def cell(found: Coverage | None, href: str) -> Markup:
    """Return how many checks agree, of how many that could be made; a bar shows the shares of all of them."""
    if found is None or not found.total:
        return tag("td", "·", class_="nothing")
    kind = "none" if not found.made else "some" if found.differ else "all"
    agree, made = ((100 * one) // found.total for one in (found.made - found.differ, found.made))
    shares = f"--agree:{agree}%;--made:{made}%"
    return tag("td", tag("a", in_brief(found), href=href), class_=f"checks {kind}", style=shares)


def in_brief(found: Coverage) -> str:
    """Return the checks of an operator in a few characters, as the legend explains them.

    >>> in_brief(Coverage(total=9, agree=6, differ=1, missing=2, unasked=0, narrow=0))
    '6/7 +2'
    """
    left = found.total - found.made
    if not found.made:
        return "none"
    good = found.made - found.differ
    return (f"{good}/{found.made}" if found.differ else f"{good}") + (f" +{left}" if left else "")


LEGEND = (
    "n: all n checks agree. m/n: m of n agree, the others differ. +k: k more could not be made, most of them because "
    "the target does not have what they need. none: no check could be made. A check is one part of one case in one "
    "layout: the result, its gradient, or the refusal of a call that makes no sense."
)
