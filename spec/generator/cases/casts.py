"""Cases of `to`: numbers of every dtype in every other, above all those that the other one has not."""

from __future__ import annotations

import numpy as np

from ...encoding import Components
from ..author import Book
from ..draws import floats, integers, nest
from .inputs import INF, INT64_MAX, INT64_MIN, IRREGULAR, NAN, RAGGED, all_empty, no_components, small

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "float16", "float32", "float64")
INTEGERS = DTYPES[1:6]
TRAP = 2.0**-11  # half of what float16 has between 1 and its neighbour


def to() -> Book:
    """Cases of `to`."""
    book = Book("to")
    for target in DTYPES:
        _to(
            book,
            "float32",
            "ragged",
            "1 9" if target[0] == "f" else "1",
            small("float32", f"to {target}", 0, 1),
            target,
        )
        _to(
            book,
            target,
            "ragged",
            "1",
            small(target, f"to from {target}", 0, 1),
            "float64" if target[0] == "i" else "int64",
        )
    _rounded(book)
    _truncated(book)
    _wrapped(book)
    _to(book, "float64", "bool", "6", nest("float64", [[0.0, -0.0, NAN], [], [0.5, 5e-324, -INF]]), "bool")
    _to(book, "float32", "bool", "6", nest("float32", [[-0.0, 2.0**-149], [NAN]]), "bool")
    _to(book, "int64", "bool", "6", nest("int64", [[0, 2**32, INT64_MIN], [1]]), "bool")
    _to(book, "float32", "all-empty", "1", all_empty("float32"), "int8")
    book.value("float32/batch0", "1", [no_components("float32", None, 4), np.dtype("int8")])
    _layouts(book)
    return book


def _to(book: Book, source: str, group: str, clauses: str, x: Components, target: str, **options: object) -> str:
    return book.value(f"{source}/{group}-{target}", clauses, [x, np.dtype(target)], dtype=target, **options)


def _rounded(book: Book) -> None:
    """To floats: halves, what is rounded twice by way of float32, subnormals, and beyond the largest."""
    halves = [1 + TRAP, 1 + 3 * TRAP, -1 - TRAP, 1 + TRAP + 2.0**-40, 1 + TRAP - 2.0**-40]
    ends = [65503.0, 65519.999, 65520.0, -65520.0, 1e300, 2.0**-24, 2.0**-25, 2.0**-25 + 2.0**-60, -(2.0**-26)]
    _to(book, "float64", "rounded", "2 9", nest("float64", [halves, [], ends]), "float16")
    _to(
        book,
        "float32",
        "rounded",
        "2 9",
        nest("float32", [halves[:3], [], [1 + TRAP + 2.0**-23, 65519.996]]),
        "float16",
    )
    single = [1 + 2.0**-24, 1 + 3 * 2.0**-24, 1 + 2.0**-24 + 2.0**-50, 3.4028235e38, 3.4028236e38, -1e39]
    tiny = [2.0**-149, 2.0**-150, 2.0**-150 + 2.0**-190, 2.0**-126 - 2.0**-151, -(2.0**-151)]
    _to(book, "float64", "rounded", "2 9", nest("float64", [single, [], tiny]), "float32")
    _to(book, "float64", "fine", "2 9", floats("float64", RAGGED, "to fine"), "float32")
    _to(book, "float64", "fine", "2 9", floats("float64", RAGGED, "to half"), "float16")
    for source, target in (
        ("float64", "float16"),
        ("float32", "float64"),
        ("float16", "float32"),
        ("float64", "float32"),
    ):
        _to(book, source, "special", "2", nest(source, [[NAN, 0.0, -0.0], [INF, -INF]]), target)
    counts = [[2047, 2049, 2051, -2049], [], [65519, 65520, -65520, INT64_MAX]]
    _to(book, "int64", "rounded", "2", nest("int64", counts), "float16")
    _to(book, "int32", "rounded", "2", nest("int32", [[2**24 + 1, 2**24 + 3], [2**31 - 1, -(2**24) - 1]]), "float32")
    _to(book, "int64", "rounded", "2", nest("int64", [[2**53 + 1, 2**53 + 3], [INT64_MAX, INT64_MIN]]), "float64")
    trap = nest("int64", [[2**60 + 2**36 + 1, -(2**60) - 2**36 - 1], [2**60 + 2**36]])  # float64 loses the last one
    above, exact = np.float32(2.0**60 + 2.0**37), np.float32(2.0**60)
    _to(book, "int64", "trap", "2", trap, "float32", result=nest("float32", [[above, -above], [exact]]))


def _truncated(book: Book) -> None:
    """From floats to integers: fractions, and what lies outside the range."""
    for target in INTEGERS:
        least, greatest = (float(end) for end in (np.iinfo(target).min, np.iinfo(target).max))
        inside = nest("float64", [[2.9, 0.5, 100.999], [], [-0.5, -0.999, 1.0]])
        _to(book, "float64", "fractions", "3", inside, target)
        beyond = [[greatest + 1, 2 * greatest, 1e300, INF], [NAN], [least - 1, 2 * least - 1, -1e300, -INF, NAN]]
        _to(book, "float64", "beyond", "4", nest("float64", beyond), target)
        edges = nest("float64", [[greatest - 1024 if target == "int64" else greatest + 0.5], [least, least - 0.5]])
        _to(book, "float64", "ends", "3", edges, target)
    _to(
        book,
        "float32",
        "beyond",
        "4",
        nest("float32", [[2.0**31, 2.0**31 - 128, -(2.0**31)], [NAN, INF, -3e9]]),
        "int32",
    )
    _to(book, "float32", "beyond", "4", nest("float32", [[2.0**63, -(2.0**63)], [NAN, -INF, 1e38]]), "int64")
    _to(book, "float16", "beyond", "4", nest("float16", [[300.0, -1.0, 255.5], [NAN, INF]]), "uint8")
    _to(book, "float16", "beyond", "4", nest("float16", [[65504.0, -65504.0], [INF, NAN]]), "int16")
    _to(book, "float16", "beyond", "4", nest("float16", [[65504.0, -INF], [INF, NAN]]), "int64")


def _wrapped(book: Book) -> None:
    """From integers to narrower ones, and between those with a sign and the one without."""
    for target in INTEGERS:
        numbers = [[300, -1, 255, 256], [], [INT64_MAX, INT64_MIN, -129, 2**31, -(2**15) - 1, 2**40 + 7]]
        _to(book, "int64", "low-bits", "5" if target != "int64" else "1", nest("int64", numbers), target)
    _to(book, "uint8", "low-bits", "5", nest("uint8", [[200, 128], [127]]), "int8")
    _to(book, "int8", "low-bits", "5", nest("int8", [[-1, -128], [127]]), "uint8")


def _layouts(book: Book) -> None:
    x, jagged = small("float32", "to layout"), {"kw": {"layout": "jagged"}}
    for layout in ("strided", "jagged"):
        plain = book.value("float32/layout", "7 9", [x], kw={"layout": layout}, kind="nested")
    book.value("float32/layout-int8", "7 1", [x, np.dtype("int8")], dtype="int8", kind="nested", **jagged)
    book.error("irregular", "8", "LayoutError", plain, [integers("float32", IRREGULAR, "to irregular")], **jagged)
