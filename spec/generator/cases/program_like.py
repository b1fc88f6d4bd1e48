"""Programs about new arrays like another one."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..draws import distinct, integers
from ..programs import Chapter, Draft
from .inputs import no_components

# Each with the arguments beside the array that it is like.
FILLED: dict[str, tuple[Any, ...]] = {"zeros_like": (), "ones_like": (), "full_like": (7,)}
DRAWN: dict[str, tuple[Any, ...]] = {"empty_like": (), "rand_like": (), "randn_like": (), "randint_like": (-2, 3)}


def chapter() -> Chapter:
    """Programs about new arrays like another one."""
    book = Chapter("like")
    for op, rest in {**FILLED, **DRAWN}.items():
        _of_shapes(book, op, rest)
        _of_layouts(book, op, rest)
        _on_the_tape(book, op, rest)
    _dtypes(book)
    _apart(book)
    _refused(book)
    return book


def _group(op: str) -> str:
    return op.replace("_", "-")


def _shown(program: Draft, op: str, name: str) -> Draft:
    """Ask for the elements where they are known, and otherwise for the shape and the dtype alone."""
    if op in FILLED:
        return program.ask("1 2 3", "value", name)
    return program.ask_kind("1 2 6" if op == "empty_like" else "1 2", name)


def _of_shapes(book: Chapter, op: str, rest: tuple[Any, ...]) -> None:
    inputs: dict[str, Any] = {
        "ragged": distinct("float32", [(2, 3), (0, 3), (1, 3)], "like r"),
        "last": distinct("float64", [(2, 2), (2, 0), (2, 3)], "like l", ragged=2),
        "none": no_components("float32", None, 4),
        "half": distinct("float16", [(3,), (1,)], "like h"),
    }
    for group, x in inputs.items():
        program = book.program(f"{_group(op)}-{group}", x=x).do(op, "x", *rest, out="y")
        _shown(program, op, "y").ask("1", "len", "y").ask("1", "numel", "y").ask("1", "dim", "y")


def _of_layouts(book: Chapter, op: str, rest: tuple[Any, ...]) -> None:
    x = distinct("float32", [(2, 3), (0, 3), (1, 3)], "like o")
    for layout in ("jagged", "strided"):
        program = book.program(f"{_group(op)}-{layout}", layouts=layout, placements="packed", x=x)
        program.do(op, "x", *rest, out="y").ask("1", "offsets", "y").ask("10", "is_contiguous", "y")


def _on_the_tape(book: Chapter, op: str, rest: tuple[Any, ...]) -> None:
    x, c = distinct("float32", [(2, 3), (1, 3)], "like t"), integers("float32", [(2, 3), (1, 3)], "like c")
    program = book.program(f"{_group(op)}-recorded", "x", x=x, c=c).do(op, "x", *rest, out="y")
    program.ask("5", "requires_grad", "y").do("mul", "y", "x", out="z").do("backward", "z", "c")
    if op in FILLED:
        program.do("grad", "x", out="g").ask("5", "value", "g")
    if op != "randint_like":
        leaf = book.program(f"{_group(op)}-leaf", x=x, c=c).do(op, "x", *rest, requires_grad=True, out="y")
        leaf.ask("5", "requires_grad", "y").ask("5", "requires_grad", "x").do("mul", "y", "x", out="z")
        leaf.do("backward", "z", "c").do("grad", "y", out="g").ask("5", "value", "g")


def _dtypes(book: Chapter) -> None:
    for dtype in ("bool", "int8", "uint8", "int16", "int32", "int64", "float16", "float64"):
        x = integers(dtype, [(2,), (0,), (3,)], f"like {dtype}")
        program = book.program("filled", x=x).do("zeros_like", "x", out="a").ask("2 3", "value", "a")
        program.do("ones_like", "x", out="b").ask("2 3", "value", "b")
        program.do("full_like", "x", 1, out="c").ask("2 3", "value", "c").do("empty_like", "x", out="d")
        program.ask_kind("2", "d")
    x = integers("int32", [(2,), (3,)], "like other")
    for dtype in ("float32", "bool", "int64"):
        other = book.program(f"filled-{dtype}", x=x).do("zeros_like", "x", dtype=np.dtype(dtype), out="a")
        other.ask("2 3", "value", "a").do("ones_like", "x", dtype=np.dtype(dtype), out="b").ask("2 3", "value", "b")
        other.do("full_like", "x", 1, dtype=np.dtype(dtype), out="c").ask("2 3", "value", "c")
        other.do("empty_like", "x", dtype=np.dtype(dtype), out="d").ask_kind("2", "d")
    drawn = (
        book.program("drawn-float16", x=x).do("rand_like", "x", dtype=np.dtype("float16"), out="a").ask_kind("2", "a")
    )
    drawn.do("randn_like", "x", dtype=np.dtype("float16"), out="b").ask_kind("2", "b")
    drawn.do("randint_like", "x", 0, 5, dtype=np.dtype("int8"), out="c").ask_kind("2", "c")


def _apart(book: Chapter) -> None:
    x = distinct("float32", [(2, 3), (0, 3), (1, 3)], "like a")
    for op, rest in {**FILLED, "empty_like": ()}.items():
        program = book.program(f"{_group(op)}-apart", x=x).do(op, "x", *rest, out="y").do("fill_", "y", 5.0)
        program.ask("4", "value", "x").do("fill_", "x", 9.0).do("mul", "y", 1.0, out="z").ask("4", "value", "z")


def _refused(book: Chapter) -> None:
    x = integers("int32", [(2,), (3,)], "like i")
    half = book.program("no-half", x=x).refuse("7", "DTypeError", "full_like", "x", 0.5)
    half.do("full_like", "x", 2, out="z").ask("3", "value", "z")
    small = book.program("no-300", x=integers("int8", [(2,), (3,)], "like s"))
    small.refuse("8", "OverflowError", "full_like", "x", 300)
    small.do("full_like", "x", -128, out="z").ask("3", "value", "z")
