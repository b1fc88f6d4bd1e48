"""Cases of the movement chapter: what keeps the number of arrays here, what splits and joins them in `pieces`."""

from __future__ import annotations

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import integers, nest
from .dimensions import FIVE, deep, dimension_books, every_dtype
from .inputs import EMPTY_FIRST, INF, IRREGULAR, NAN, all_empty, no_components, small
from .pieces import piece_books


def books() -> list[Book]:
    """Return the books of this chapter."""
    own = [transpose(), reshape(), reshape_as(), view(), unsqueeze(), unflatten(), select()]
    return [*own, *dimension_books(), *piece_books()]


def transpose() -> Book:
    """Cases of `transpose`."""
    book = Book("transpose")
    x = small("float32", "transpose")
    plain = book.value("float32/ragged", "1 2 4 5", [x, 1, 2])
    book.value("float32/negative", "1 2 VALUES-4", [x, -1, -2])
    book.value("float32/same", "4", [x, 2, -1])
    book.value("float32/same", "4", [x, 1, 1])
    for pair in ((1, 3), (2, 3), (1, 2)):
        book.value("float32/deep", "1 2 5", [deep("transpose d"), *pair])
    every_dtype(book, "1", lambda one: [one, 1, 2])
    book.value("float32/irregular", "1 5 LAYOUTS-1", [integers("float32", IRREGULAR, "transpose i"), 1, 2])
    book.value("float32/empty-first", "4 5", [integers("float32", EMPTY_FIRST, "transpose e"), 1, 2])
    book.value("float32/all-empty", "4 5", [all_empty("float32"), 1, 2])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "2 VALUES-6", [empty, 1, 2])
    for dims in ((0, 1), (2, -3), (0, 0)):
        book.error("batch", "3", "DimensionError", plain, [x, *dims])
    book.error("range", "ERRORS-1", "DimensionError", plain, [x, 1, 3])
    return book


def reshape() -> Book:
    """Cases of `reshape`."""
    book = Book("reshape")
    x = small("float32", "reshape")
    plain = book.value("float32/split", "1 2 8 9", [x, (3, -1, 2, 2)])
    batch = book.value("float32/batch-kept", "3 2 9", [x, (-1, -1, 4)])
    book.value("float32/one", "1 2", [x, (3, -1, 4, 1)])
    merged = book.value("float32/merged", "1 2 9", [deep("reshape d"), (3, -1, 12)])
    book.value("float32/inherit", "2 1", [deep("reshape e"), (3, -1, -1, 2, 2)])
    every_dtype(book, "1", lambda one: [one, (len(one), -1, 2, 2)])
    even = Components(integers("float32", [(2, 6), (2, 6)], "reshape s"), (2, 2, 6))
    book.value("float32/regular", "1 2", [even, (2, 3, 4)], layouts=("strided",))
    irregular = integers("float32", [(2, 3, 4), (1, 5, 4)], "reshape i")
    book.value("float32/irregular", "1 2", [irregular, (2, -1, -1, 2, 2)])
    book.value("float32/all-empty", "8 9", [all_empty("float32"), (2, -1, 3, 1)])
    book.value("float32/inner0", "1 8", [integers("float32", [(2, 0), (1, 0)], "reshape"), (2, -1, 0, 5)])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "3 VALUES-6", [empty, (0, -1, 2, 2)])
    book.error("batch", "4", "ShapeError", plain, [x, (2, -1, 2, 2)])
    book.error("batch-one", "4", "ShapeError", plain, [x, (1, -1, 2, 2)])
    book.error("ragged-number", "5", "ShapeError", batch, [x, (3, 2, 4)])
    level = integers("float32", [(2, 4), (2, 4), (2, 4)], "reshape l")
    book.error("ragged-equal", "5", "ShapeError", batch, [level, (3, 4, 2)], layouts=("jagged",))
    twelve = integers("float32", [(2, 6), (3, 4)], "reshape t")
    book.error("irregular-number", "5", "ShapeError", batch, [twelve, (2, 4, 3)], layouts=("strided",))
    book.error("flattened", "5", "ShapeError", merged, [deep("reshape d"), (3, 12, -1)])
    book.error("inferred", "6", "ShapeError", plain, [x, (3, -1, 2, -1)])
    book.error("elements", "7", "ShapeError", plain, [x, (3, -1, 3)])
    book.error("elements", "7", "ShapeError", plain, [x, (3, -1, 4, 2)])
    return book


