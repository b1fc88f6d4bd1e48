"""Programs about gradients of several steps."""

from __future__ import annotations

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers
from ..programs import Chapter
from .inputs import ALL, ROWS
from .program_second import second
from .program_twice import given_twice

COLUMNS = [(2, 2), (0, 2), (3, 2)]


def chapter() -> Chapter:
    """Programs about gradients of several steps."""
    book = Chapter("tape")
    _collected(book)
    _detached(book)
    _views(book)
    _kept(book)
    _writes(book)
    given_twice(book)
    second(book)
    return book


def _collected(book: Chapter) -> None:
    x, c = distinct("float32", ROWS, "tape x"), integers("float32", ROWS, "tape c", 1, 6)
    two = book.program("two-passes", "x", x=x, c=c).do("mul", "x", "x", out="y").do("backward", "y", "c")
    two.do("grad", "x", out="g").ask("1", "value", "g").do("mul", "x", 3.0, out="z").do("backward", "z", "c")
    two.do("grad", "x", out="h").ask("1", "value", "h")
    per_run = np.array([2, -3, 4], "float32")
    outputs = book.program("two-outputs", "x w", x=x, w=np.array([1, -1, 2], "float32"), c=c)
    outputs.do("mul", "x", "w", out="y").do("add", "y", "x", out="z").do("backward", "y", "c", retain_graph=True)
    outputs.do("backward", "z", "c").do("grad", "x", out="g").do("grad", "w", out="h")
    outputs.ask("1", "value", "g").ask("1", "value", "h")
    again = book.program("retained", "x", x=x, c=c).do("mul", "x", "x", out="y")
    again.do("backward", "y", "c", retain_graph=True).do("backward", "y", "c").do("grad", "x", out="g")
    again.ask("2 1", "value", "g").refuse("3", "GradientError", "backward", "y", "c")
    again.do("grad", "x", out="h").ask("2", "value", "h")
    once = book.program("freed", "x", x=x, c=c).do("mul", "x", "x", out="y").do("backward", "y", "c")
    once.refuse("3", "GradientError", "backward", "y", "c").do("grad", "x", out="g").ask("1", "value", "g")
    summed = book.program(
        "summed", "x", layouts="jagged", x=distinct("float32", [(2,), (0,), (3,)], "tape s"), c=per_run
    )
    summed.do("mul", "x", "x", out="y").do("sum", "y", 1, out="s").do("backward", "s", "c").do("grad", "x", out="g")
    summed.ask("1", "value", "g").do("sum", "x", 1, out="t").do("backward", "t", "c").do("grad", "x", out="h")
    summed.ask("1", "value", "h")


