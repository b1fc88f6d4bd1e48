"""Cases of the elementwise chapter: operators of two operands here, of one in `functions`."""

from __future__ import annotations

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import dense, integers, nest
from .functions import function_books
from .inputs import (
    EMPTY_FIRST,
    EMPTY_LAST,
    INF,
    INT64_MAX,
    INT64_MIN,
    IRREGULAR,
    NAN,
    all_empty,
    fine,
    no_components,
    small,
)
from .pairs import pair_books

TINY = 2.0**-1074  # the smallest float64 above 0; those of float32 may be flushed to zero


def books() -> list[Book]:
    """Return the books of this chapter."""
    arithmetic = [add(), sub(), mul(), div(), extreme("maximum"), extreme("minimum"), clamp()]
    return [*arithmetic, *function_books(), *pair_books("elementwise")]


def _pair(op: str, *shapes: tuple[tuple[int, ...], tuple[int, ...]], high: int = 4) -> list[Components]:
    """Return two operands of small integers, the second without zeros, from pairs of component shapes."""
    left, right = ([pair[side] for pair in shapes] for side in (0, 1))
    return [integers("float32", left, f"{op} left"), integers("float32", right, f"{op} right", 1, high)]


def _common(book: Book, value: str, gradient: str) -> str:
    """Add the cases that every operator of two operands has; return the id of the plainest."""
    op, both = book.op, f"{value} {gradient}"
    plain = book.value(
        "float32/ragged",
        f"{both} VALUES-1 LAYOUTS-4 BROADCASTING-7 GRADIENTS-1",
        [small("float32", f"{op} a"), small("float32", f"{op} b", 1, 4)],
    )
    for dtype in ("float16", "float32", "float64"):
        book.value(
            f"{dtype}/rounding", f"{value} NUMERICS-2", [fine(dtype, f"{op} c"), fine(dtype, f"{op} d")], gradient=None
        )
    book.value("float32/number", f"{both} BROADCASTING-10", [small("float32", f"{op} e"), 2.0])
    book.value("float32/number-left", both, [-3.0, nest("float32", [[1.0, -2.0], [], [4.0]])])
    book.value(
        "float32/dense-row",
        f"{both} BROADCASTING-1 BROADCASTING-3 GRADIENTS-3",
        [small("float32", f"{op} f"), np.array([1, -2, 4, 0.5], "float32")],
    )
    slices = np.array([[[2.0]], [[-4.0]], [[0.5]]], "float32")
    book.value(
        "float32/dense-batch",
        f"{both} BROADCASTING-2 BROADCASTING-3 GRADIENTS-3",
        [small("float32", f"{op} g"), slices],
    )
    book.value("float32/dense-batch-1", f"{both} BROADCASTING-2", [small("float32", f"{op} h"), slices[1:2]])
    book.value("float32/dense-left", both, [slices, small("float32", f"{op} i", 1, 2)])
    even = integers("float32", [(2, 3)] * 4, f"{op} j")
    divisors = np.array([[1, 2, 4], [-1, 8, 0.5]], "float32")
    book.value(
        "float32/equal-lengths",
        f"{both} BROADCASTING-4",
        [even, np.stack([divisors, -divisors, divisors * 2, divisors / 2])],
    )
    book.value(
        "float32/regular-one",
        f"{both} BROADCASTING-8 GRADIENTS-3",
        _pair(op, ((2, 4), (2, 1)), ((0, 4), (0, 1)), ((1, 4), (1, 1)), high=2),
    )
    book.value("float32/irregular", value, _pair(op, ((2, 3), (2, 3)), ((1, 5), (1, 5))))
    book.value("float32/batch1-len1", value, [nest("float32", [[3.0]]), nest("float32", [[-2.0]])])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", value, [empty, empty])
    book.value("float32/all-empty", f"{both} GRADIENTS-4", [all_empty("float32"), all_empty("float32")])
    met_nothing = [all_empty("float32"), np.array([1, -2, 4], "float32")]
    book.value("float32/met-nothing", f"{both} GRADIENTS-4", met_nothing)
    inner0 = integers("float32", [(2, 0), (1, 0)], op)
    book.value("float32/inner0", value, [inner0, inner0])
    return plain


