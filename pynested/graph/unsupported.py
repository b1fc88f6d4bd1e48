"""Errors for operations that a graph cannot contain. Each names the line of the user's code and a remedy."""

from __future__ import annotations

import sys
from enum import StrEnum
from typing import Any

from pynested.autograd.recorded_stack import frames_outside
from pynested.backends.errors import TraceError

from .nodes import CodeLine


class Remedy(StrEnum):
    """The second part of an error: why a graph cannot contain the operation, and what to do instead."""

    DATA = "It depends on the elements of this array. Use pn.where, pn.clamp or pn.masked_fill, or do it outside"
    LIBRARY = "Only calls of pynested are recorded. Lengths are arrays, x.offsets(), or sizes, x.shape and x.size(dim)"
    COPY = "Copies, pickles and texts of arrays are made outside of the function. Use x.clone() in it"
    INSIDE = "Parts of an array or an object are not recorded. Pass it to pynested's functions as it is"
    OBJECT = "Callbacks and objects must hold no arrays or sizes of the function. Compute without them, or outside"
    SOURCE = (
        "No recorded call made it, and no argument and no variable that the function names itself holds it. Give it as "
        "an argument, or make it by pynested's functions: pn.array, or pn.detach(w), not w.detach(), of a variable w"
    )
    WRITE = "Only arrays that the function makes can be written to. Return the result, and write it outside"
    GRADIENTS = "It writes gradients into arrays from outside, or returns a function. Return pn.grad(loss, arrays)"
    CAUGHT = "Other arrays may raise no error. Test shapes or dtypes before the call, or do it outside"
    OUTSIDE = "It depends on one run, or changes a setting. Call it outside of the function"


FUNCTIONS = {
    **dict.fromkeys(("equal", "allclose", "item", "tolist"), Remedy.DATA), "vjp": Remedy.GRADIENTS,
    **dict.fromkeys(("trace", "compile", "set_default_device", "set_default_dtype"), Remedy.OUTSIDE),
}  # fmt: skip


def unsupported(what: str, remedy: Remedy, where: CodeLine | None = None) -> TraceError:
    """Return the error for ``what``, at the line of the user's code that is running, or at ``where``."""
    where = where or current_line()
    return TraceError(f"trace: {what} cannot be recorded, at {where}.{where.text}\n{remedy}.")


def definition_of(function: Any) -> CodeLine:
    """Return the line where a function is defined."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return current_line() if code is None else CodeLine(code.co_filename, code.co_firstlineno, code.co_name)


def current_line() -> CodeLine:
    """Return the line of the user's code that is running."""
    frame = next(frames_outside("pynested", "numpy"), sys._getframe())
    return CodeLine(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
