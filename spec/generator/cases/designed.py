"""Cases drawn from the covering arrays of `pynested.spec.axes`: one book for each operator that a family has."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ...axes import FAMILIES, SILENT
from ...bounds import NO_TOLERANCE
from ...components import each
from ...functions import FUNCTIONS
from ...table import load_table
from ..author import Book
from ..batches import drawn, outline
from ..covering import Row, cover
from .calls import add
from .folded import along, reduced
from .meetings import meet, miss
from .moved import chosen, moved
from .multiplied import multiplied

__all__ = ["designed"]

PART = "axes"  # the name of their files: `sum.axes.json`
EITHER = ("maximum", "minimum", "amax", "amin", "relu", "sgn", "gelu", "silu")  # zeros whose sign is open
POSITIVE = ("log",)


def designed(chapter: str) -> Iterator[Book]:
    """Yield the books of a chapter."""
    operators = dict.fromkeys(op for family in FAMILIES.values() for op in family.operators)
    yield from (_book(op) for op in operators if load_table()[op].chapter == chapter)


def _book(op: str) -> Book:
    exact = load_table()[op].precision in NO_TOLERANCE
    zeros = "either" if op in EITHER or not exact else "signed"
    book = Book(op, zeros=zeros, part=PART, cmp="exact" if exact else "bound")
    for family in FAMILIES.values():
        for number, row in enumerate(_rows(family.name) if op in family.operators else ()):
            if row.get("operator", op) == op:
                WRITERS[family.name](book, row, f"{op} {family.name} {number}")
    return book


@functools.cache
def _rows(family: str) -> list[Row]:
    one = FAMILIES[family]
    return cover(one.levels(), one.never, one.triples, SILENT)


def _of_one(book: Book, row: Row, key: str) -> None:
    """Add a call of an operator of one operand."""
    x = drawn(outline(row), row["dtype"], key, "fine")
    if book.op in FUNCTIONS:
        x = each(FUNCTIONS[book.op].inside, x, shape=x.shape)
    elif book.op in POSITIVE:
        x = each(np.abs, x, shape=x.shape)
    add(book, row, [x], "gradient", **({"gradient": None} if book.op == "sgn" else {}))


WRITERS: Mapping[str, Callable[[Book, Row, str], None]] = {
    "of one": _of_one,
    "of two": meet,
    "powers": meet,
    "compared": meet,
    "bits": meet,
    "misfits": miss,
    "reductions": reduced,
    "choices": reduced,
    "places": reduced,
    "movement": moved,
    "choice of one": chosen,
    "products": multiplied,
    "batched products": multiplied,
    "runs": along,
}
