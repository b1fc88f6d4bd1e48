"""Cases of the products chapter."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Components
from ...numerics import NDArray
from ..author import Book
from ..draws import dense, floats, integers, nest
from .inputs import INF, IRREGULAR, NAN, fine, no_components, small

# What jagged operands can and cannot express: summed over the ragged dimension dense, with two of them strided.
SUMMED = {"jagged": "dense", "strided": "nested"}


def books() -> list[Book]:
    """Return the books of this chapter."""
    return [matmul(), bmm(), linear()]


def _numbers(dtype: str, shape: tuple[int, ...], key: str) -> NDArray:
    return dense(integers(dtype, [shape], key, -5, 5, ragged=None))


def _reals(dtype: str, shape: tuple[int, ...], key: str) -> NDArray:
    return dense(floats(dtype, [shape], key, ragged=None))


def _columns(dtype: str, key: str, rows: int = 4, lengths: tuple[int, ...] = (2, 0, 1)) -> Components:
    """Return components (rows, *): the ragged dimension is the last."""
    drawn = integers(dtype, [(rows, length) for length in lengths], key, -5, 5)
    return Components(drawn, (len(lengths), rows, None), dtype)


def _common(book: Book, value: str, gradient: str, empty: str) -> str:
    """Add what matmul and bmm share, with operands of three dimensions; return the id of the plainest."""
    op, both = book.op, f"{value} {gradient}"
    x = small("float32", f"{op} x")
    plain = book.value("float32/dense-batch", f"{both} {empty}", [x, _numbers("float32", (3, 4, 5), f"{op} y")])
    book.value(
        "float32/dense-left",
        both,
        [_numbers("float32", (3, 5, 4), f"{op} z"), _columns("float32", f"{op} c")],
        kind="nested",
    )
    outer = [x, _columns("float32", f"{op} d")]
    book.value("float32/ragged-ragged", both, outer, kind="nested")
    rows = integers("float32", [(2, 5), (0, 5), (1, 5)], f"{op} r")
    summed = "MATMUL-4" if op == "matmul" else value
    book.value("float32/ragged-summed", f"{both} {empty} {summed}", [_columns("float32", f"{op} e"), rows], kind=SUMMED)
    regular = integers("float32", [(4, 6)] * 3, f"{op} n", ragged=None)
    book.value("float32/regular-right", value, [x, Components(regular, (3, 4, 6))], layouts=("strided",))
    for dtype in ("float16", "float32", "float64"):
        pair = [fine(dtype, f"{op} {dtype}"), _reals(dtype, (3, 4, 5), f"{op} {dtype} right")]
        book.value(f"{dtype}/rounding", both, pair, cmp="bound")
        long = [
            floats(dtype, [(2, 33), (1, 33)], f"{op} {dtype} long"),
            _reals(dtype, (2, 33, 3), f"{op} {dtype} tall"),
        ]
        book.value(f"{dtype}/long", value, long, cmp="bound", gradient=None)
    beyond = nest("float32", [[[3e19, 3e19, -3e19]], [[1.0, 2.0, 3.0]]])
    book.value(
        "float32/beyond",
        f"{both} NUMERICS-8",
        [beyond, np.full((2, 3, 1), 1e19, "float32")],
        cmp="bound",
        kind="nested",
    )
    book.value("float64/ragged", both, [small("float64", f"{op} f"), _numbers("float64", (3, 4, 2), f"{op} g")])
    book.value("float16/ragged", both, [small("float16", f"{op} h"), _numbers("float16", (3, 4, 2), f"{op} i")])
    hollow = integers("float32", [(2, 0), (1, 0)], op)
    book.value("float32/inner0", empty, [hollow, np.zeros((2, 0, 3), "float32")], zeros="signed")
    book.value("float32/batch1", value, [nest("float32", [[[2.0, -3.0]]]), np.array([[[5.0], [7.0]]], "float32")])
    nothing = no_components("float32", None, 4)
    book.value("float32/batch0", value, [nothing, np.zeros((0, 4, 5), "float32")])
    return plain


def matmul() -> Book:
    """Cases of `matmul`."""
    book = Book("matmul", zeros="either")
    plain = _common(book, "1 3", "11", "10")
    x = small("float32", "matmul x")
    weight = book.value("float32/dense-matrix", "2 11", [x, _numbers("float32", (4, 5), "matmul a")])
    book.value("float32/dense-vector", "2 11", [x, _numbers("float32", (4,), "matmul b")])
    left = [_numbers("float32", (5, 4), "matmul c"), _columns("float32", "matmul d")]
    book.value("float32/matrix-left", "2 11", left, kind="nested")
    book.value("float32/dense-one", "3 11", [x, _numbers("float32", (1, 4, 5), "matmul e")])
    book.value("float32/two-ragged", "5 LAYOUTS-8", [x, _columns("float32", "matmul f")], kind="nested")
    irregular = [(2, 3), (1, 5), (3, 1)], [(3, 2), (5, 4), (1, 6)]
    pair = [integers("float32", shapes, f"matmul {shapes}", -5, 5) for shapes in irregular]
    inner = book.value("float32/irregular", "1", pair)
    deep = integers("float32", [(2, 3, 4), (1, 3, 4)], "matmul g", -5, 5)
    book.value("float32/deep", "1 2", [deep, _numbers("float32", (4, 5), "matmul h")])
    book.value(
        "float32/rounding", "2 11", [fine("float32", "matmul i"), _reals("float32", (4, 5), "matmul j")], cmp="bound"
    )
    book.value("int32/ragged", "6 2", [small("int32", "matmul k"), _numbers("int32", (4, 3), "matmul l")])
    book.value("int8/wrap", "6", [nest("int8", [[[100, 100]], [[-128, 1]]]), np.array([[2], [1]], "int8")])
    book.value("int64/wrap", "6 DTYPES-7", [nest("int64", [[[2**62, 2**62]], [[1, 0]]]), np.array([[2], [1]], "int64")])
    book.value(
        "int32/promotes", "6", [small("int32", "matmul m"), _numbers("float32", (4, 3), "matmul n")], dtype="float64"
    )
    special = nest("float32", [[[NAN, 1.0]], [[INF, 2.0], [1.0, -INF]], [[3.0, 4.0]]])
    book.value("float32/special", "1 VALUES-2", [special, np.array([[1.0], [0.0]], "float32")])
    refuse, inside = book.error, book.error_inside
    longer = _columns("float32", "matmul o", 4, (2, 1))
    inside("components", "7", "StructureError", "matmul/float32/ragged-ragged/1", [x, longer])
    rows = integers("float32", [(3, 5), (0, 5), (1, 5)], "matmul p")
    inside("inner", "7", "StructureError", "matmul/float32/ragged-summed/1", [_columns("float32", "matmul q"), rows])
    inside("inner-irregular", "7", "StructureError", inner, [pair[0], pair[0]])
    refuse("dense-inner", "8", "ShapeError", weight, [x, np.ones((3, 5), "float32")])
    refuse("dense-vector", "8", "ShapeError", weight, [x, np.ones(3, "float32")])
    refuse("dense-batch", "8", "ShapeError", plain, [x, np.ones((2, 4, 5), "float32")])
    vectors = integers("float32", [(2,), (1,)], "matmul r")
    refuse("vectors", "9", "StructureError", weight, [vectors, np.ones((2, 3), "float32")])
    return book


def bmm() -> Book:
    """Cases of `bmm`."""
    book = Book("bmm", zeros="either")
    plain = _common(book, "1", "6", "5")
    x = small("float32", "bmm x")
    refuse, inside = book.error, book.error_inside
    refuse("dense-matrix", "2", "StructureError", plain, [x, np.ones((4, 5), "float32")])
    vectors = integers("float32", [(2,), (0,), (1,)], "bmm r")
    refuse("vectors", "2", "StructureError", plain, [vectors, np.ones((3, 2, 3), "float32")])
    refuse("dense-one", "4", "ShapeError", plain, [x, np.ones((1, 4, 5), "float32")])
    inside("components", "3", "StructureError", plain, [x, _columns("float32", "bmm o", 4, (2, 1))])
    refuse("inner", "4", "ShapeError", plain, [x, np.ones((3, 3, 5), "float32")])
    rows = integers("float32", [(3, 5), (0, 5), (1, 5)], "bmm p")
    inside("inner-ragged", "3", "StructureError", "bmm/float32/ragged-summed/1", [_columns("float32", "bmm q"), rows])
    return book


def linear() -> Book:
    """Cases of `linear`."""
    book = Book("linear", zeros="either")
    x, weight, bias = (
        small("float32", "linear"),
        _numbers("float32", (5, 4), "linear w"),
        _numbers("float32", (5,), "linear b"),
    )
    plain = book.value("float32/ragged", "1 2 6", [x, weight, bias])
    book.value("float32/no-bias", "1 2 6", [x, weight])
    book.value("float32/deep", "1 2 6", [integers("float32", [(2, 3, 4), (1, 3, 4)], "linear d"), weight, bias])
    second = Components(integers("float32", [(1, 4), (3, 4)], "linear s"), (2, None, 4))
    book.value("float32/one-out", "1 2", [second, _numbers("float32", (1, 4), "linear o"), np.array([7], "float32")])
    book.value(
        "float32/vectors",
        "1 2",
        [integers("float32", [(4,), (4,)], "linear v", ragged=None), weight, bias],
        layouts=("strided",),
    )
    for dtype in ("float16", "float32", "float64"):
        args: list[Any] = [
            fine(dtype, f"linear {dtype}"),
            _reals(dtype, (3, 4), f"linear {dtype} w"),
            _reals(dtype, (3,), "linear c"),
        ]
        book.value(f"{dtype}/rounding", "1 6", args, cmp="bound")
        long = [
            floats(dtype, [(2, 33), (1, 33)], f"linear {dtype} long"),
            _reals(dtype, (3, 33), f"linear {dtype} tall"),
        ]
        book.value(f"{dtype}/long", "1", long, cmp="bound", gradient=None)
    book.value("float64/ragged", "1 6", [small("float64", "linear e"), weight.astype("float64")])
    book.value(
        "float16/ragged", "1 6", [small("float16", "linear f"), weight.astype("float16"), bias.astype("float16")]
    )
    book.value("int32/ragged", "1", [small("int32", "linear g"), weight.astype("int32"), bias.astype("int32")])
    beyond = [nest("float32", [[[3e38, 3e38]], [[1.0, 2.0]]]), np.array([[1.0, -1.0], [0.5, 0.25]], "float32")]
    book.value("float32/beyond", "1 6 NUMERICS-8", [*beyond, np.array([-3e38, 3e38], "float32")], cmp="bound")
    hollow = integers("float32", [(2, 0), (1, 0)], "linear")
    book.value("float32/in0", "5", [hollow, np.zeros((3, 0), "float32"), np.array([1, -2, 3], "float32")])
    book.value("float32/in0", "5", [hollow, np.zeros((3, 0), "float32")], zeros="signed")
    book.value("float32/all-empty", "5 6", [integers("float32", [(0, 4), (0, 4)], "linear h"), weight, bias])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "5 6", [empty, weight, bias])
    special = nest("float32", [[[NAN, 1.0]], [[INF, 2.0], [1.0, 1.0]]])
    book.value("float32/special", "1 VALUES-2", [special, np.array([[1.0, 0.0]], "float32")])
    book.error("irregular", "3", "StructureError", plain, [integers("float32", IRREGULAR, "linear i"), weight, bias])
    last = _columns("float32", "linear j")
    book.error("ragged-last", "3", "StructureError", plain, [last, weight, bias])
    book.error("weight-rank", "4", "ShapeError", plain, [x, np.ones(4, "float32"), bias])
    book.error("weight-size", "4", "ShapeError", plain, [x, np.ones((5, 3), "float32"), bias])
    book.error("bias-size", "4", "ShapeError", plain, [x, weight, np.ones(4, "float32")])
    return book
