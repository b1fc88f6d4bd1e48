"""Cases of the movement operators that reorder, leave out, join and cut dimensions."""

from __future__ import annotations

from typing import Any

from ...encoding import Components
from ..author import Book
from ..draws import integers, nest
from .inputs import EMPTY_FIRST, INF, INT64_MAX, INT64_MIN, IRREGULAR, NAN, all_empty, no_components, small

FIVE = ("bool", "int8", "int64", "float16", "float64")


def dimension_books() -> list[Book]:
    """Return the books of the operators of dimensions, but for those that came first."""
    return [permute(), squeeze(), flatten(), split()]


def every_dtype(book: Book, clauses: str, args: Any, **options: Any) -> None:
    """Add the call `args(x)` for one component structure in every dtype, and with special values."""
    for dtype in FIVE:
        book.value(f"{dtype}/ragged", clauses, args(small(dtype, f"{book.op} {dtype}")), **options)
    special = nest("float32", [[[NAN, 1.0, INF, -0.0]], [[-INF, 0.0, 2.0**-149, -1.0]]])
    book.value("float32/special", clauses, args(special), **options)
    extremes = nest("int64", [[[INT64_MAX, INT64_MIN, 2**53 + 1, -1]], [[0, 1, -(2**53) - 1, 7]]])
    book.value("int64/extremes", clauses, args(extremes), **options)


def deep(key: str, dtype: str = "float32") -> Components:
    """Return components of three dimensions, (2, 3, 4), (0, 3, 4) and (1, 3, 4)."""
    return integers(dtype, [(2, 3, 4), (0, 3, 4), (1, 3, 4)], key)


def permute() -> Book:
    """Cases of `permute`."""
    book = Book("permute")
    x = small("float32", "permute")
    plain = book.value("float32/ragged", "1 2 5 6", [x, (0, 2, 1)])
    book.value("float32/negative", "1 2 VALUES-4", [x, (0, -1, -2)])
    book.value("float32/same", "5 6", [x, (0, 1, 2)])
    for dims in ((0, 2, 3, 1), (0, 3, 1, 2), (0, 3, 2, 1), (0, 1, 3, 2), (0, 2, 1, 3)):
        book.value("float32/deep", "1 2 6", [deep("permute d"), dims])
    every_dtype(book, "1", lambda one: [one, (0, 2, 1)])
    book.value("float32/vectors", "5", [nest("float32", [[1.0, 2.0], [], [3.0]]), (0, 1)])
    book.value("float32/irregular", "1 6 LAYOUTS-1", [integers("float32", IRREGULAR, "permute i"), (0, 2, 1)])
    book.value("float32/empty-first", "5 6", [integers("float32", EMPTY_FIRST, "permute e"), (0, 2, 1)])
    book.value("float32/all-empty", "5 6", [all_empty("float32"), (0, 2, 1)])
    book.value("float32/batch0", "2 VALUES-6", [no_components("float32", None, 4), (0, 2, 1)])
    for moved in ((1, 0, 2), (2, 1, 0), (-1, -2, -3)):
        book.error("batch", "3", "DimensionError", plain, [x, moved])
    for wrong in ((0, 1), (0, 1, 1), (0, 1, -2), (0, 1, 2, 3), ()):
        book.error("once", "4", "DimensionError", plain, [x, wrong])
    book.error("range", "ERRORS-1", "DimensionError", plain, [x, (0, 1, 3)])
    return book


def squeeze() -> Book:
    """Cases of `squeeze`."""
    book = Book("squeeze")
    x = integers("float32", [(2, 1, 3), (0, 1, 3), (1, 1, 3)], "squeeze", ragged=1)
    plain = book.value("float32/ragged", "1 2 6", [x, 2])
    book.value("float32/negative", "1 VALUES-4 6", [x, -2])
    second = Components(integers("float32", [(1, 2, 1), (1, 3, 1)], "squeeze s"), (2, 1, None, 1))
    book.value("float32/before-ragged", "1 2 6", [second, 1])
    for dims in ((1, 3), (3, 1), (-1,), ()):
        book.value("float32/several", "1 2 6", [second, dims])
    for dtype in FIVE:
        book.value(f"{dtype}/ragged", "1", [integers(dtype, [(2, 1), (0, 1), (3, 1)], f"squeeze {dtype}"), 2])
    book.value("float32/special", "1", [nest("float32", [[[NAN], [-0.0]], [[INF]]]), 2])
    book.value("float32/irregular", "1", [integers("float32", [(2, 1, 3), (4, 1, 2)], "squeeze i"), 2])
    book.value("float32/all-empty", "1 6", [integers("float32", [(0, 1), (0, 1)], "squeeze", ragged=1), 2])
    book.value("float32/batch0", "2 VALUES-6", [no_components("float32", None, 1), 2])
    ones = Components(integers("float32", [(1, 1), (1, 1)], "squeeze o"), (2, None, 1))
    one = book.value("float32/lengths-of-one", "1 2", [ones, 2], layouts=("jagged",))
    book.error("batch", "3", "DimensionError", plain, [x, 0])
    book.error("batch", "3", "DimensionError", plain, [x, (2, -4)])
    book.error("ragged", "3", "DimensionError", plain, [x, 1])
    book.error("lengths-of-one", "3", "DimensionError", one, [ones, 1], layouts=("jagged",))
    book.error("twice", "3", "DimensionError", plain, [x, (2, -2)])
    book.error("no-dim", "4", "DimensionError", plain, [x])
    book.error("size", "5", "ShapeError", plain, [x, 3])
    book.error("size", "5", "ShapeError", plain, [x, (2, 3)])
    book.error("range", "ERRORS-1", "DimensionError", plain, [x, 4])
    return book


