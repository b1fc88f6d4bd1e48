"""Draw small changes of source files: another comparison, sign, constant or boolean operator, or a statement less."""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

REPLACEMENTS = {
    "<": "<=", "<=": "<", ">": ">=", ">=": ">", "==": "!=", "!=": "==", "is": "is not",
    "+": "-", "-": "+", "*": "+", "//": "*", "+=": "-=", "-=": "+=",
    "0": "1", "1": "0", "2": "1", "True": "False", "False": "True",
    "and": "or", "or": "and", "min": "max", "max": "min",
}  # fmt: skip


class Change(NamedTuple):
    """A stretch of one line of a file, and the text that replaces it; lines count from 1, columns from 0."""

    file: str
    line: int
    start: int
    stop: int
    new: str

    @property
    def name(self) -> str:
        return f"{self.file}:{self.line}:{self.start} {self.new}"

    def apply(self, text: str) -> str:
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.new + line[self.stop :]
        return "".join(lines)


def draw_changes(root: Path, folders: Sequence[str], *, seed: int, count: int) -> list[tuple[Change, str]]:
    """Return changes drawn from the modules of some folders, and the changed texts, which compile."""
    texts = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for folder in folders
        for file in sorted((root / folder).rglob("*.py"))
    }
    changes = [change for file, text in texts.items() for change in changes_of(file, text)]
    random.Random(seed).shuffle(changes)
    changed = ((change, change.apply(texts[change.file])) for change in changes)
    return list(islice(((change, text) for change, text in changed if compiles(text)), count))


def changes_of(file: str, text: str) -> Iterator[Change]:
    """Yield the tokens that have a replacement, and the statements of one line, docstrings excepted, as ``pass``."""
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.string in REPLACEMENTS:
            (line, start), (_, stop) = token.start, token.end
            yield Change(file, line, start, stop, REPLACEMENTS[token.string])
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)) and node.lineno == node.end_lineno:
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not is_docstring and lines[node.lineno - 1].isascii():  # columns of ast count bytes
                yield Change(file, node.lineno, node.col_offset, node.end_col_offset or 0, "pass")


def compiles(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
