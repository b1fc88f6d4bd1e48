"""Kept runs as static pages: a matrix of targets and operators, and each cause of a difference with its clause.

Read it in this order: `columns` makes a column of each run, `page_index` names the page of each operator, `page_data`
collects the numbers and texts of a page, `templates` shows them, `renderer` writes the files.

Each page stands alone: it has no script, its style is inside, and it fetches nothing. Texts that come from targets are
printable, and escaped by jinja2.
"""

from __future__ import annotations

from .renderer import pages, write_site

__all__ = ["pages", "write_site"]
