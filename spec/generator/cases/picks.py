"""Cases of `getitem` by lists, vectors and masks."""

from __future__ import annotations

import numpy as np

from ...encoding import Components, Index
from ..author import Book
from ..draws import integers, nest
from .inputs import INF, IRREGULAR, NAN, all_empty, no_components, small

ALL = slice(None)


def picks() -> Book:
    """Cases of `getitem` by lists, vectors and masks."""
    book = Book("getitem", part="arrays")
    x = integers("float32", [(2, 3), (0, 3), (1, 3), (4, 3)], "picks")
    listed = book.value("float32/list", "11 5 10", [x, Index(([0, 2],))])
    book.value("float32/list", "11 18 10", [x, Index(([3, 0, 0, -1, 1],))])
    book.value("float32/list", "11", [x, Index(([],))])
    book.value("float32/list-inside", "11 2 10", [x, Index(([3, 0], slice(1, None), slice(None, None, -1)))])
    book.value("float32/list-inside", "11 4 18", [x, Index(([2, 2], None, ..., 0))])
    vector = book.value("float32/vector", "11 18 10", [x, np.array([2, 0, 0])])
    book.value("float32/vector", "11", [x, np.array([-1, -4], "int8")])
    book.value("float32/vector", "11", [x, np.zeros(0, "int64")])
    flags = book.value("float32/bools", "12 10", [x, np.array([True, False, False, True])])
    book.value("float32/bools", "12", [x, np.zeros(4, "bool")])
    book.value("float32/bools-list", "12 2", [x, Index(([False, True, True, True], slice(None, 1)))])
    book.value("float32/in-component", "19 10", [x, Index((0, [1, 0, 1]))])
    book.value("float32/in-component", "19 10", [x, Index((-1, slice(1, None), [2, 0]))])
    book.value("float32/in-component", "19 10", [x, Index((3, [0, -1, 2, 2], 1))])
    book.value("float32/in-component", "19 10", [x, Index((0, ..., [True, False, True]))])
    book.value("float32/in-component", "19 4 10", [x, Index((3, [3, 1], None, [0, 0]))])
    book.value("float32/in-component", "19", [x, Index((1, []))])
    irregular = integers("float32", IRREGULAR, "picks i")
    book.value("float32/vector-irregular", "11 18 10", [irregular, np.array([1, 0, 1])])
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        book.value(f"{dtype}/vector", "11", [small(dtype, f"picks {dtype}"), np.array([2, 1, 2])])
    book.value("float32/vector-special", "11", [nest("float32", [[NAN, -0.0], [INF]]), np.array([1, 0])])
    empty = no_components("float32", None, 4)
    book.value("float32/vector-batch0", "11 VALUES-6", [empty, np.zeros(0, "int64")])
    book.value("float32/vector-batch0", "12 VALUES-6", [empty, np.zeros(0, "bool")])
    refuse = book.error
    refuse("range", "15", "IndexOutOfRange", vector, [x, np.array([0, 4])])
    refuse("range", "15", "IndexOutOfRange", listed, [x, Index(([-5],))])
    refuse("size", "15", "IndexOutOfRange", flags, [x, np.array([True, False, True])])
    refuse("floats", "17", "ArgumentError", vector, [x, np.array([0.0, 2.0])])
    refuse("floats", "17", "ArgumentError", listed, [x, Index(([0.5],))])
    refuse("behind", "17", "ArgumentError", listed, [x, Index((ALL, [0]))])
    book.error_inside("floats-inside", "17", "ArgumentError", listed, [x, Index((0, [0.5]))])
    book.error_inside("range-inside", "6", "IndexOutOfRange", listed, [x, Index((2, [0, 1]))])
    _masks(book, x)
    return book


def _masks(book: Book, x: Components) -> None:
    holds = integers("bool", [one.shape for one in x], "mask")
    whole = book.value("float32/mask", "13 14 10", [x, holds])
    rows = integers("bool", [(len(one),) for one in x], "mask rows")
    book.value("float32/mask-rows", "13 14 10", [x, rows])
    book.value("float32/mask-nowhere", "13 14", [x, Components([np.zeros(one.shape, "bool") for one in x], x.shape)])
    second = Components(integers("float32", [(2, 3), (2, 0), (2, 2)], "mask s"), (3, 2, None))
    book.value("float32/mask-before-ragged", "13 14", [second, integers("bool", [(2, 3), (2, 0), (2, 2)], "mask t")])
    first = Components(integers("bool", [(2,), (2,), (2,)], "mask u"), (3, 2))
    book.value("float32/mask-ragged-left", "14 13", [second, first], layouts=("strided",))
    irregular = integers("float32", IRREGULAR, "mask i")
    book.value("float32/mask-irregular", "13 10", [irregular, integers("bool", IRREGULAR, "mask j")])
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        one = small(dtype, f"mask {dtype}")
        book.value(f"{dtype}/mask", "13", [one, integers("bool", [c.shape for c in one], f"mask of {dtype}")])
    book.value("float32/mask-special", "13", [nest("float32", [[NAN, -0.0], [INF]]), nest("bool", [[1, 1], [0]])])
    book.value("float32/mask-all-empty", "14 10", [all_empty("float32"), all_empty("bool")])
    book.value(
        "float32/mask-batch0", "13 VALUES-6", [no_components("float32", None, 4), no_components("bool", None, 4)]
    )
    lengths = integers("bool", [(2, 3), (1, 3), (1, 3), (4, 3)], "mask k")
    book.error_inside("mask-lengths", "16", "StructureError", whole, [x, lengths])
    book.error_inside("mask-components", "16", "StructureError", whole, [x, holds[:3]])
    book.error("mask-sizes", "16", "StructureError", whole, [x, integers("bool", [(len(c), 2) for c in x], "mask l")])
    deeper = integers("bool", [(*one.shape, 1) for one in x], "mask m")
    book.error("mask-rank", "16", "StructureError", whole, [x, deeper])
    book.error("mask-dtype", "17", "ArgumentError", whole, [x, integers("int8", [one.shape for one in x], "mask n")])
