"""Programs about writing."""

from __future__ import annotations

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers, nest
from ..programs import Chapter
from .inputs import ALL, RAGGED, ROWS, no_components

EQUAL = [(3, 2), (3, 2), (3, 2)]


def chapter() -> Chapter:
    """Programs about writing."""
    book = Chapter("write")
    _assigned(book)
    _in_place(book)
    _through_views(book)
    _elsewhere(book)
    _refused(book)
    return book


def _assigned(book: Chapter) -> None:
    x = distinct("float32", ROWS, "write x")
    components, columns = Index((slice(1, None),)), Index((ALL, ALL, slice(0, 2)))
    one = book.program("assigned", x=x)
    one.do("setitem", "x", components, 7.0).ask("1 4", "value", "x")
    one.do("setitem", "x", Index((ALL, slice(0, 1))), -2.0).ask("1", "value", "x")
    one.do("setitem", "x", Index((-1,)), 0.5).ask("1", "value", "x")
    row = np.array([100, 200, 300], "float32")
    book.program("assigned-row", x=x, row=row).do("setitem", "x", Index((...,)), "row").ask("1", "value", "x")
    y = distinct("float32", [(2, 2), (0, 2), (3, 2)], "write y")
    nested = book.program("assigned-nested", x=x, y=y).do("setitem", "x", columns, "y").ask("1", "value", "x")
    nested.do("fill_", "y", 9.0).ask("7", "value", "x").do("setitem", "x", columns, 0.0).ask("7", "value", "y")
    listed = book.program("assigned-list", x=x).do("setitem", "x", Index(([2, 0],)), 5.0).ask("1", "value", "x")
    listed.do("sum", "x", 1, out="s").ask("5", "value", "s")
    mask = integers("bool", ROWS, "write mask")
    masked = book.program("assigned-mask", x=x, mask=mask).do("setitem", "x", "mask", 8.0).ask("1", "value", "x")
    masked.ask("4", "value", "mask")
    whole = distinct("int64", ROWS, "write whole")
    book.program("assigned", x=whole).do("setitem", "x", components, 7).ask("1 8", "value", "x")
    empty = book.program("batch0", x=no_components("float32", None, 3))
    empty.do("setitem", "x", Index((...,)), 7.0).do("add_", "x", 1.0).ask("1 2", "value", "x")


def _in_place(book: Chapter) -> None:
    for dtype in ("float32", "int32"):
        x, y = distinct(dtype, RAGGED, f"write a {dtype}"), integers(dtype, RAGGED, f"write b {dtype}", 1, 5)
        all_of_them = book.program("in-place", x=x, y=y).do("add_", "x", "y").ask("2", "value", "x")
        all_of_them.do("mul_", "x", 3).do("sub_", "x", "y").ask("2 8", "value", "x").do("neg_", "x")
        all_of_them.ask("2", "value", "x").do("relu_", "x").ask("2 8", "value", "x").ask("4", "value", "y")
        copied = book.program("copied", x=x, y=y).do("copy_", "x", "y").ask("2", "value", "x")
        copied.do("fill_", "x", 0).ask("7", "value", "y").do("copy_", "x", "y").do("mul_", "y", 2)
        copied.ask("7", "value", "x").ask("2", "value", "y")
    x = distinct("float32", RAGGED, "write c")
    mask = integers("bool", RAGGED, "write holds")
    book.program("masked", x=x, mask=mask).do("masked_fill_", "x", "mask", -9.0).ask("2", "value", "x")
    row = np.array([1, -2, 3, -4], "float32")
    broadcast = book.program("broadcast", x=x, row=row).do("add_", "x", "row").ask("2", "value", "x")
    broadcast.do("copy_", "x", "row").ask("2", "value", "x").do("fill_", "row", 0.0).ask("7", "value", "x")
    half = nest("float16", [[1.0, 2.0], [3.0]])
    wide = nest("float32", [[2048.0, 4.0], [1.5]])
    rounded = book.program("rounded", x=half, y=wide).do("copy_", "x", "y").ask("8", "value", "x")
    rounded.do("add_", "x", 1.0).ask("8", "value", "x")
    dense = np.array([[1, 2], [3, 4]], "float32")
    book.program("dense", x=dense).do("add_", "x", "x").do("fill_", "x", 4.0).ask("2", "value", "x")


