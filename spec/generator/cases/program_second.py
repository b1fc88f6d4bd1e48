"""Programs that differentiate a gradient: what comes back is a function too, of the array and of the cotangent.

From ``g = vjp(y, x, c)``, which is linear in ``c``, a second pass brings to ``c`` how ``y`` moves along its own
cotangent, as forward mode would. Where a function has an irrational slope it is asked where that is a short number.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import distinct, integers, nest
from ..programs import Chapter

ROWS = [(2, 2), (0, 2), (1, 2)]
NAN = float("nan")


def second(book: Chapter) -> None:
    """Gradients of gradients, of operators whose pass has a short way when nobody differentiates it."""
    x, c = distinct("float32", ROWS, "tape second"), integers("float32", ROWS, "tape second c", 1, 6)
    d = integers("float32", ROWS, "tape second d", -3, 4)
    cubed = book.program("second", "x c", x=x, c=c, d=d).do("mul", "x", "x", out="s").do("mul", "s", "x", out="y")
    _twice(cubed)
    level = nest("float32", [np.full(shape, 3.0) for shape in ROWS])
    zeros = nest("float32", [np.zeros(shape) for shape in ROWS])
    signs = nest("float32", [[[1, -1], [-1, 1]], np.zeros((0, 2)), [[2, -2]]])
    calls: tuple[tuple[str, Any, tuple[Any, ...], Mapping[str, Any]], ...] = (
        ("relu", signs, (), {}),
        ("silu", zeros, (), {}),
        ("softmax", level, (1,), {}),
        ("softmax", level, (2,), {}),
        ("cumsum", x, (1,), {}),
        ("exp", zeros, (), {}),
        ("tanh", zeros, (), {}),
        ("maximum", x, (0.5,), {}),
    )
    for op, value, args, kwargs in calls:
        _twice(book.program("second", "x c", x=value, c=c, d=d).do(op, "x", *args, out="y", **kwargs))
    normal = nest("float32", [[[1, -1], [-1, 1]], np.zeros((0, 2)), [[1, -1]]])
    _twice(book.program("second", "x c", x=normal, c=c, d=d).do("layer_norm", "x", (2,), eps=3.0, out="y"))
    per_run = nest("float32", [[2, -1], [], [3]])
    _twice(book.program("second", "x c", x=x, c=per_run, d=d).do("amax", "x", 2, out="y"))
    product = book.program("second", "x w c", x=x, w=np.array([[1, 2], [-3, 4]], "float32"), c=c, d=d)
    _twice(product.do("matmul", "x", "w", out="y"), "w")
    spoilt = nest("float32", [[[1, NAN], [NAN, 2]], np.zeros((0, 2)), [[3, NAN]]])
    cut = book.program("second-nan", "x", x=signs, c=spoilt).do("relu", "x", out="y")
    cut.do("vjp", "y", "x", "c", out="g").ask("15 GRADIENTS-5", "value", "g")
    _forwards(book)


def _forwards(book: Chapter) -> None:
    """How results move along a tangent: by several ways, through views and components, and not at all."""
    x, v = distinct("float32", ROWS, "tape forwards"), integers("float32", ROWS, "tape forwards v", 1, 6)
    cubed = book.program("forwards", "x", x=x, v=v).do("mul", "x", "x", out="s").do("mul", "s", "x", out="y")
    cubed.do("jvp", "y", "x", "v", out="t").ask("16", "value", "t").do("grad", "x", out="g").ask("16", "value", "g")
    seen = book.program("forwards", "x", x=x, v=v).do("getitem", "x", Index((slice(None), slice(1, None))), out="s")
    seen.do("cumsum", "s", 1, out="y").do("jvp", "y", "x", "v", out="t").ask("16", "value", "t")
    apart = book.program("forwards", "x", x=x, v=v).do("unbind", "x", out=["a", "b", "d"]).do("mul", "a", "a", out="y")
    for result in ("y", "d"):
        apart.do("jvp", result, "x", "v", out=f"t_{result}").ask("16", "value", f"t_{result}")
    held = book.program("forwards", "x", x=x, v=v).do("detach", "x", out="k").do("mul", "x", "k", out="y")
    for result in ("y", "k"):
        held.do("jvp", result, "x", "v", out=f"t_{result}").ask("16", "value", f"t_{result}")
    weights = np.array([[1, 2], [-3, 4]], "float32")
    product = book.program("forwards", "x w", x=x, w=weights, v=weights[::-1].copy()).do("matmul", "x", "w", out="y")
    product.do("jvp", "y", "w", "v", out="t").ask("16", "value", "t")


def _twice(program: Any, *others: str) -> None:
    program.do("vjp", "y", "x", "c", out="g").ask("15", "value", "g").do("backward", "g", "d")
    for name in ("x", "c", *others):
        program.do("grad", name, out=f"of_{name}").ask("15", "value", f"of_{name}")
