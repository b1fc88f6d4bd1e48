"""Cases that all reductions have: every set of dimensions, and numbers whose order shows."""

from __future__ import annotations

from typing import Any

from ...encoding import Components
from ..author import Book
from ..draws import floats, nest
from .inputs import COVERED, IRREGULAR

# Along the ragged dimension a jagged array becomes dense; a strided one keeps its layout while a dimension is left.
RAGGED_KIND = {"jagged": "dense", "strided": "nested"}
RAGGED_SECOND = [(4, 2), (4, 3), (4, 1)]  # the ragged dimension is the last
DEEP = [(2, 3, 5), (1, 3, 5)]


def shapes(book: Book, shape: str, value: str, draw: Any) -> None:
    """Add every set of dimensions, with and without keepdim; `draw` gives the components of some shapes."""
    op, both = book.op, f"{shape} {value}".strip()
    x = draw("float32", [(2, 4), (3, 4), (1, 4)], f"{op} dims")
    book.value("float32/ragged", f"{value} LAYOUTS-5 LAYOUTS-6 LAYOUTS-7", [x], kw={"dim": 1}, kind=RAGGED_KIND)
    book.value("float32/inner", f"{value} LAYOUTS-6", [x], kw={"dim": 2}, kind="nested")
    book.value("float32/inner", value, [x], kw={"dim": -1}, kind="nested")
    book.value("float32/batch", both, [x], kw={"dim": 0}, kind="dense")
    book.value("float32/components", f"{value} LAYOUTS-7", [x], kw={"dim": (1, 2)}, kind="dense")
    book.value("float32/batch-inner", both, [x], kw={"dim": (0, -1)}, kind="dense")
    book.value("float32/batch-ragged", both, [x], kw={"dim": (1, 0)}, kind="dense")
    book.value("float32/all", both, [x], kind="dense")
    book.value("float32/all", both, [x], kw={"dim": (0, 1, 2)}, kind="dense")
    for dim, kind in ((1, RAGGED_KIND), (2, "nested"), ((1, 2), RAGGED_KIND), (0, "dense"), (None, "dense")):
        book.value("float32/keepdim", both, [x], kw={"dim": dim, "keepdim": True}, kind=kind)
    second = draw("float32", RAGGED_SECOND, f"{op} second")
    second = Components(second, (3, 4, None), "float32")
    book.value("float32/ragged-last", value, [second], kw={"dim": 2}, kind=RAGGED_KIND)
    book.value("float32/ragged-last", value, [second], kw={"dim": 1}, kind="nested")
    deep = draw("float32", DEEP, f"{op} deep")
    book.value("float32/deep", value, [deep], kw={"dim": (1, 3)}, kind=RAGGED_KIND)
    book.value("float32/deep", both, [deep], kw={"dim": (0, 2)}, kind="dense")
    irregular = draw("float32", IRREGULAR, f"{op} irregular")
    book.value("float32/irregular", value, [irregular], kw={"dim": 2}, kind="nested")
    covered = irregular if op != "amax" else draw("float32", COVERED, "amax covered")
    book.value("float32/irregular", both, [covered], kw={"dim": 0}, kind="dense")
    book.value("float32/len1", value, [draw("float32", [(1, 3)], f"{op} one")], kw={"dim": 1}, kind=RAGGED_KIND)
    flat = draw("float32", [(3,), (2,)], f"{op} flat")
    book.value("float32/vectors", value, [flat], kw={"dim": 1}, kind="dense")
    even = draw("float32", [(2, 4)] * 3, f"{op} even")
    book.value("float32/equal-lengths", f"{value} LAYOUTS-5", [even], kw={"dim": 1}, kind=RAGGED_KIND)
    near = f"{op}/float32/ragged/1"
    book.error("range", "ERRORS-1", "DimensionError", near, [x], kw={"dim": 3})
    book.error("range", "ERRORS-1", "DimensionError", near, [x], kw={"dim": -4})
    book.error("twice", "ERRORS-2", "DimensionError", near, [x], kw={"dim": (1, -2)})
    book.error("float", "ERRORS-3", "ArgumentError", near, [x], kw={"dim": 1.5})


def orders(book: Book, value: str) -> None:
    """Add inexact cases: long and mixed runs, where orders of evaluation and precisions show."""
    op = book.op
    for dtype, scale in (("float16", 1.0), ("float32", 1.0), ("float64", 1.0)):
        long = floats(dtype, [(33, 2), (0, 2), (7, 2)], f"{op} {dtype} long", scale=scale)
        if op == "sum":
            book.value(
                f"{dtype}/long",
                f"{value} NUMERICS-7",
                [long],
                kw={"dim": 1},
                kind=RAGGED_KIND,
                cmp="bound",
                gradient=None,
            )
        else:
            kept = floats(dtype, [(33, 2), (7, 2)], f"{op} {dtype} long")
            book.value(f"{dtype}/long", value, [kept], kw={"dim": 1}, kind=RAGGED_KIND, cmp="bound")
    for dtype, large in (("float32", 3e38), ("float64", 1.5e308)):
        beyond = nest(dtype, [[large, large, -large], [large], [-large, 1.0, -large, large]])
        book.value(f"{dtype}/beyond", f"{value} NUMERICS-8", [beyond], kw={"dim": 1}, kind="dense", cmp="bound")
    mixed = nest("float32", [[1e8, 1.0, -1e8, 0.5], [3e-5, 7e4]])
    book.value("float32/mixed", value, [mixed], kw={"dim": 1}, kind="dense", cmp="bound", gradient=None)
