"""Programs about random numbers: what is true of any that a right implementation draws.

What is only likely is asked of so many numbers that a right implementation fails by less than eight standard deviations
of chance. A seed comes first, so that a program has the same answer in every run of one implementation.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ...encoding import Index
from ..draws import integers
from ..programs import Chapter, Draft

FLOATS = ("float16", "float32", "float64")
MANY = 1024
LIKE: dict[str, tuple[Any, ...]] = {"rand_like": (), "randn_like": (), "randint_like": (-900, 900)}
DENSE: dict[str, tuple[Any, ...]] = {"rand": (), "randn": (), "randint": (-900, 900)}


def chapter() -> Chapter:
    """Programs about random numbers."""
    book = Chapter("random")
    _ranges(book)
    _moments(book)
    _dtypes(book)
    _seeds(book)
    _refused(book)
    return book


def _nested(program: Draft, op: str, *args: Any, out: str, **kwargs: Any) -> Draft:
    """Draw, and view what is dense as a nested array, which is what most operators are of."""
    if op in LIKE:
        return program.do(op, *args, **kwargs, out=out)
    made = program.do(op, *args, **kwargs, out=f"{out}_dense")
    return made.do("nested_array_from_jagged", f"{out}_dense", "offsets", out=out)


def _offsets(many: int) -> dict[str, Any]:
    return {"offsets": np.array([0, many // 3, many])}


def _x(dtype: str = "float32", *lengths: int) -> Any:
    return integers(dtype, [(length,) for length in lengths or (5, 0, 8)], "random x")


def _between(program: Draft, clause: str, name: str, low: float, high: float) -> Draft:
    """Ask whether every element is ``low`` or more and below ``high``."""
    for op, bound in (("ge", low), ("lt", high)):
        program.do(op, name, bound, out=f"{name}_{op}").do("all", f"{name}_{op}", out=f"{name}_all_{op}")
        program.ask(clause, "value", f"{name}_all_{op}")
    return program


def _ranges(book: Chapter) -> None:
    for dtype in FLOATS:
        many = 16 * MANY if dtype == "float16" else MANY  # one in 4096 would be rounded to 1
        program = book.program(f"range-{dtype}", x=_x(), **_offsets(many)).do("manual_seed", 3)
        _between(_nested(program, "rand", (many,), dtype=np.dtype(dtype), out="r"), "1", "r", 0.0, 1.0)
    x = _x("bool", MANY // 2, 0, MANY // 2)
    program = book.program("range-like", x=x).do("manual_seed", 4)
    _between(program.do("rand_like", "x", dtype=np.dtype("float32"), out="r"), "1", "r", 0.0, 1.0)
    program = book.program("limits-like", x=x).do("manual_seed", 5)
    _limits(program.do("randint_like", "x", -2, 3, dtype=np.dtype("int8"), out="r"))
    program = book.program("limits", x=_x(), **_offsets(MANY)).do("manual_seed", 6)
    _limits(_nested(program, "randint", -2, 3, (MANY,), out="r"))
    one = book.program("one-integer", x=_x("int32")).do("randint_like", "x", 4, 5, out="r").do("mul", "r", 1, out="a")
    one.ask("3", "value", "a").do("randint", 4, 5, (3,), out="s").do("mul", "s", 1, out="b").ask("3", "value", "b")


def _limits(program: Draft) -> None:
    """Ask which integers were drawn from -2 to 2: each of them, and none else."""
    program.do("amin", "r", out="least").ask("3", "value", "least").do("amax", "r", out="most").ask(
        "3", "value", "most"
    )
    for number in range(-2, 3):
        program.do("eq", "r", number, out=f"is_{number + 2}").do("any", f"is_{number + 2}", out=f"any_{number + 2}")
        program.ask("3", "value", f"any_{number + 2}")


def _moments(book: Chapter) -> None:
    """The mean and the mean square of 1024 numbers of variance 1 are off by 0.031 and 0.044 in one draw of three."""
    x, wide = _x("bool", MANY // 2, MANY // 2), np.dtype("float64")
    for op, args in (("rand", ((MANY,),)), ("randn", ((MANY,),)), ("rand_like", ("x",)), ("randn_like", ("x",))):
        group = f"moments-{op.replace('_', '-')}"
        program = book.program(group, x=x, **({} if op in LIKE else _offsets(MANY))).do("manual_seed", 7)
        _nested(program, op, *args, dtype=wide, out="r")
        program.do("mean", "r", out="m").do("mul", "r", "r", out="rr").do("mean", "rr", out="s")
        uniform = op.startswith("rand") and not op.startswith("randn")
        _between(program, "1" if uniform else "2", "m", *((0.4, 0.6) if uniform else (-0.25, 0.25)))
        _between(program, "1" if uniform else "2", "s", *((0.25, 0.42) if uniform else (0.6, 1.4)))


def _dtypes(book: Chapter) -> None:
    program = book.program("dtypes", x=_x())
    for dtype in FLOATS:
        program.do("rand", (2, 3), dtype=np.dtype(dtype), out=f"r_{dtype}").ask_kind("4", f"r_{dtype}")
        program.do("randn", (0, 3), dtype=np.dtype(dtype), out=f"n_{dtype}").ask_kind("4", f"n_{dtype}")
    program.do("randint", 0, 5, (2, 3), out="i").ask_kind("4", "i")
    program.do("randint", 0, 5, (4,), dtype=np.dtype("int16"), out="j").ask_kind("4", "j")


def _seeds(book: Chapter) -> None:
    for op, rest in {**LIKE, **DENSE}.items():
        args, kwargs = _arguments(op, rest)
        group = op.replace("_", "-")
        more = {} if op in LIKE else _offsets(16)
        same = book.program(f"same-seed-{group}", x=_x("float32", 9, 0, 7), **more)
        for names in ("ab", "cd"):
            same.do("manual_seed", 11)
            for name in names:
                _nested(same, op, *args, **kwargs, out=name)
        _equal(same, "5", "a", "c")
        _equal(same, "5", "b", "d")
        _equal(same, "6", "a", "b")
        _nested(same.do("manual_seed", 12), op, *args, **kwargs, out="e")
        _equal(same, "6", "a", "e")
        if op in LIKE:
            apart = book.program(f"components-{group}", x=_x("float32", 9, 9)).do("manual_seed", 13)
            apart.do(op, *args, out="r").do("getitem", "r", Index(([1, 0],)), out="s")
            _equal(apart, "6", "r", "s")
    open_ = book.program("which-numbers", x=_x()).do("manual_seed", 0).do("rand_like", "x", out="r")
    open_.ask_kind("4 LIKE-2", "r").ask_open("7", "value", "r")


def _arguments(op: str, rest: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if op in LIKE:
        return ("x", *rest), {}
    return (*rest, (16,)), {} if op == "randint" else {"dtype": np.dtype("float32")}


def _equal(program: Draft, clause: str, one: str, other: str) -> None:
    """Ask whether all elements of two arrays are equal."""
    name = f"{one}{other}"
    program.do("eq", one, other, out=name).do("all", name, out=f"all_{name}").ask(clause, "value", f"all_{name}")


def _refused(book: Chapter) -> None:
    for dtype in ("int32", "bool"):
        program = book.program(f"no-{dtype}", x=_x(dtype))
        for op in ("rand", "randn"):
            program.refuse("8", "DTypeError", op, (3,), dtype=np.dtype(dtype))
            program.refuse("8", "DTypeError", f"{op}_like", "x")
        program.do("rand_like", "x", dtype=np.dtype("float32"), out="s").ask_kind("4 LIKE-2", "s")
    program = book.program("no-integers", x=_x("int32"))
    for low, high in ((3, 3), (3, 2)):
        program.refuse("9", "ArgumentError", "randint_like", "x", low, high)
        program.refuse("9", "ArgumentError", "randint", low, high, (2,))
    program.do("randint_like", "x", 3, 4, out="s").do("mul", "s", 1, out="t").ask("3", "value", "t")