def _mismatches(book: Book, clause: str, near: str) -> None:
    """Add the refusals of nested operands that do not fit each other."""
    book.error_inside("lengths", clause, "StructureError", near, _pair("x", ((2, 4), (2, 4)), ((3, 4), (1, 4))))
    fewer = integers("float32", [(2, 4), (0, 4)], "fewer")
    book.error_inside("components", clause, "StructureError", near, [small("float32", "more"), fewer])


def _alphas(book: Book, promoted: str, refused: str) -> None:
    """Add what tells whether the product is taken before or after promotion, and the refusals of an alpha."""
    bytes_, wide = nest("int8", [[100, -100], [], [1]]), nest("int64", [[0, 5], [], [7]])
    book.value("int64/alpha-promotes", promoted, [wide, bytes_], kw={"alpha": 2})
    book.value("int64/alpha-wide", promoted, [wide, bytes_], kw={"alpha": 300})
    fits = book.value("int8/alpha-wraps", promoted, [bytes_, bytes_], kw={"alpha": 2})
    halves, singles = nest("float16", [[6e4], [1.0, -6e4]]), nest("float32", [[0.0], [1.0, 2.0]])
    book.value("float32/alpha-promotes", promoted, [singles, halves], kw={"alpha": 2})
    book.value("float32/alpha-negative", promoted, [singles, nest("uint8", [[3], [0, 255]])], kw={"alpha": -1})
    book.value("float64/alpha-int64", promoted, [nest("float64", [[0.0]]), nest("int64", [[2**62]])], kw={"alpha": 4})
    book.value("int8/alpha-float", promoted, [bytes_, bytes_], kw={"alpha": 0.5}, dtype="float64")
    book.error("alpha-range", refused, "OverflowError", fits, [bytes_, bytes_], kw={"alpha": 300})


