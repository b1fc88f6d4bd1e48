"""Errors for operations that a graph cannot contain. Each names the line of the user's code and what to do instead."""

from __future__ import annotations

import sys
from contextvars import ContextVar
from enum import StrEnum
from typing import Any

from pynested.autograd.tape import frames_outside
from pynested.backends.errors import TraceError

from .nodes import CodeLine


class Reason(StrEnum):
    """Reasons why a graph cannot contain an operation, as the second part of an error: the reason, and what to do."""

    READS_ELEMENTS = (
        "The result depends on the elements of this array. Use pn.where, pn.clamp or pn.masked_fill, or compute it "
        "outside of the function"
    )
    OTHER_LIBRARY = "Only calls of pynested are recorded. For lengths use x.offsets(), x.shape or x.size(dim)"
    COPIES_ARRAY = "Copies, pickles and texts of arrays must be made outside of the function. Use x.clone() inside"
    READS_ATTRIBUTE = "Attributes are not recorded. Pass the array or the object to functions of pynested"
    ARRAY_IN_OBJECT = "Callbacks and objects must not hold arrays or sizes of the function. Compute it outside"
    UNKNOWN_SOURCE = (
        "It is no result of a recorded call, no argument, and no variable that the function itself names. Give it as "
        "an argument, or make it by functions of pynested: pn.array, or pn.detach(w) instead of w.detach() for a "
        "variable w"
    )
    WRITES_OUTSIDE = "Only arrays that the function makes can be written to. Return the result, and write it outside"
    WRITES_GRADIENTS = "It writes gradients into outside arrays, or returns a function. Return pn.grad(loss, arrays)"
    CATCHES_ERROR = (
        "The graph could not raise the error for other arrays. Test shapes or dtypes before the call, or catch the "
        "error outside of the function"
    )
    DRAWS_NUMBERS = "A replay would use the same number again. Draw it by pn.rand((), generator=generator)"
    CHANGES_SETTING = "It changes a setting, or its result holds for one run only. Call it outside of the function"


FUNCTIONS = {
    **dict.fromkeys(("equal", "allclose", "item", "tolist", "clip_by_norm"), Reason.READS_ELEMENTS),
    "vjp": Reason.WRITES_GRADIENTS,
    **dict.fromkeys(("trace", "compile", "set_default_device", "set_default_dtype"), Reason.CHANGES_SETTING),
}  # fmt: skip


# The errors for operations of the function that this thread records now.
RECORDED_ERRORS: ContextVar[list[TraceError]] = ContextVar("recorded_errors")


def unsupported_error(operation: str, reason: Reason, line: CodeLine | None = None) -> TraceError:
    """Return the error for an operation, at ``line`` or the running line of the user; if caught, it is raised later."""
    line = line or current_line()
    error = TraceError(f"trace: {operation} cannot be recorded, at {line}.{line.text}\n{reason}.")
    RECORDED_ERRORS.get([]).append(error)
    return error


def definition_of(function: Any) -> CodeLine:
    """Return the line where a function is defined."""
    code = getattr(function, "__code__", None) or getattr(type(function).__call__, "__code__", None)
    return current_line() if code is None else CodeLine(code.co_filename, code.co_firstlineno, code.co_name)


def current_line() -> CodeLine:
    """Return the line of the user's code that is running."""
    frame = next(frames_outside("pynested", "numpy"), sys._getframe())
    return CodeLine(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)
