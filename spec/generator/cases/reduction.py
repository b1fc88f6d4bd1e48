"""Cases of the reduction chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...reductions import REDUCTIONS
from ..author import Book
from ..draws import distinct, integers, nest
from .folds import amin, family, logsumexp, places, prod, truths
from .inputs import (
    EMPTY_FIRST,
    EMPTY_LAST,
    INF,
    INT64_MAX,
    INT64_MIN,
    IRREGULAR,
    NAN,
    all_empty,
    no_components,
    small,
    special,
)
from .runs import RAGGED_KIND, orders, shapes


def books() -> list[Book]:
    """Return the books of this chapter."""
    by_hand = [sum_(), mean(), prod(), logsumexp(), amax(), amin(amax()), *truths(), *places()]
    written = {book.op for book in by_hand}
    return [*by_hand, *(family(one) for name, one in REDUCTIONS.items() if name not in written)]


def sum_() -> Book:
    """Cases of `sum`."""
    book = Book("sum", zeros="either")
    shapes(book, "2 3 4", "1 9", integers)
    orders(book, "1")
    both = {"kw": {"dim": 1}, "kind": RAGGED_KIND}
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64"):
        book.value(f"{dtype}/ragged", "5 7", [small(dtype, f"sum {dtype}")], **both)
    book.value("int64/wrap", "5", [nest("int64", [[INT64_MAX, 1], [INT64_MIN]])], kw={"dim": 1}, kind="dense")
    book.value("int8/beyond", "5", [nest("int8", [[127, 127], [-128, -128]])], kw={"dim": 1}, kind="dense")
    book.value("float16/ragged", "5 1 9", [small("float16", "sum f16")], **both)
    book.value("float64/empty-first", "7 1 9", [integers("float64", EMPTY_FIRST, "sum")], **both)
    book.value("float32/empty-last", "7 1 9", [integers("float32", EMPTY_LAST, "sum")], **both)
    book.value("float32/all-empty", "7 9", [all_empty("float32")], **both)
    book.value("float32/all-empty", "7", [all_empty("float32")], kw={"dim": None}, kind="dense", zeros="signed")
    book.value("float32/empty", "7 9", [nest("float32", [[], [-0.0]])], kw={"dim": 1}, kind="dense")
    signed = {"kw": {"dim": 1}, "kind": "dense", "zeros": "signed"}
    book.value("float32/empty-sign", "7", [nest("float32", [[], [3.0], []])], **signed)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "7 1", [empty], kw={"dim": 1}, kind=RAGGED_KIND)
    book.value("float32/batch0", "7 2 VALUES-7", [empty], kw={"dim": 0}, kind="dense")
    book.value("float32/batch0", "7 3", [empty], kw={"dim": None}, kind="dense")
    book.value("float32/inner0", "7", [integers("float32", [(2, 0), (1, 0)], "sum")], kw={"dim": 2}, kind="nested")
    book.value("float32/absent", "7 2 9", [integers("float32", [(0, 3), (2, 3)], "sum")], kw={"dim": 0}, kind="dense")
    accumulated = nest("float16", [[60000.0, 60000.0, -60000.0], [1.0]])
    book.value("float16/intermediate", "8 NUMERICS-4", [accumulated], kw={"dim": 1}, kind="dense")
    many = Components([np.full((5000,), 1.0, "float16"), np.ones((1,), "float16")], (2, None))
    book.value("float16/many", "8", [many], kw={"dim": 1}, kind="dense", gradient=None)
    book.value("float32/special", "1", [special("float32")], kw={"dim": 1}, kind="dense")
    book.value("float32/zero", "10", [nest("float32", [[-0.0, -0.0], [1.0, -1.0]])], kw={"dim": 1}, kind="dense")
    x = small("float32", "sum dtype")
    book.value("float32/dtype", "6", [x], kw={"dim": 1, "dtype": np.dtype("float64")}, kind=RAGGED_KIND, gradient=None)
    book.value(
        "int32/dtype", "6", [small("int32", "sum d")], kw={"dim": 1, "dtype": np.dtype("float32")}, kind=RAGGED_KIND
    )
    halves = nest("float32", [[0.5, 1.5], [2.75]])
    narrowed = {"kw": {"dim": 1, "dtype": np.dtype("float16")}, "kind": "dense", "gradient": None}
    book.value("float32/dtype", "6", [halves], **narrowed)
    cut = nest("float32", [[0.5, 1.5], [-0.75, -100.25, -100.5], [0.0]])
    for dtype in ("int64", "int8", "bool"):
        book.value("float32/dtype", "6", [cut], kw={"dim": 1, "dtype": np.dtype(dtype)}, kind="dense")
    return book


def mean() -> Book:
    """Cases of `mean`."""
    book = Book("mean", zeros="either")
    shapes(book, "2 3", "1 8", _multiples)
    orders(book, "1 8")
    both = {"kw": {"dim": 1}, "kind": RAGGED_KIND}
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64"):
        x = nest(dtype, [[[1, 0], [1, 0]], [[1, 1]]])
        book.value(f"{dtype}/ragged", "4", [x], dtype="float64", **both)
    big = nest("int64", [[2**62, 2**62], [-4]])
    book.value("int64/beyond", "4", [big], kw={"dim": 1}, kind="dense", dtype="float64")
    book.value("float16/ragged", "4 1", [_multiples("float16", [(2, 4), (1, 4)], "mean f16")], **both)
    book.value("float32/empty", "7 8", [_multiples("float32", [(2, 3), (0, 3), (1, 3)], "mean e")], **both)
    book.value("float32/all-empty", "7", [all_empty("float32")], **both)
    book.value("float32/all-empty", "7 2", [all_empty("float32")], kw={"dim": None}, kind="dense")
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "7 1", [empty], kw={"dim": 1}, kind=RAGGED_KIND)
    book.value("float32/batch0", "7 2", [empty], kw={"dim": None}, kind="dense")
    inner0 = integers("float32", [(2, 0), (1, 0)], "mean")
    book.value("float32/inner0", "7", [inner0], kw={"dim": 2}, kind="nested")
    absent = _multiples("float32", [(1, 3), (2, 3)], "mean absent")
    book.value("float32/absent", "3 8", [absent], kw={"dim": 0}, kind="dense")
    book.value("float32/weights", "2", [nest("float32", [[1.0], [5.0, 5.0, 5.0]])], kw={"dim": None}, kind="dense")
    book.value(
        "float32/thirds",
        "8",
        [_multiples("float32", [(3, 2), (1, 2)], "mean t")],
        kind=RAGGED_KIND,
        kw={"dim": 1},
        cmp="bound",
    )
    book.value("float32/special", "1", [nest("float32", [[INF, 1.0], [-INF, INF], [NAN]])], kw={"dim": 1}, kind="dense")
    x = _multiples("float32", [(2, 4), (1, 4)], "mean dtype")
    plain = book.value(
        "float32/dtype", "5", [x], kw={"dim": 1, "dtype": np.dtype("float64")}, kind=RAGGED_KIND, gradient=None
    )
    book.value(
        "int32/dtype", "5", [nest("int32", [[1, 3], [4]])], kw={"dim": 1, "dtype": np.dtype("float32")}, kind="dense"
    )
    book.error("dtype-int", "6", "DTypeError", plain, [x], kw={"dim": 1, "dtype": np.dtype("int64")})
    book.error("dtype-bool", "6", "DTypeError", plain, [x], kw={"dim": 1, "dtype": np.dtype("bool")})
    return book


def _multiples(dtype: str, shapes: Any, key: str) -> Components:
    """Return multiples of 60, whose means over up to six elements are integers."""
    drawn = integers(dtype, shapes, key, -6, 6)
    return Components([component * component.dtype.type(60) for component in drawn], drawn.shape, dtype)


def amax() -> Book:
    """Cases of `amax`."""
    book = Book("amax", zeros="either")
    shapes(book, "2", "1 7", distinct)
    plain = "amax/float32/ragged/1"
    along = {"kw": {"dim": 1}, "kind": RAGGED_KIND}
    flat = {"kw": {"dim": 1}, "kind": "dense"}
    for dtype in ("int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        book.value(f"{dtype}/ragged", "3 1", [_full(dtype)], **along)
    book.value("bool/ragged", "3", [nest("bool", [[[1, 0], [0, 0]], [[0, 1]]])], **along)
    book.value("int64/extremes", "3 1", [nest("int64", [[INT64_MIN, INT64_MIN], [INT64_MAX, 2**53 + 1]])], **flat)
    book.value("float32/minus-inf", "1", [nest("float32", [[-INF], [1.0, 2.0]])], **flat)
    book.value("float32/below-zero", "1 7", [nest("float32", [[-5.0, -2.0, -9.0], [-1.0]])], **flat)
    book.value("float32/nan", "4 8", [nest("float32", [[NAN, 1.0, 2.0], [3.0, 2.0], [INF, NAN]])], **flat)
    nan_columns = nest("float32", [[[NAN, 1.0], [2.0, 3.0]], [[-1.0, INF]]])
    book.value("float32/nan", "4", [nan_columns], **along)
    open_gradient = {"cotangent": np.array([2.0, 3.0], "float32"), "gradient": [[[0.0, 0.0], [0.0, 3.0]]]}
    nan = nest("float32", [[NAN, 1.0], [2.0, 4.0]])
    book.value("float32/nan-gradient", "8 4", [nan], unspecified_gradient=[[0, 1]], **flat, **open_gradient)
    ties = {"cotangent": np.array([6.0, -4.0, 5.0], "float32"), "gradient": [[[0.0, 3.0, 3.0], [-2.0, -2.0], [5.0]]]}
    tied = nest("float32", [[1.0, 7.0, 7.0], [2.0, 2.0], [0.0]])
    book.value("float32/ties", "7", [tied], **flat, **ties)
    all_equal = {"cotangent": np.array(8.0, "float32"), "gradient": [[[2.0, 2.0], [2.0, 2.0, 0.0]]]}
    book.value("float32/ties", "7 2", [nest("float32", [[3.0, 3.0], [3.0, 3.0, 1.0]])], kind="dense", **all_equal)
    across = {"cotangent": np.array([4.0, 6.0], "float32"), "gradient": [[[2.0, 0.0], [2.0, 6.0]]]}
    book.value(
        "float32/ties", "7 2", [nest("float32", [[5.0, 1.0], [5.0, 9.0]])], kw={"dim": 0}, kind="dense", **across
    )
    _shared_at_once(book)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "6", [empty], **along)
    book.value("float32/inner0", "6", [integers("float32", [(0, 0), (1, 0)], "amax")], **along)
    hollow = integers("float32", [(2, 0), (0, 0)], "amax")
    book.value("float32/no-runs", "6", [integers("float32", [(0, 3), (0, 3)], "amax")], kw={"dim": 2}, kind="nested")
    book.value(
        "float32/empty-kept",
        "6 1",
        [integers("float32", [(0, 3), (2, 3)], "amax")],
        kw={"dim": 2},
        kind="nested",
        gradient=None,
    )
    refuse = {"kw": {"dim": 1}}
    book.error_inside("empty", "5", "EmptyReductionError", plain, [small("float32", "amax e")], **refuse)
    book.error_inside("all-empty", "5", "EmptyReductionError", plain, [all_empty("float32")], **refuse)
    book.error_inside("inner0", "5", "EmptyReductionError", plain, [hollow], kw={"dim": 2})
    book.error("all", "5", "EmptyReductionError", "amax/float32/all/1", [all_empty("float32")])
    book.error("batch0", "5", "EmptyReductionError", "amax/float32/all/1", [empty])
    uncovered = integers("float32", IRREGULAR, "amax uncovered")
    book.error_inside("absent", "5", "EmptyReductionError", "amax/float32/irregular/2", [uncovered], kw={"dim": 0})
    return book


def _shared_at_once(book: Book) -> None:
    """Add maxima that several elements attain, in more than one of the reduced dimensions."""
    rows = [[[4.0, 4.0], [4.0, 1.0]], [[4.0, 4.0]], [[0.0, 4.0], [2.0, 1.0]]]
    for dim, cotangent, gradient in (
        ((1, 2), [6.0, -4.0, 5.0], [[[2.0, 2.0], [2.0, 0.0]], [[-2.0, -2.0]], [[0.0, 5.0], [0.0, 0.0]]]),
        ((0, 2), [10.0, 6.0], [[[2.0, 2.0], [6.0, 0.0]], [[2.0, 2.0]], [[0.0, 2.0], [0.0, 0.0]]]),
        ((0, 1), [6.0, -9.0], [[[2.0, -3.0], [2.0, 0.0]], [[2.0, -3.0]], [[0.0, -3.0], [0.0, 0.0]]]),
        (None, 12.0, [[[2.0, 2.0], [2.0, 0.0]], [[2.0, 2.0]], [[0.0, 2.0], [0.0, 0.0]]]),
    ):
        hand = {"cotangent": np.array(cotangent, "float32"), "gradient": [gradient]}
        book.value("float32/shared", "7 GRADIENTS-8", [nest("float32", rows)], kw={"dim": dim}, kind="dense", **hand)
    three = [[[5.0, 5.0], [5.0, 1.0]], [[7.0], [7.0]]]  # the ragged dimension is the last
    hand = {"cotangent": np.array([6.0, -4.0], "float32"), "gradient": [[[[2.0, 2.0], [2.0, 0.0]], [[-2.0], [-2.0]]]]}
    last = nest("float32", three, shape=(2, 2, None))
    book.value("float32/shared", "7 GRADIENTS-8", [last], kw={"dim": (1, 2)}, kind="dense", **hand)
    deep = nest("float32", [[[[1.0, 0.0], [1.0, 1.0]], [[0.0, 1.0], [0.0, 1.0]]], [[[3.0, 3.0], [2.0, 3.0]]]])
    spread = [[[[3.0, 0.0], [1.0, 1.0]], [[0.0, 3.0], [0.0, 1.0]]], [[[2.0, 2.0], [0.0, 8.0]]]]
    hand = {"cotangent": nest("float32", [[6.0, 3.0], [4.0, 8.0]], None), "gradient": [spread]}
    book.value("float32/shared", "7 GRADIENTS-8", [deep], kw={"dim": (1, 3)}, kind=RAGGED_KIND, **hand)


def _full(dtype: str) -> Components:
    if dtype == "uint8":
        return nest(dtype, [[[1, 9], [7, 2]], [[255, 0]]])
    return distinct(dtype, [(2, 3), (1, 3)], f"amax {dtype}")
