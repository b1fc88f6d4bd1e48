"""Cases of `allclose`."""

from __future__ import annotations

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import integers, nest
from .inputs import INF, IRREGULAR, NAN, all_empty, no_components, small


def allclose() -> Book:
    """Cases of `allclose`, whose differences are far from the bound, or 0."""
    book = Book("allclose")
    a = small("float32", "allclose")
    plain = book.value("float32/same", "1", [a, a])
    for name, shift, kw in (
        ("near", 2.0**-40, {}),
        ("far", 0.5, {}),
        ("absolute", 0.5, {"rtol": 0.0, "atol": 0.75}),
        ("absolute", 0.5, {"rtol": 0.0, "atol": 0.25}),
    ):
        other = Components([one.astype("float64") + shift for one in a], a.shape)
        book.value(f"float64/{name}", "1 7", [small("float64", "allclose"), other], kw=kw)
    last = [component.copy() for component in a]
    last[2][0, 3] += 1
    book.value("float32/last-element", "1", [a, Components(last, a.shape)])
    ten, eleven = nest("float32", [[10.0], [-10.0]]), nest("float32", [[16.0], [-16.0]])
    for pair in ([ten, eleven], [eleven, ten]):
        relative = book.value("float32/relative-to-other", "1", pair, kw={"rtol": 0.5, "atol": 0.0})
    book.value("float32/number", "1", [ten, 10.0], kw={"atol": 32.0})
    book.value("float32/number", "1", [10.0, ten])
    book.value("float32/dense", "1", [a, np.zeros((3, 1, 4), "float32")], kw={"atol": 16.0})
    for dtype in ("bool", "int8", "int64", "float16"):
        book.value(f"{dtype}/float32", "2", [small(dtype, "allclose"), a])
        book.value(f"{dtype}/same", "2", [small(dtype, "allclose"), small(dtype, "allclose")])
    large = nest("int64", [[2**53 + 1], [-(2**62)]])
    book.value("int64/large", "2", [large, nest("float64", [[2.0**53], [-(2.0**62)]])], kw={"rtol": 0.0, "atol": 0.0})
    special = nest("float32", [[INF, -INF], [1.0]])
    book.value("float32/infinities", "3", [special, special])
    book.value("float32/infinities", "3", [special, nest("float32", [[INF, INF], [1.0]])])
    book.value("float32/infinities", "3", [special, nest("float32", [[INF, 1.0], [1.0]])], kw={"rtol": 1e300})
    book.value("float32/infinities", "3", [nest("float32", [[1.0]]), nest("float32", [[INF]])], kw={"rtol": 1.0})
    nan = nest("float32", [[NAN, 1.0], [-0.0]])
    for flag in (False, True):
        book.value("float32/nan", "3", [nan, nan], kw={"equal_nan": flag})
        book.value("float32/nan", "3", [nan, nest("float32", [[1.0, NAN], [0.0]])], kw={"equal_nan": flag})
    irregular = integers("float32", IRREGULAR, "allclose i")
    book.value("float32/irregular", "1", [irregular, irregular])
    book.value("float32/all-empty", "4", [all_empty("float32"), all_empty("float32")])
    empty = no_components("float32", None, 4)
    book.value("float32/batch0", "4 VALUES-6", [empty, empty])
    lengths = integers("float32", [(2, 4), (1, 4), (1, 4)], "allclose l")
    book.error_inside("lengths", "5", "StructureError", plain, [a, lengths])
    book.error_inside("components", "5", "StructureError", plain, [a, Components(a[:2], (2, None, 4))])
    for kw in ({"rtol": -0.5}, {"atol": -1.0}, {"rtol": NAN}):
        book.error("tolerance", "6", "ArgumentError", relative, [ten, eleven], kw=kw)
    return book
