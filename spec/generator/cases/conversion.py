"""Cases of the conversion chapter: constructors in `construct`, what leaves or indexes a nested array here."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components, Index
from ..author import Book
from ..draws import integers, nest
from .casts import to
from .construct import construct_books
from .cuts import cut_books
from .inputs import EMPTY_FIRST, EMPTY_LAST, INF, INT64_MAX, INT64_MIN, IRREGULAR, NAN, all_empty, no_components, small
from .picks import picks
from .pieces import copies

ROWS_KIND = {"jagged": "dense", "strided": "nested"}


def books() -> list[Book]:
    """Return the books of this chapter."""
    return [*construct_books(), *cut_books(), to_padded_array(), contiguous(), to(), getitem(), picks()]


def to_padded_array() -> Book:
    """Cases of `to_padded_array`."""
    book = Book("to_padded_array")
    x = small("float32", "to_padded_array")
    plain = book.value("float32/ragged", "1 2 10", [x, -1.0])
    sized = book.value("float32/size", "1 2 10", [x, 9.0], kw={"output_size": (3, 5, 6)})
    book.value("float32/size", "2", [x, 0.0], kw={"output_size": (3, 2, 4)})
    book.value("float32/more-rows", "3 2 10", [x, 7.0], kw={"output_size": (5, 2, 4)})
    book.value("float32/irregular", "1 2 10", [integers("float32", IRREGULAR, "padded i"), 0.5])
    second = Components(integers("float32", [(4, 2), (4, 3), (4, 0)], "padded s"), (3, 4, None))
    book.value("float32/ragged-last", "1 2 10", [second, -2.0])
    book.value("float32/vectors", "1 10", [nest("float32", [[1.0, 2.0], [], [3.0]]), -INF])
    book.value("float64/empty-first", "1 10", [integers("float64", EMPTY_FIRST, "padded f"), NAN])
    book.value("float32/negative-zero", "1 10", [x, -0.0])
    book.value("float32/negative-zero", "1 10", [integers("float32", IRREGULAR, "padded z"), -0.0])
    book.value("float16/empty-last", "1 6 10", [integers("float16", EMPTY_LAST, "padded l"), 65504.0])
    paddings: dict[str, Any] = {"bool": True, "int8": -128, "uint8": 255, "int16": 7, "int32": -7, "int64": INT64_MIN}
    for dtype, padding in paddings.items():
        book.value(f"{dtype}/ragged", "1 6", [small(dtype, f"padded {dtype}"), padding])
    ints = book.value("int32/integral-float", "6", [small("int32", "padded z"), 0.0])
    tight = book.value("int8/fits", "6", [small("int8", "padded y"), 127])
    flags = book.value("bool/number", "6", [small("bool", "padded x"), 0])
    tenth = nest("float32", [[0.0, 0.0], [0.0]])
    padded = np.array([[0, 0], [0, 0.1]], "float32")
    book.value("float32/rounded", "6", [tenth, 0.1], result=padded, gradient=None)
    special = nest("float32", [[NAN, -0.0], [], [INF]])
    book.value("float32/special", "1", [special, 0.0])
    book.value("float32/all-empty", "9 10", [all_empty("float32"), 1.0])
    book.value("float32/all-empty", "9 3", [all_empty("float32"), 1.0], kw={"output_size": (2, 1, 3)})
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "9 VALUES-7", [empty, 1.0])
    out = np.zeros((3, 2, 4), "float32")
    into = book.value("float32/out", "1 5", [x, -1.0], kw={"out": out}, gradient=None)
    refuse, inside = book.error, book.error_inside
    inside("batch", "4", "ShapeError", sized, [x, 9.0], kw={"output_size": (2, 5, 6)})
    inside("ragged", "4", "ShapeError", sized, [x, 9.0], kw={"output_size": (3, 1, 6)})
    refuse("inner", "4", "ShapeError", sized, [x, 9.0], kw={"output_size": (3, 5, 3)})
    refuse("rank", "5", "ShapeError", sized, [x, 9.0], kw={"output_size": (5, 6)})
    refuse("out", "5", "ShapeError", into, [x, -1.0], kw={"out": np.zeros((3, 3, 4), "float32")})
    for name, value in (("fraction", 0.5), ("infinity", INF), ("nan", NAN)):
        refuse(name, "7", "DTypeError", ints, [small("int32", "padded z"), value])
    refuse("bool", "7", "DTypeError", flags, [small("bool", "padded x"), 2])
    refuse("range", "8", "OverflowError", tight, [small("int8", "padded y"), 300])
    refuse("range", "8", "OverflowError", plain, [nest("uint8", [[1], [2, 3]]), -1])
    return book


def contiguous() -> Book:
    """Cases of `contiguous`."""
    book = Book("contiguous")
    copies(book, "1 2")
    return book


def getitem() -> Book:
    """Cases of `getitem`."""
    book = Book("getitem")
    x = integers("float32", [(2, 4), (3, 4), (1, 4), (5, 4)], "getitem")

    def pick(group: str, clauses: str, *items: Any, of: Components = x, **options: Any) -> str:
        return book.value(f"float32/{group}", clauses, [of, Index(items)], **options)

    first = pick("component", "1 10", 1)
    pick("component", "1 10", -1)
    pick("component", "1 VALUES-5", 1, of=small("float32", "getitem e"))
    whole = pick("batch", "1 3 5 10", slice(1, None, None))
    for piece in (slice(None, 2), slice(None, None, 2), slice(None, None, -1), slice(-3, -1), slice(3, 0, -2)):
        pick("batch", "1 10", piece)
    pick("clamped-batch", "1", slice(2, 99))
    pick("nothing", "9", slice(3, 1))
    for piece in (slice(1, None), slice(None, 2), slice(None, None, -1), slice(-2, None), slice(0, 99, 2)):
        pick("ragged", "2 5 9 10", slice(None), piece)
    pick("nothing", "9", slice(None), slice(5, 2))
    sliced = pick("inner", "2 10", slice(None), slice(None), slice(1, 3))
    pick("inner", "2 10", slice(None), slice(None), slice(None, None, -2))
    pick("inner-number", "2 5 10", slice(None), slice(None), 2)
    pick("inner-number", "3 2 10", ..., -1)
    row = pick("ragged-number", "5 10", slice(None), 0, kind=ROWS_KIND)
    pick("ragged-number", "5 10", slice(1, 3), -1, kind=ROWS_KIND)
    pick("both", "2 5", slice(None), 0, slice(None, None, 2), kind=ROWS_KIND)
    pick("component-inside", "2 1 10", 3, slice(1, 4), 2)
    pick("component-inside", "2 10", 3, 4)
    pick("ellipsis", "3", ...)
    pick("ellipsis", "3 2", slice(None), ..., slice(0, 1))
    pick("ellipsis", "3 2", slice(None), slice(1), slice(None), ...)
    added = pick("none", "4 10", slice(None), None)
    pick("none", "4 2", slice(None), slice(None), None, slice(2))
    pick("none", "4 3", ..., None)
    pick("none", "4 1", 1, None)
    pick("empty", "9 10", slice(None), slice(0, 1), of=small("float32", "getitem e"))
    irregular = integers("float32", IRREGULAR, "getitem i")
    pick("irregular", "2 10", slice(None), slice(1, None), slice(None, None, -1), of=irregular)
    pick("special", "2", slice(None), slice(1, None), of=nest("float32", [[NAN, -0.0], [INF, NAN, 1.0]]))
    nears = {"first": first, "whole": whole, "sliced": sliced, "row": row, "added": added}
    _more_getitem(book)
    _refused_getitem(book, x, nears)
    return book


def _more_getitem(book: Book) -> None:
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        book.value(f"{dtype}/ragged", "2", [small(dtype, f"getitem {dtype}"), Index((slice(1, None), slice(None, 1)))])
    extremes = nest("int64", [[INT64_MAX, INT64_MIN], [2**53 + 1]])
    book.value("int64/extremes", "2", [extremes, Index((slice(None), slice(0, 1)))])
    book.value("float32/all-empty", "9", [all_empty("float32"), Index((slice(None), slice(0, 2)))])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "9 VALUES-6", [empty, Index((slice(None),))])
    inner = book.value("float32/batch0", "2 VALUES-6", [empty, Index((slice(None), ..., 3))], kind="nested")
    book.error("batch0", "6", "IndexOutOfRange", inner, [empty, Index((slice(None), ..., 4))])


def _refused_getitem(book: Book, x: Components, nears: dict[str, str]) -> None:
    for group, clauses, kind, near, items in (
        ("batch", "6", "IndexOutOfRange", "first", (4,)),
        ("batch", "6", "IndexOutOfRange", "first", (-5,)),
        ("inner", "6", "IndexOutOfRange", "row", (slice(None), slice(None), 4)),
        ("component-inside", "6", "IndexOutOfRange", "first", (3, 5)),
        ("too-many", "7", "DimensionError", "sliced", (slice(None), slice(None), slice(None), slice(None))),
        ("two-ellipses", "7", "DimensionError", "sliced", (..., slice(None), ...)),
        ("none-first", "7", "DimensionError", "added", (None,)),
        ("none-first", "7", "DimensionError", "added", (None, slice(None))),
        ("bool", "8", "ArgumentError", "first", (True,)),
        ("float", "8", "ArgumentError", "first", (1.0,)),
        ("string", "8", "ArgumentError", "first", ("rows",)),
        ("step", "8", "ArgumentError", "whole", (slice(None, None, 0),)),
        ("step", "8", "ArgumentError", "whole", (slice(None), slice(None, None, 0))),
    ):
        book.error(group, clauses, kind, nears[near], [x, Index(items)])
    book.error_inside("ragged", "6", "IndexOutOfRange", nears["row"], [x, Index((slice(None), 1))])
