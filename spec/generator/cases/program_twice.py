"""Programs in which one array is used more than once: by one operator, and before and after it is turned."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers, nest
from ..programs import Chapter
from .inputs import ALL

SHAPES = [(2, 2), (0, 2), (1, 2)]


def given_twice(book: Chapter) -> None:
    """Operators that are given the same array twice: what comes to each of its places adds up."""
    x, c = distinct("float32", SHAPES, "tape twice"), integers("float32", SHAPES, "tape twice c", 1, 6)
    for op, clause in (("add", "ADD-1"), ("sub", "SUB-1"), ("mul", "MUL-1"), ("maximum", "MAXIMUM-1")):
        pair = book.program("given-twice", "x", x=x, c=c).do(op, "x", "x", out="y").ask(clause, "value", "y")
        pair.do("backward", "y", "c").do("grad", "x", out="g").ask("14", "value", "g")
    flat = nest("float32", [[4.0, -2.0], [], [0.5]])
    apart = book.program("given-twice", "x", x=flat, c=nest("float32", [[1.0, 2.0], [], [3.0]]))
    apart.do("div", "x", "x", out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("14", "value", "g")
    for dim, clause in ((0, "CAT-1"), (1, "CAT-2"), (2, "CAT-2")):
        joined = [*SHAPES, *SHAPES] if dim == 0 else [(rows * (3 - dim), 2 * dim) for rows, _ in SHAPES]
        both = book.program("joined-twice", "x", x=x, c=integers("float32", joined, f"tape joined {dim}", 1, 6))
        both.do("cat", ["x", "x"], dim, out="y").ask(clause, "value", "y").do("backward", "y", "c")
        both.do("grad", "x", out="g").ask("14", "value", "g")
    outer = [(rows, rows) for rows, _ in SHAPES]
    gram = book.program(
        "with-its-transpose", "x", layouts="strided", x=x, c=integers("float32", outer, "tape xx", 1, 6)
    )
    gram.do("transpose", "x", 1, 2, out="t").do("matmul", "x", "t", out="y").ask("MATMUL-1", "value", "y")
    gram.do("backward", "y", "c").do("grad", "x", out="g").ask("14", "value", "g")
    weights = np.array([[[1, 2], [3, 5]], [[2, 4], [1, 1]], [[3, 1], [2, 6]]], "float32")
    per_component = np.array([2, -1, 3], "float32")
    inner = book.program("with-its-transpose", "x", layouts="jagged", x=x, w=weights, c=per_component)
    inner.do("transpose", "x", 1, 2, out="t").do("matmul", "t", "x", out="y").do("mul", "y", "w", out="z")
    inner.do("sum", "z", (1, 2), out="s").do("backward", "s", "c").do("grad", "x", out="g").ask("14", "value", "g")
    view = book.program("with-its-view", "x", x=x, c=integers("float32", [(2, 1), (0, 1), (1, 1)], "tape xv", 1, 6))
    view.do("getitem", "x", Index((ALL, ALL, slice(0, 1))), out="v").do("mul", "v", "v", out="s")
    view.do("sum", "x", 2, keepdim=True, out="u").do("mul", "s", "u", out="y").ask("MUL-1", "value", "y")
    view.do("backward", "y", "c").do("grad", "x", out="g").ask("14", "value", "g")


def used_and_turned(book: Chapter) -> None:
    """An array is used, moved, and used: what was kept of the first use is not what the second one needs."""
    x = distinct("float32", [(2, 3), (1, 3)], "share turned")
    moves: dict[str, tuple[Any, ...]] = {
        "transpose": (1, 2),
        "permute": ((0, 2, 1),),
        "unsqueeze": (1,),
        "getitem": (Index((ALL, slice(1, None))),),
    }
    for op, args in moves.items():
        program = book.program("used-turned-used", x=x)
        program.do("cumsum", "x", 1, out="a").do("neg", "x", out="b").do(op, "x", *args, out="v")
        program.do("cumsum", "v", 1, out="s").ask("CUMSUM-1", "value", "s").do("neg", "v", out="n")
        program.do("add", "n", "v", out="o").ask("ADD-1", "value", "o").do("sum", "v", 2, out="t")
        program.ask("SUM-1", "value", "t").ask("CUMSUM-1", "value", "a").ask("NEG-1", "value", "b")
