"""Derivatives of a kernel, taken from a formula in primitives that computes the same value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import Array
from ..modes import Mode
from ..tape import RECORDING, next_number, source_of, state
from ..traversal import run_forward, vjp_between
from .movement import alias

Derivative = Callable[..., Any]


def derivatives_of(formula: Callable[..., Any]) -> tuple[Derivative, Derivative]:
    """Return the joint vjp and jvp of ``formula``: they record the formula and run reverse mode and forward mode.

    The formula returns an array, or a tuple of arrays, some of which can be None.
    """

    def record(args: Sequence[Any]) -> tuple[list[Any], list[Any], int]:
        start = next_number()
        with Mode(state.mode or RECORDING):
            # an alias has a node of its own, at which the derivatives of this formula end
            views = [alias(arg) if type(arg) is Array and arg.tracked else arg for arg in args]
            results = formula(*views)
        nodes = [view.node if type(view) is Array and view.tracked else None for view in views]
        return nodes, [*results] if type(results) is tuple else [results], start

    def vjp(g: Any, y: Any, *args: Any) -> list[Any]:
        nodes, results, start = record(args)
        cotangents = vjp_between(results, g if type(g) is list else [g], nodes, start, bool(state.mode))
        return [cotangents.get(node) for node in nodes]

    def jvp(tangents: Sequence[Any], y: Any, *args: Any) -> Any:
        nodes, results, start = record(args)
        tangent_by_node = {
            node: t for node, t in zip(nodes, tangents, strict=False) if node is not None and t is not None
        }
        ends = [None if result is None else source_of(result) for result in results]
        output_tangents = run_forward(tangent_by_node, ends, start)
        return output_tangents if len(output_tangents) > 1 else output_tangents[0]

    return vjp, jvp
