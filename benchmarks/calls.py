"""How many functions of ours one call of an operator enters, forward and backward.

    python -m benchmarks.calls [--trace NAME]

Only Python functions of this project count, and each time that one is entered counts once. The numbers depend on the
version of Python (a comprehension is a function before 3.12) and not on the machine. They are what a reader follows in
a debugger, and most of the time that a tiny input takes.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from pathlib import Path
from types import CodeType, FrameType
from typing import Any

import numpy as np

import pynested as pn
from pynested import autograd, backends

ROOTS = tuple(f"{Path(str(module.__file__)).parent}/" for module in (pn, autograd, backends))


def examples() -> dict[str, Callable[[], Any]]:
    """Calls on jagged arrays of three components that want gradients."""
    generator = np.random.default_rng(0)
    x, y = (
        pn.nested_array([generator.random((n, 4)) for n in (2, 0, 3)], layout=pn.jagged, requires_grad=True)
        for _ in range(2)
    )
    return {
        "softmax(x, 1)": lambda: pn.softmax(x, 1),
        "x + y": lambda: x + y,
        "x.transpose(1, 2) @ y": lambda: x.transpose(1, 2) @ y,
    }


def entered(call: Callable[[], Any]) -> list[CodeType]:
    """The functions of ours that ``call`` enters, one after the other."""
    codes: list[CodeType] = []

    def note(frame: FrameType, event: str, _: Any) -> None:
        if event == "call" and frame.f_code.co_filename.startswith(ROOTS):
            codes.append(frame.f_code)

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        call()
    finally:
        sys.setprofile(before)
    return codes


def counted(call: Callable[[], Any]) -> tuple[list[CodeType], list[CodeType]]:
    """What ``call`` enters, and what the backward pass from its result does, once all that is cached is there."""
    result = call()
    seed = pn.ones_like(result)
    result.backward(seed)
    forward = entered(call)
    result = call()
    return forward, entered(lambda: result.backward(seed))


def main() -> None:
    """Print the table, or every function of one row."""
    parser = argparse.ArgumentParser(description="Functions of ours that one call of an operator enters.")
    parser.add_argument("--trace", metavar="NAME", help="a row of the table, whose functions are listed in order")
    chosen = parser.parse_args().trace
    for name, call in examples().items():
        forward, backward = counted(call)
        if chosen is None:
            print(f"{name:24}{len(forward):6} forward{len(backward):6} backward")
        elif chosen == name:
            print("\n".join(f"{code.co_filename}:{code.co_firstlineno} {code.co_qualname}" for code in forward))


if __name__ == "__main__":
    main()
