"""The syntax of the files of the house, of which each is parsed once."""

from __future__ import annotations

import ast
from functools import cache
from pathlib import Path


def tree_of(file: Path) -> ast.Module:
    """What a file says now; nobody changes the tree."""
    return _parsed(file.read_text(encoding="utf-8"))


@cache
def _parsed(text: str) -> ast.Module:
    return ast.parse(text)
