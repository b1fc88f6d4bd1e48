"""Kept runs as a site of static pages: a matrix of targets and operators, and every cause with its clause.

Read it in this order: `columns` makes of each run a column, `front` the matrix, `targets` a page for each column with
all of its causes, `operators` a page for each operator with its clauses and what every target does, `causes` one cause,
`frame` what all pages have in common, `markup` the one way in which text becomes HTML, `folder` where pages go.

Each page stands on its own: its style is inside, there is no script, nothing is fetched. What targets say is text of
strangers: it is printable text first, and never markup.
"""

from __future__ import annotations

from .folder import write_site
from .pages import pages

__all__ = ["pages", "write_site"]
