"""Cases of the normalization chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...runwise import RUNWISE, RunWise
from ..author import Book
from ..draws import dense, floats, integers, nest
from .inputs import EMPTY_FIRST, EMPTY_LAST, INF, IRREGULAR, NAN, all_empty, fine, no_components, small

FLOAT32 = np.dtype("float32")
EDGES: tuple[tuple[str, str, list[Any]], ...] = (
    ("shifted", "1 9", [[1000.0, 1001.0], [-1000.0, -1001.0], [0.0]]),
    ("far-apart", "1 9", [[0.0, -200.0, -1e30], [3.0]]),
    ("minus-inf", "7", [[-INF, 2.0, 2.0], [-INF, -INF], [5.0]]),
    ("special", "8", [[[NAN, 1.0], [2.0, 1.0]], [[0.0, INF], [3.0, 1.0]], [[4.0, 4.0]]]),
)


def books() -> list[Book]:
    """Return the books of this chapter."""
    return [
        softmax(),
        *(run_wise(operator) for operator in RUNWISE.values() if operator.has_derived_cases),
        layer_norm(),
        dropout(),
    ]


def run_wise(one: RunWise) -> Book:
    """Cases that follow from an entry."""
    book, op, along = Book(one.name, cmp="bound"), one.name, {"kw": {"dim": 1}}
    plain = book.value("float32/ragged", "1 2 6 9", [fine("float32", op)], **along)
    book.value("float32/inner", "1 2 9", [fine("float32", f"{op} inner")], kw={"dim": -1})
    for dtype in ("float16", "float64"):
        book.value(f"{dtype}/ragged", "1 3 9", [fine(dtype, f"{op} {dtype}")], **along)
    book.value("float32/long", "1 9", [floats("float32", [(40,), (3,)], f"{op} long")], **along)
    book.value("float32/empty-first", "6 9", [floats("float32", EMPTY_FIRST, f"{op} f")], **along)
    book.value("float32/empty-last", "6 9", [floats("float32", EMPTY_LAST, f"{op} l")], **along)
    second = Components(floats("float32", [(3, 2), (3, 4)], f"{op} s"), (2, 3, None))
    for dim in (1, 2):
        book.value("float32/ragged-last", "1 2 9", [second], kw={"dim": dim})
        book.value("float32/irregular", "1 2 9", [floats("float32", IRREGULAR, f"{op} i")], kw={"dim": dim})
    book.value("float32/all-empty", "6 9", [all_empty("float32")], **along)
    book.value("float32/inner0", "6 2", [integers("float32", [(2, 0), (1, 0)], op)], **along)
    book.value("float32/batch0", "6", [no_components("float32", None, 4)], **along)
    counts, typed = nest("int32", [[1, 1], [2, 3, 2, 2]]), {"dim": 1, "dtype": FLOAT32}
    near = book.value("int32/dtype", "3 5", [counts], kw=typed)
    book.value("float64/dtype", "3 1", [fine("float64", f"{op} d")], kw=typed, gradient=None)
    for dim in (0, -3):
        book.error("batch", "4 VALUES-4", "DimensionError", plain, [fine("float32", op)], kw={"dim": dim})
    book.error("range", "ERRORS-1", "DimensionError", plain, [fine("float32", op)], kw={"dim": 3})
    book.error("int", "5", "DTypeError", near, [counts], **along)
    book.error("bool", "5", "DTypeError", near, [nest("bool", [[1], [0, 1]])], **along)
    book.error("dtype-int", "5", "DTypeError", near, [counts], kw={"dim": 1, "dtype": np.dtype("int64")})
    for group, clauses, rows in EDGES:
        x = nest("float32", rows)
        book.value(f"float32/{group}", clauses, [Components([one.sign * c for c in x], x.shape, x.dtype)], **along)
    return book


def softmax() -> Book:
    """Cases of `softmax`."""
    book = Book("softmax")
    along = {"kw": {"dim": 1}, "cmp": "bound"}
    plain = book.value("float32/ragged", "1 2 6 9", [fine("float32", "softmax")], **along)
    book.value("float32/inner", "1 2 9", [fine("float32", "softmax inner")], kw={"dim": -1}, cmp="bound")
    for dtype in ("float16", "float64"):
        book.value(f"{dtype}/ragged", "1 3 9", [fine(dtype, f"softmax {dtype}")], **along)
        book.value(
            f"{dtype}/long", "1", [floats(dtype, [(40,), (3,)], f"softmax {dtype} long")], gradient=None, **along
        )
    book.value("float32/empty-first", "6 9", [floats("float32", EMPTY_FIRST, "softmax f")], **along)
    book.value("float32/empty-last", "6 9", [floats("float32", EMPTY_LAST, "softmax l")], **along)
    second = Components(floats("float32", [(3, 2), (3, 4)], "softmax s"), (2, 3, None))
    book.value("float32/ragged-last", "1 2 9", [second], kw={"dim": 2}, cmp="bound")
    book.value("float32/irregular", "1 2", [floats("float32", IRREGULAR, "softmax i")], kw={"dim": 2}, cmp="bound")
    # A run of n equal elements gives 1/n, a power of two: no rounding at all, and the shift by the maximum shows.
    equal_runs = nest("float32", [[3.0] * 4, [-7.0], [1e30, 1e30]])
    book.value("float32/equal-runs", "1", [equal_runs], kw={"dim": 1}, gradient=None)
    for dtype in ("float16", "float32", "float64"):
        book.value(
            f"{dtype}/len1", "1 2", [integers(dtype, [(1, 3), (1, 3)], "softmax one")], kw={"dim": 1}, gradient=None
        )
    book.value("float32/shifted", "1", [nest("float32", [[1000.0, 1001.0], [-1000.0, -1001.0], [0.0]])], **along)
    apart, settled = nest("float32", [[0.0, -200.0], [0.0]]), nest("float32", [[1.0, 0.0], [1.0]])
    book.value("float32/far-apart", "1", [apart], kw={"dim": 1}, result=settled)
    book.value("float32/minus-inf", "7", [nest("float32", [[-INF, 2.0, 2.0], [-INF, -INF], [5.0]])], kw={"dim": 1})
    spoiled = nest("float32", [[[NAN, 1.0], [2.0, 1.0]], [[0.0, INF], [3.0, 1.0]], [[4.0, 4.0]]])
    book.value("float32/special", "8", [spoiled], **along)
    book.value("float32/all-empty", "6 9", [all_empty("float32")], **along)
    book.value("float32/inner0", "6 2", [integers("float32", [(2, 0), (1, 0)], "softmax")], **along)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "6", [empty], kw={"dim": 1})
    counts = nest("int32", [[1, 1], [2, 2, 2, 2]])
    typed = book.value("int32/dtype", "3 5", [counts], kw={"dim": 1, "dtype": FLOAT32})
    book.value(
        "float64/dtype",
        "3 1",
        [fine("float64", "softmax d")],
        kw={"dim": 1, "dtype": FLOAT32},
        cmp="bound",
        gradient=None,
    )
    book.error("batch", "4 VALUES-4", "DimensionError", plain, [fine("float32", "softmax")], kw={"dim": 0})
    book.error("batch", "4 VALUES-4", "DimensionError", plain, [fine("float32", "softmax")], kw={"dim": -3})
    book.error("int", "5", "DTypeError", typed, [counts], kw={"dim": 1})
    book.error("bool", "5", "DTypeError", typed, [nest("bool", [[1], [0, 1]])], kw={"dim": 1})
    book.error("dtype-int", "5", "DTypeError", typed, [counts], kw={"dim": 1, "dtype": np.dtype("int64")})
    return book


def layer_norm() -> Book:
    """Cases of `layer_norm`."""
    book = Book("layer_norm", zeros="either")
    weight, bias = (dense(floats("float32", [(4,)], f"layer_norm {name}", ragged=None)) for name in ("w", "b"))
    x = fine("float32", "layer_norm")
    plain = book.value("float32/ragged", "1 3", [x, (4,)], cmp="bound")
    book.value("float32/int-shape", "3", [x, 4], cmp="bound")
    book.value("float32/affine", "2 9 1", [x, (4,)], kw={"weight": weight, "bias": bias}, cmp="bound")
    book.value("float32/weight", "2 9", [x, (4,)], kw={"weight": weight}, cmp="bound")
    book.value("float32/bias", "2 9", [x, (4,)], kw={"bias": bias}, cmp="bound")
    book.value("float32/eps", "1", [x, (4,)], kw={"eps": 0.5}, cmp="bound")
    for dtype in ("float16", "float64"):
        affine = {"weight": weight.astype(dtype), "bias": bias.astype(dtype)}
        book.value(f"{dtype}/affine", "1 2 3", [fine(dtype, f"layer_norm {dtype}"), (4,)], kw=affine, cmp="bound")
    two = floats("float32", [(2, 3, 2), (1, 3, 2)], "layer_norm two")
    matrix = dense(floats("float32", [(3, 2)], "layer_norm m", ragged=None))
    book.value("float32/two-dims", "1 2", [two, (3, 2)], kw={"weight": matrix}, cmp="bound")
    # Elements +-3 around their mean have the variance 9: with eps = 7 the divisor is exactly 4.
    witness = nest("float32", [[[1.0, 7.0], [-2.0, 4.0]], [[10.0, 4.0]]])
    book.value("float32/witness", "1", [witness, (2,)], kw={"eps": 7.0}, gradient=None)
    scaled = {"weight": np.array([2, -4], "float32"), "bias": np.array([1, 0.5], "float32"), "eps": 7.0}
    book.value("float32/witness", "1 2", [witness, (2,)], kw=scaled, gradient=None)
    book.value(
        "float64/witness", "1", [nest("float64", [[[1.0, 7.0]], [[5.0, 5.0]]]), (2,)], kw={"eps": 7.0}, gradient=None
    )
    book.value(
        "float16/witness", "1", [nest("float16", [[[1.0, 7.0]], [[-6.0, 0.0]]]), (2,)], kw={"eps": 7.0}, gradient=None
    )
    constant = nest("float32", [[[5.0] * 4], [[-3.0] * 4, [0.0] * 4]])
    book.value("float32/constant", "7", [constant, (4,)], gradient=None)
    book.value(
        "float32/constant", "7", [constant, (4,)], kw={"bias": np.array([1, -2, 3, 0.5], "float32")}, gradient=None
    )
    book.value("float32/len1", "7", [nest("float32", [[[5.0]], [[-3.0]]]), (1,)], gradient=None)
    spoiled = nest("float32", [[[NAN, 1.0], [7.0, 1.0]], [[0.0, INF]]])
    book.value("float32/special", "8", [spoiled, (2,)], kw={"eps": 7.0})
    book.value(
        "float32/offset",
        "1",
        [nest("float32", [[[1000.0, 1001.0, 1002.5]], [[-500.0, -501.0, 3.0]]]), (3,)],
        cmp="bound",
    )
    _of_any_size(book)
    book.value(
        "float32/all-empty",
        "7 9",
        [all_empty("float32"), (3,)],
        kw={"weight": np.ones(3, "float32"), "bias": np.ones(3, "float32")},
    )
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "7 9", [empty, (4,)], kw={"weight": weight, "bias": bias})
    irregular = floats("float32", IRREGULAR, "layer_norm i")
    book.error("irregular", "4", "StructureError", plain, [irregular, (3,)])
    book.error("ragged", "4", "StructureError", plain, [x, (2, 4)])
    book.error("sizes", "5", "ShapeError", plain, [x, (3,)])
    book.error("weight", "5", "ShapeError", plain, [x, (4,)], kw={"weight": np.ones(3, "float32")})
    book.error("bias", "5", "ShapeError", plain, [x, (4,)], kw={"bias": np.ones((1, 4), "float32")})
    book.error("int", "6", "DTypeError", plain, [small("int32", "layer_norm"), (4,)])
    book.error("bool", "6", "DTypeError", plain, [nest("bool", [[[1, 0]], [[1, 1]]]), (2,)])
    return book


def _of_any_size(book: Book) -> None:
    """Elements whose squares overflow, without eps those whose squares vanish, and equal ones."""
    for dtype, large in (("float32", 1e30), ("float64", 1e200)):
        beyond = nest(dtype, [[[large, -large, 0.25 * large]], [[1.0, -2.0, 3.0], [0.0, large, large]]])
        book.value(f"{dtype}/beyond", "1 NUMERICS-8", [beyond, (3,)], cmp="bound")
    for dtype, tiny in (("float32", 1e-30), ("float64", 1e-200)):
        near = nest(dtype, [[[tiny, -tiny, 0.25 * tiny]], [[1.0, -2.0, 3.0], [0.0, tiny, tiny]]])
        book.value(f"{dtype}/small", "1 10", [near, (3,)], kw={"eps": 0.0}, cmp="bound")
    for dtype in ("float16", "float32", "float64"):
        level = nest(dtype, [[[5.0] * 3], [[-3.0] * 3, [0.0] * 3, [2.0**-14] * 3]])
        affine = {"weight": np.array([2, -4, 1], dtype), "bias": np.array([1, 0.5, 0], dtype)}
        book.value(f"{dtype}/level", "7", [level, (3,)])
        book.value(f"{dtype}/level-affine", "7", [level, (3,)], kw=affine)
        book.value(f"{dtype}/level-open", "11", [level, (3,)], kw={"eps": 0.0}, unspecified=True, gradient=None)


def dropout() -> Book:
    """Cases of `dropout`: only the certain probabilities have values."""
    book = Book("dropout")
    x = small("float32", "dropout")
    plain = book.value("float32/keep", "1 4 10", [x], kw={"p": 0.0})
    book.value("float32/drop", "9 10", [x], kw={"p": 1.0}, zeros="either")
    pulled = {"cotangent": nest("float32", [[NAN, -2.0], [INF]]), "gradient": [[[NAN, 0.0], [NAN]]]}
    ones = nest("float32", [[1.0, -1.0], [2.0]])
    book.value("float32/drop", "9 10", [ones], kw={"p": 1.0}, zeros="either", **pulled)
    book.value("float32/evaluation", "3 10", [x], kw={"p": 0.5, "training": False})
    book.value("float32/evaluation", "3", [x], kw={"p": 1.0, "training": False})
    book.value("float32/default", "3", [x], kw={"training": False})
    for dtype in ("float16", "float64"):
        book.value(f"{dtype}/keep", "1 4", [fine(dtype, f"dropout {dtype}")], kw={"p": 0.0})
        book.value(f"{dtype}/drop", "9 4", [fine(dtype, f"dropout {dtype}")], kw={"p": 1.0}, zeros="either")
    edges = nest("float32", [[NAN, INF, -0.0], [], [-INF]])
    book.value("float32/special-keep", "1", [edges], kw={"p": 0.0})
    book.value("float32/special-drop", "9", [edges], kw={"p": 1.0}, zeros="either")
    book.value("float32/drawn", "8", [x], kw={"p": 0.5}, result=x, unspecified=True, gradient=None)
    book.value("float32/drawn", "8", [x], result=x, unspecified=True, gradient=None)
    book.value("float32/irregular", "1 4", [integers("float32", IRREGULAR, "dropout")], kw={"p": 0.0})
    book.value("float32/all-empty", "4", [all_empty("float32")], kw={"p": 0.5})
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "4", [empty], kw={"p": 0.5})
    for number, p in (("below", -0.1), ("above", 1.5), ("nan", NAN)):
        book.error(number, "5", "ArgumentError", plain, [x], kw={"p": p})
    book.error("int", "6", "DTypeError", plain, [small("int32", "dropout")], kw={"p": 0.0})
    book.error("bool", "6", "DTypeError", plain, [nest("bool", [[1], [0, 1]])], kw={"p": 0.0})
    return book