def add() -> Book:
    """Cases of `add`."""
    book = Book("add")
    plain = _common(book, "1 3", "8")
    a, b = small("float32", "add k"), small("float32", "add l")
    doubled = book.value("float32/alpha", "2 8", [a, b], kw={"alpha": 2})
    book.value("float32/alpha-number", "2 8", [a, 3.0], kw={"alpha": -0.5})
    book.value("int32/alpha", "2 4", [small("int32", "add m"), small("int32", "add n")], kw={"alpha": 3})
    _alphas(book, "10", "11")
    book.value("float32/alpha-rounded", "9", [a, b], kw={"alpha": 0.1}, unspecified=True, gradient=None)
    half = nest("float32", [[1.0, 1.0 + 2**-23], [2.0**24]])
    book.value(
        "float32/half-way", "1 NUMERICS-2", [half, nest("float32", [[2.0**-24, 2.0**-24], [1.0]])], gradient=None
    )
    left, right = [[NAN, INF, 0.0], [-0.0, 1.0]], [[1.0, -INF, -0.0], [-0.0, -1.0]]
    book.value("float32/special", "1 NUMERICS-5 NUMERICS-6", [nest("float32", left), nest("float32", right)])
    book.value("float64/subnormal", "1", [nest("float64", [[TINY], []]), nest("float64", [[2 * TINY], []])])
    most = nest("float16", [[65504.0], [65504.0, -65504.0]])
    book.value("float16/overflow", "1 NUMERICS-2", [most, nest("float16", [[32.0], [1.0, -65504.0]])], gradient=None)
    book.value(
        "int64/wrap",
        "4 DTYPES-7",
        [nest("int64", [[INT64_MAX, INT64_MIN], [2**53 + 1]]), nest("int64", [[1, -1], [2]])],
    )
    book.value("int8/wrap", "4", [nest("int8", [[127, -128], [5]]), nest("int8", [[1, -1], [-7]])])
    book.value("uint8/wrap", "4", [nest("uint8", [[255], [3, 4]]), 2], dtype="uint8")
    book.value("bool/or", "4", [nest("bool", [[0, 0], [1, 1]]), nest("bool", [[0, 1], [0, 1]])])
    book.value(
        "int32/promotes",
        "4 DTYPES-3 GRADIENTS-7",
        [small("int32", "add o"), small("float32", "add p")],
        dtype="float64",
    )
    book.value("int16/promotes", "4", [small("int8", "add q"), small("int16", "add r")])
    book.value("float32/number-int", "4 3 DTYPES-4", [small("float32", "add s"), 2], gradient=None)
    tenth = nest("float32", [[0.0], [-0.0]])
    weak = nest("float32", [[0.1], [0.1]])
    book.value("float32/weak", "4 DTYPES-4", [tenth, 0.1], result=weak, gradient=None)
    book.value("int8/float-number", "4 DTYPES-4", [small("int8", "add v"), 1.5], dtype="float64")
    book.value("bool/int-number", "4 DTYPES-4", [nest("bool", [[1, 0], [], [1]]), 1], dtype="int64")
    zero_d = np.array(0.5, "float64")
    book.value("float32/zero-dimensions", "4 DTYPES-5 BROADCASTING-10 8", [small("float32", "add w"), zero_d])
    fits = book.value("int8/number", "4 3", [small("int8", "add t"), 100], dtype="int8")
    book.value("float32/plain", "1 8", [np.array([[1, 2]], "float32"), np.array([[3], [4]], "float32")], kind="plain")
    _mismatches(book, "5", plain)
    ones = integers("float32", [(1, 4), (1, 4), (1, 4)], "add u")
    book.error_inside(
        "ragged-one", "5 3 BROADCASTING-9", "StructureError", doubled, [a, ones], kw={"alpha": 2}, layouts=("jagged",)
    )
    per_row = np.ones((3, 4), "float32")
    book.error_inside("missing-dimension", "6 BROADCASTING-5 ERRORS-5", "ShapeError", plain, [a, per_row])
    book.error("dense-batch", "6", "ShapeError", plain, [a, np.ones((2, 1, 4), "float32")])
    book.error("dense-rank", "6 BROADCASTING-6", "ShapeError", plain, [a, np.ones((1, 3, 1, 4), "float32")])
    padded = np.ones((3, 2, 4), "float32")
    book.error_inside("dense-padded", "6 BROADCASTING-5", "ShapeError", plain, [a, padded])
    rows = nest("float32", [[1.0, 2.0], [], [4.0]])
    for name, shape in (("batch-vector", (3,)), ("batch-row", (1, 3)), ("batch-padded", (3, 2))):
        dense_one = np.ones(shape, "float32")
        book.error_inside(name, "6 BROADCASTING-5", "ShapeError", "add/float32/number-left/1", [rows, dense_one])
    book.error("number-range", "7 DTYPES-6", "OverflowError", fits, [small("int8", "add t"), 300])
    return book


def sub() -> Book:
    """Cases of `sub`."""
    book = Book("sub")
    plain = _common(book, "1", "6")
    a, b = small("float32", "sub k"), small("float32", "sub l")
    book.value("float32/alpha", "1 6", [a, b], kw={"alpha": 2})
    _alphas(book, "7", "8")
    left, right = [[INF, 5.0], [-0.0, NAN]], [[INF, 5.0], [0.0, 1.0]]
    book.value("float32/special", "5", [nest("float32", left), nest("float32", right)])
    book.value("uint8/wrap", "2", [nest("uint8", [[0], [3, 4]]), nest("uint8", [[1], [3, 5]])])
    book.value("int64/wrap", "2", [nest("int64", [[INT64_MIN], [7]]), nest("int64", [[1], [9]])])
    ints = book.value("int8/ragged", "1 2", [small("int8", "sub m"), small("int8", "sub n")])
    book.value("int64/promotes", "2", [small("int8", "sub o"), small("int64", "sub p")])
    _mismatches(book, "4", plain)
    book.error("bool", "3", "DTypeError", ints, [nest("bool", [[1], [0, 1]]), nest("bool", [[1], [1, 1]])])
    return book


