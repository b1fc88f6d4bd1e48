"""Draw small changes of source files: another comparison, sign, constant or boolean operator, or a statement less."""

from __future__ import annotations

import ast
import io
import random
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

REPLACEMENTS = {
    "<": "<=",
    "<=": "<",
    ">": ">=",
    ">=": ">",
    "==": "!=",
    "!=": "==",
    "+": "-",
    "-": "+",
    "*": "+",
    "//": "*",
    "+=": "-=",
    "-=": "+=",
    "0": "1",
    "1": "0",
    "2": "1",
    "and": "or",
    "or": "and",
    "True": "False",
    "False": "True",
    "is": "is not",
    "min": "max",
    "max": "min",
}


@dataclass(frozen=True)
class Change:
    """A stretch of one line of a file, and the text that replaces it; lines count from 1, columns from 0."""

    file: str
    line: int
    start: int
    stop: int
    new: str

    @property
    def name(self) -> str:
        """The place and the new text, which tell one change of a file from another."""
        return f"{self.file}:{self.line}:{self.start} {self.new}"

    def apply(self, text: str) -> str:
        """Return the text of the file with the change in it."""
        lines = text.splitlines(keepends=True)
        line = lines[self.line - 1]
        lines[self.line - 1] = line[: self.start] + self.new + line[self.stop :]
        return "".join(lines)


def draw_changes(root: Path, folders: Sequence[str], *, seed: int, count: int) -> list[Change]:
    """Draw different changes from all files of the folders; the same seed and sources give the same changes.

    Every change leaves code that compiles. Annotations, docstrings and comments are never changed.
    """
    texts = {
        file.relative_to(root).as_posix(): file.read_text(encoding="utf-8")
        for folder in folders
        for file in sorted((root / folder).rglob("*.py"))
    }
    candidates = [change for file, text in texts.items() for change in _candidates(file, text)]
    random.Random(seed).shuffle(candidates)
    compiling = (change for change in candidates if _compiles(change.apply(texts[change.file])))
    return list(islice(compiling, count))


def _candidates(file: str, text: str) -> Iterator[Change]:
    annotations = _annotations(ast.parse(text))
    for change in (*_token_changes(file, text), *_dropped_statements(file, text)):
        if (change.line, change.start) not in annotations:
            yield change


def _token_changes(file: str, text: str) -> Iterator[Change]:
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        new = REPLACEMENTS.get(token.string)
        if new is not None and token.type in (tokenize.OP, tokenize.NUMBER, tokenize.NAME):
            (line, start), (_, stop) = token.start, token.end
            yield Change(file, line, start, stop, new)


def _dropped_statements(file: str, text: str) -> Iterator[Change]:
    """Yield the changes that replace a statement of one line by ``pass``, but for docstrings."""
    lines = text.splitlines()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Expr, ast.Assign, ast.AugAssign)) and node.lineno == node.end_lineno:
            is_docstring = isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
            if not is_docstring and lines[node.lineno - 1].isascii():  # columns of ast count bytes
                yield Change(file, node.lineno, node.col_offset, node.end_col_offset or 0, "pass")


def _annotations(tree: ast.Module) -> set[tuple[int, int]]:
    """Return the places of tokens in annotations, which no run of the code reads."""
    annotations: list[ast.expr | None] = []
    for node in ast.walk(tree):
        if isinstance(node, (ast.arg, ast.AnnAssign)):
            annotations.append(node.annotation)
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            annotations.append(node.returns)
    expressions = [part for root in annotations if root is not None for part in ast.walk(root)]
    return {(part.lineno, part.col_offset) for part in expressions if isinstance(part, ast.expr)}


def _compiles(text: str) -> bool:
    try:
        ast.parse(text)
    except SyntaxError:
        return False
    return True
