"""Programs about what an array says of its own size."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers
from ..programs import Chapter, Draft
from .inputs import ALL, no_components


def chapter() -> Chapter:
    """Programs about what an array says of its own size."""
    book = Chapter("shape")
    _sizes(book)
    _views(book)
    _results(book)
    _irregular(book)
    return book


def _sizes(book: Chapter) -> None:
    inputs: dict[str, Any] = {
        "ragged": distinct("float32", [(2, 3), (0, 3), (1, 3)], "shape r"),
        "last": integers("int64", [(2, 2), (2, 0), (2, 5)], "shape l", ragged=2),
        "vectors": distinct("float32", [(4,), (1,)], "shape v"),
        "deep": distinct("float64", [(2, 3, 4), (1, 3, 4)], "shape d"),
        "one": integers("int8", [(5, 2)], "shape o"),
        "all-empty": distinct("float32", [(0, 2), (0, 2), (0, 2)], "shape e"),
        "no-elements": integers("float32", [(2, 0), (3, 0)], "shape n"),
        "batch0": no_components("float32", None, 4),
        "equal": integers("bool", [(3, 2), (3, 2)], "shape q"),
        "sum-of-rows": distinct("float32", [(3, 2), (0, 2), (1, 2), (1, 2), (0, 2)], "shape s"),
    }
    for group, x in inputs.items():
        _all_sizes(book.program(group, x=x), "x", x.shape)


def _all_sizes(program: Draft, name: str, shape: Any) -> Draft:
    """Ask for everything, each regular dimension from either end, and for dimensions that are not there."""
    program.ask("1", "len", name).ask("2", "dim", name).ask("4", "numel", name)
    for dim, size in enumerate(shape):
        if size is not None:
            program.ask("3", "size", name, dim).ask("3", "size", name, dim - len(shape))
    program.refuse("5", "DimensionError", "size", name, len(shape))
    return program.refuse("5", "DimensionError", "size", name, -len(shape) - 1)


def _irregular(book: Chapter) -> None:
    inputs = {
        "irregular": (distinct("float32", [(2, 3), (0, 3), (1, 3)], "shape i"), (1, -2)),
        "irregular-last": (integers("int64", [(2, 2), (2, 0)], "shape j", ragged=2), (2, -1)),
    }
    for group, (x, dims) in inputs.items():
        program = book.program(group, layouts="strided", x=x).ask("3", "size", "x", 0)
        for dim in dims:
            program.refuse("7", "StructureError", "size", "x", dim)


def _views(book: Chapter) -> None:
    x = distinct("float32", [(2, 3), (0, 3), (4, 3)], "shape w")
    moved = book.program("moved", x=x).do("transpose", "x", 1, 2, out="t").ask("6 3", "size", "t", 1)
    moved.ask("6 2", "dim", "t").do("unsqueeze", "t", 1, out="u").ask("6 2", "dim", "u").ask("6 3", "size", "u", 2)
    moved.ask("6 3", "size", "u", -3).ask("6 1", "len", "u").ask("6 4", "numel", "u")
    cut = book.program("cut", x=x).do("getitem", "x", Index((slice(1, 3),)), out="v").ask("6 1", "len", "v")
    cut.ask("6 4", "numel", "v").do("getitem", "v", Index((ALL, slice(0, 1), slice(1, 3))), out="w")
    cut.ask("6 4", "numel", "w").ask("6 3", "size", "w", 2).ask("1", "len", "x").ask("4", "numel", "x")
    none = book.program("cut-to-nothing", x=x).do("getitem", "x", Index((slice(3, None),)), out="v")
    none.ask("6 1", "len", "v").ask("6 4", "numel", "v").ask("6 2", "dim", "v")
    written = book.program("written", x=x).ask("4", "numel", "x").do("fill_", "x", 0.0).ask("6 4", "numel", "x")
    written.ask("6 1", "len", "x").do("getitem", "x", Index((ALL, slice(0, 1))), out="v").do("add_", "v", 1.0)
    written.ask("6 4", "numel", "v").ask("6 4", "numel", "x").ask("6 3", "size", "x", -1)
    parts = book.program("components", x=x).do("unbind", "x", out=["a", "b", "c"]).ask("6 4", "numel", "b")
    parts.ask("6 3", "size", "c", 0).ask("6 2", "dim", "a")


def _results(book: Chapter) -> None:
    x, row = distinct("float32", [(2, 3), (0, 3), (4, 3)], "shape z"), np.array([1, 2, 3], "float32")
    made = book.program("results", x=x, row=row).do("mul", "x", "row", out="y").ask("1", "len", "y")
    made.ask("4", "numel", "y").do("cat", ["x", "y"], dim=0, out="c").ask("1", "len", "c").ask("4", "numel", "c")
    made.do("cat", ["x", "y"], dim=2, out="w").ask("3", "size", "w", 2).ask("4", "numel", "w")
    copied = book.program("copied", x=x).do("getitem", "x", Index(([2, 0, 2],)), out="v").ask("1", "len", "v")
    copied.ask("4", "numel", "v").do("clone", "v", out="c").ask("4", "numel", "c").ask("3", "size", "c", 2)