def _detached(book: Chapter) -> None:
    x, c = distinct("float32", ROWS, "tape d"), integers("float32", ROWS, "tape e", 1, 6)
    cut = book.program("detached", "x", x=x, c=c).do("detach", "x", out="d").do("mul", "x", "d", out="y")
    cut.do("backward", "y", "c").do("grad", "x", out="g").ask("4", "value", "g").ask("12", "requires_grad", "d")
    cut.ask("12", "requires_grad", "y")
    result = book.program("detached-result", "x", x=x, c=c).do("mul", "x", 2.0, out="y").do("detach", "y", out="d")
    result.ask("12", "requires_grad", "d").do("mul", "d", "x", out="z").do("backward", "z", "c")
    result.do("grad", "x", out="g").ask("4", "value", "g").do("add", "d", 1.0, out="n")
    result.ask("12", "requires_grad", "n").do("relu", "x", out="r").ask("12", "requires_grad", "r")
    plain = book.program("plain", "x", x=x, y=c).do("add", "y", 1.0, out="z").ask("12", "requires_grad", "z")
    plain.do("add", "x", "z", out="s").ask("12", "requires_grad", "s").ask("12", "requires_grad", "y")
    written = book.program("detached-written", "x", x=x, c=c).do("detach", "x", out="d").do("fill_", "d", 5.0)
    written.do("mul", "x", "x", out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("4", "value", "g")


def _views(book: Chapter) -> None:
    x, c = distinct("float32", ROWS, "tape v"), integers("float32", COLUMNS, "tape w", 1, 6)
    one = book.program("view", "x", x=x, c=c).do("getitem", "x", Index((ALL, ALL, slice(1, 3))), out="v")
    one.do("mul", "v", "v", out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("5", "value", "g")
    two = book.program("two-views", "x", x=x, c=c).do("getitem", "x", Index((ALL, ALL, slice(0, 2))), out="v")
    two.do("getitem", "x", Index((ALL, ALL, slice(1, 3))), out="w").do("mul", "v", "w", out="y")
    two.do("backward", "y", "c").do("grad", "x", out="g").ask("5", "value", "g")
    slopes = np.array([[2, -1, 3]] * 3, "float32")
    deep = book.program("component", "x", x=x, c=slopes).do("unbind", "x", out=["a", "b", "last"])
    deep.do("mul", "last", "last", out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("5", "value", "g")
    flat, d = distinct("float32", [(2,), (0,), (3,)], "tape f"), integers("float32", [(0,), (3,)], "tape u", 1, 6)
    part = book.program("components", "x", x=flat, c=d).do("getitem", "x", Index((slice(1, 3),)), out="v")
    part.do("mul", "v", 3.0, out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("5", "value", "g")
    turned = book.program("transposed", "x", x=x, c=integers("float32", [(2, 2), (2, 0), (2, 3)], "tape t", 1, 6, 2))
    turned.do("transpose", "x", 1, 2, out="t").do("getitem", "t", Index((ALL, slice(0, 2))), out="v")
    turned.do("mul", "v", "v", out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("5", "value", "g")


def _kept(book: Chapter) -> None:
    x, c = distinct("float32", ROWS, "tape k"), integers("float32", ROWS, "tape l", 1, 6)
    kept = book.program("kept", "x", x=x, c=c).do("mul", "x", 2.0, out="y").do("retain_grad", "y")
    kept.do("mul", "y", "y", out="z").do("backward", "z", "c", retain_graph=True).do("grad", "y", out="g").ask(
        "10", "value", "g"
    )
    kept.do("grad", "x", out="h").ask("10 1", "value", "h").do("mul", "y", 3.0, out="w").do("backward", "w", "c")
    kept.do("grad", "y", out="k").ask("10 1", "value", "k")
    hooked = book.program("hook", "x", x=x, c=c).do("mul", "x", 2.0, out="y").do("hook", "y", 10.0)
    hooked.do("mul", "y", 3.0, out="z").do("backward", "z", "c").do("grad", "x", out="g").ask("11", "value", "g")
    both = book.program("hook-kept", "x", x=x, c=c).do("mul", "x", 2.0, out="y").do("hook", "y", -1.0)
    both.do("retain_grad", "y").do("add", "y", "x", out="z").do("backward", "z", "c").do("grad", "y", out="g")
    both.ask("11 10", "value", "g").do("grad", "x", out="h").ask("11", "value", "h")
    leaf = book.program("hook-leaf", "x", x=x, c=c).do("hook", "x", 4.0).do("mul", "x", "x", out="y")
    leaf.do("backward", "y", "c").do("grad", "x", out="g").ask("11", "value", "g")
    own = book.program("own-memory", "x y", x=x, y=c, c=integers("float32", ROWS, "tape o", 1, 6))
    own.do("add", "x", "y", out="z").do("backward", "z", "c").do("grad", "x", out="g").do("grad", "y", out="h")
    own.do("mul_", "c", 100.0).ask("9", "value", "g").do("fill_", "g", 0.0).ask("9", "value", "h")
    own.ask("9", "value", "c")
    same = book.program("own-memory", "x", x=x, c=c).do("clone", "x", out="y").do("backward", "y", "c")
    same.do("fill_", "c", 0.0).do("grad", "x", out="g").ask("9", "value", "g")


def _writes(book: Chapter) -> None:
    x, c = distinct("float32", ROWS, "tape i"), integers("float32", ROWS, "tape j", 1, 6)
    leaf = book.program("write-to-leaf", "x", x=x, c=c).refuse("6", "GradientError", "add_", "x", 1.0)
    leaf.ask("WRITE-12", "value", "x").refuse("6", "GradientError", "fill_", "x", 0.0)
    leaf.do("mul", "x", "x", out="y").do("backward", "y", "c").do("grad", "x", out="g").ask("1", "value", "g")
    leaf.refuse("6", "GradientError", "copy_", "x", "c").ask("WRITE-12", "value", "x")
    index = Index((slice(1, None),))
    view = book.program("write-to-view", "x", x=x).do("getitem", "x", index, out="v")
    view.refuse("7", "GradientError", "mul_", "v", 2.0).ask("WRITE-12", "value", "x")
    turned = book.program("write-to-view", "x", x=x).do("transpose", "x", 1, 2, out="t")
    turned.refuse("7", "GradientError", "fill_", "t", 0.0).ask("WRITE-12", "value", "x")
    stale = book.program("overwritten", "x", x=x, y=c, c=c).do("mul", "x", "y", out="z").do("mul_", "y", 2.0)
    stale.may_refuse("17", "GradientError", "backward", "z", "c").do("grad", "x", out="g").ask("17", "value", "g")
    through = book.program("overwritten-view", "x", x=x, y=c, c=c).do("mul", "x", "y", out="z")
    through.do("getitem", "y", Index((ALL, slice(0, 1))), out="v").do("fill_", "v", 0.0).ask("WRITE-3", "value", "y")
    through.may_refuse("17", "GradientError", "backward", "z", "c").do("grad", "x", out="g").ask("17", "value", "g")
    detached = book.program("overwritten-detached", "x", x=x, c=c).do("mul", "x", "x", out="y")
    detached.do("detach", "x", out="d").do("mul_", "d", 2.0).ask("SHARE-3", "value", "x")
    detached.may_refuse("17", "GradientError", "backward", "y", "c").do("grad", "x", out="g").ask("17", "value", "g")
    unneeded = book.program("not-needed", "x", x=x, y=c, c=c).do("add", "x", "y", out="z").do("mul_", "y", 2.0)
    unneeded.do("backward", "z", "c").do("grad", "x", out="g").ask("1", "value", "g")
    for op, *rest in (("add_", 1.0), ("mul_", 3.0), ("copy_", "c")):
        result = book.program("write-to-result", "x", x=x, c=c).do("mul", "x", "x", out="y")
        result.may_refuse("13", "GradientError", op, "y", *rest).ask("13", "value", "y")
        result.do("backward", "y", "c").do("grad", "x", out="g").ask("13", "value", "g")
