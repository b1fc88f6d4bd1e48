"""What a graph cannot hold, and what to do instead; each refusal names the line of the user's code."""

from __future__ import annotations

import linecache
import sys
from types import FrameType
from typing import Any

from pynested.backends.errors import TraceError

from .nodes import Spot

_A_NUMBER = (
    "The numbers in an array differ from call to call, and what the function does with them in Python, as in `if`, "
    "would be recorded for these alone"
)
_CHOOSE = "Choose with pn.where, pn.clamp or pn.masked_fill, keep the result an array, or do it outside of the function"
_OF_NUMPY = (
    "What NumPy computes is not seen, and would stay what it is now. Use pynested's operators, which take arrays as "
    "they are, or do this outside of the function"
)
_INTEGERS = (
    "These integers lie on the host, where what is reckoned with them is not seen. Take them as arrays, by "
    "x.offsets(), x.lengths() and pn.unbind(x), or as sizes, by x.shape and x.size(dim)"
)
CAUGHT = (
    "For other arrays the call may raise none, or another call may, and a graph holds one way only. Ask before the "
    "call, by shapes or dtypes, or do this outside of the function"
)
_COPIES = "Copies and pickles are made outside of the function"
_SHOWN = "What is shown of an array is text, and differs from call to call. Return the array, and show it outside"
_NESTED = "A graph is made of one function. Call that function itself; what it does becomes a part of this graph"

_ASKS = {
    **dict.fromkeys(
        ("Array.item", "Array.tolist", "NestedArray.tolist", "Array.__bool__", "Array.__float__", "Array.__int__",
         "Array.__index__", "Array.__round__", "NestedArray.__bool__", "__contains__", "equal", "allclose"),
        f"{_A_NUMBER}. {_CHOOSE}",
    ),
    **dict.fromkeys(
        ("Array.numpy", "Array.__array__", "NestedArray.__array__", "Array.__dlpack__", "Array.data",
         "Array.__cuda_array_interface__"), _OF_NUMPY,
    ),
    **dict.fromkeys(
        ("to_numpy", "to_torch", "to_arrow", "to_awkward", "to_csr", "to_jax", "to_pandas", "to_tensorflow", "save"),
        "What another library does is not seen. Return the array, and hand it over outside of the function",
    ),
    **dict.fromkeys(
        ("NestedArray.component_sizes", "NestedArray.lengths_along", "NestedArray.component_strides",
         "NestedArray.component_offsets", "NestedArray.outline", "NestedArray.structure", "RaggedSize.lengths",
         "RaggedSize.number", "hash", "NumPy's values"), _INTEGERS,
    ),
    **dict.fromkeys(("Array.__repr__", "NestedArray.__repr__", "Array.__format__"), _SHOWN),
    **dict.fromkeys(("Array.__reduce__", "NestedArray.__reduce__"), _COPIES),
    **dict.fromkeys(("trace", "compile"), _NESTED),
    **dict.fromkeys(("tape", "gradcheck"), "It looks at one run, and is no part of a function. Do this outside of it"),
    "an attribute": "What it is made of is not recorded. Give it to pynested's functions as it is",
    "an object": (
        "It may hold arrays that would stay those of the recording. Give arrays, and return them, as they are or in "
        "tuples, lists and dicts"
    ),
    "an array": (
        "No recorded call made this array, no argument holds it, and no variable of the function does. Give it as an "
        "argument, and make arrays by pynested's functions: pn.array, pn.nested_array"
    ),
}  # fmt: skip
_SAYS = {
    "Array.__bool__": "a branch on data: bool(x)", "Array.__float__": "float(x)", "Array.__int__": "int(x)",
    "Array.__index__": "an array as an index of Python's", "Array.__round__": "round(x)",
    "Array.__array__": "np.asarray(x)",
    "NestedArray.__array__": "np.asarray(x)", "NestedArray.__bool__": "bool(x)", "Array.__repr__": "repr(x)",
    "NestedArray.__repr__": "repr(x)", "Array.__format__": "format(x)", "__contains__": "value in x",
    "hash": "the hash of a ragged size", "equal": "a branch on data: pn.equal",
    "allclose": "a branch on data: pn.allclose", "trace": "pn.trace", "compile": "pn.compile", "tape": "pn.tape",
    "gradcheck": "pn.gradcheck", "an array": "an array",
    "an object": "an object that holds arrays of this run",
}  # fmt: skip


def is_refused(name: str) -> bool:
    """Whether no graph can hold a call of ``name``."""
    return name in _ASKS


def refusal(name: str, what: str = "", function: Any = None) -> TraceError:
    """The error for ``name``, at the line of the user's code that is running, or where ``function`` is written."""
    code = getattr(function, "__code__", None)
    where = spot() if code is None else Spot(code.co_filename, code.co_firstlineno, code.co_name)
    return at(where, what or _SAYS.get(name) or f"x.{name.rpartition('.')[2]}", _ASKS[name])


def at(where: Spot, what: str, why: str) -> TraceError:
    """The error for ``what``, at a line of the user's code."""
    text = linecache.getline(where.file, where.line).strip()
    line = f"\n    {text}" if text else ""
    return TraceError(f"trace: {what} cannot be recorded, at {where}.{line}\n{why}.")


def spot() -> Spot:
    """The line of the user's code that is running."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None and _ours(frame.f_globals):
        frame = frame.f_back
    if frame is None:
        return Spot("<unknown>", 0, "<unknown>")
    return Spot(frame.f_code.co_filename, frame.f_lineno, frame.f_code.co_name)


def _ours(names: dict[str, Any]) -> bool:
    return str(names.get("__name__", "")).partition(".")[0] == "pynested"
