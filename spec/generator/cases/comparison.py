"""Cases of the comparison chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import integers, nest
from .closeness import allclose
from .inputs import INF, INT64_MAX, INT64_MIN, NAN, RAGGED, all_empty, no_components, small, special
from .pairs import pair_books


def books() -> list[Book]:
    """Return the books of this chapter."""
    return [logical_not(), eq(), lt(), equal(), allclose(), where(), masked_fill(), *pair_books("comparison")]


def _mask(key: str, shapes: Any = RAGGED) -> Components:
    return integers("bool", shapes, key)


def _mismatches(book: Book, clause: str, near: str, *before: Any) -> None:
    """Add the refusals of a nested operand that does not fit the one before it."""
    longer = integers("float32", [(3, 4), (0, 4), (1, 4)], "longer")
    fewer = integers("float32", [(2, 4), (0, 4)], "fewer")
    book.error_inside("lengths", clause, "StructureError", near, [*before, small("float32", "fits"), longer])
    book.error_inside("components", clause, "StructureError", near, [*before, small("float32", "fits"), fewer])


def logical_not() -> Book:
    """Cases of `logical_not`."""
    book = Book("logical_not")
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float32", "float64"):
        book.value(f"{dtype}/ragged", "1 2", [integers(dtype, RAGGED, f"not {dtype}", 0, 2)])
    book.value("float32/special", "3", [special("float32")])
    book.value("float16/subnormal", "1", [nest("float16", [[2.0**-24], [0.0]])])
    book.value("int64/extremes", "1", [nest("int64", [[INT64_MIN, 0], [2**32]])])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1 2", [empty])
    book.value("float32/all-empty", "1", [all_empty("float32")])
    return book


def _compared(book: Book, dtypes_clause: str, edge: str) -> str:
    op = book.op
    plain = book.value(
        "int32/ragged",
        f"1 {dtypes_clause}",
        [integers("int32", RAGGED, f"{op} a", -1, 1), integers("int32", RAGGED, f"{op} b", -1, 1)],
    )
    for dtype in ("bool", "int8", "float16", "float32"):
        pair = [integers(dtype, RAGGED, f"{op} {dtype} {side}", 0, 1) for side in "ab"]
        book.value(f"{dtype}/ragged", f"1 {dtypes_clause}", pair)
    left, right = [[NAN, 0.0, -0.0], [INF, -INF]], [[NAN, -0.0, 0.0], [INF, INF]]
    book.value("float32/special", edge, [nest("float32", left), nest("float32", right)])
    beyond = nest("int64", [[INT64_MAX, INT64_MIN], [2**53 + 1]])
    book.value("int64/extremes", "1", [beyond, nest("int64", [[INT64_MAX - 1, INT64_MIN], [2**53]])])
    book.value("float32/number", "1", [small("float32", f"{op} c", -2, 2), 1.0])
    book.value("int32/number-left", "1", [1, small("int32", f"{op} d", -2, 2)])
    book.value("float32/dense-row", "1", [small("float32", f"{op} e", -2, 2), np.array([1, -1, 0, 2], "float32")])
    per = np.array([[[1.0]], [[0.0]], [[-1.0]]], "float32")
    book.value("float32/dense-batch", "1", [small("float32", f"{op} f", -1, 1), per])
    promoted = [integers("int32", RAGGED, f"{op} g", 0, 1), integers("float64", RAGGED, f"{op} h", 0, 1)]
    book.value("int32/promotes", "1", promoted)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1", [empty, empty])
    book.value("float32/all-empty", "1", [all_empty("float32"), all_empty("float32")])
    return plain


def eq() -> Book:
    """Cases of `eq`."""
    book = Book("eq")
    plain = _compared(book, "2", "3")
    book.value("int8/beyond", "4", [nest("int8", [[44, 1], [-1]]), 300])
    book.value("uint8/beyond", "4", [nest("uint8", [[255, 1], [0]]), -1])
    _mismatches(book, "5", plain)
    return book


def lt() -> Book:
    """Cases of `lt`."""
    book = Book("lt")
    plain = _compared(book, "2", "3")
    book.value("int8/beyond", "4", [nest("int8", [[127, 1], [-128]]), 300])
    book.value("uint8/beyond", "4", [nest("uint8", [[255, 1], [0]]), -1])
    _mismatches(book, "5", plain)
    return book


def equal() -> Book:
    """Cases of `equal`."""
    book = Book("equal")
    a, b = small("float32", "equal"), small("float32", "equal other")
    book.value("float32/same", "1", [a, a])
    book.value("float32/different", "1", [a, b])
    last = [component.copy() for component in a]
    last[2][0, 3] += 1
    book.value("float32/last-element", "1", [a, Components(last, a.shape)])
    book.value("float32/dtype", "1", [a, small("float64", "equal")])
    book.value("int32/same", "1", [small("int32", "equal"), a])
    book.value("float32/lengths", "2", [a, integers("float32", [(3, 4), (0, 4), (1, 4)], "equal l")])
    book.value("float32/components", "2", [a, Components(a[:2], (2, None, 4))])
    book.value("float32/rank", "2", [a, integers("float32", [(2,), (0,), (1,)], "equal r")])
    ones = nest("float32", [[[1.0]], [[1.0]]])
    book.value("float32/not-broadcast", "2", [ones, nest("float32", [[[1.0, 1.0]], [[1.0, 1.0]]])])
    even = integers("float32", [(2, 3), (2, 3)], "equal e")
    book.value("float32/dense", "3", [even, np.stack(list(even))])
    book.value("float32/dense", "3", [np.stack(list(even)), even])
    book.value("float32/dense-shape", "3 2", [even, np.zeros((2, 1, 3), "float32")])
    book.value("float32/dense-value", "3 1", [even, np.stack(list(even)) + np.float32(1)])
    whole = nest("int64", [[2**53 + 1], [INT64_MAX, 7]])
    book.value("int64/exact", "6", [whole, nest("float64", [[2.0**53], [2.0**63, 7.0]])])
    book.value(
        "int64/exact",
        "6",
        [nest("float64", [[2.0**53 + 2], [-(2.0**63), 7.0]]), nest("int64", [[2**53 + 2], [INT64_MIN, 7]])],
    )
    book.value("int64/exact", "6", [nest("float32", [[2.0**24]]), nest("int64", [[2**24 + 1]])])
    nan = nest("float32", [[NAN, 1.0], [2.0]])
    book.value("float32/nan", "4", [nan, nan])
    book.value("float32/zeros", "4", [nest("float32", [[0.0], [-0.0]]), nest("float32", [[-0.0], [0.0]])])
    book.value("float32/all-empty", "1", [all_empty("float32"), all_empty("float32")])
    book.value(
        "float32/empty-shapes",
        "2",
        [integers("float32", [(0, 3), (1, 3)], "z"), integers("float32", [(0, 3), (0, 3)], "z")],
    )
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "5", [empty, empty])
    book.value("float32/batch0", "5 VALUES-7", [empty, no_components("float32", None, 3)])
    return book


def where() -> Book:
    """Cases of `where`."""
    book = Book("where")
    mask, a, b = _mask("where"), small("float32", "where a"), small("float32", "where b")
    plain = book.value("float32/ragged", "1 6", [mask, a, b])
    book.value("float32/number", "1 6", [mask, a, -7.5])
    book.value("float32/number-left", "1 6", [mask, 2.0, b])
    row = np.array([1, -2, 4, 0.5], "float32")
    book.value("float32/dense-row", "1 6", [mask, a, row])
    book.value("float32/dense-mask", "1 6", [np.array([True, False, False, True]), a, b])
    book.value("float32/dense-batch", "1 6", [np.array([[[True]], [[True]], [[False]]]), a, b])
    book.value("float32/nested-mask", "1 6", [mask, row, np.array([9.0], "float32")])
    book.value("int64/ragged", "1", [mask, small("int64", "where c"), small("int64", "where d")])
    book.value("bool/ragged", "1", [mask, _mask("where e"), _mask("where f")])
    book.value("int32/promotes", "2", [mask, small("int32", "where g"), b], dtype="float64")
    book.value("float16/promotes", "2 1", [mask, small("float16", "where h"), a], dtype="float32")
    left, right = [[NAN, 1.0, INF], [-0.0]], [[2.0, NAN, -INF], [3.0]]
    chosen = nest("bool", [[False, True, True], [True]])
    book.value("float32/special", "5", [chosen, nest("float32", left), nest("float32", right)])
    nan = {"cotangent": nest("float32", [[NAN, 2.0, 3.0], [NAN]])}
    finite = [nest("float32", [[1.0, 2.0, 4.0], [5.0]]), nest("float32", [[3.0, 6.0, 7.0], [8.0]])]
    book.value("float32/nan-cotangent", "6 GRADIENTS-5", [chosen, *finite], **nan)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1", [no_components("bool", None, 4), empty, empty])
    hollow = all_empty("float32")
    book.value("float32/all-empty", "1 6", [_mask("none", [(0, 3), (0, 3)]), hollow, hollow])
    book.error("mask", "3", "DTypeError", plain, [small("int32", "where i", 0, 1), a, b])
    bytes_ = small("int8", "where k")
    fits = book.value("int8/number", "1 2", [mask, bytes_, -128], dtype="int8")
    book.value("int8/float-number", "2 DTYPES-4", [mask, bytes_, 1.5], dtype="float64")
    book.value("bool/int-number", "2 DTYPES-4", [mask, _mask("where l"), 300], dtype="int64")
    most = book.value("float16/number", "1 2", [mask, small("float16", "where m"), 65504], dtype="float16")
    book.error("range", "7", "OverflowError", fits, [mask, bytes_, 300])
    book.error("range-left", "7", "OverflowError", fits, [mask, 2**40, bytes_])
    book.error("negative", "7", "OverflowError", fits, [mask, small("uint8", "where n"), -1])
    book.error("infinite", "7", "OverflowError", most, [mask, small("float16", "where m"), 1e5])
    _mismatches(book, "4", plain, mask)
    book.error_inside("mask-lengths", "4", "StructureError", plain, [_mask("m", [(3, 4), (0, 4), (1, 4)]), a, b])
    return book


def masked_fill() -> Book:
    """Cases of `masked_fill`."""
    book = Book("masked_fill")
    mask, a = _mask("fill"), small("float32", "fill a")
    plain = book.value("float32/ragged", "1 2 7", [a, mask, -7.5])
    book.value("float32/infinite", "1 7", [a, mask, -INF])
    book.value("float32/dense-mask", "1 7", [a, np.array([True, False, False, True]), 0.5])
    book.value("float32/dense-batch", "1 7", [a, np.array([[[True]], [[True]], [[False]]]), 9.0])
    book.value("float32/regular-one", "1 7", [a, _mask("fill b", [(2, 1), (0, 1), (1, 1)]), 3.0])
    book.value("float16/ragged", "1 2", [small("float16", "fill c"), mask, 65504.0])
    rounded = nest("float32", [[1.0], [2.0]])
    book.value(
        "float32/converted", "2", [rounded, nest("bool", [[1], [0]]), 0.1], result=nest("float32", [[0.1], [2.0]])
    )
    ints = book.value("int8/ragged", "1 2", [small("int8", "fill d"), mask, -128])
    book.value("int32/integral-float", "2 1", [small("int32", "fill e"), mask, 3.0])
    book.value("int64/extremes", "1 2", [small("int64", "fill f"), mask, INT64_MAX])
    bools = book.value("bool/ragged", "1 2", [_mask("fill g"), mask, True])
    book.value(
        "float32/nan", "1", [nest("float32", [[NAN, 1.0], [2.0]]), nest("bool", [[1, 0], [1]]), 0.0], gradient=None
    )
    nan = {"cotangent": nest("float32", [[NAN, 2.0], [-3.0]])}
    book.value(
        "float32/nan-cotangent", "7", [nest("float32", [[1.0, 2.0], [3.0]]), nest("bool", [[1, 0], [0]]), 5.0], **nan
    )
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "1", [empty, no_components("bool", None, 4), 1.0])
    book.value("float32/all-empty", "1 7", [all_empty("float32"), _mask("none", [(0, 3), (0, 3)]), 1.0])
    book.error("mask", "3", "DTypeError", plain, [a, small("int8", "fill h", 0, 1), -7.5])
    book.error("fraction", "4", "DTypeError", ints, [small("int8", "fill d"), mask, 0.5])
    book.error("infinity", "4", "DTypeError", ints, [small("int8", "fill d"), mask, INF])
    book.error("bool", "4", "DTypeError", bools, [_mask("fill g"), mask, 2])
    book.error("range", "5", "OverflowError", ints, [small("int8", "fill d"), mask, 300])
    book.error_inside("lengths", "6", "StructureError", plain, [a, _mask("m", [(3, 4), (0, 4), (1, 4)]), -7.5])
    book.error_inside("components", "6", "StructureError", plain, [a, _mask("m", [(2, 4), (0, 4)]), -7.5])
    return book
