"""Cases of the scan chapter."""

from __future__ import annotations

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import floats, integers, nest
from .inputs import EMPTY_FIRST, EMPTY_LAST, INF, INT64_MAX, IRREGULAR, NAN, all_empty, fine, no_components, small


def books() -> list[Book]:
    """Return the books of this chapter."""
    return [cumsum()]


def cumsum() -> Book:
    """Cases of `cumsum`."""
    book, along = Book("cumsum", zeros="either"), {"kw": {"dim": 1}}
    x = small("float32", "cumsum")
    plain = book.value("float32/ragged", "1 2 6 9", [x], **along)
    book.value("float32/inner", "1 2 9", [x], kw={"dim": -1})
    for dtype in ("float16", "float32", "float64"):
        book.value(f"{dtype}/fine", "1 3 9", [fine(dtype, f"cumsum {dtype}")], cmp="bound", **along)
        long = floats(dtype, [(33, 2), (0, 2), (7, 2)], f"cumsum {dtype} long")
        book.value(f"{dtype}/long", "1 9 NUMERICS-7", [long], cmp="bound", **along)
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64"):
        book.value(f"{dtype}/ragged", "3 6", [small(dtype, f"cumsum {dtype}")], **along)
    book.value("int64/wrap", "3", [nest("int64", [[INT64_MAX, 1, 1], [-1]])], **along)
    book.value("int8/beyond", "3", [nest("int8", [[127, 127], [-128, -128]])], **along)
    book.value("float32/empty-first", "6 9", [integers("float32", EMPTY_FIRST, "cumsum f")], **along)
    book.value("float32/empty-last", "6 9", [integers("float32", EMPTY_LAST, "cumsum l")], **along)
    second = Components(integers("float32", [(3, 2), (3, 4)], "cumsum s"), (2, 3, None))
    for dim in (1, 2):
        book.value("float32/ragged-last", "1 2 9", [second], kw={"dim": dim})
        book.value("float32/irregular", "1 2 9", [integers("float32", IRREGULAR, "cumsum i")], kw={"dim": dim})
    book.value("float32/deep", "1 2 9", [integers("float32", [(2, 3, 2), (1, 3, 2)], "cumsum d")], kw={"dim": 2})
    wide = nest("float16", [[60000.0, 60000.0, -60000.0], [1.0]])
    book.value("float16/intermediate", "7 NUMERICS-4", [wide], cmp="bound", **along)
    # 2049 needs a bit more than float16 has: rounded on the way, every later sum would be 2048.
    book.value("float16/once", "7", [nest("float16", [[2048.0, 1.0, 1.0, 1.0], [1.0]])], cmp="bound", **along)
    for dtype, large in (("float32", 3e38), ("float64", 1.5e308)):
        beyond = nest(dtype, [[large, large, -large], [large], [-large, 1.0]])
        book.value(f"{dtype}/beyond", "1 NUMERICS-8", [beyond], cmp="bound", **along)
    book.value("float32/neighbours", "1", [nest("float32", [[1e8, 3.0], [0.25, 0.5], [1e-3]])], cmp="bound", **along)
    spoiled = nest("float32", [[1.0, NAN, 2.0], [3.0, INF, 1.0, -INF, 1.0], [4.0, 5.0]])
    book.value("float32/special", "8", [spoiled], **along)
    book.value("float32/zero", "10", [nest("float32", [[-0.0, -0.0], [1.0, -1.0]])], **along)
    book.value("float32/all-empty", "6 9", [all_empty("float32")], **along)
    book.value("float32/inner0", "6 2", [integers("float32", [(2, 0), (1, 0)], "cumsum")], **along)
    book.value("float32/batch0", "6 2", [no_components("float32", None, 4)], **along)
    cut = nest("float32", [[0.5, 1.5], [-0.75, -100.25, -100.5], [0.0]])
    for dtype in ("int64", "int8", "float16"):
        typed = {"dim": 1, "dtype": np.dtype(dtype)}
        book.value("float32/dtype", "4", [cut], kw=typed, gradient=None)
    book.value("int32/dtype", "4", [small("int32", "cumsum d")], kw={"dim": 1, "dtype": np.dtype("float32")})
    for dim in (0, -3):
        book.error("batch", "5 VALUES-4", "DimensionError", plain, [x], kw={"dim": dim})
    book.error("range", "ERRORS-1", "DimensionError", plain, [x], kw={"dim": 3})
    return book
