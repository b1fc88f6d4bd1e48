"""Cases of the constructors: from arrays, from buffers, from dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...numerics import NDArray
from ..author import Book
from ..draws import dense, integers, nest
from .inputs import INT64_MAX, INT64_MIN, IRREGULAR, NAN, all_empty, small

LAYOUTS = ("strided", "jagged")
DTYPES = ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64")


def construct_books() -> list[Book]:
    """Return the books of the constructors."""
    return [nested_array(), as_nested_array(), from_jagged(), from_strided()]


def _arrays(dtype: str, shapes: Any, key: str) -> list[NDArray]:
    return list(integers(dtype, shapes, key))


def numbers(dtype: str, shape: tuple[int, ...], key: str) -> NDArray:
    """Return one dense array of small integers."""
    return dense(integers(dtype, [shape], key, ragged=None))


def in_layout(layout: str, **more: Any) -> dict[str, Any]:
    """Return the options of a call that names its layout."""
    return {"kw": {"layout": layout, **more}, "layouts": (layout,), "kind": "nested"}


def ints(*values: int) -> NDArray:
    """Return offsets, lengths or starts."""
    return np.array(values, dtype="int64")


def _sequences(book: Book, value: str, edge: str) -> str:
    """Add what nested_array and as_nested_array share: sequences of arrays; return the id of the jagged plainest."""
    plain = ""
    for layout in LAYOUTS:
        ragged = [(2, 4), (0, 4), (1, 4)]
        plain = book.value(
            f"float32/{layout}", f"{value} {edge}", [_arrays("float32", ragged, book.op)], **in_layout(layout)
        )
        book.value(
            f"float32/{layout}-equal",
            f"{value} LAYOUTS-2",
            [_arrays("float32", [(2, 3)] * 4, book.op)],
            **in_layout(layout),
        )
        book.value(
            f"float32/{layout}-last", value, [_arrays("float32", [(4, 2), (4, 3)], book.op)], **in_layout(layout)
        )
        book.value(f"float32/{layout}-empty", edge, [list(all_empty("float32"))], **in_layout(layout))
        book.value(f"float32/{layout}-one", value, [_arrays("float32", [(3,)], book.op)], **in_layout(layout))
        special = [np.array([NAN, -0.0], "float32"), np.array([1.0], "float32")]
        book.value(f"float32/{layout}-special", value, [special], **in_layout(layout))
    book.value("float32/irregular", value, [_arrays("float32", IRREGULAR, book.op)], **in_layout("strided"))
    return plain


def nested_array() -> Book:
    """Cases of `nested_array`."""
    book = Book("nested_array")
    plain = _sequences(book, "1 2", "8")
    ragged = [(2, 4), (0, 4), (1, 4)]
    for dtype in DTYPES:
        book.value(
            f"{dtype}/ragged",
            "1 3 VALUES-3 DTYPES-1",
            [_arrays(dtype, ragged, f"nested_array {dtype}")],
            **in_layout("strided"),
        )
    extremes = [np.array([INT64_MAX, INT64_MIN]), np.array([2**53 + 1])]
    book.value("int64/extremes", "1", [extremes], **in_layout("jagged"))
    wide = [np.array([1.5, 2.0], "float64"), np.array([3.25], "float32"), np.array([4], "int16")]
    mixed = book.value("float64/mixed", "3", [wide], **in_layout("strided"))
    typed = [np.array([1.5, -2.5], "float32"), np.array([3], "int64")]
    book.value("float64/dtype", "3", [typed], **in_layout("strided", dtype=np.dtype("float64")))
    book.value(
        "float32/numbers", "2 7", [[np.array(2.0, "float32"), np.array(-1.0, "float32")]], **in_layout("strided")
    )
    lists = [[1.0, 2.5], [3.0]]
    book.value("float64/lists", "1", [lists], **in_layout("strided"))
    book.value("int64/lists", "1", [[[1, 2], [3]]], **in_layout("jagged"))
    book.value("float64/none", "7", [[]], **in_layout("strided"))
    refuse = book.error
    halfway = [np.array([1 + 2.0**-11, 65520.0]), np.array([1 + 2.0**-11 + 2.0**-40])]
    narrowed = nest("float16", [[1.0, np.inf], [1 + 2.0**-10]])
    half = in_layout("strided", dtype=np.dtype("float16"))
    book.value("float64/rounded", "11", [halfway], result=narrowed, gradient=None, **half)
    few = [np.array([127, -128], "int64"), np.array([0], "int16")]
    fits = book.value("int64/fits", "11", [few], dtype="int8", **in_layout("jagged", dtype=np.dtype("int8")))
    for name, clause, kind, array, dtype in (
        ("fraction", "12", "DTypeError", np.array([2.0], "float32"), "int8"),
        ("float-bool", "12", "DTypeError", np.array([1.0], "float64"), "bool"),
        ("range", "13", "OverflowError", np.array([300], "int64"), "int8"),
        ("range-bool", "13", "OverflowError", np.array([2], "int8"), "bool"),
        ("range-half", "13", "OverflowError", np.array([70000], "int32"), "float16"),
    ):
        options = {"layout": "jagged", "dtype": np.dtype(dtype)}
        refuse(name, clause, kind, fits, [[array, array]], kw=options, layouts=("jagged",))
    narrower = [np.array([1], "int64"), np.array([2.5], "float64")]
    refuse("loses", "4", "DTypeError", mixed, [narrower], kw={"layout": "strided"}, layouts=("strided",))
    bits = [np.array([1], "int32"), np.array([2], "int64")]
    refuse("loses", "4", "DTypeError", mixed, [bits], kw={"layout": "strided"}, layouts=("strided",))
    ranks = [np.zeros((2, 2), "float32"), np.zeros(2, "float32")]
    for layout in LAYOUTS:
        refuse("ranks", "5 ERRORS-4", "StructureError", plain, [ranks], kw={"layout": layout}, layouts=(layout,))
    inside: list[Any] = [np.zeros((2, 4), "float32"), small("float32", "inside")]
    refuse("nested", "5", "StructureError", plain, [inside], kw={"layout": "strided"}, layouts=("strided",))
    jagged = {"kw": {"layout": "jagged"}, "layouts": ("jagged",)}
    refuse("irregular", "6", "LayoutError", plain, [_arrays("float32", IRREGULAR, "x")], **jagged)
    refuse("none", "7", "StructureError", plain, [[]], **jagged)
    refuse("numbers", "7", "StructureError", plain, [[np.array(2.0), np.array(1.0)]], **jagged)
    refuse("number", "9", "ArgumentError", plain, [3.0], **jagged)
    refuse("nothing", "9", "ArgumentError", plain, [None], **jagged)
    unpinned = [_arrays("float32", ragged, "nested_array")]
    for layout in LAYOUTS:
        pinned = {"layout": layout, "pin_memory": True}
        refuse("pinned", "10", "DeviceError", plain, unpinned, kw=pinned, layouts=(layout,))
    return book


def as_nested_array() -> Book:
    """Cases of `as_nested_array`."""
    book = Book("as_nested_array")
    plain = _sequences(book, "1 6", "6 VALUES-5")
    block = numbers("float32", (3, 2, 4), "as_nested_array")
    slices = book.value("float32/dense", "2 6", [block], layouts=("strided",), kind="nested")
    book.value("float32/dense", "2 6", [block], **in_layout("jagged"))
    book.value("float32/dense-matrix", "2", [block[:, :, 0].copy()], layouts=("strided",), kind="nested")
    x = small("float32", "as_nested_array n")
    for layout in LAYOUTS:
        book.value("float32/nested", "3 6 LAYOUTS-3", [x], kw={"layout": layout}, kind="nested")
    book.value("float32/nested", "3 6", [x], kind="nested")
    book.value(
        "float32/dtype",
        "1",
        [_arrays("float32", [(2,), (1,)], "dt")],
        **in_layout("strided", dtype=np.dtype("float64")),
        gradient=None,
    )
    several = integers("float32", IRREGULAR, "as_nested_array i")
    jagged = {"kw": {"layout": "jagged"}}
    book.error("irregular", "4", "LayoutError", plain, [list(several)], layouts=("jagged",), **jagged)
    book.error("nested-irregular", "4", "LayoutError", plain, [several], **jagged)
    book.error("vector", "5", "StructureError", slices, [np.ones(3, "float32")], layouts=("strided",))
    book.error("number", "5", "StructureError", slices, [np.array(1.0, "float32")], layouts=("strided",))
    return book


def from_jagged() -> Book:
    """Cases of `nested_array_from_jagged`."""
    book = Book("nested_array_from_jagged")
    jagged = {"layouts": ("jagged",), "kind": "nested"}
    values = numbers("float32", (6, 4), "jagged")
    plain = book.value("float32/offsets", "1 4 11", [values, ints(0, 2, 5, 6)], **jagged)
    book.value("float32/empty", "10 1 11", [values, ints(0, 0, 4, 4, 6, 6)], **jagged)
    holes = book.value("float32/holes", "2 11", [values, ints(0, 3, 6), ints(2, 1)], **jagged)
    book.value("float32/overlap", "2 11", [values, ints(3, 0, 2, 6), ints(3, 4, 2)], **jagged)
    lengths = {"kw": {"lengths": ints(3, 0, 3)}, **jagged}
    book.value("float32/lengths", "3 11", [values], **lengths)
    book.value("float32/tail", "3 11", [values], kw={"lengths": ints(2, 0, 3)}, **jagged)
    second = numbers("float32", (2, 5, 3), "jagged second")
    later = book.value("float32/second", "4 1 11", [second, ints(0, 1, 5)], kw={"jagged_dim": 2}, **jagged)
    book.value("float32/last", "4 2 11", [second, ints(1, 0, 3)], kw={"lengths": ints(2, 1), "jagged_dim": 3}, **jagged)
    book.value("float32/vector", "1 11", [numbers("float32", (5,), "jagged v"), ints(0, 4, 5)], **jagged)
    book.value("float32/int32-offsets", "1", [values, np.array([0, 2, 6], "int32")], **jagged)
    for dtype in DTYPES:
        book.value(
            f"{dtype}/offsets",
            "1",
            [numbers(dtype, (6, 2), f"jagged {dtype}"), ints(0, 2, 2, 6)],
            gradient=None,
            **jagged,
        )
    nothing = [np.zeros((0, 4), "float32"), ints(0)]
    book.value("float32/batch0", "10", nothing, **jagged)
    cut = [values, ints(0, 2, 6)]
    limited = book.value("float32/limits", "12", cut, kw={"min_seqlen": 2, "max_seqlen": 4}, **jagged)
    book.value("float32/limits", "12", cut, kw={"min_seqlen": 0, "max_seqlen": 9}, **jagged)
    book.value("float32/limits", "12 2", [values, ints(4, 0, 6), ints(2, 3)], kw={"max_seqlen": 3}, **jagged)
    book.value("float32/limits-batch0", "12 10", nothing, kw={"min_seqlen": 5, "max_seqlen": 0}, **jagged)
    one = {"layouts": ("jagged",)}
    refuse = book.error
    for limit in ({"max_seqlen": 3}, {"min_seqlen": 3}, {"min_seqlen": 5, "max_seqlen": 1}):
        refuse("limits", "13", "StructureError", limited, cut, kw=limit, **one)
    for name, offsets in (("begin", (1, 2, 6)), ("decrease", (0, 4, 2, 6)), ("end", (0, 2, 5)), ("beyond", (0, 2, 7))):
        refuse(name, "5", "StructureError", plain, [values, ints(*offsets)], **one)
    for name, pair in (
        ("negative", ((-1, 3, 6), (2, 1))),
        ("length", ((0, 3, 6), (2, -1))),
        ("beyond-length", ((0, 3, 6), (2, 4))),
    ):
        refuse(name, "6", "StructureError", holes, [values, *(ints(*values) for values in pair)], **one)
    refuse("neither", "7", "StructureError", plain, [values], **one)
    refuse("counts", "7", "StructureError", holes, [values, ints(0, 3, 6), ints(1, 1, 1, 1)], **one)
    refuse("rank", "7", "StructureError", plain, [values, np.array([[0, 2, 6]])], **one)
    refuse("dim", "8", "DimensionError", later, [second, ints(0, 1, 5)], kw={"jagged_dim": 0}, **one)
    refuse("dim", "8", "DimensionError", later, [second, ints(0, 1, 5)], kw={"jagged_dim": 4}, **one)
    refuse("float", "9", "DTypeError", plain, [values, np.array([0.0, 2.0, 6.0])], **one)
    return book


def from_strided() -> Book:
    """Cases of `nested_array_from_strided`."""
    book = Book("nested_array_from_strided")
    strided = {"layouts": ("strided",), "kind": "nested"}
    values, sizes = numbers("float32", (11,), "strided"), np.array([[2, 3], [1, 5]])
    plain = book.value("float32/packed", "2 3 7", [values, sizes], **strided)
    placed = [values, sizes, np.array([[1, 2], [5, 1]]), ints(0, 6)]
    full = book.value("float32/transposed", "1 3 7", placed, **strided)
    book.value("float32/gaps", "1 3 7", [values, np.array([[2], [3]]), np.array([[1], [2]]), ints(6, 1)], **strided)
    book.value(
        "float32/overlap",
        "3 1 7",
        [values, np.array([[2, 2], [3, 1]]), np.array([[1, 1], [1, 1]]), ints(4, 5)],
        **strided,
    )
    book.value("float32/repeated", "3 1 7", [values, np.array([[3, 2]]), np.array([[0, 1]]), ints(9)], **strided)
    book.value("float32/spread", "1 7", [values, np.array([[4], [2]]), np.array([[2], [7]]), ints(3, 3)], **strided)
    backwards = [values, np.array([[4], [2]]), np.array([[-1], [-3]]), ints(3, 10)]
    book.error("backwards", "5", "StructureError", plain, backwards, layouts=("strided",))
    book.value("float32/offsets", "2", [values, np.array([[2, 2], [1, 1]])], kw={"offsets": ints(7, 0)}, **strided)
    book.value(
        "float32/empty",
        "1 4 7",
        [values, np.array([[0, 3], [2, 1]]), np.array([[9, 9], [1, 1]]), ints(99, 0)],
        **strided,
    )
    book.value("float32/int32-sizes", "1", [values, sizes.astype("int32")], **strided)
    for dtype in DTYPES:
        own = [numbers(dtype, (11,), f"strided {dtype}"), *placed[1:]]
        book.value(f"{dtype}/transposed", "1", own, gradient=None, **strided)
    one = {"layouts": ("strided",)}
    refuse = book.error
    refuse("beyond", "4", "StructureError", plain, [values, np.array([[2, 3], [1, 6]])], **one)
    refuse("beyond", "4", "StructureError", full, [values, sizes, np.array([[1, 2], [5, 1]]), ints(0, 7)], **one)
    refuse("below", "4", "StructureError", full, [values, np.array([[4]]), np.array([[-1]]), ints(2)], **one)
    refuse("values", "5", "StructureError", plain, [values[:10].reshape(2, 5), sizes], **one)
    refuse("negative", "5", "StructureError", plain, [values, np.array([[2, -3], [1, 5]])], **one)
    refuse("sizes", "5", "StructureError", plain, [values, ints(2, 3)], **one)
    refuse("strides", "5", "StructureError", full, [values, sizes, np.array([[1], [1]]), ints(0, 6)], **one)
    refuse("offsets", "5", "StructureError", full, [values, sizes, np.array([[1, 2], [5, 1]]), ints(0, 6, 7)], **one)
    refuse("float", "6", "DTypeError", plain, [values, sizes.astype("float64")], **one)
    return book
