"""Number of functions below `pynested/` and `autograd/` that one call of an operator enters, forward and backward.

    python -m benchmarks.calls [--trace NAME [--pass plain|recorded|backward]]

Each time that a function is entered counts once. Functions of the backends do not count: their number depends on the
kernel. Generators and comprehensions do not count either, so the numbers depend neither on the version of Python nor
on the machine. A reader follows these functions in a debugger, and a tiny input spends most of its time in them.
"""

from __future__ import annotations

import argparse
import inspect
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FrameType, ModuleType
from typing import Any, NamedTuple

import numpy as np

import pynested as pn
from pynested import autograd, backends, spec


def folder(module: ModuleType) -> str:
    """Return the folder of a package, with a slash."""
    return f"{Path(str(module.__file__)).parent}/"


COUNTED = folder(pn), folder(autograd)
NOT_COUNTED = folder(backends), folder(spec)  # an installed package has them below pynested/
GENERATORS = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR
COMPREHENSIONS = frozenset({"<listcomp>", "<setcomp>", "<dictcomp>"})  # functions of their own before Python 3.12


class Entered(NamedTuple):
    """The functions that one call enters: without gradients, with them, and in the backward pass."""

    plain: list[CodeType]
    recorded: list[CodeType]
    backward: list[CodeType]


def examples(requires_grad: bool) -> dict[str, Callable[[], Any]]:
    """Return calls on jagged arrays of three components, which have one structure."""
    x = pn.nested_array([np.ones((n, 4)) for n in (2, 0, 3)], layout=pn.jagged, requires_grad=requires_grad)
    y = pn.ones_like(x, requires_grad=requires_grad)
    return {
        "softmax(x, 1)": lambda: pn.softmax(x, 1),
        "log1p(x)": lambda: pn.log1p(x),
        "x + y": lambda: x + y,
        "x.transpose(1, 2) @ y": lambda: x.transpose(1, 2) @ y,
    }


def is_counted(code: CodeType) -> bool:
    """Return whether code is a function of a counted folder, but no generator and no comprehension."""
    is_function = not code.co_flags & GENERATORS and code.co_name not in COMPREHENSIONS
    return is_function and code.co_filename.startswith(COUNTED) and not code.co_filename.startswith(NOT_COUNTED)


def entered(call: Callable[[], Any]) -> list[CodeType]:
    """Return the counted functions that ``call`` enters, one after the other."""
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
    """Return what the second run of each example enters, when caches are filled."""
    table = {}
    tracked = examples(requires_grad=True)
    for name, plain in examples(requires_grad=False).items():
        plain()
        result = tracked[name]()
        seed = pn.ones_like(result)
        result.backward(seed)
        result = tracked[name]()
        backward = entered(partial(result.backward, seed))
        table[name] = Entered(entered(plain), entered(tracked[name]), backward)
    return table


def main() -> None:
    """Print the table, or every function of one row."""
    parser = argparse.ArgumentParser(description="Functions that one call of an operator enters.")
    parser.add_argument("--trace", metavar="NAME", help="a row of the table, whose functions are listed in order")
    parser.add_argument("--pass", dest="which", choices=Entered._fields, default="plain", help="of the row")
    options = parser.parse_args()
    for name, row in counted().items():
        if options.trace is None:
            print(f"{name:24}" + "".join(f"{len(codes):6} {which}" for which, codes in row._asdict().items()))
        elif options.trace == name:
            codes = getattr(row, options.which)
            print("\n".join(f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}" for code in codes))


if __name__ == "__main__":
    main()
