"""Cases of the reductions that multiply, take logarithms, choose or compare."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ...components import each
from ...encoding import Components
from ...numerics import NDArray
from ...reductions import ADDED, AVERAGED, TYPED, Reduction
from ..author import Book
from ..draws import dense, distinct, floats, integers, nest
from .inputs import COVERED, INF, INT64_MAX, INT64_MIN, NAN, all_empty, no_components, special
from .runs import RAGGED_KIND, orders, shapes


def prod() -> Book:
    """Cases of `prod`."""
    book = Book("prod")
    shapes(book, "", "1 6", _powers)
    orders(book, "1 6")
    flat = {"kw": {"dim": 1}, "kind": "dense"}
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64"):
        book.value(f"{dtype}/ragged", "2 4", [nest(dtype, [[1, 0, 1], [], [1, 1], [100, 100]])], **flat)
    book.value("int64/wrap", "2", [nest("int64", [[INT64_MAX, 2], [INT64_MIN, -1]])], **flat)
    book.value("float32/zeros", "1 6", [nest("float32", [[2, 0, 3], [2, 0, 0], [0], [-0.0, 5], [4, 0.5]])], **flat)
    across = nest("float32", [[[0, 2], [3, 1]], [[0, 5]]])
    for dim in (0, (0, 2), (1, 2), None):
        book.value("float32/zeros", "1 6", [across], kw={"dim": dim}, kind="dense")
    book.value("float64/empty", "4 6", [nest("float64", [[], [3.0], []])], **flat)
    book.value("float32/all-empty", "4", [all_empty("float32")], kw={"dim": None}, kind="dense")
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "4 1", [empty], kw={"dim": 1}, kind=RAGGED_KIND)
    book.value("float32/batch0", "4", [empty], kw={"dim": 0}, kind="dense")
    book.value("float32/batch0", "4", [empty], kw={"dim": None}, kind="dense")
    book.value("float32/special", "1", [special("float32")], **flat)
    book.value("float16/intermediate", "5 NUMERICS-4", [nest("float16", [[512, 512, 2.0**-10], [3]])], **flat)
    far = [nest("float32", [[1e30, 1e30, 1e-30, 1e-30], [1e30, 1e-30]])]
    book.value("float32/steps", "7", far, cmp="bound", **flat)
    for dtype, to in (("int32", "float32"), ("float32", "float64"), ("float32", "int64")):
        x = nest(dtype, [[1.5, 2.0], [-3.0]])
        book.value(f"{dtype}/dtype", "3", [x], kw={"dim": 1, "dtype": np.dtype(to)}, kind="dense", gradient=None)
    return book


def logsumexp() -> Book:
    """Cases of `logsumexp`."""
    book = Book("logsumexp", cmp="bound")
    shapes(book, "", "1 5", floats)
    orders(book, "1 5")
    flat = {"kw": {"dim": 1}, "kind": "dense"}
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        x = nest(dtype, [[1, 0, 1], [], [1, 1], [0]])
        book.value(f"{dtype}/ragged", "2 3 1", [x], dtype=dtype if dtype[0] == "f" else "float64", **flat)
    large = nest("float32", [[1000.0, 1000.0], [-1000.0, -1001.0], [3e38, 3e38], [-3e38, 3e38]])
    book.value("float32/large", "1 5", [large], **flat)
    book.value("float32/special", "3 4", [special("float32")], **flat)
    book.value("float32/infinite", "3 4", [nest("float32", [[-INF, -INF], [INF, 1], [-INF, 2], [3]])], **flat)
    silent = nest("float32", [[-INF, -INF], [-INF, 2.0], [-INF]])
    hand = {"cotangent": np.array([2, 3, 4], "float32"), "gradient": [[[NAN, NAN], [0.0, 3.0], [NAN]]]}
    book.value("float32/silent", "5 3", [silent], **flat, **hand)
    spoilt = nest("float32", [[NAN, 1.0], [INF, 2.0], [5.0]])
    hand = {"cotangent": np.array([2, 3, 4], "float32"), "gradient": [[[0.0, 0.0], [0.0, 0.0], [4.0]]]}
    book.value("float32/spoilt", "6 4", [spoilt], unspecified_gradient=[[0, 1], [0, 1]], **flat, **hand)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "3 1", [empty], kw={"dim": 1}, kind=RAGGED_KIND)
    for x in (empty, all_empty("float32")):
        for dim in (0, None):
            book.value("float32/nothing", "3", [x], kw={"dim": dim}, kind="dense")
    return book


def family(one: Reduction) -> Book:
    """Cases that follow from an entry whose results are floats within a bound, and its own."""
    value, dtype, nothing, gradient = (one.number(kind) for kind in ("value", "dtype", "edge", "gradient"))
    book = Book(one.name, cmp="bound")
    shapes(book, "", f"{value} {gradient}", floats)
    orders(book, f"{value} {gradient}")
    along, flat = {"dim": 1}, {"kw": {"dim": 1}, "kind": "dense"}
    of_integers = "int64" if ADDED in one.clauses else "float64"
    for kind in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        x = nest(kind, [[1, 0, 1], [], [1, 1], [0]])
        given = kind if kind[0] == "f" else of_integers
        cmp = "exact" if given == "int64" else "bound"
        book.value(f"{kind}/ragged", f"{dtype} {nothing} {value}", [x], dtype=given, cmp=cmp, **flat)
    if TYPED in one.clauses:
        into_integers = () if AVERAGED in one.clauses else (("float32", "int64"),)
        for kind, to in (("int32", "float32"), ("float32", "float64"), *into_integers):
            x, asked = nest(kind, [[1.5, 2.0], [-3.0]]), {**along, "dtype": np.dtype(to)}
            book.value(f"{kind}/dtype", f"{int(dtype) + 1}", [x], kw=asked, kind="dense", cmp="exact", gradient=None)
    book.value("float32/special", value, [special("float32")], **flat)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", f"{nothing} {value}", [empty], kw=along, kind=RAGGED_KIND)
    for x in (empty, all_empty("float32")):
        for dim in (0, None):
            book.value("float32/nothing", nothing, [x], kw={"dim": dim}, kind="dense")
    for case in one.cases:
        x = nest("float32", case.rows)
        book.value(f"float32/{case.group}", case.clauses, [x], kw={**along, **case.kw}, kind="dense", **case.options)
    option = one.option.partition(":")[0]
    for group, clause, wrong in one.errors:
        x = integers("float32", COVERED, one.name)
        near = f"{one.name}/float32/ragged/1"
        kind = one.fields()["clauses"][f"{one.name.upper()}-{clause}"]["kind"]
        book.error(group, clause, kind, near, [x], kw={**along, option: wrong})
    return book


def truths() -> list[Book]:
    """Cases of `any` and of `all`, of which the latter meet fewer zeros."""
    return [_truth("any", 0, 1), _truth("all", 0, 6)]


def _truth(op: str, low: int, high: int) -> Book:
    book = Book(op)
    shapes(book, "", "1", lambda dtype, sizes, key: integers(dtype, sizes, key, low, high))
    flat = {"kw": {"dim": 1}, "kind": "dense"}
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        book.value(f"{dtype}/ragged", "2 3", [nest(dtype, [[0, 0], [0, 1], [1, 1], []])], **flat)
    small = [2.0**-149, 0.5, NAN, -0.0, INF]
    book.value("float32/special", "2", [nest("float32", [[one] for one in small] + [[-0.0, NAN], small])], **flat)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "3 1", [empty], kw={"dim": 1}, kind=RAGGED_KIND)
    book.value("float32/inner0", "3", [integers("float32", [(2, 0), (1, 0)], op)], kw={"dim": 2}, kind="nested")
    absent = integers("float32", [(0, 3), (2, 3)], op)
    for x, dim in ((empty, 0), (empty, None), (all_empty("float32"), None), (absent, 0), (absent, (1, 2))):
        book.value("float32/nothing", "3", [x], kw={"dim": dim}, kind="dense")
    return book


def amin(amax: Book) -> Book:
    """Cases of `amin`: those of `amax` in a mirror."""
    return _mirror(amax, "amin")


def _mirror(of: Book, op: str) -> Book:
    """The cases of another operator with their elements in the opposite order."""
    book = Book(op)
    for case in of.cases:
        id_, near = (name and name.replace(f"{of.op}/", f"{op}/") for name in (case.id, case.near))
        clauses = tuple(one.replace(of.op.upper(), op.upper()) for one in case.clauses)
        args = tuple(_mirrored(one) for one in case.args)
        book.append(replace(case, op=op, id=id_ or "", near=near, clauses=clauses, args=args))
    return book


def places() -> list[Book]:
    """Cases of `argmax`, and of `argmin` in a mirror."""
    book = Book("argmax")
    x = distinct("float32", [(2, 4), (3, 4), (1, 4)], "argmax")
    for dim, kind in ((1, RAGGED_KIND), (2, "nested"), (-1, "nested"), (0, "dense")):
        clauses = "1 2 3" if dim == 0 else "1 3"
        for keepdim in (False, True):
            book.value("float32/ragged", clauses, [x], kw={"dim": dim, "keepdim": keepdim}, kind=kind)
    for shape, name, dims in (((3, 4, None), "ragged-last", (1, 2)), ((2, None, 3, 5), "deep", (1, 2, 3, 0))):
        sizes = [(4, 2), (4, 3), (4, 1)] if name == "ragged-last" else [(2, 3, 5), (1, 3, 5)]
        more = Components(distinct("float32", sizes, f"argmax {name}"), shape, "float32")
        for dim in dims:
            kind = "dense" if dim == 0 else RAGGED_KIND if shape[dim] is None else "nested"
            book.value(f"float32/{name}", "1", [more], kw={"dim": dim}, kind=kind)
    irregular = distinct("float32", COVERED, "argmax irregular")
    for dim, kind in ((1, "nested"), (2, "nested"), (0, "dense")):
        book.value("float32/irregular", "1 2" if dim == 0 else "1", [irregular], kw={"dim": dim}, kind=kind)
    flat = {"kw": {"dim": 1}, "kind": "dense"}
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        book.value(f"{dtype}/ties", "4 1 3", [nest(dtype, [[0, 1, 1], [1, 0], [0, 0], [1]])], **flat)
    extremes = nest("int64", [[INT64_MIN, INT64_MIN], [2**53, 2**53 + 1, INT64_MAX, INT64_MAX]])
    book.value("int64/extremes", "4 1", [extremes], **flat)
    spoilt = [[NAN, INF], [1.0, NAN, 2.0, NAN], [-INF, -INF], [-0.0, 0.0], [INF, 1.0]]
    book.value("float32/special", "5 4", [nest("float32", spoilt)], **flat)
    late = nest("float32", [[1.0], [2.0, 5.0, 0.0], [2.0, 5.0]])  # the last place is that of component 1 alone
    book.value("float32/late", "2 4", [late], kw={"dim": 0}, kind="dense")
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "7", [empty], kw={"dim": 1}, kind=RAGGED_KIND)
    book.value("float32/batch0", "7", [empty], kw={"dim": 0}, kind="dense")
    kept = integers("float32", [(0, 3), (2, 3)], "argmax kept")
    book.value("float32/empty-kept", "7 1", [kept], kw={"dim": 2}, kind="nested")
    near = "argmax/float32/ragged/1"
    book.error_inside("empty", "6", "EmptyReductionError", near, [all_empty("float32")], kw={"dim": 1})
    book.error_inside("inner0", "6", "EmptyReductionError", near, [integers("float32", [(2, 0)], "arg")], kw={"dim": 2})
    for several in ((1, 2), None):
        book.error("several", "9 ERRORS-3", "ArgumentError", near, [x], kw={"dim": several})
    book.error("fraction", "ERRORS-3", "ArgumentError", near, [x], kw={"dim": 1.5})
    book.error("absent", "9", "ArgumentError", near, [x])
    book.error("range", "ERRORS-1", "DimensionError", near, [x], kw={"dim": 3})
    _flat_places(book)
    return [book, _mirror(book, "argmin")]


def _flat_places(book: Book) -> None:
    """Add places among all elements of a dense array."""
    x = dense(distinct("float32", [(2, 3, 4)], "argmax dense", ragged=None))
    plain = book.value("float32/plain", "10 3", [x])
    book.value("float32/plain", "10", [x], kw={"dim": None})
    book.value("float32/plain", "11 10", [x], kw={"dim": None, "keepdim": True})
    book.value("float32/plain-zero-dimensions", "10", [np.array(3.0, "float32")])
    book.value("float32/plain-zero-dimensions", "11", [np.array(3.0, "float32")], kw={"keepdim": True})
    for dtype in ("bool", "uint8", "int64", "float16", "float64"):
        book.value(f"{dtype}/plain-ties", "10 4 3", [np.array([[0, 1], [1, 0], [0, 1]], dtype)])
    book.value("float32/plain-nan", "10 5", [np.array([[1.0, INF], [NAN, -INF], [NAN, 2.0]], "float32")])
    for empty in ((0,), (2, 0), (0, 3)):
        book.error("plain-empty", "12", "EmptyReductionError", plain, [np.zeros(empty, "float32")])
    book.error("plain-several", "9 ERRORS-3", "ArgumentError", plain, [x], kw={"dim": (0, 1)})


def _mirrored(x: Components | NDArray) -> Components | NDArray:
    """Return numbers in the opposite order: -x, and ~x of integers, of which every dtype has as many."""
    return each(lambda one: np.asarray(-one if one.dtype.kind == "f" else ~one), x, shape=x.shape, dtype=x.dtype)


def _powers(dtype: str, shapes: Any, key: str) -> Components:
    """Return powers of two of both signs, whose products are powers of two."""
    drawn, table = integers("int64", shapes, key, 0, 5), np.array([-2, -1, -0.5, 0.5, 1, 2], dtype)
    return Components([table[component] for component in drawn], drawn.shape, dtype)
