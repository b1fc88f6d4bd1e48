"""Programs about what lies in whose memory."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers
from ..programs import Chapter, Draft
from .inputs import ALL, ROWS
from .program_twice import used_and_turned


def chapter() -> Chapter:
    """Programs about what lies in whose memory."""
    book = Chapter("share")
    _views(book)
    _of_values(book)
    _copies(book)
    used_and_turned(book)
    return book


def _views(book: Chapter) -> None:
    x = distinct("float32", ROWS, "share x")
    moves: dict[str, tuple[Any, ...]] = {
        "transpose": (1, 2),
        "permute": ((0, 2, 1),),
        "unsqueeze": (2,),
        "unflatten": (2, (3, 1)),
        "view": ((3, -1, 3, 1),),
    }
    for op, args in moves.items():
        program = book.program(op, placements="packed" if op == "view" else "", x=x)
        _seen_both_ways(program.do(op, "x", *args, out="v"), "1", "v")
    wide = distinct("float32", [(2, 1, 3), (0, 1, 3), (3, 1, 3)], "share w")
    _seen_both_ways(book.program("squeeze", x=wide).do("squeeze", "x", 2, out="v"), "1", "v")
    indices: dict[str, tuple[Any, ...]] = {
        "components": (slice(1, 3),),
        "rows": (ALL, slice(1, None)),
        "columns": (ALL, ALL, slice(0, 2)),
        "column": (ALL, ALL, 1),
        "one-component": (2,),
        "new-dimension": (ALL, None),
        "everything": (...,),
    }
    for group, index in indices.items():
        _seen_both_ways(book.program(group, x=x).do("getitem", "x", Index(index), out="v"), "2", "v")
    _seen_both_ways(book.program("unbind", x=x).do("unbind", "x", out=["a", "b", "v"]), "2", "v")
    _seen_both_ways(book.program("split", x=x).do("split", "x", (2, 1), dim=0, out=["a", "v"]), "2", "v")
    _seen_both_ways(book.program("chunk", x=x).do("chunk", "x", 3, dim=2, out=["a", "v", "b"]), "2", "v")
    _seen_both_ways(book.program("detach", x=x).do("detach", "x", out="v"), "3", "v")


def _seen_both_ways(program: Draft, clause: str, view: str) -> None:
    """Write through the view and look at the base, and the other way round."""
    program.do("fill_", view, 50.0).ask(clause, "value", "x").do("mul_", "x", -2.0).ask(clause, "value", view)


def _of_values(book: Chapter) -> None:
    values, offsets = np.arange(1, 13, dtype="float32").reshape(6, 2), np.array([0, 2, 2, 6], "int64")
    jagged = book.program("jagged", values=values, offsets=offsets)
    jagged.do("nested_array_from_jagged", "values", "offsets", out="x").do("mul_", "values", 10.0)
    jagged.ask("4", "value", "x").do("fill_", "x", 3.0).ask("4", "value", "values")
    moved = book.program("metadata", values=values, offsets=offsets)
    moved.do("nested_array_from_jagged", "values", "offsets", out="x").do("sum", "x", 1, out="s")
    moved.do("setitem", "offsets", Index((1,)), 1).ask("5", "value", "x").do("sum", "x", 1, out="t")
    moved.ask("5", "value", "t")
    lengths = np.array([1, 0, 3], "int64")
    holes = book.program("metadata-lengths", values=values, offsets=offsets, lengths=lengths)
    holes.do("nested_array_from_jagged", "values", "offsets", "lengths", out="x").do("fill_", "lengths", 1)
    holes.ask("5", "value", "x").do("fill_", "x", 0.0).ask("4", "value", "values")
    flat, size = np.arange(1, 7, dtype="float32"), np.array([[1, 2], [2, 2]], "int64")
    strided = book.program("strided", layouts="strided", values=flat, size=size)
    strided.do("nested_array_from_strided", "values", "size", out="x").do("neg_", "values").ask("4", "value", "x")
    strided.do("add_", "x", 100.0).ask("4", "value", "values").do("fill_", "size", 1).ask("5", "value", "x")
    stride, offset = np.array([[1, 1], [1, 2]], "int64"), np.array([4, 0], "int64")
    placed = book.program("metadata-strides", layouts="strided", values=flat, size=size, stride=stride, offset=offset)
    placed.do("nested_array_from_strided", "values", "size", "stride", "offset", out="x").do("fill_", "stride", 0)
    placed.do("fill_", "offset", 0).ask("5", "value", "x").do("fill_", "x", 8.0).ask("4", "value", "values")


def _copies(book: Chapter) -> None:
    x = integers("float32", ROWS, "share p", 1, 9)
    computed: dict[str, tuple[Any, ...]] = {
        "add": ("x", 0.0),
        "mul": ("x", 1.0),
        "relu": ("x",),
        "abs": ("x",),
        "clamp": ("x", 0.0, 100.0),
        "maximum": ("x", "x"),
        "cat": (["x"],),
        "where": ("holds", "x", "x"),
    }
    holds = integers("bool", ROWS, "share q")
    for op, args in computed.items():
        used: dict[str, Any] = {"holds": holds} if op == "where" else {}
        _not_seen(book.program(f"computed-{op}", x=x, **used).do(op, *args, out="y"), "6", "y")
    _not_seen(book.program("clone", x=x).do("clone", "x", out="y"), "7", "y")
    parts = book.program("nested-array", x=x).do("unbind", "x", out=["a", "b", "c"])
    _not_seen(parts.do("nested_array", ["a", "b", "c"], out="y"), "7", "y")
    _not_seen(book.program("list", x=x).do("getitem", "x", Index(([2, 0],)), out="y"), "7", "y")
    vector = book.program("vector", x=x, places=np.array([0, 2], "int64"))
    _not_seen(vector.do("getitem", "x", "places", out="y"), "7", "y")
    _not_seen(book.program("mask", x=x, holds=holds).do("getitem", "x", "holds", out="y"), "7", "y")
    again = book.program("open", x=x).do("reshape", "x", (3, -1, 3), out="y").do("contiguous", "x", out="z")
    again.do("transpose", "x", 1, 2, out="t").do("fill_", "t", 2.0).ask("1", "value", "x")
    again.ask_open("8", "value", "y").ask_open("8", "value", "z")


def _not_seen(program: Draft, clause: str, copy: str) -> None:
    """Write to the copy and look at the original, and the other way round."""
    program.do("fill_", copy, 50.0).ask(clause, "value", "x").do("neg_", "x").ask(clause, "value", copy)
