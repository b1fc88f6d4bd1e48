"""Cases drawn from the covering arrays of `pynested.spec.axes`: one book for each operator that a family has."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Mapping

import numpy as np

from ...axes import FAMILIES, SILENT
from ...bounds import NO_TOLERANCE
from ...components import each
from ...functions import FUNCTIONS
from ...pairs import PAIRS
from ...table import load_table
from ..author import Book
from ..batches import drawn, outline
from ..covering import Row, cover
from .beyond import beyond
from .calls import add
from .extremes import full, spoilt, tied
from .folded import along, reduced
from .indexed import indexed, masked
from .joined import cut, join
from .layers import classified, dropped, looked_up, multiplied_by_weights, normalized
from .made import carved, from_buffer, from_sequence, misplaced, picked
from .meetings import meet, miss
from .moved import chosen, moved
from .multiplied import multiplied
from .reshaped import factored, reshaped, squeezed
from .stretched import stretch
from .threes import between, choose, fill, miss_of_three
from .turned import compared, converted, padded

__all__ = ["designed", "empty_book", "rows", "writer"]

PART = "axes"  # the name of their files: `sum.axes.json`
EITHER = ("maximum", "minimum", "amax", "amin", "relu", "sgn", "gelu", "silu")  # zeros whose sign is open
POSITIVE = ("log",)
PLACEMENTS = {"view": ("packed", "holes")}  # where components do not lie in C order it may refuse
SEVERAL = ("chunk", "split", "unbind")


def designed(chapter: str, only: str | None = None) -> Iterator[Book]:
    """Yield the books of a chapter, or of one of its operators."""
    operators = dict.fromkeys(op for family in FAMILIES.values() for op in family.operators)
    yield from (_book(op) for op in operators if load_table()[op].chapter == chapter and only in (None, op))


def empty_book(op: str) -> Book:
    """Return the book in which the calls of an operator are to be written down."""
    exact = load_table()[op].precision in NO_TOLERANCE
    zeros = "either" if op in EITHER or not exact else "signed"
    book = Book(op, zeros=zeros, part=PART, cmp="exact" if exact else "bound", several=op in SEVERAL)
    book.placements = PLACEMENTS.get(op, ())
    return book


def _book(op: str) -> Book:
    book = empty_book(op)
    for family in FAMILIES.values():
        for number, row in enumerate(rows(family.name) if op in family.operators else ()):
            if row.get("operator", op) == op:
                writer(family.name, op)(book, row, f"{op} {family.name} {number}")
    return book


@functools.cache
def rows(family: str) -> list[Row]:
    """Return the covering array of a family."""
    one = FAMILIES[family]
    return cover(one.levels(), one.never, one.triples, {**SILENT, **one.silent})


def writer(family: str, op: str) -> Callable[[Book, Row, str], None]:
    """Return what writes a call of a family; of one that only varies more, what writes that operator elsewhere."""
    first = next(one.name for one in FAMILIES.values() if op in one.operators)
    return WRITERS[family] if family in WRITERS else WRITERS.get(first, meet if op in PAIRS else _of_one)


def _of_one(book: Book, row: Row, key: str) -> None:
    """Add a call of an operator of one operand."""
    x = drawn(outline(row), row["dtype"], key, "fine")
    if book.op in FUNCTIONS:
        x = each(FUNCTIONS[book.op].inside, x, shape=x.shape)
    elif book.op in POSITIVE:
        x = each(np.abs, x, shape=x.shape)
    add(book, row, [x], "gradient", **({"gradient": None} if book.op in ("sgn", "detach") else {}))


WRITERS: Mapping[str, Callable[[Book, Row, str], None]] = {
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
    "choices of two": choose,
    "fills": fill,
    "limits": between,
    "misfits of three": miss_of_three,
    "layers": multiplied_by_weights,
    "norms": normalized,
    "dropping": dropped,
    "losses": classified,
    "rows": looked_up,
    "cuts": cut,
    "joined": join,
    "without ones": squeezed,
    "factors": factored,
    "shapes": reshaped,
    "indices": indexed,
    "masks": masked,
    "carved": carved,
    "buffers": from_buffer,
    "wrong buffers": misplaced,
    "sequences": from_sequence,
    "runs of bools": picked,
    "padded": padded,
    "converted": converted,
    "equalities": compared,
    "stretched misfits": stretch,
    "full runs": full,
    "long runs": full,
    "huge runs": full,
    "spoilt runs": spoilt,
    "ties": tied,
    "means of numbers": reduced,
    "beyond the dimensions": beyond,
}
