"""pynested's operators, compiled: each call is recorded on other ragged structures, and replayed on those of the case.

So what a graph holds of the structure that it was recorded on shows as a difference. Elementwise operators stand in a
chain, between multiplications by 1, which change no number: so it is the chain that is asked, forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pynested as pn
from pynested.autograd.containers import map_values
from pynested.backends.errors import PynestedError
from pynested.graph.fusible_ops import FUSIBLE_NAMES

from ..messages import Message
from .base import PythonAdapter
from .functions_by_name import flex_attention
from .pynested_adapter import PynestedTarget
from .serve import serve

# What answers with a bool of Python's, on which a function would branch, or is taken apart here: no graph holds that.
_ANSWERS = frozenset({"equal", "allclose", "create_nested_block_mask"})


class Recompiled(Exception):
    """Another ragged structure has led to another graph, or no graph has given the result."""


class CompiledTarget(PynestedTarget):
    """The reference implementation, each call through `pynested.compile`."""

    def identity(self, device: str) -> Message:
        """Return name and version."""
        return {**super().identity(device), "name": "pynested, compiled"}

    def function(self, op: str) -> Callable[..., Any]:
        """Return the operator, compiled anew for each call."""
        found = super().function(op)
        if op in _ANSWERS:
            return found
        return partial(_replayed, partial(_in_a_chain, found) if op in FUSIBLE_NAMES else found)


def _replayed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """Return the result of a graph that was made for components in the opposite order if there is one."""
    captures = function is flex_attention and any(isinstance(x, pn.Array) for x in args[3:])
    if "out" in kwargs or captures:  # no graph writes into an argument, or has callbacks that hold one
        return function(*args, **kwargs)
    compiled = _recorded(function, args, kwargs)
    before, calls = len(compiled.graphs), _calls(compiled)
    result = compiled(*args, **kwargs)
    if compiled.graphs and _calls(compiled) == calls:
        raise Recompiled(f"a graph has failed where the function itself does not:\n{compiled.explain()}")
    if before and len(compiled.graphs) > before:
        raise Recompiled(f"another graph was made for another ragged structure:\n{compiled.explain()}")
    return result


def _calls(compiled: Any) -> int:
    return sum(graph.calls for graph in compiled.graphs)


def _recorded(function: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    """Return the compiled function after a call with components in the opposite order, or with these arguments."""
    given = tuple(args), dict(kwargs)
    compiled = pn.compile(function)
    for turned in (True, False):
        try:
            first, named = map_values(_turned, given) if turned else given
            compiled(*first, **named)
        except (PynestedError, IndexError, OverflowError):  # what belongs to components may not fit
            compiled = pn.compile(function)
        else:
            break
    return compiled


def _turned(x: Any) -> Any:
    """The components in the opposite order, in other memory."""
    if not isinstance(x, pn.NestedArray):
        return x
    return x.detach()[::-1].clone().requires_grad_(x.requires_grad)


def _in_a_chain(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    return _once(function(*map(_once, args), **kwargs))


def _once(x: Any) -> Any:
    """Floats times 1: the same numbers, and the same gradient."""
    return x * 1.0 if isinstance(x, pn.Array | pn.NestedArray) and x.dtype.kind == "f" else x


if __name__ == "__main__":
    serve(PythonAdapter(CompiledTarget()))
