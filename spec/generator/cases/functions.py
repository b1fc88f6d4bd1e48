"""Cases of the elementwise operators of one operand."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ...bounds import NO_TOLERANCE
from ...components import each
from ...function import Function
from ...functions import FUNCTIONS
from ...numerics import NDArray
from ..author import Book
from ..draws import floats, integers, nest
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
    shuffled,
    small,
    special,
)

# The dtypes of integers, and those of floats that functions make of them.
_INTEGERS = {"int8": "float16", "uint8": "float16", "int16": "float32", "int32": "float64", "int64": "float64"}
# What ordinary numbers show, by what becomes of dtypes.
_SHOWN = {
    "floats": "1 {gradient} NUMERICS-3 GRADIENTS-1",
    "quotient": "1 {gradient} NUMERICS-2 GRADIENTS-1",
    "wrap": "1 {gradient} NUMERICS-2 GRADIENTS-1",
    "stay": "1 {gradient} NUMERICS-1",
    "bool": "1 NUMERICS-1",
}


def function_books() -> list[Book]:
    """Return the books of the operators of one operand."""
    by_hand = [neg(), abs_(), sgn(), exp(), log(), sin(), tanh(), relu(), gelu(), silu()]
    written = {book.op for book in by_hand}
    books = [*by_hand, *(entry(one) for name, one in FUNCTIONS.items() if name not in written)]
    for book in books:
        numbers = FUNCTIONS[book.op].outside if book.op in FUNCTIONS else []
        if numbers:
            nan, open_ = nest("float32", [[NAN] * len(numbers), []]), [list(range(len(numbers))), []]
            options = {"result": nan, "gradient": [[[0.0] * len(numbers), []]], "unspecified_gradient": open_}
            book.value("float32/outside", "5 3", [nest("float32", [numbers, []])], **options)
    return books


def _common(book: Book, value: str, gradient: str) -> str:
    """Add the cases in small integers that every exact operator has; return the id of the plainest."""
    op, both = book.op, f"{value} {gradient}"
    plain = book.value("float32/ragged", f"{both} NUMERICS-1", [shuffled("float32", op)])
    book.value("float64/empty-first", both, [integers("float64", EMPTY_FIRST, op, 1)])
    book.value("float16/empty-last", both, [integers("float16", EMPTY_LAST, op, 1)])
    book.value("float32/rounding", value, [fine("float32", op)])
    _shapes(book, value)
    return plain


def _shapes(book: Book, value: str, within: Callable[[NDArray], NDArray] = np.copy, **options: object) -> None:
    """Add the shapes at the edge, with operands above 0, which ``within`` may bring nearer to it."""
    op = book.op
    book.value("float32/irregular", value, [each(within, integers("float32", IRREGULAR, op, 1))], **options)
    book.value("float32/batch1-len1", value, [each(within, nest("float32", [[2.0]]))], **options)
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", value, [empty])
    book.value("float32/all-empty", value, [all_empty("float32")])
    book.value("float32/inner0", value, [integers("float32", [(2, 0), (1, 0)], op)])


def _smooth(book: Book, value: str, gradient: str) -> str:
    """Add the cases of a smooth function, compared within its bound; return the id of the plainest."""
    op = book.op
    plain = book.value(
        "float32/ragged", f"{value} {gradient} NUMERICS-3 GRADIENTS-1", [fine("float32", op)], cmp="bound"
    )
    book.value("float64/ragged", f"{value} {gradient}", [fine("float64", op)], cmp="bound")
    book.value("float16/ragged", f"{value} {gradient}", [fine("float16", op)], cmp="bound")
    book.value("float32/empty-first", f"{value} {gradient}", [floats("float32", EMPTY_FIRST, op)], cmp="bound")
    _shapes(book, value, cmp="bound")
    return plain


def _dtypes(book: Book, clause: str, number: int, result: str | None = None) -> None:
    """Add the dtype of the result for every integer dtype; the value at `number` is exact."""
    for dtype, own in _INTEGERS.items():
        book.value(f"{dtype}/dtype", clause, [nest(dtype, [[number, number], [], [number]])], dtype=result or own)
    book.value("bool/dtype", clause, [nest("bool", [[number], [number]])], dtype=result or "float16")


def entry(one: Function) -> Book:
    """Cases of an entry: ordinary numbers in every float dtype, shapes at the edge, its own edges, and every dtype."""
    book = Book(one.name)
    compared: dict[str, Any] = {"cmp": "exact" if one.precision in NO_TOLERANCE else "bound"}
    judges, plain = one.dtypes == "bool", ""
    gradient = str(one.number(4))
    shown = _SHOWN[one.dtypes].format(gradient=gradient)
    for dtype in ("float32", "float64", "float16"):
        plain = book.value(f"{dtype}/ragged", shown, [each(one.inside, fine(dtype, one.name))], **compared)
    bounded = one.domain is not None and math.isfinite(one.domain[1])
    _shapes(book, "1", (lambda x: x / 16) if bounded else np.copy, **compared)
    numbers = [*[(NAN, NAN)][judges:], *one.special]
    given, result = ([list(column), []] for column in zip(*numbers, strict=True))
    told = {"result": nest("bool" if judges else "float32", result)}
    book.value("float32/special", "3", [nest("float32", given)], **told)
    if one.poles:
        book.value("float32/poles", gradient, [nest("float32", [[pole for pole, _ in one.poles], []])], **compared)
    if one.dtypes in ("floats", "quotient"):
        _dtypes(book, "2", one.integer, **{"result": "float64"} if one.dtypes == "quotient" else {})
        return book
    for dtype in _INTEGERS:
        ends = np.iinfo(dtype)
        book.value(f"{dtype}/dtype", "2", [nest(dtype, [[ends.min, ends.max], [], [11]])])
    if judges:
        book.value("bool/dtype", "2", [nest("bool", [[1, 0], [1]])])
    else:
        book.error("bool", "5", "DTypeError", plain, [nest("bool", [[1, 0], [1]])])
    return book


def neg() -> Book:
    """Cases of `neg`."""
    book = Book("neg")
    _common(book, "1", "4")
    book.value("float32/special", "1", [special("float32")])
    book.value("int8/wrap", "2", [nest("int8", [[-128, 127], [], [1]])])
    plain = book.value("uint8/wrap", "2", [nest("uint8", [[1, 0], [255]])])
    book.value("int64/extremes", "2", [nest("int64", [[INT64_MIN, INT64_MAX], [2**53 + 1]])])
    book.error("bool", "3", "DTypeError", plain, [nest("bool", [[1, 0], [1]])])
    return book


def abs_() -> Book:
    """Cases of `abs`."""
    book = Book("abs")
    _common(book, "1", "3")
    book.value("float32/special", "1", [special("float32")])
    kink = nest("float32", [[0.0, -2.0], [], [-0.0, 3.0]])
    book.value("float32/kink", "1 3", [kink], cotangent=nest("float32", [[5.0, 2.0], [], [3.0, 4.0]]))
    undefined = nest("float32", [[NAN, -2.0], [1.0]])
    cotangent = nest("float32", [[2.0, 3.0], [4.0]])
    gradient = [[0.0, -3.0], [4.0]]
    options = {"cotangent": cotangent, "gradient": [gradient], "unspecified_gradient": [[0]]}
    book.value("float32/nan-gradient", "4", [undefined], **options)
    book.value("int8/wrap", "2", [nest("int8", [[-128, -5], [7]])])
    book.value("int64/extremes", "2", [nest("int64", [[INT64_MIN], [INT64_MAX, -3]])])
    book.value("uint8/ragged", "2", [small("uint8", "abs")])
    book.value("bool/ragged", "2", [nest("bool", [[1, 0], [], [1]])])
    return book


def sgn() -> Book:
    """Cases of `sgn`."""
    book = Book("sgn", zeros="either")
    plain = book.value("float32/ragged", "1", [shuffled("float32", "sgn")], gradient=None)
    _shapes(book, "1", gradient=None)
    book.value("float64/empty-first", "1", [integers("float64", EMPTY_FIRST, "sgn")], gradient=None)
    book.value("float16/subnormal", "1", [nest("float16", [[2.0**-24, -(2.0**-24)], [65504.0]])], gradient=None)
    book.value("float32/special", "1 2 5", [special("float32")])
    steps = nest("float32", [[-3.0, 0.0], [2.0]])
    flat = {"cotangent": nest("float32", [[2.0, 3.0], [-4.0]]), "gradient": [[[0.0, 0.0], [0.0]]]}
    book.value("float32/gradient", "4", [steps], **flat)
    book.value("int8/extremes", "1", [nest("int8", [[-128, 127], [0]])])
    book.value("int64/extremes", "1", [nest("int64", [[INT64_MIN, INT64_MAX], [0]])])
    book.value("uint8/ragged", "1", [nest("uint8", [[255, 0], [1]])])
    book.error("bool", "3", "DTypeError", plain, [nest("bool", [[1, 0], [1]])])
    return book


def exp() -> Book:
    """Cases of `exp`."""
    book = Book("exp")
    _smooth(book, "1", "4")
    book.value("float32/wide-range", "1 4", [nest("float32", [[-80.0, 80.0], [], [1e-5, -20.5]])], cmp="bound")
    book.value("float64/wide-range", "1", [nest("float64", [[-700.0, 700.0], [1e-9]])], cmp="bound", gradient=None)
    book.value("float32/special", "3", [special("float32")], cmp="bound")
    exact = nest("float32", [[0.0, -0.0, INF], [-INF, 1000.0, -1000.0], [NAN]])
    book.value("float32/exact", "3", [exact], result=nest("float32", [[1.0, 1.0, INF], [0.0, INF, 0.0], [NAN]]))
    one = nest("float32", [[0.0, 0.0], [0.0]])
    book.value("float32/one", "3 4", [one], cotangent=nest("float32", [[2.0, -3.0], [5.0]]))
    book.value("float16/overflow", "3", [nest("float16", [[12.0], [0.0]])], result=nest("float16", [[INF], [1.0]]))
    _dtypes(book, "2", 0)
    return book


def log() -> Book:
    """Cases of `log`."""
    book = Book("log")
    op = "log"
    numbers = nest("float32", [[0.5, 3.0], [], [1.0000001, 0.1, 1e30]])
    book.value("float32/ragged", "1 4", [numbers], cmp="bound")
    book.value("float64/ragged", "1 4", [nest("float64", [[0.3, 7.25], [1e-9], [1.5]])], cmp="bound")
    book.value("float64/wide-range", "1", [nest("float64", [[1e-300], [1e300]])], cmp="bound", gradient=None)
    book.value("float16/ragged", "1 4", [nest("float16", [[0.5, 3.0], [], [2.75]])], cmp="bound")
    book.value("float64/empty-first", "1 4", [integers("float64", EMPTY_FIRST, op, 1)], cmp="bound")
    _shapes(book, "1", cmp="bound")
    edges = nest("float32", [[0.0, -0.0, 1.0], [-1.0, -INF], [INF, NAN]])
    book.value("float32/special", "3", [edges], result=nest("float32", [[-INF, -INF, 0.0], [NAN, NAN], [INF, NAN]]))
    pole = nest("float32", [[0.0, 2.0], [0.5]])
    slope = {"cotangent": nest("float32", [[3.0, -4.0], [5.0]]), "gradient": [[[INF, -2.0], [10.0]]]}
    book.value("float32/pole", "3 4", [pole], cmp="bound", **slope)
    nothing = {"cotangent": nest("float32", [[0.0, 1.0], [0.0]]), "gradient": [[[NAN, 0.5], [0.0]]]}
    book.value("float32/pole", "4 GRADIENTS-6", [pole], cmp="bound", **nothing)
    _dtypes(book, "2", 1)
    return book


def sin() -> Book:
    """Cases of `sin`."""
    book = Book("sin")
    _smooth(book, "1", "4")
    near = nest("float32", [[3.1415927, 6.2831855], [1e-6], [100.5]])
    book.value("float32/near-zeros", "1 4", [near], cmp="bound")
    edges = nest("float32", [[0.0, -0.0, INF], [-INF], [NAN]])
    book.value("float32/special", "3", [edges], result=nest("float32", [[0.0, -0.0, NAN], [NAN], [NAN]]))
    zeros = nest("float32", [[0.0, 0.0], [0.0]])
    book.value("float32/zero", "3 4", [zeros], cotangent=nest("float32", [[2.0, -3.0], [5.0]]))
    _dtypes(book, "2", 0)
    return book


def tanh() -> Book:
    """Cases of `tanh`."""
    book = Book("tanh")
    _smooth(book, "1", "4")
    book.value("float32/small", "1 4", [fine("float32", "tanh small", 2.0**-12)], cmp="bound")
    edges = nest("float32", [[0.0, -0.0, INF], [-INF], [NAN, 50.0]])
    book.value("float32/special", "3", [edges], result=nest("float32", [[0.0, -0.0, 1.0], [-1.0], [NAN, 1.0]]))
    zeros = nest("float32", [[0.0, 0.0], [0.0]])
    book.value("float32/zero", "3 4", [zeros], cotangent=nest("float32", [[2.0, -3.0], [5.0]]))
    _dtypes(book, "2", 0)
    return book


def relu() -> Book:
    """Cases of `relu`."""
    book = Book("relu", zeros="either")
    _common(book, "1 2", "5")
    book.value("float32/special", "1 4 6", [special("float32")])
    kink = nest("float32", [[0.0, -2.0], [], [-0.0, 3.0]])
    book.value("float32/kink", "1 5 6", [kink], cotangent=nest("float32", [[5.0, 2.0], [], [3.0, 4.0]]))
    cotangent, gradient = nest("float32", [[2.0, 3.0], [4.0]]), [[0.0, 0.0], [4.0]]
    options = {"cotangent": cotangent, "gradient": [gradient], "unspecified_gradient": [[0]]}
    book.value("float32/nan-gradient", "6", [nest("float32", [[NAN, -2.0], [1.0]])], **options)
    plain = book.value("int8/extremes", "2", [nest("int8", [[-128, 127], [0]])])
    book.value("int64/extremes", "2", [nest("int64", [[INT64_MIN, INT64_MAX], [2**53 + 1]])])
    book.value("uint8/ragged", "2", [small("uint8", "relu")])
    book.error("bool", "3", "DTypeError", plain, [nest("bool", [[1, 0], [1]])])
    return book


def gelu() -> Book:
    """Cases of `gelu`."""
    book = Book("gelu", zeros="either")
    plain = _smooth(book, "1 3", "")
    approximate = {"approximate": "tanh"}
    for dtype in ("float16", "float32", "float64"):
        book.value(f"{dtype}/tanh", "2 3", [fine(dtype, "gelu tanh")], kw=approximate, cmp="bound")
    edges = nest("float32", [[INF, 0.0], [-0.0, NAN], [-INF]])
    result, open_place = nest("float32", [[INF, 0.0], [0.0, NAN], [NAN]]), {"unspecified": [[], [], [0]]}
    book.value("float32/special", "6 7", [edges], result=result, gradient=None, **open_place)
    book.value("float32/special-tanh", "6 7", [edges], kw=approximate, result=result, gradient=None, **open_place)
    zeros = nest("float32", [[0.0, 0.0], [0.0]])
    book.value("float32/zero", "1 6", [zeros], cotangent=nest("float32", [[2.0, -3.0], [5.0]]))
    book.error("int", "4 ERRORS-6", "DTypeError", plain, [small("int32", "gelu")])
    book.error("bool", "4", "DTypeError", plain, [nest("bool", [[1, 0], [1]])])
    book.error("approximate", "5", "ArgumentError", plain, [fine("float32", "gelu")], kw={"approximate": "sigmoid"})
    return book


def silu() -> Book:
    """Cases of `silu`."""
    book = Book("silu", zeros="either")
    plain = _smooth(book, "1 2", "5")
    book.value("float32/wide-range", "1 5", [nest("float32", [[20.0, -20.0], [], [50.0, 1e-4]])], cmp="bound")
    edges = nest("float32", [[INF, 0.0], [-0.0, NAN, -1000.0], [-INF]])
    result = nest("float32", [[INF, 0.0], [0.0, NAN, 0.0], [NAN]])
    book.value("float32/special", "1 4 6", [edges], result=result, gradient=None, unspecified=[[], [], [0]])
    zeros = nest("float32", [[0.0, 0.0], [0.0]])
    book.value("float32/zero", "4 5", [zeros], cotangent=nest("float32", [[2.0, -4.0], [6.0]]))
    book.error("int", "3", "DTypeError", plain, [small("int32", "silu")])
    book.error("bool", "3", "DTypeError", plain, [nest("bool", [[1, 0], [1]])])
    return book
