"""Errors for what a graph cannot hold, each with the line of the user's code and what to do instead."""

from __future__ import annotations

import linecache
import sys
from enum import StrEnum
from types import FrameType
from typing import Any

from pynested.backends.errors import TraceError

from .nodes import Spot


class Remedy(StrEnum):
    """The second part of an error: why a graph cannot hold something, and what to do instead."""

    DATA = (
        "It would be recorded for the numbers of this array alone. Choose with pn.where, pn.clamp or pn.masked_fill, "
        "or do it outside of the function"
    )
    LIBRARY = "What other libraries compute is not recorded. Use pynested's operators, or do it outside of the function"
    INTEGERS = (
        "What is computed with integers of the host is not recorded. Take them as arrays, by x.offsets() and "
        "x.lengths(), or as sizes, by x.shape and x.size(dim)"
    )
    COPY = "Copies, pickles and texts of arrays are made outside of the function. Use x.clone() in it"
    INSIDE = "What an array is made of is not recorded. Give it to pynested's functions as it is"
    OBJECT = "It may hold arrays of the recording. Give and return arrays as they are, or in tuples, lists and dicts"
    ARRAY = (
        "No recorded call made it, and no argument and no variable that the function names itself holds it. Give it as "
        "an argument, or make it by pynested's functions: pn.array, or pn.detach(w), not w.detach(), of a variable w"
    )
    GENERATOR = "It would draw the same numbers in each call. Make it outside of the function"
    WRITE = "Only arrays that the function makes can be written to. Return the result, and write it outside"
    BACKWARD = "It writes into arrays from outside. Return pn.grad(loss, arrays), or call backward outside"
    CAUGHT = (
        "A graph holds one way only, and other arrays may go another. Test before the call, by shapes or dtypes, or do "
        "it outside of the function"
    )
    NESTED = "A graph is made of one function. Call that function itself; what it does becomes a part of this graph"
    OUTSIDE = "It looks at one run, or changes what other code sees. Do it outside of the function"


MEMBERS = {
    **dict.fromkeys(("item", "tolist"), Remedy.DATA), "numpy": Remedy.LIBRARY,
    **dict.fromkeys(("component_sizes", "lengths_along", "component_strides"), Remedy.INTEGERS),
    **dict.fromkeys(("component_offsets", "outline", "structure"), Remedy.INTEGERS),
}  # fmt: skip
FUNCTIONS = {
    **dict.fromkeys(("equal", "allclose"), Remedy.DATA), **dict.fromkeys(("trace", "compile"), Remedy.NESTED),
    **dict.fromkeys(("save", "to_numpy", "to_torch", "to_arrow", "to_awkward"), Remedy.LIBRARY),
    **dict.fromkeys(("to_csr", "to_jax", "to_pandas", "to_tensorflow"), Remedy.LIBRARY),
    **dict.fromkeys(("tape", "gradcheck"), Remedy.OUTSIDE),
    **dict.fromkeys(("set_default_device", "set_default_dtype"), Remedy.OUTSIDE),
}  # fmt: skip


def unsupported(what: str, remedy: Remedy, where: Spot | None = None) -> TraceError:
    """Return the error for ``what``, at the line of the user's code that is running, or at ``where``."""
    where = where or current_spot()
    text = linecache.getline(where.file, where.line).strip()
    line = f"\n    {text}" if text else ""
    return TraceError(f"trace: {what} cannot be recorded, at {where}.{line}\n{remedy}.")


def definition_of(function: Any) -> Spot:
    """Return the line where a function is defined."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return current_spot() if code is None else Spot(code.co_filename, code.co_firstlineno, code.co_name)


def current_spot() -> Spot:
    """Return the line of the user's code that is running."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and str(frame.f_globals.get("__name__", "")).partition(".")[0] in ("pynested", "numpy"):
        frame = frame.f_back
    if frame is None:
        return Spot("<unknown>", 0, "<unknown>")
    return Spot(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