def reshape_as() -> Book:
    """Cases of `reshape_as`."""
    book = Book("reshape_as")
    x = small("float32", "reshape_as")
    pattern = integers("float32", [(2, 2, 2), (0, 2, 2), (1, 2, 2)], "pattern")
    plain = book.value("float32/ragged", "1 3", [x, pattern])
    apart = integers("int8", [(4, 2), (0, 7), (2, 2)], "pattern i")
    book.value("float32/irregular", "1 3", [x, apart])
    for dtype in FIVE:
        book.value(f"{dtype}/ragged", "1 3", [small(dtype, f"reshape_as {dtype}"), pattern])
    nan = Components([np.full(one.shape, NAN, "float32") for one in pattern], pattern.shape)
    book.value("float32/nan-pattern", "1", [x, nan])
    book.value("float32/all-empty", "1 3", [all_empty("float32"), integers("int8", [(0, 4), (0, 4)], "pattern e")])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1", [empty, no_components("int8", None, 2, 2)])
    book.error_inside(
        "components", "2", "ShapeError", plain, [x, integers("float32", [(2, 2, 2), (0, 2, 2)], "pattern f")]
    )
    book.error_inside(
        "elements", "2", "ShapeError", plain, [x, integers("float32", [(2, 2, 2), (1, 2, 2), (1, 2, 2)], "pattern g")]
    )
    return book


def view() -> Book:
    """Cases of `view`, on components in C order."""
    book = Book("view", placements=("packed", "holes"))
    x = small("float32", "view")
    plain = book.value("float32/split", "1 3 4", [x, (3, -1, 2, 2)])
    merged = book.value("float32/merged", "1 3 4", [deep("view d"), (3, -1, 12)])
    book.value("float32/inherit", "1 3", [deep("view e"), (-1, -1, -1, 2, 2)])
    every_dtype(book, "1", lambda one: [one, (len(one), -1, 2, 2)])
    irregular = integers("float32", [(2, 3, 4), (1, 5, 4)], "view i")
    book.value("float32/irregular", "1", [irregular, (2, -1, -1, 2, 2)])
    book.value("float32/all-empty", "1 3", [all_empty("float32"), (2, -1, 3, 1)])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1", [empty, (0, -1, 2, 2)])
    alone = Components(integers("float32", [(4, 3, 2)], "view alone"), (1, 4, None, 2), "float32")
    book.value("float32/across", "1 3 5", [alone, (1, 2, -1, 4)], placements=("packed",))
    book.error("batch", "2", "ShapeError", plain, [x, (2, -1, 2, 2)])
    book.error("ragged", "2", "ShapeError", merged, [deep("view d"), (3, 12, -1)])
    book.error("inferred", "2", "ShapeError", plain, [x, (3, -1, 2, -1)])
    book.error("elements", "2", "ShapeError", plain, [x, (3, -1, 3)])
    return book


def unsqueeze() -> Book:
    """Cases of `unsqueeze`."""
    book = Book("unsqueeze")
    x = small("float32", "unsqueeze")
    for dim in (1, 2, 3, -1, -2, -3):
        plain = book.value("float32/ragged", "1 2 4", [x, dim])
    every_dtype(book, "1", lambda one: [one, 1])
    book.value("float32/vectors", "1 2 4", [nest("float32", [[1.0, 2.0], [], [3.0]]), 1])
    book.value("float32/irregular", "1 4", [integers("float32", IRREGULAR, "unsqueeze i"), 2])
    book.value("float32/all-empty", "1 4", [all_empty("float32"), 2])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "2 VALUES-6", [empty, 2])
    book.error("batch", "3", "DimensionError", plain, [x, 0])
    book.error("batch", "3 VALUES-4", "DimensionError", plain, [x, -4])
    book.error("range", "ERRORS-1", "DimensionError", plain, [x, 4])
    return book


