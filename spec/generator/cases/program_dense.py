"""Programs about the dense array that components of one shape make."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draws import distinct, integers
from ..programs import Chapter
from .inputs import no_components


def chapter() -> Chapter:
    """Programs about the dense array that components of one shape make."""
    book = Chapter("to_dense")
    equal: dict[str, Any] = {
        "rows": distinct("float32", [(2, 3), (2, 3)], "dense r"),
        "vectors": integers("int64", [(4,), (4,), (4,)], "dense v"),
        "last": distinct("float16", [(2, 3), (2, 3)], "dense l", ragged=2),
        "deep": integers("bool", [(2, 3, 1)] * 3, "dense d"),
        "one": distinct("float64", [(5, 2)], "dense o"),
        "empty": distinct("float32", [(0, 2), (0, 2)], "dense e"),
    }
    for group, x in equal.items():
        book.program(group, x=x).do("to_dense", "x", out="y").ask("1", "value", "y")
    for group, x in {"none": no_components("float32", None, 4), "none-last": no_components("int8", 3, None)}.items():
        book.program(group, x=x).do("to_dense", "x", out="y").ask("3", "value", "y").ask("3", "dim", "y")
    unequal = {"lengths": [(2, 3), (1, 3)], "an-empty-one": [(2, 3), (2, 3), (0, 3)]}
    for group, shapes in unequal.items():
        program = book.program(group, x=distinct("float32", shapes, "dense u"))
        program.refuse("2", "StructureError", "to_dense", "x").ask("SHAPE-1", "len", "x")
    turned = book.program("turned", layouts="strided", x=distinct("float32", [(2, 3), (3, 2)], "dense t"))
    turned.refuse("2", "StructureError", "to_dense", "x").ask("SHAPE-1", "len", "x")
    x, c = distinct("float32", [(2, 3), (2, 3)], "dense g"), np.arange(1, 13, dtype="float32").reshape(2, 2, 3)
    program = book.program("gradient", "x", x=x, c=c).do("to_dense", "x", out="y").do("mul", "y", "y", out="z")
    program.do("backward", "z", "c").do("grad", "x", out="g").ask("4", "value", "g").ask(
        "TAPE-12", "requires_grad", "y"
    )
    return book