def mul() -> Book:
    """Cases of `mul`."""
    book = Book("mul")
    plain = _common(book, "1", "5")
    left, right = [[0.0, -0.0, -1.0], [INF, NAN]], [[INF, 3.0, 0.0], [-2.0, 0.0]]
    book.value("float32/special", "4 NUMERICS-5", [nest("float32", left), nest("float32", right)])
    nan = [nest("float32", [[NAN, 2.0], [3.0]]), nest("float32", [[4.0, 5.0], [6.0]])]
    cotangent = nest("float32", [[2.0, 3.0], [-1.0]])
    gradients = [[[8.0, 15.0], [-6.0]], [[NAN, 6.0], [-3.0]]]
    book.value("float32/nan-gradient", "5 GRADIENTS-2", nan, cotangent=cotangent, gradient=gradients)
    book.value("bool/and", "2", [nest("bool", [[0, 0], [1, 1]]), nest("bool", [[0, 1], [0, 1]])])
    book.value("int64/wrap", "2", [nest("int64", [[2**62], [3]]), nest("int64", [[4], [-5]])])
    book.value("int8/wrap", "2", [nest("int8", [[100, -128], [5]]), nest("int8", [[2, -1], [-7]])])
    book.value("float32/shared", "1 5", [small("float32", "mul k"), small("float64", "mul l", 1, 4)])
    _mismatches(book, "3", plain)
    rank = [small("float32", "mul m"), integers("float32", [(2,), (0,), (1,)], "mul n")]
    book.error("rank", "3", "StructureError", plain, rank)
    return book


def extreme(op: str) -> Book:
    """Cases of `maximum` and `minimum`."""
    book = Book(op, zeros="either")
    plain = _common(book, "1", "5")
    ties = [nest("float32", [[1.0, 2.0, -3.0], [], [0.5]]), nest("float32", [[1.0, -2.0, -3.0], [], [4.0]])]
    book.value("float32/ties", "1 5", ties, cotangent=nest("float32", [[2.0, 3.0, 5.0], [], [7.0]]))
    book.value("float32/tie-number", "5", [ties[0], 0.5], cotangent=nest("float32", [[2.0, 3.0, 5.0], [], [7.0]]))
    left, right = [[NAN, 1.0, NAN], [INF, -INF, INF]], [[1.0, NAN, INF], [3.0, 3.0, -INF]]
    book.value("float32/special", "3 6", [nest("float32", left), nest("float32", right)])
    book.value("bool/or", "2", [nest("bool", [[0, 0], [1, 1]]), nest("bool", [[0, 1], [0, 1]])])
    book.value("int64/extremes", "1 2", [nest("int64", [[INT64_MIN], [2**53 + 1]]), nest("int64", [[-1], [2**53]])])
    book.value("uint8/ragged", "2", [nest("uint8", [[255, 0], [5]]), nest("uint8", [[2, 1], [7]])])
    book.value("float32/shared", "2 5", [small("float32", f"{op} k"), small("float64", f"{op} l", 1, 4)])
    _mismatches(book, "4", plain)
    return book


