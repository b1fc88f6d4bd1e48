"""All pages of a site, each with its path."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from pynested.spec.table import load_table

from ..records import Run
from .columns import columns
from .front import front
from .index import Index
from .operators import operator_page
from .targets import target_page


def pages(runs: Iterable[Run]) -> Iterator[tuple[str, str]]:
    """Yield the path of every page in the folder of the site, and its text."""
    found = columns(runs)
    index = Index(load_table(), [name for column in found for name in column.operators])
    yield "index.html", front(found, index)
    for column in found:
        yield column.page, target_page(column, index)
    for name in index.names:
        yield index.page(name), operator_page(name, found, index)
