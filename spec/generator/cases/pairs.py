"""Cases of the entries of `pynested.spec.pairs`: every dtype, every way to meet, their edges, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...bounds import NO_TOLERANCE
from ...components import Components, each
from ...pairs import Pair, Refusal, pairs_of
from ..author import Book
from ..draws import integers, nest
from .inputs import IRREGULAR, RAGGED, fine, no_components

LONGER = [(3, 4), (0, 4), (1, 4)]


def pair_books(chapter: str) -> list[Book]:
    """Return the book of every entry of a chapter."""
    return [pair(one) for one in pairs_of(chapter).values()]


def pair(one: Pair) -> Book:
    """Cases of an entry."""
    book = Book(one.name)
    plain = {dtype: _ragged(book, one, dtype) for dtype in one.dtypes}
    for dtype in ("float32", "float64", "float16"):
        if dtype in one.dtypes and one.gradient:
            inexact = {"cmp": "exact" if one.precision in NO_TOLERANCE else "bound"}
            operands = fine(dtype, f"{one.name} fine a"), fine(dtype, f"{one.name} fine b")
            book.value(f"{dtype}/rounding", "1 5 NUMERICS-2", [each(np.abs, operands[0]), operands[1]], **inexact)
    _meetings(book, one)
    given = [nest(one.specials[0], [[*numbers], []]) for numbers in list(zip(*one.special, strict=True))[:2]]
    result = nest(one.specials[1], [[row[2] for row in one.special], []])
    last = f" {len(one.texts)}" if one.unspecified else ""
    book.value(f"{one.specials[0]}/special", f"3{last}", given, result=result)
    _refusals(book, one, plain)
    return book


def _operands(one: Pair, dtype: str, key: str, left: Any = RAGGED, right: Any = RAGGED) -> list[Components]:
    """Return two operands of small integers."""
    return [
        integers(dtype, shapes, f"{one.name} {key} {side}", *ends)
        for shapes, side, ends in ((left, "left", one.first), (right, "right", one.second))
    ]


def _compared(one: Pair, dtype: str) -> dict[str, Any]:
    return {"cmp": one.cmp if np.dtype(dtype).kind == "f" else "exact"}


def _ragged(book: Book, one: Pair, dtype: str) -> str:
    clauses = "1 2 5" if one.gradient and dtype.startswith("float") else "1 2"
    return book.value(f"{dtype}/ragged", clauses, _operands(one, dtype, dtype), **_compared(one, dtype))


def _meetings(book: Book, one: Pair) -> None:
    """Add numbers, dense operands on either side, regular sizes of 1, shapes at the edge, and promotion."""
    dtype, both = one.dtypes[0], "1 5" if one.gradient else "1"
    how = _compared(one, dtype)
    whole = float if one.gradient else int
    left, right = _operands(one, dtype, "met")
    book.value(f"{dtype}/number", f"{both} BROADCASTING-10", [left, whole(one.number)], **how)
    book.value(f"{dtype}/number-left", both, [whole(one.number), right], **how)
    row, per = np.array([1, 3, 2, 1], dtype), np.array([[[2]], [[1]], [[3]]], dtype)
    book.value(f"{dtype}/dense-row", f"{both} BROADCASTING-1 BROADCASTING-3", [left, row], **how)
    book.value(f"{dtype}/dense-batch", f"{both} BROADCASTING-2", [left, per], **how)
    book.value(f"{dtype}/dense-left", both, [per, right], **how)
    ones = [(2, 1), (0, 1), (1, 1)]
    book.value(f"{dtype}/regular-one", f"{both} BROADCASTING-8", _operands(one, dtype, "one", RAGGED, ones), **how)
    book.value(f"{dtype}/irregular", "1", _operands(one, dtype, "irregular", IRREGULAR, IRREGULAR), **how)
    empty = no_components(dtype, None, 4)
    book.value(f"{dtype}/batch0", "1", [empty, empty])
    none = [(0, 3), (0, 3)]
    book.value(f"{dtype}/all-empty", both, _operands(one, dtype, "none", none, none), **how)
    inner0 = [(2, 0), (1, 0)]
    book.value(f"{dtype}/inner0", "1", _operands(one, dtype, "inner", inner0, inner0))
    narrow, broad = one.promotes
    met = [_operands(one, narrow, "narrow")[0], _operands(one, broad, "broad")[1]]
    result = "bool" if not one.together else str(np.result_type(narrow, broad))
    book.value(f"{narrow}/promotes", "2 DTYPES-3", met, dtype=result, **_compared(one, result))


def _refusals(book: Book, one: Pair, plain: dict[str, str]) -> None:
    """Add the refusals of nested operands that do not fit each other, and those of the entry."""
    dtype = one.dtypes[0]
    for group, shapes in (("lengths", LONGER), ("components", RAGGED[:2])):
        operands = _operands(one, dtype, group, RAGGED, shapes)
        book.error_inside(group, "4", "StructureError", plain[dtype], operands)
    for number, refusal in enumerate(one.refused, 5 + bool(one.gradient)):
        operands = [_nested(refusal, value) for value in (refusal.self, refusal.other)]
        near = plain.get(refusal.dtype, plain[one.dtypes[-1]])
        add = book.error_inside if refusal.inside else book.error
        add(refusal.group, str(number), refusal.kind, near, operands)


def _nested(refusal: Refusal, value: Any) -> Any:
    if not isinstance(value, list):
        return value
    return nest(refusal.dtype, value if refusal.inside else [value, value[:1]])