def clamp() -> Book:
    """Cases of `clamp`."""
    book = Book("clamp", zeros="either")
    x = small("float32", "clamp a")
    plain = book.value("float32/ragged", "1 7 NUMERICS-1 GRADIENTS-1", [x, -3.0, 4.0])
    low, high = small("float32", "clamp b", -8, 0), small("float32", "clamp c", -2, 8)
    book.value("float32/nested", "1 7", [x, low, high])
    rows = np.array([-1, 0, 2, -4], "float32"), np.array([[[2.0]], [[4.0]], [[-1.0]]], "float32")
    book.value("float32/dense", "1 7 BROADCASTING-3 GRADIENTS-3", [x, *rows])
    book.value("float32/dense-self", "1 7", [rows[1], low, 1.0])
    book.value("float32/min", "1 2 7", [x, low])
    book.value("float32/min", "1 2 7", [x], kw={"min": 2.0})
    book.value("float32/max", "1 2 7", [x, None, 2.0])
    book.value("float32/none", "2 7", [x])
    book.value("float64/empty-first", "1 7", [integers("float64", EMPTY_FIRST, "clamp d"), -2.0, 5.0])
    book.value("float16/empty-last", "1 7", [integers("float16", EMPTY_LAST, "clamp e"), -2.0, 5.0])
    ties = nest("float32", [[1.0, -3.0, 7.0], [], [2.0]])
    cotangent = nest("float32", [[2.0, 3.0, 5.0], [], [7.0]])
    book.value("float32/ties", "7", [ties, np.array(1.0, "float32"), np.array(2.0, "float32")], cotangent=cotangent)
    book.value(
        "float32/reversed", "4 7", [ties, np.array(2.0, "float32"), np.array(1.0, "float32")], cotangent=cotangent
    )
    bounds = nest("float32", [[0.0, NAN, 0.0, 1.0], [], [-INF]]), nest("float32", [[1.0, 1.0, NAN, INF], [], [INF]])
    book.value("float32/special", "4 8", [nest("float32", [[NAN, 0.5, 0.5, INF], [], [-INF]]), *bounds])
    book.value("bool/and", "3", [nest("bool", [[0, 1], [], [1]]), False, nest("bool", [[1, 0], [], [1]])])
    book.value(
        "int64/extremes", "1 3", [nest("int64", [[INT64_MIN, INT64_MAX], [2**53 + 1]]), INT64_MIN + 1, 2**53 + 2]
    )
    fits = book.value("int8/ragged", "1 3", [small("int8", "clamp f"), -2, 100])
    book.value("int8/float", "3", [small("int8", "clamp f"), 0.5, small("int16", "clamp h", 0, 8)])
    book.value("float32/irregular", "1", [integers("float32", IRREGULAR, "clamp g"), -2.0, 5.0])
    book.value("float32/batch0", "1", [no_components("float32", None, 4), -2.0, 5.0])
    book.value("float32/all-empty", "1", [all_empty("float32"), -2.0, 5.0])
    _mismatches(book, "5", plain)
    book.error("number-range", "6 DTYPES-6", "OverflowError", fits, [small("int8", "clamp f"), 0, 300])
    return book


def div() -> Book:
    """Cases of `div`."""
    book = Book("div")
    plain = _common(book, "1", "5")
    left, right = [[1.0, -1.0, 0.0], [INF, NAN, 2.0]], [[0.0, 0.0, 0.0], [INF, 1.0, -0.0]]
    book.value("float32/special", "3 NUMERICS-5", [nest("float32", left), nest("float32", right)])
    book.value("int32/true", "2", [nest("int32", [[1, -7], [6]]), nest("int32", [[2, 3], [4]])], dtype="float64")
    book.value("int8/zero", "2 3", [nest("int8", [[1, -1], [0]]), nest("int8", [[0, 0], [0]])], dtype="float64")
    book.value("bool/true", "2", [nest("bool", [[1], [0, 1]]), nest("bool", [[1], [1, 1]])], dtype="float64")
    big = dense(nest("int64", [[INT64_MAX, INT64_MIN, 2**53 + 1]], ragged=None))
    book.value("int64/extremes", "2", [nest("int64", [big]), nest("int64", [[1, -1, 3]])], dtype="float64")
    book.value("float32/int", "2", [small("int64", "div k"), small("float32", "div l", 1, 4)], dtype="float64")
    _mismatches(book, "4", plain)
    return book
