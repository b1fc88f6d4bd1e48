"""Cases of the movement operators that split, join or copy whole arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import floats, integers, nest
from .inputs import INF, INT64_MAX, INT64_MIN, IRREGULAR, NAN, RAGGED, all_empty, no_components, small


def piece_books() -> list[Book]:
    """Return the books of the operators that split, join or copy."""
    return [chunk(), cat(), stack(), unbind(), clone(), detach()]


def chunk() -> Book:
    """Cases of `chunk`."""
    book = Book("chunk", several=True)
    x = integers("float32", [(2, 5), (0, 5), (1, 5), (3, 5)], "chunk")
    plain = book.value("float32/batch", "1 2 3 7", [x, 2])
    book.value("float32/batch", "1 2 7", [x, 3])
    book.value("float32/batch", "1 2", [x, 4, 0])
    book.value("float32/fewer", "1 2", [x, 9])
    book.value("float32/one", "1 2 7", [x, 1])
    for chunks in (2, 3, 4, 7):
        inner = book.value("float32/inner", "1 3 7", [x, chunks, 2])
    book.value("float32/inner", "1 3", [x, 2, -1])
    second = Components(integers("float32", [(4, 2), (4, 3)], "chunk s"), (2, 4, None))
    book.value("float32/before-ragged", "1 3 7", [second, 2, 1])
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        book.value(f"{dtype}/inner", "1", [small(dtype, f"chunk {dtype}"), 2, 2])
    book.value("float32/size0", "4 8", [integers("float32", [(2, 0), (1, 0)], "chunk"), 3, 2])
    book.value("float32/irregular", "2 1", [integers("float32", IRREGULAR, "chunk i"), 2])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "4 VALUES-6", [empty, 2])
    book.error("ragged", "5", "DimensionError", inner, [x, 2, 1])
    book.error("irregular", "5", "DimensionError", inner, [integers("float32", IRREGULAR, "chunk i"), 2, 2])
    book.error("none", "6", "ArgumentError", plain, [x, 0])
    book.error("negative", "6", "ArgumentError", plain, [x, -1])
    return book


def cat() -> Book:
    """Cases of `cat`."""
    book = Book("cat")
    a, b = small("float32", "cat a"), integers("float32", [(1, 4), (5, 4)], "cat b")
    plain = book.value("float32/batch", "1 4 8", [[a, b]])
    book.value("float32/batch", "1 8", [[b, a, b], 0])
    book.value("float32/single", "1 8", [[a]])
    longer = integers("float32", [(1, 4), (3, 4), (0, 4)], "cat c")
    ragged = book.value("float32/ragged", "2 4 7 8", [[a, longer], 1])
    book.value("float32/ragged", "2 8", [[longer, a, a], -2])
    wider = integers("float32", [(2, 3), (0, 3), (1, 3)], "cat d")
    book.value("float32/sizes-batch", "1 4 8 LAYOUTS-8", [[a, wider]])
    inner = book.value("float32/inner", "2 4 8", [[a, wider], 2])
    book.value("float32/inner", "2 8", [[wider, a], -1])
    irregular = integers("float32", IRREGULAR, "cat i")
    book.value(
        "float32/irregular",
        "1 4",
        [[irregular, integers("float32", [(2, 2)], "cat j", ragged=None)]],
        layouts=("strided",),
    )
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        book.value(f"{dtype}/ragged", "2", [[small(dtype, f"cat {dtype}"), small(dtype, f"cat {dtype} b")], 1])
    book.value("int32/promotes", "3", [[small("int32", "cat e"), a]], dtype="float64")
    book.value("int8/promotes", "3 DTYPES-3", [[small("int8", "cat f"), small("uint8", "cat g")], 1])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "7 VALUES-6", [[empty, a]])
    book.value("float32/batch0", "7", [[empty, empty]])
    book.value("float32/all-empty", "7 8", [[all_empty("float32"), integers("float32", [(2, 3), (0, 3)], "cat h")], 1])
    special = nest("float32", [[NAN, -0.0], [INF]])
    book.value("float32/special", "2", [[special, special], 1])
    refuse, inside = book.error, book.error_inside
    refuse("rank", "5", "StructureError", plain, [[a, nest("float32", [[1.0], [2.0], [3.0]])]])
    inside("components", "5", "StructureError", ragged, [[a, b], 1])
    refuse("sizes", "5", "StructureError", ragged, [[a, wider], 1])
    inside("lengths", "5", "StructureError", inner, [[a, longer], 2])
    refuse("none", "6", "StructureError", plain, [[]])
    return book


def stack() -> Book:
    """Cases of `stack`."""
    book = Book("stack")
    a, b = small("float32", "stack a"), small("float32", "stack b")
    for dim in (1, 2, 3, -1, -3):
        plain = book.value("float32/ragged", "1 3 6", [[a, b], dim])
    book.value("float32/three", "1 3 6", [[a, b, a], 1])
    book.value("float32/single", "1 6", [[a], 2])
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        book.value(f"{dtype}/ragged", "1", [[small(dtype, f"stack {dtype}"), small(dtype, f"stack {dtype} b")], 1])
    book.value("int32/promotes", "2", [[small("int32", "stack c"), a], 1], dtype="float64")
    irregular = [integers("float32", IRREGULAR, f"stack {name}") for name in "ij"]
    book.value("float32/irregular", "1 3", [irregular, 2])
    book.value("float32/all-empty", "1 6", [[all_empty("float32"), all_empty("float32")], 1])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1 VALUES-6", [[empty, empty], 1])
    refuse, inside = book.error, book.error_inside
    lengths = integers("float32", [(2, 4), (1, 4), (1, 4)], "stack k")
    inside("lengths", "4", "StructureError", plain, [[a, lengths], 1])
    refuse("sizes", "4", "StructureError", plain, [[a, integers("float32", [(2, 3), (0, 3), (1, 3)], "stack l")], 1])
    inside("components", "4", "StructureError", plain, [[a, integers("float32", [(2, 4), (0, 4)], "stack m")], 1])
    refuse("none", "4", "StructureError", plain, [[], 1])
    refuse("batch", "5", "DimensionError", plain, [[a, b]])
    refuse("batch", "5", "DimensionError", plain, [[a, b], -4])
    return book


def unbind() -> Book:
    """Cases of `unbind`."""
    book = Book("unbind", several=True)
    x = small("float32", "unbind")
    plain = book.value("float32/ragged", "1 3 4", [x])
    book.value("float32/negative", "1", [x, -3])
    for dtype in ("bool", "int8", "int64", "float16", "float64"):
        book.value(f"{dtype}/ragged", "1 3", [small(dtype, f"unbind {dtype}"), 0])
    book.value("float32/irregular", "1 4", [integers("float32", IRREGULAR, "unbind i")])
    numbers = Components([np.array(2.0, "float32"), np.array(-3.0, "float32")])
    book.value("float32/numbers", "1 4", [numbers], layouts=("strided",))
    book.value("float32/special", "1", [nest("float32", [[NAN, -0.0], [INF]])])
    book.value("float32/all-empty", "3 4", [all_empty("float32")])
    book.value("float32/batch0", "3 VALUES-6", [no_components("float32", None, 4)])
    book.error("ragged", "2", "DimensionError", plain, [x, 1])
    book.error("inner", "2", "DimensionError", plain, [x, 2])
    book.error("inner", "2", "DimensionError", plain, [x, -1])
    return book


def copies(book: Book, clauses: str, **options: Any) -> None:
    """Add the cases of an operator that returns its operand as it is, in every dtype."""
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"):
        book.value(f"{dtype}/ragged", clauses, [small(dtype, f"{book.op} {dtype}")], **options)
    book.value("float32/rounding", clauses, [floats("float32", RAGGED, book.op)], **options)
    special = nest("float32", [[NAN, -0.0], [], [INF, -INF, 2.0**-149]])
    book.value("float32/special", clauses, [special], **options)
    book.value("int64/extremes", clauses, [nest("int64", [[INT64_MAX, INT64_MIN], [2**53 + 1]])], **options)
    book.value("float32/irregular", clauses, [integers("float32", IRREGULAR, book.op)], **options)
    book.value("float32/all-empty", clauses, [all_empty("float32")], **options)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", clauses, [empty], **options)


def clone() -> Book:
    """Cases of `clone`."""
    book = Book("clone")
    copies(book, "1 2")
    return book


def detach() -> Book:
    """Cases of `detach`: no gradient passes."""
    book = Book("detach")
    copies(book, "1", gradient=None)
    x = nest("float32", [[1.0, -2.0], [3.0]])
    stopped = {"cotangent": nest("float32", [[2.0, 3.0], [-4.0]]), "gradient": [[[0.0, 0.0], [0.0]]]}
    book.value("float32/gradient", "2", [x], **stopped)
    return book