def _through_views(book: Chapter) -> None:
    x = distinct("float32", ROWS, "write v")
    view = book.program("through-components", x=x).do("getitem", "x", Index((slice(1, None),)), out="v")
    view.do("add_", "v", 100.0).ask("3 4", "value", "x").do("fill_", "x", 1.0).ask("3", "value", "v")
    two = book.program("two-views", x=x).do("getitem", "x", Index((ALL, ALL, slice(0, 2))), out="v")
    two.do("getitem", "x", Index((ALL, ALL, slice(1, 3))), out="w").do("mul_", "v", 10.0)
    two.ask("3", "value", "w").ask("3 4", "value", "x").do("sum", "w", 2, out="s").ask("5", "value", "s")
    deep = book.program("view-of-a-view", x=x).do("transpose", "x", 1, 2, out="t")
    deep.do("getitem", "t", Index((ALL, slice(1, 2))), out="v").do("copy_", "v", 50.0).ask("3 4", "value", "x")
    deep.ask("3", "value", "t").do("getitem", "v", Index((slice(0, 1),)), out="w").do("neg_", "w")
    deep.ask("3 4", "value", "x")
    parts = book.program("components", x=x).do("unbind", "x", out=["a", "b", "c"]).do("fill_", "a", 3.0)
    parts.do("mul_", "c", -1.0).ask("3 4", "value", "x").do("fill_", "x", 6.0).ask("3", "value", "a")
    short = book.program("short-slice", x=x).do("getitem", "x", Index((ALL, slice(0, 1))), out="v")
    short.do("fill_", "v", 77.0).ask("3 4", "value", "x").do("softmax", "v", 1, out="s").ask("5", "value", "s")
    pieces = book.program("pieces", x=x).do("split", "x", (1, 2), dim=2, out=["a", "b"]).do("add_", "b", "b")
    pieces.ask("3 4", "value", "x").do("copy_", "a", 0.0).ask("3 4", "value", "x").ask("4", "value", "b")
    halves = book.program("chunks", x=x).do("chunk", "x", 2, out=["a", "b"]).do("neg_", "b").ask("3 4", "value", "x")
    halves.ask("4", "value", "a")


def _elsewhere(book: Chapter) -> None:
    x = distinct("float32", ROWS, "write e")
    copies = book.program("copies", x=x).do("clone", "x", out="c").do("add", "x", 0.0, out="y")
    copies.do("fill_", "x", 5.0).ask("4", "value", "c").ask("4", "value", "y").do("neg_", "c").ask("4", "value", "x")
    again = book.program("asked-before", x=x).do("sum", "x", 1, out="s").do("amax", "x", 2, out="m")
    again.do("transpose", "x", 1, 2, out="t").do("sum", "t", 2, out="u").do("mul_", "x", 2.0)
    again.ask("4", "value", "s").ask("4", "value", "m").do("sum", "x", 1, out="s2").do("amax", "x", 2, out="m2")
    again.do("sum", "t", 2, out="u2").ask("5", "value", "s2").ask("5", "value", "m2").ask("5", "value", "u2")
    again.do("to_padded_array", "x", 0.0, out="p").do("neg_", "x").do("to_padded_array", "x", 0.0, out="q")
    again.ask("4", "value", "p").ask("5", "value", "q")
    y = distinct("float32", EQUAL, "write o")
    shifted = book.program("shifted", x=y).do("getitem", "x", Index((slice(0, 2),)), out="a")
    shifted.do("getitem", "x", Index((slice(1, 3),)), out="b").do("copy_", "b", "a").ask("6", "value", "x")
    back = book.program("shifted", x=y).do("getitem", "x", Index((slice(0, 2),)), out="a")
    back.do("getitem", "x", Index((slice(1, 3),)), out="b").do("copy_", "a", "b").ask("6", "value", "x")
    rows = book.program("shifted-rows", x=y).do("getitem", "x", Index((ALL, slice(0, 2))), out="a")
    rows.do("getitem", "x", Index((ALL, slice(1, 3))), out="b").do("copy_", "b", "a").ask("6", "value", "x")
    rows.do("add_", "a", "b").ask("6", "value", "x")
    twice = book.program("with-itself", x=x).do("add_", "x", "x").do("mul_", "x", "x").ask("6", "value", "x")
    twice.do("getitem", "x", Index((2,)), out="last").do("getitem", "last", Index((0,)), out="row")
    twice.do("sub_", "x", "row").ask("6", "value", "x")


def _refused(book: Chapter) -> None:
    whole = integers("int32", ROWS, "write w", 1, 9)
    floats = book.program("refused-floats", x=whole).refuse("9", "DTypeError", "add_", "x", 1.5).ask("12", "value", "x")
    floats.do("add_", "x", 1).ask("2", "value", "x")
    x = distinct("float32", ROWS, "write r")
    other = integers("float32", [(2, 3), (1, 3), (3, 3)], "write s")
    sizes = book.program("refused-sizes", x=x, y=other).refuse("10", "StructureError", "add_", "x", "y")
    sizes.ask("12", "value", "x").refuse("10", "StructureError", "copy_", "x", "y").ask("12", "value", "x")
    sizes.do("mul_", "x", 2.0).ask("2", "value", "x")
    narrow = integers("float32", [(2, 1), (0, 1), (3, 1)], "write t", 1, 9)
    wider = book.program("refused-wider", x=narrow, y=x).refuse("10", "StructureError", "add_", "x", "y")
    wider.ask("12", "value", "x").do("add_", "y", "x").ask("2", "value", "y")
    flat, size = np.arange(1, 7, dtype="float32"), np.array([[3], [3]], "int64")
    stride, offset = np.array([[1], [1]], "int64"), np.array([0, 2], "int64")
    overlap = book.program("refused-overlap", layouts="strided", v=flat, size=size, stride=stride, offset=offset)
    overlap.do("nested_array_from_strided", "v", "size", "stride", "offset", out="x").ask("4", "value", "x")
    overlap.refuse("11", "StructureError", "add_", "x", 1.0).ask("12", "value", "v").do("clone", "x", out="c")
    overlap.do("add_", "c", 1.0).ask("2 4", "value", "c").ask("4", "value", "v")
