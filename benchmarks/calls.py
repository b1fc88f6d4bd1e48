"""Number of functions of ours that one call of an operator enters, forward and backward.

    python -m benchmarks.calls [--trace NAME]

Only Python functions of this project count, and each time that one is entered counts once. Generators and
comprehensions do not count, so the numbers depend neither on the version of Python nor on the machine. They are what a
reader follows in a debugger, and most of the time that a tiny input takes.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType
from typing import Any, NamedTuple

import numpy as np

import pynested as pn
from pynested import autograd, backends

ROOTS = tuple(f"{Path(str(module.__file__)).parent}/" for module in (pn, autograd, backends))
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})  # functions of their own before Python 3.12


class Entered(NamedTuple):
    """The functions that one call enters: without gradients, with them, and in the backward pass."""

    plain: list[CodeType]
    recorded: list[CodeType]
    backward: list[CodeType]


def examples(requires_grad: bool) -> dict[str, Callable[[], Any]]:
    """Return calls on jagged arrays of three components."""
    generator = np.random.default_rng(0)
    x, y = (
        pn.nested_array([generator.random((n, 4)) for n in (2, 0, 3)], layout=pn.jagged, requires_grad=requires_grad)
        for _ in range(2)
    )
    return {
        "softmax(x, 1)": lambda: pn.softmax(x, 1),
        "log1p(x)": lambda: pn.log1p(x),
        "x + y": lambda: x + y,
        "x.transpose(1, 2) @ y": lambda: x.transpose(1, 2) @ y,
    }


def is_counted(code: CodeType) -> bool:
    """Return whether code is a function of ours, but no generator and no comprehension."""
    is_function = not code.co_flags & GENERATORS and code.co_name not in COMPREHENSIONS
    return is_function and code.co_filename.startswith(ROOTS)


def entered(call: Callable[[], Any]) -> list[CodeType]:
    """Return the functions of ours that ``call`` enters, one after the other."""
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and is_counted(frame.f_code):
            codes.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return codes


def counted() -> dict[str, Entered]:
    """Return what the second run of each example enters, once all that is cached is there."""
    found = {}
    tracked = examples(requires_grad=True)
    for name, plain in examples(requires_grad=False).items():
        plain()
        result = tracked[name]()
        seed = pn.ones_like(result)
        result.backward(seed)
        result = tracked[name]()
        backward = entered(partial(result.backward, seed))
        found[name] = Entered(entered(plain), entered(tracked[name]), backward)
    return found


def main() -> None:
    """Print the table, or every function of one row."""
    parser = argparse.ArgumentParser(description="Functions of ours that one call of an operator enters.")
    parser.add_argument("--trace", metavar="NAME", help="a row of the table, whose functions are listed in order")
    chosen = parser.parse_args().trace
    for name, (plain, recorded, backward) in counted().items():
        if chosen is None:
            print(f"{name:24}{len(plain):6} plain{len(recorded):6} recorded{len(backward):6} backward")
        elif chosen == name:
            print("\n".join(f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}" for code in recorded))


if __name__ == "__main__":
    main()