def unflatten() -> Book:
    """Cases of `unflatten`."""
    book = Book("unflatten")
    x = integers("float32", [(2, 6), (0, 6), (1, 6)], "unflatten")
    plain = book.value("float32/ragged", "1 5", [x, 2, (2, 3)])
    book.value("float32/negative", "1 5", [x, -1, (3, 2)])
    book.value("float32/inferred", "2 1 5", [x, 2, (3, -1)])
    book.value("float32/inferred", "2", [x, 2, (-1, 2, 1)])
    book.value("float32/single", "1", [x, 2, (6,)])
    middle = integers("float32", [(2, 4, 3), (1, 4, 3)], "unflatten m")
    book.value("float32/middle", "1 5", [middle, 2, (2, 2)])
    second = Components(integers("float32", [(6, 2), (6, 1)], "unflatten s"), (2, 6, None))
    book.value("float32/before-ragged", "1 5", [second, 1, (2, 3)])
    every_dtype(book, "1", lambda one: [one, 2, (2, 2)])
    book.value("float32/all-empty", "1 2 5", [all_empty("float32"), 2, (3, -1)])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1 VALUES-6", [empty, 2, (2, 2)])
    book.error("batch", "3", "DimensionError", plain, [x, 0, (1, 3)])
    book.error("ragged", "3", "DimensionError", plain, [x, 1, (1, 2)])
    book.error("product", "4", "ShapeError", plain, [x, 2, (2, 2)])
    book.error("remainder", "4", "ShapeError", plain, [x, 2, (4, -1)])
    book.error("two-inferred", "4", "ShapeError", plain, [x, 2, (-1, -1)])
    return book


def select() -> Book:
    """Cases of `select`."""
    book = Book("select")
    x = integers("float32", [(2, 4), (3, 4), (1, 4)], "select")
    rows = {"jagged": "dense", "strided": "nested"}
    plain = book.value("float32/ragged", "1 3 6", [x, 1, 0], kind=rows)
    last = book.value("float32/last", "1 3 6", [x, 1, -1], kind=rows)
    for index in (0, 3, -1):
        inner = book.value("float32/inner", "1 3 6", [x, 2, index], kind="nested")
    book.value("float32/inner", "1 3", [x, -1, -4], kind="nested")
    book.value("float32/empty", "1 3 6", [small("float32", "select e"), 2, 1], kind="nested")
    first = book.value("float32/batch", "2 3 6", [x, 0, 1])
    book.value("float32/batch", "2 6", [x, 0, -3])
    book.value("float32/batch-empty", "2 VALUES-5 6", [small("float32", "select e"), 0, 1])
    book.value("float32/deep", "1 3 6", [integers("float32", [(2, 3, 4), (1, 3, 4)], "select d"), 2, 2], kind="nested")
    irregular = integers("float32", IRREGULAR, "select i")
    book.value("float32/irregular", "1 3", [irregular, 2, 0], kind="nested")
    book.value("float32/irregular", "1 3", [irregular, 1, -1], kind="nested")
    book.value("float32/vectors", "1 6", [nest("float32", [[1.0, 2.0], [3.0]]), 1, 0], kind=rows)
    for dtype in FIVE:
        nonempty = integers(dtype, [(2, 4), (1, 4)], f"select {dtype}")
        book.value(f"{dtype}/ragged", "1", [nonempty, 1, -1], kind=rows)
    spoiled = nest("float32", [[[NAN, 1.0], [-0.0, INF]], [[2.0, -INF]]])
    book.value("float32/special", "1 VALUES-2", [spoiled, 1, -1], kind=rows)
    empty = no_components("float32", None, 4)
    unmet = book.value("float32/batch0", "1 VALUES-6", [empty, 2, 1], kind="nested")
    book.error_inside("ragged", "4", "IndexOutOfRange", plain, [x, 1, 1])
    book.error_inside("ragged", "4", "IndexOutOfRange", last, [x, 1, -2])
    book.error_inside("empty", "4", "IndexOutOfRange", plain, [small("float32", "select e"), 1, 0])
    book.error("inner", "4", "IndexOutOfRange", inner, [x, 2, 4])
    book.error("batch", "5", "IndexOutOfRange", first, [x, 0, 3])
    book.error("batch", "5", "IndexOutOfRange", first, [x, 0, -4])
    book.error("batch0", "4", "IndexOutOfRange", unmet, [empty, 2, 4])
    book.error("batch0", "4", "IndexOutOfRange", unmet, [empty, 2, -5])
    return book
