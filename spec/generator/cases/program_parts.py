"""Programs about what the jagged layout holds: values, offsets, lengths."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers
from ..programs import Chapter
from .inputs import ALL, no_components


def chapter() -> Chapter:
    """Programs about what the jagged layout holds."""
    book = Chapter("parts")
    _of_lists(book)
    _written(book)
    _made(book)
    return book


def _of_lists(book: Chapter) -> None:
    inputs: dict[str, Any] = {
        "rows": distinct("float32", [(2, 3), (0, 3), (1, 3)], "parts r"),
        "vectors": integers("int64", [(4,), (1,), (2,)], "parts v"),
        "last": distinct("float64", [(2, 2), (2, 0), (2, 3)], "parts l", ragged=2),
        "all-empty": distinct("float32", [(0, 2), (0, 2)], "parts e"),
        "batch0": no_components("float32", None, 4),
    }
    for group, x in inputs.items():
        program = book.program(group, layouts="jagged", placements="packed", x=x).ask("2 3 5", "offsets", "x")
        program.ask("1", "values", "x")


def _written(book: Chapter) -> None:
    x = distinct("float32", [(2, 2), (0, 2), (3, 2)], "parts w")
    program = book.program("written", layouts="jagged", placements="packed", x=x)
    program.do("getitem", "x", Index((2,)), out="c").do("fill_", "c", 5.0).ask("6", "values", "x")
    program.do("mul_", "x", 2.0).ask("6", "values", "x").ask("6", "offsets", "x")


def _made(book: Chapter) -> None:
    x, values = distinct("float32", [(2, 2), (0, 2), (3, 2)], "parts m"), distinct("float32", [(6, 2)], "parts b")[0]
    program = book.program("computed", layouts="jagged", placements="packed", x=x).do("mul", "x", 2.0, out="y")
    program.ask("1 7", "values", "y").ask("2 7", "offsets", "y")
    program = book.program("narrowed", layouts="jagged", x=x).do("getitem", "x", Index((ALL, slice(0, 1))), out="v")
    program.do("contiguous", "v", out="c").ask("1", "values", "c").ask("2 5", "offsets", "c")
    given: dict[str, Any] = {"values": values, "offsets": np.array([0, 3, 6]), "lengths": np.array([2, 1])}
    program = book.program("lengths", layouts="jagged", **given)
    program.do("nested_array_from_jagged", "values", "offsets", "lengths", out="x").ask("3 4", "lengths", "x")
    program.do("mul", "x", 2.0, out="y").ask("4", "value", "y")
