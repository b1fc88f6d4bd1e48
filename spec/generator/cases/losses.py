"""Cases of the losses chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...numerics import NDArray
from ..author import Book
from ..draws import dense, floats, integers, nest
from .inputs import INF, IRREGULAR, NAN, no_components

ROWS = [(3, 5), (0, 5), (1, 5)]
TARGET = [[0, 4, 2], [], [2]]


def books() -> list[Book]:
    """Return the books of this chapter."""
    return [embedding(), cross_entropy()]


def embedding() -> Book:
    """Cases of `embedding`."""
    book = Book("embedding")
    indices = nest("int64", [[2, 0, 2], [], [5]])
    for dtype in ("float32", "float64", "float16"):
        weight = dense(integers(dtype, [(6, 4)], f"embedding {dtype}", ragged=None))
        book.value(f"{dtype}/ragged", "1 2 8 6 GRADIENTS-7", [indices, weight])
    weight = dense(integers("float32", [(6, 4)], "embedding", ragged=None))
    plain = "embedding/float32/ragged/1"
    for dtype in ("int8", "uint8", "int16", "int32"):
        book.value(f"{dtype}/indices", "1", [nest(dtype, [[2, 0], [], [5]]), weight])
    book.value("float32/matrices", "2 8", [nest("int64", [[[1, 3], [1, 1]], [[0, 5]]]), weight])
    book.value("float32/irregular", "1 2", [nest("int64", [[[1, 3], [1, 1]], [[0, 5, 2]]]), weight])
    book.value("int32/weight", "1 2", [indices, dense(integers("int32", [(6, 3)], "embedding i", ragged=None))])
    book.value("float32/special", "1", [nest("int64", [[1], [0, 1]]), np.array([[NAN, 1.0], [INF, -0.0]], "float32")])
    book.value("float32/width0", "2", [indices, np.zeros((6, 0), "float32")])
    nothing = nest("int64", [[], []])
    book.value("float32/all-empty", "6 8", [nothing, weight])
    book.value("float32/no-rows", "6", [nothing, np.zeros((0, 4), "float32")])
    empty = no_components("int64", None)
    book.value("float32/batch0", "6 8 VALUES-6", [empty, weight])
    book.error_inside("above", "3", "IndexOutOfRange", plain, [nest("int64", [[2, 0, 2], [], [6]]), weight])
    book.error_inside("below", "3", "IndexOutOfRange", plain, [nest("int64", [[2, -1, 2], [], [5]]), weight])
    book.error_inside("no-rows", "3", "IndexOutOfRange", plain, [nest("int64", [[0], []]), np.zeros((0, 4), "float32")])
    book.error("float", "4", "DTypeError", plain, [nest("float32", [[2, 0, 2], [], [5]]), weight])
    book.error("bool", "4", "DTypeError", plain, [nest("bool", [[1, 0], [1]]), weight])
    book.error("vector", "5", "ShapeError", plain, [indices, np.ones(6, "float32")])
    book.error("cube", "5", "ShapeError", plain, [indices, np.ones((6, 2, 2), "float32")])
    _padding(book, indices, weight)
    return book


def _padding(book: Book, indices: Components, weight: NDArray) -> None:
    """Add rows that receive no gradient."""
    for place in (2, 5, 0, -1, -4, -6):
        plain = book.value("float32/padding", "9 8 10", [indices, weight], kw={"padding_idx": place})
    book.value("float32/padding", "10 8", [indices, weight, None])
    for dtype in ("float16", "float64"):
        table = dense(integers(dtype, [(6, 4)], f"embedding {dtype}", ragged=None))
        book.value(f"{dtype}/padding", "9 8 10", [indices, table, 2])
    spoilt = nest("float32", [[[NAN, 1.0], [2.0, 3.0]], [[INF, NAN]]])
    rows = dense(integers("float32", [(3, 2)], "embedding spoilt", ragged=None))
    options: dict[str, Any] = {"cotangent": spoilt, "gradient": [[[0.0, 0.0], [0.0, 0.0], [2.0, 3.0]]]}
    book.value("float32/padding-nan", "9 8", [nest("int64", [[1, 2], [1]]), rows, 1], **options)
    book.value("float32/padding-all-empty", "9 6", [nest("int64", [[], []]), weight, -1])
    book.value("float32/padding-batch0", "9 6", [no_components("int64", None), weight, 3])
    book.value("int32/padding", "10", [indices, dense(integers("int32", [(6, 3)], "embedding i", ragged=None)), 0])
    for outside in (6, -7, 2**40):
        book.error("padding-range", "11", "IndexOutOfRange", plain, [indices, weight, outside])
    nothing = nest("int64", [[], []])
    book.error("padding-no-rows", "11", "IndexOutOfRange", plain, [nothing, np.zeros((0, 4), "float32"), 0])
    for wrong in (1.5, True):
        book.error("padding-type", "12", "ArgumentError", plain, [indices, weight, wrong])


def cross_entropy() -> Book:
    """Cases of `cross_entropy`."""
    book = Book("cross_entropy", zeros="either")
    x, target = floats("float32", ROWS, "cross_entropy"), nest("int64", TARGET)
    plain = book.value("float32/mean", "1 2 7 13", [x, target], **_loss())
    for reduction in ("sum", "none", "mean"):
        book.value(f"float32/{reduction}", "1 3", [x, target], **_loss(reduction=reduction))
    for dtype in ("float16", "float64"):
        for reduction in ("mean", "none"):
            own = floats(dtype, ROWS, f"cross_entropy {dtype}")
            book.value(f"{dtype}/{reduction}", "1 7", [own, target], **_loss(reduction=reduction))
    ignored = nest("int64", [[-100, 4, 2], [], [-100]])
    weight = np.array([1.0, 0.5, 2.0, 4.0, 0.25], "float32")
    for reduction in ("mean", "sum", "none"):
        book.value(f"float32/ignored-{reduction}", "5 13", [x, ignored], **_loss(reduction=reduction))
        book.value(f"float32/weight-{reduction}", "1 2", [x, target], **_loss(reduction=reduction, weight=weight))
        smooth = _loss(reduction=reduction, label_smoothing=0.25)
        book.value(f"float32/smooth-{reduction}", "4", [x, target], **smooth)
    every = _loss(reduction="mean", label_smoothing=0.25, weight=weight, ignore_index=2)
    book.value("float32/everything", "4 5 2", [x, target], **every)
    book.value("float32/ignore-index", "5 13", [x, target], **_loss(ignore_index=2))
    spoiled = nest("float32", [[[NAN, 1.0], [2.0, 2.0]], [[INF, 0.0]]])
    skipped = nest("int64", [[-100, 1], [-100]])
    book.value("float32/ignored-nan", "5", [spoiled, skipped], **_loss(reduction="none"))
    book.value("float32/special", "1", [spoiled, nest("int64", [[0, 1], [0]])], **_loss(reduction="none"))
    settled = nest("float32", [[[0.0, -INF], [-INF, 3.0]], [[0.0, 0.0]]])
    book.value("float32/certain", "1", [settled, nest("int64", [[0, 1], [1]])], **_loss(reduction="none"))
    deep = floats("float32", [(2, 3, 4), (1, 3, 4)], "cross_entropy deep")
    book.value(
        "float32/deep",
        "1 3",
        [deep, integers("int64", [(2, 3), (1, 3)], "deep target", 0, 3)],
        **_loss(reduction="none"),
    )
    _large(book)
    one = nest("float32", [[[3.0], [-2.0]], [[5.0]]])
    for reduction in ("mean", "sum", "none"):
        options = {"kw": {"reduction": reduction}}
        book.value("float32/one-class", "1 3", [one, nest("int64", [[0, 0], [0]])], **options)
    vanished = nest("int64", [[-100, -100, -100], [], [-100]])
    zero = {"cotangent": np.array(3.0, "float32"), "gradient": [[np.zeros(shape) for shape in ROWS]]}
    book.value("float32/all-ignored", "6 13", [x, vanished], kw={"reduction": "mean"}, **zero)
    book.value("float32/all-ignored", "6 13", [x, vanished], kw={"reduction": "sum"}, **zero)
    hollow = integers("float32", [(0, 5), (0, 5)], "cross_entropy")
    nothing = nest("int64", [[], []])
    book.value("float32/all-empty", "6 VALUES-5", [hollow, nothing], kw={"reduction": "mean"})
    book.value("float32/all-empty", "6", [hollow, nothing], kw={"reduction": "sum"}, zeros="signed")
    book.value("float32/all-empty", "3", [hollow, nothing], kw={"reduction": "none"})
    pair = [no_components("float32", None, 5), no_components("int64", None)]
    book.value("float32/batch0", "6", pair, kw={"reduction": "mean"}, gradient=None)
    book.value("float32/batch0", "3", pair, kw={"reduction": "none"})
    _refusals(book, plain, x, target)
    return book


def _large(book: Book) -> None:
    """Large scores, losses and weights."""
    scores = nest("float32", [[[1000.0, 998.0]], [[-1000.0, -1001.0]]])
    book.value("float32/large", "1", [scores, nest("int64", [[1], [0]])], **_loss())
    beyond = [nest("float32", [[[3e38, 0.0], [3e38, 1.0]], [[1.0, 2.0]]]), nest("int64", [[1, 1], [0]])]
    for reduction in ("mean", "none"):
        book.value(f"float32/beyond-{reduction}", "1 NUMERICS-8", beyond, **_loss(reduction=reduction))
    sure, heavy = nest("float64", [[[10.0, 0.0], [0.0, 10.0]]]), np.array([1e308, 1e308])
    book.value("float64/beyond-weights", "2 NUMERICS-8", [sure, nest("int64", [[0, 1]])], **_loss(weight=heavy))


def _refusals(book: Book, plain: str, x: Components, target: Components) -> None:
    refuse, inside = book.error, book.error_inside
    refuse("int", "8", "DTypeError", plain, [integers("int32", ROWS, "cross_entropy i"), target])
    refuse("bool", "8", "DTypeError", plain, [integers("bool", ROWS, "cross_entropy b"), target])
    refuse("target-float", "8", "DTypeError", plain, [x, nest("float32", TARGET)])
    refuse("target-bool", "8", "DTypeError", plain, [x, nest("bool", [[0, 1, 1], [], [0]])])
    inside("above", "9", "IndexOutOfRange", plain, [x, nest("int64", [[0, 5, 2], [], [2]])])
    inside("below", "9", "IndexOutOfRange", plain, [x, nest("int64", [[0, -1, 2], [], [2]])])
    inside("lengths", "10", "StructureError", plain, [x, nest("int64", [[0, 4], [], [2]])])
    inside("components", "10", "StructureError", plain, [x, nest("int64", [[0, 4, 2], []])])
    rank = nest("int64", [[[0], [4], [2]], np.zeros((0, 1)), [[2]]])
    refuse("rank", "10", "StructureError", plain, [x, rank])
    irregular = [integers("float32", IRREGULAR, "cross_entropy c"), nest("int64", [[0, 0], [0], [0, 0, 0]])]
    refuse("irregular", "10", "StructureError", plain, irregular)
    refuse("weight", "11", "ShapeError", plain, [x, target], kw={"weight": np.ones(4, "float32")})
    refuse("weight-rank", "11", "ShapeError", plain, [x, target], kw={"weight": np.ones((1, 5), "float32")})
    refuse("reduction", "12", "ArgumentError", plain, [x, target], kw={"reduction": "average"})
    refuse("smoothing", "12", "ArgumentError", plain, [x, target], kw={"label_smoothing": 1.5})
    refuse("smoothing", "12", "ArgumentError", plain, [x, target], kw={"label_smoothing": -0.25})


def _loss(**kwargs: Any) -> dict[str, Any]:
    return {"kw": kwargs, "cmp": "bound"}