def flatten() -> Book:
    """Cases of `flatten`."""
    book = Book("flatten")
    x = small("float32", "flatten")
    plain = book.value("float32/ragged", "1 2 5 6", [x, 1])
    for dims in ((1, 2), (2, 3), (1, 3), (-2, -1), (2, 2)):
        book.value("float32/deep", "1 2 5 6", [deep("flatten d"), *dims])
    second = Components(integers("float32", [(2, 3, 2), (2, 0, 2), (2, 1, 2)], "flatten s"), (3, 2, None, 2))
    for dims in ((1, 2), (2, 3), (1, 3), (3, 3)):
        book.value("float32/before-ragged", "1 2 6", [second, *dims])
    last = Components(integers("float32", [(2, 2, 3), (2, 2, 1)], "flatten l"), (2, 2, 2, None))
    for dims in ((1, 2), (2, 3), (1, 3)):
        book.value("float32/ragged-last", "1 2 6", [last, *dims])
    every_dtype(book, "1", lambda one: [one, 1, 2])
    book.value("float32/vectors", "5", [nest("float32", [[1.0, 2.0], [], [3.0]]), 1])
    irregular = integers("float32", IRREGULAR, "flatten i")
    book.value("float32/irregular", "1 2 6", [irregular, 1])
    level = Components(integers("float32", [(2, 3), (2, 3)], "flatten r"), (2, 2, 3))
    book.value("float32/regular", "1 2", [level, 1], layouts=("strided",))
    book.value("float32/inner0", "1 6", [integers("float32", [(2, 0), (1, 0)], "flatten"), 1])
    book.value("float32/all-empty", "5 6", [all_empty("float32"), 1])
    book.value("float32/batch0", "2 VALUES-6", [no_components("float32", None, 4), 1])
    book.value("float32/batch0", "2", [no_components("float32", None, 4, 2), 2])
    book.error("batch", "3", "DimensionError", plain, [x])
    book.error("batch", "3", "DimensionError", plain, [x, 0, 1])
    book.error("batch", "3", "DimensionError", plain, [x, -3, 0])
    book.error("order", "4", "DimensionError", plain, [x, 2, 1])
    book.error("range", "ERRORS-1", "DimensionError", plain, [x, 1, 3])
    return book


def split() -> Book:
    """Cases of `split`."""
    book = Book("split", several=True)
    x = integers("float32", [(2, 5), (0, 5), (1, 5), (3, 5)], "split")
    for size in (1, 2, 3, 4, 9):
        plain = book.value("float32/batch", "2 3 4 9", [x, size])
    book.value("float32/batch-sizes", "1 3 4 9", [x, (1, 0, 3)])
    for size in (1, 2, 5, 7):
        inner = book.value("float32/inner", "2 4 9", [x, size, 2])
    for sizes in ((2, 3), (5,), (0, 1, 4, 0)):
        several = book.value("float32/inner-sizes", "1 4 9", [x, sizes, -1])
    level = Components(integers("float32", [(3, 2), (3, 2)], "split l"), (2, None, 2))
    ragged = book.value("float32/ragged-sizes", "1 4 9", [level, (1, 2), 1], layouts=("jagged",))
    second = Components(integers("float32", [(4, 2), (4, 3)], "split s"), (2, 4, None))
    book.value("float32/before-ragged", "1 4 9", [second, (3, 1), 1])
    for dtype in FIVE:
        book.value(f"{dtype}/inner", "1", [small(dtype, f"split {dtype}"), (1, 3), 2])
    book.value("float32/special", "2", [nest("float32", [[[NAN, -0.0]], [[INF, 1.0]]]), 1, 2])
    book.value("float32/size0", "5 4", [integers("float32", [(2, 0), (1, 0)], "split"), 3, 2])
    book.value("float32/irregular", "3 2", [integers("float32", IRREGULAR, "split i"), 2])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "5 VALUES-6", [empty, 2])
    book.value("float32/batch0", "1", [empty, (1, 3), 2])
    book.error("ragged", "6", "DimensionError", inner, [x, 2, 1])
    book.error("irregular", "6", "DimensionError", inner, [integers("float32", IRREGULAR, "split i"), 2, 2])
    book.error("sum", "7", "ShapeError", several, [x, (2, 2), 2])
    book.error_inside("batch-sum", "7", "ShapeError", plain, [x, (2, 3)])
    book.error_inside("lengths", "7", "ShapeError", ragged, [x, (1, 1), 1], layouts=("jagged",))
    book.error("none", "8", "ArgumentError", plain, [x, 0])
    book.error("negative", "8", "ArgumentError", plain, [x, -1])
    book.error("negative", "8", "ArgumentError", several, [x, (6, -1), 2])
    book.error("no-sizes", "8", "ArgumentError", several, [x, (), 2])
    return book
