"""Programs about what a layout holds: values, offsets, lengths, sizes, strides; and what lies contiguously."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers
from ..programs import Chapter, Draft
from .inputs import ALL, no_components


def chapter() -> Chapter:
    """Programs about what a layout holds."""
    book = Chapter("parts")
    _of_lists(book)
    _written(book)
    _made(book)
    _of_strided(book)
    _contiguous(book)
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
    refused = book.program(
        "no-strides", layouts="jagged", placements="packed", x=distinct("float32", [(2, 2)], "parts n")
    )
    refused.refuse("15", "LayoutError", "component_strides", "x").ask("2", "offsets", "x")


def _of_strided(book: Chapter) -> None:
    inputs: dict[str, Any] = {
        "images": distinct("float32", [(2, 3), (0, 2), (3, 1)], "parts i"),
        "rows": integers("int64", [(2, 3), (0, 3), (1, 3)], "parts s"),
        "deep": distinct("float64", [(2, 3, 2), (1, 3, 4)], "parts d"),
        "none": no_components("float32", None, 4),
    }
    for group, x in inputs.items():
        sizes = book.program(f"sizes-{group}", x=x) if x.shape.count(None) == 1 else None
        (sizes or book.program(f"sizes-{group}", layouts="strided", x=x)).ask("8 9", "component_sizes", "x")
        if group != "none":
            _all_parts(book.program(f"strided-{group}", layouts="strided", placements="packed", x=x), "x")
    moved = integers("float32", [(2, 3, 2), (4, 2, 3)], "parts t")
    for op, dims in (("transpose", (1, 3)), ("permute", ((0, 2, 3, 1),))):
        program = book.program(f"strided-{op}", layouts="strided", placements="packed", x=moved)
        program.do(op, "x", *dims, out="t").ask("13 8", "component_sizes", "t").ask("13", "component_strides", "t")
        program.ask("13", "offsets", "t").do("contiguous", "t", out="c")
        _all_parts(program, "c").ask("13", "component_strides", "t")
    given: dict[str, Any] = {
        "values": distinct("float32", [(9,)], "parts g")[0],
        "sizes": np.array([[2, 2], [2, 2]]),
        "strides": np.array([[1, 3], [2, 1]]),
        "offsets": np.array([4, 0]),
    }
    program = book.program("strided-given", layouts="strided", **given)
    program.do("nested_array_from_strided", *given, out="x").ask("14", "component_sizes", "x")
    program.ask("14", "component_strides", "x").ask("14", "offsets", "x").do("mul", "x", 2.0, out="y")
    _all_parts(program, "y")
    refused = book.program("no-lengths", layouts="strided", placements="packed", x=inputs["images"])
    refused.refuse("15", "LayoutError", "lengths", "x").ask("8", "component_sizes", "x")


def _all_parts(program: Draft, name: str) -> Draft:
    """Ask for everything that says where the components of a strided array lie."""
    program.ask("8", "component_sizes", name).ask("9 12", "component_strides", name)
    return program.ask("9 11", "offsets", name).ask("10", "values", name)


def _contiguous(book: Chapter) -> None:
    x = distinct("float32", [(2, 3), (0, 3), (4, 3)], "parts c")
    program = book.program("contiguous-list", placements="packed", x=x).ask("16 CONTIGUOUS-3", "is_contiguous", "x")
    cut = Index((ALL, slice(0, 1)))
    program.do("getitem", "x", cut, out="v").ask("16", "is_contiguous", "v").do("contiguous", "v", out="c")
    program.ask("CONTIGUOUS-3", "is_contiguous", "c").ask("CONTIGUOUS-1", "value", "c")
    turned = book.program("contiguous-transposed", placements="packed", x=x).do("transpose", "x", 1, 2, out="t")
    turned.ask("16", "is_contiguous", "t").do("contiguous", "t", out="c").ask("CONTIGUOUS-3", "is_contiguous", "c")
    turned.do("transpose", "c", 1, 2, out="back").ask("16", "is_contiguous", "back")
    some = book.program("contiguous-components", placements="packed", x=x)
    some.do("getitem", "x", Index((slice(1, None),)), out="v").ask("16 CONTIGUOUS-3", "is_contiguous", "v")
    some.do("contiguous", "v", out="c").ask("CONTIGUOUS-3", "is_contiguous", "c")
    padded = distinct("float32", [(3, 5, 2)], "parts p")[0]
    narrowed = book.program("contiguous-narrowed", padded=padded, lengths=np.array([3, 2, 5]))
    narrowed.do("narrow", "padded", 1, 0, "lengths", out="x").ask("16", "is_contiguous", "x")
    narrowed.do("contiguous", "x", out="c").ask("CONTIGUOUS-3", "is_contiguous", "c").ask("CONTIGUOUS-1", "value", "c")
    placed = book.program("contiguous-placed", x=x).do("contiguous", "x", out="c")
    placed.ask("CONTIGUOUS-3", "is_contiguous", "c")
    computed = book.program("contiguous-computed", placements="packed", x=x)
    for op, *args in (("mul", "x", "x"), ("relu", "x"), ("cat", ["x", "x"], 0), ("cat", ["x", "x"], 2), ("clone", "x")):
        name = f"y{len(computed.steps)}"
        computed.do(op, *args, out=name).ask("LAYOUTS-9", "is_contiguous", name)
    matrix = book.program("contiguous-matmul", placements="packed", x=x, w=distinct("float32", [(3, 2)], "parts w")[0])
    matrix.do("matmul", "x", "w", out="y").ask("LAYOUTS-9", "is_contiguous", "y")
    last = distinct("float32", [(3, 2), (3, 0), (3, 4)], "parts q", ragged=2)
    summed = book.program("contiguous-last", placements="packed", x=last).ask("16", "is_contiguous", "x")
    summed.do("cumsum", "x", 2, out="y").ask("LAYOUTS-9", "is_contiguous", "y").do("cumsum", "x", 1, out="z")
    summed.ask("LAYOUTS-9", "is_contiguous", "z")
