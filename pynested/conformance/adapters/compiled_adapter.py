"""pynested's operators, compiled: each call is recorded on other ragged structures, and replayed on those of the case.

So what a graph holds of the structure that it was recorded on shows as a difference. Elementwise operators stand in a
chain, between multiplications by 1, which change no number: so it is the chain that is asked, forwards and backwards.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any

import pynested as pn
from pynested.autograd.containers import mapped
from pynested.backends.errors import PynestedError
from pynested.graph.chains.operations import IN_CHAINS

from ..messages import Message
from .base import PythonAdapter
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
        return partial(_replayed, partial(_in_a_chain, found) if op in IN_CHAINS else found)


def _replayed(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
    """``function`` of the arguments, by a graph that was made for components in the opposite order if there is one."""
    compiled = pn.compile(function)
    _record_elsewhere(compiled, args, kwargs)
    before, calls = len(compiled.graphs), _calls(compiled)
    result = compiled(*args, **kwargs)
    if compiled.graphs and _calls(compiled) == calls:
        raise Recompiled(f"a graph has failed where the function itself does not:\n{compiled.explain()}")
    if before and len(compiled.graphs) > before:
        raise Recompiled(f"another graph was made for another ragged structure:\n{compiled.explain()}")
    return result


def _calls(compiled: Any) -> int:
    return sum(graph.calls for graph in compiled.graphs)


def _record_elsewhere(compiled: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
    try:
        turned = mapped(_turned, (tuple(args), dict(kwargs)))
        compiled(*turned[0], **turned[1])
    except (
        PynestedError,
        IndexError,
        OverflowError,
    ):  # the call is refused, or what belongs to components does not fit
        compiled._known.clear()


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
