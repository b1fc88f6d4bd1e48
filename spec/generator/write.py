"""Vectors as text: one file per operator, one case per line, the same bytes everywhere."""

from __future__ import annotations

import functools
import importlib
import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from ..corpus import DIGEST, FORMAT, SPEC, digest_of, kept_digest
from ..programs import FOLDER as PROGRAMS
from ..table import FAMILIES
from .author import Book
from .build import build
from .cases import (
    program_dense,
    program_like,
    program_parts,
    program_random,
    program_shape,
    program_share,
    program_tape,
    program_write,
)
from .cases.designed import PART as DRAWN
from .cases.designed import designed
from .programs import chapter_text, file_text

__all__ = ["FOLDER", "books", "differences", "text_of", "text_of_programs", "texts", "write"]

_PROGRAMS = (
    program_write,
    program_tape,
    program_shape,
    program_share,
    program_parts,
    program_like,
    program_random,
    program_dense,
)
FOLDER = Path(__file__).parents[1] / "vectors"
# of drawn cases, which nobody goes through number by number
_UNREAD = ("expect", "cotangent", "gradient", "gradient_kwargs")


def books(only: str | None = None) -> Iterator[tuple[str, Book]]:
    """Yield the books of every chapter, or of one operator: cases written by hand, and those drawn from the axes."""
    for chapter in FAMILIES:
        by_hand = (book for book in _by_hand(chapter) if only in (None, book.op))
        yield from ((chapter, book) for book in (*by_hand, *designed(chapter, only)))


@functools.cache
def _by_hand(chapter: str) -> list[Book]:
    books: list[Book] = importlib.import_module(f"pynested.spec.generator.cases.{chapter}").books()
    return books


def texts(only: str | None = None) -> Iterator[tuple[Path, str]]:
    """Yield path and text of every file of vectors, or of one operator's, or one chapter of programs."""
    for chapter, book in books(only):
        yield FOLDER / chapter / f"{book.op}{book.part and '.' + book.part}.json", text(book)
    for programs in (one.chapter() for one in _PROGRAMS):
        if only is None or programs.name == only:
            yield FOLDER / PROGRAMS / f"{programs.name}.json", chapter_text(programs, _line)


def text(book: Book) -> str:
    """Return the file of one operator."""
    return text_of(book.op, [_case(book, number) for number in range(len(book.cases))])


def text_of(op: str, vectors: Sequence[Mapping[str, Any]]) -> str:
    """Return the file of the vectors of one operator."""
    lines = [_line(vector) for vector in vectors]
    header = {"format": FORMAT, "spec": SPEC, "op": op, "count": len(lines)}
    return _line(header)[:-1] + ',\n"cases":[\n' + ",\n".join(lines) + "\n]}\n"


def text_of_programs(chapter: str, programs: Sequence[Mapping[str, Any]]) -> str:
    """Return the file of the programs of one chapter."""
    return file_text(chapter, [_line(program) for program in programs], _line)


def _case(book: Book, number: int) -> dict[str, Any]:
    try:
        case = build(book.cases[number])
    except Exception as problem:
        problem.add_note(f"while building {book.cases[number].id}")
        raise
    return {name: _bare(one) if name in _UNREAD else one for name, one in case.items()} if book.part == DRAWN else case


def _bare(value: Any) -> Any:
    """Return a value without the decimals that repeat its words for people."""
    if isinstance(value, dict):
        return {name: _bare(one) for name, one in value.items() if name != "show"}
    return [_bare(one) for one in value] if isinstance(value, list) else value


def _line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True, allow_nan=False, separators=(",", ":"))


def write(only: str | None = None) -> list[Path]:
    """Write the files whose text differs, and the digest of all; return the paths of the former."""
    changed = []
    for path, content in texts(only):
        if not path.exists() or path.read_text(encoding="utf-8") != content:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, encoding="utf-8", newline="\n")
            changed.append(path)
    (FOLDER / DIGEST).write_text(_digest(), encoding="utf-8", newline="\n")
    return changed


def _digest() -> str:
    """Return the file of the digest."""
    return f"{digest_of(FOLDER)}\n"


def differences(only: str | None = None) -> list[str]:
    """Compare every file byte by byte and say which differ, are missing or have no cases behind them."""
    problems, known = [], set()
    for path, content in texts(only):
        known.add(path)
        if not path.exists():
            problems.append(f"{path.name} is missing")
        elif path.read_bytes() != content.encode():
            problems.append(f"{path.name} differs{_first_difference(path, content)}")
    if not only and kept_digest(FOLDER) != _digest():
        problems.append(f"{DIGEST} is not the digest of the files")
    stray = set() if only else set(FOLDER.glob("**/*.json")) - known
    return problems + [f"{path.name} has no authored cases" for path in sorted(stray)]


def _first_difference(path: Path, content: str) -> str:
    pairs = zip(path.read_text(encoding="utf-8").splitlines(), content.splitlines(), strict=False)
    place = next((number for number, (mine, theirs) in enumerate(pairs, 1) if mine != theirs), None)
    return f" from line {place}" if place else " in length"
