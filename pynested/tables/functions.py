"""How a function is made of an entry of the tables of `reductions` and `runwise`, with its signature and docstring.

Each takes NumPy's names ``axis`` and ``keepdims`` beside ``dim`` and ``keepdim``.
"""

from __future__ import annotations

import inspect
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pynested.autograd.numbers import canonical_real
from pynested.autograd.rules.clauses import listed_clauses
from pynested.backends.errors import ArgumentError

from .dtypes import TAKEN, averaged
from .entries import Reduction, RunWise
from .reductions import REDUCTIONS

Entry = Reduction | RunWise
Over = Callable[..., Any]  # the entry, an array, dim, and of reductions keepdim; a dtype if one can be asked for


class _Unsaid(tuple[()]):
    """The default of what may be given under either of two names, or must be given: empty, and so as good as False."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<no value>"


UNSAID: Any = _Unsaid()
_NEEDED = inspect.Parameter.empty


# ---- how a function is made ---------------------------------------------------------------------------------------


def _said(entry: Entry, ours: str, own: Any, numpys: str, other: Any) -> Any:
    """What was given under one of two names, if under either."""
    if own is UNSAID or other is UNSAID:
        return other if own is UNSAID else own
    raise ArgumentError(f"{entry.name}: {ours}={own!r} and {numpys}={other!r} say the same thing. Give one of them.")


def _dim_said(entry: Entry, dim: Any, axis: Any) -> Any:
    """The one dimension that must be given."""
    at = _said(entry, "dim", dim, "axis", axis)
    if at is UNSAID:
        raise ArgumentError(
            f"{entry.name}: 'dim', which dimension, is not given, and neither is 'axis', NumPy's name of it. Name one: "
            f"pn.{entry.name}(x, dim=1)."
        )
    return at


def _all_said(entry: Entry, dim: Any, keepdim: Any, axis: Any, keepdims: Any) -> tuple[Any, Any]:
    """The dimensions, by default all, and whether they stay, by default not."""
    dims = _said(entry, "dim", dim, "axis", axis)
    return None if dims is UNSAID else dims, _said(entry, "keepdim", keepdim, "keepdims", keepdims)


# Names of NumPy cost those who do not use them two comparisons.


def _plain(entry: Any, over: Over) -> Any:
    def function(
        self: Any, dim: Any = UNSAID, keepdim: Any = UNSAID, *, axis: Any = UNSAID, keepdims: Any = UNSAID
    ) -> Any:
        if dim is UNSAID or axis is not UNSAID or keepdims is not UNSAID:
            dim, keepdim = _all_said(entry, dim, keepdim, axis, keepdims)
        return over(entry, self, dim, keepdim)

    return function


def _typed(entry: Any, over: Over) -> Any:
    def function(
        self: Any, dim: Any = UNSAID, keepdim: Any = UNSAID, *, dtype: Any = None, axis: Any = UNSAID,
        keepdims: Any = UNSAID,
    ) -> Any:  # fmt: skip
        if dim is UNSAID or axis is not UNSAID or keepdims is not UNSAID:
            dim, keepdim = _all_said(entry, dim, keepdim, axis, keepdims)
        return over(entry, self, dim, keepdim, dtype)

    return function


def _corrected(entry: Any, over: Over) -> Any:
    def function(
        self: Any, dim: Any = UNSAID, keepdim: Any = UNSAID, *, correction: Any = 1, axis: Any = UNSAID,
        keepdims: Any = UNSAID,
    ) -> Any:  # fmt: skip
        own = entry.having(canonical_real(entry.name, "correction", correction, 0))
        return over(own, self, *_all_said(entry, dim, keepdim, axis, keepdims))

    return function


def _run_wise(entry: Any, over: Over) -> Any:
    def function(self: Any, dim: Any = UNSAID, *, dtype: Any = None, axis: Any = UNSAID) -> Any:
        if dim is UNSAID or axis is not UNSAID:
            dim = _dim_said(entry, dim, axis)
        return over(entry, self, dim, dtype)

    return function


# How a function with an option is made, and what people read about the option.
OPTIONS: dict[str, tuple[Callable[[Any, Over], Any], dict[str, tuple[Any, str]]]] = {
    "": (_plain, {}),
    "place": (_plain, {}),
    "dtype": (
        _typed,
        {"dtype": (None, "Every element is converted to it first, as `to` does, and the result has it.")},
    ),
    "correction": (_corrected, {"correction": (1, "What is taken from the number of elements to divide by.")}),
}


def function(entry: Entry, over: Over, module: str, types: Mapping[str, str] = {}) -> Any:
    """The function of an entry; ``over`` carries it out. ``types`` are those of its parameters, Any by default."""
    make = OPTIONS[entry.option][0] if isinstance(entry, Reduction) else _run_wise
    made = make(entry, over)
    made.__name__ = made.__qualname__ = entry.name
    made.__doc__ = documentation(entry)
    made.__module__, made.__signature__ = module, signature(entry, types)
    return made


def numpys(functions: dict[str, Any]) -> dict[Any, Callable[..., Any]]:
    """NumPy's functions of the names of reductions, with NumPy's parameters: each calls ours of these ``functions``."""

    def typed(own: Any) -> Callable[..., Any]:
        return lambda a, axis=None, dtype=None, *, keepdims=False: own(a, axis, keepdims, dtype=dtype)

    def corrected(own: Any) -> Callable[..., Any]:
        return lambda a, axis=None, *, ddof=0, keepdims=False: own(a, axis, keepdims, correction=ddof)

    def plain(own: Any) -> Callable[..., Any]:
        return lambda a, axis=None, *, keepdims=False: own(a, axis, keepdims)

    made = {"": plain, "place": plain, "dtype": typed, "correction": corrected}
    known = {name: entry for name, entry in REDUCTIONS.items() if hasattr(np, name)}
    found = {getattr(np, name): made[entry.option](functions[name]) for name, entry in known.items()}
    return found | {np.max: found[np.amax], np.min: found[np.amin]}


# ---- what people read ---------------------------------------------------------------------------------------------


def signature(entry: Entry, types: Mapping[str, str]) -> inspect.Signature:
    """The parameters, with the defaults that count."""
    named, by_name = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY
    reduces = isinstance(entry, Reduction)
    given: list[tuple[str, Any, Any]] = [("self", named, _NEEDED), ("dim", named, None if reduces else _NEEDED)]
    given += [("keepdim", named, False)] if reduces else []
    given += [(name, by_name, default) for name, (default, _) in OPTIONS[entry.option][1].items()]
    given += [(name, by_name, UNSAID) for name in ("axis", "keepdims")[: 1 + reduces]]
    types = {"correction": "float", **types}
    if not reduces or entry.option == "place":
        types |= dict.fromkeys(("dim", "axis"), "int | None" if reduces else "int")
    types |= {"keepdim": "bool", "keepdims": "bool"}
    parameters = [
        inspect.Parameter(name, kind, default=default, annotation=types.get(name, "Any"))
        for name, kind, default in given
    ]
    return inspect.Signature(parameters, return_annotation=types.get("return", "Array"))


def documentation(entry: Entry) -> str:
    """The docstring."""
    reduces = isinstance(entry, Reduction)
    several = "dim : int or None" if entry.option == "place" else "dim : int, tuple of int or None"
    dims = several if reduces else "dim : int"
    shapes = "``(B, *, D) -> (B, D)`` along dimension 1" if reduces else "``(B, *, D) -> (B, *, D)``"
    told = {"self : NestedArray or Array": TAKEN[entry.takes]}
    told |= {dims: _dim(entry)}
    told |= {"keepdim : bool": "Whether a reduced dimension stays, with size 1."} if reduces else {}
    told |= {f"{name} : optional": text for name, (_, text) in OPTIONS[entry.option][1].items()}
    told |= {"axis, keepdims": "NumPy's names of dim and keepdim."} if reduces else {"axis": "NumPy's name of dim."}
    torch, retired = getattr(entry, "torch", "torch"), getattr(entry, "retired", ())
    parts = [
        f"{entry.says}: {shapes}.", "", "Parameters", "----------", *_listed(told), "", "Raises", "------",
        *_listed(_refused(entry)), "", "Notes", "-----", textwrap.fill(entry.notes, 112), "",
        f"Clauses: {listed_clauses(entry.name, entry.clauses, retired)}. After `{torch}.{entry.name}`.", "",
        "Examples", "--------", f">>> {entry.example}",
    ]  # fmt: skip
    return textwrap.indent("\n".join(parts), "    ").lstrip() + "\n    "


def _listed(told: dict[str, str]) -> list[str]:
    return [line for name, text in told.items() for line in (name, textwrap.indent(textwrap.fill(text, 106), "    "))]


def _dim(entry: Entry) -> str:
    if isinstance(entry, RunWise):
        return "Any but the batch."
    if entry.is_place:
        return (
            "A place is counted within the component; along dimension 0 it is the number of a component. None, of a "
            "dense array only, counts all elements in C order."
        )
    return (
        "Which dimensions are reduced; None is all of them. The module says what kind of result that gives. With "
        "dimension 0 the elements present at a position take part."
    )


def _refused(entry: Entry) -> dict[str, str]:
    if isinstance(entry, RunWise):
        said = {"DimensionError": "For ``dim`` 0 of a nested array, and one out of range."}
        floats = "For bools and integers without a ``dtype``, and for a ``dtype`` that is not floating."
        return said | ({"DTypeError": floats} if TAKEN[entry.takes].startswith("Floats") else {})
    said = {"DimensionError": "For a dimension out of range, or named twice."}
    if entry.refuses:
        empty = "For a run without elements, naming the component, unless the result has no elements either."
        said["EmptyReductionError"] = empty
    if entry.is_place:
        said["ArgumentError"] = "For several dimensions, and for None of a nested array."
    if entry.option == "dtype" and entry.takes is averaged:
        said["DTypeError"] = "For a ``dtype`` that is not floating."
    if entry.option == "correction":
        said["ArgumentError"] = "For a ``correction`` below 0, or NaN."
    return said
