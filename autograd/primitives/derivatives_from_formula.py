"""The vjp and the jvp of a primitive with a kernel, from a formula in other primitives that computes the same value."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..array import Array
from ..modes import Mode
from ..tape import RECORDING, BackwardPass, grad_mode, next_node_number, node_or_leaf
from ..traversal import run_forward, vjp_between
from .movement import alias
from .primitive import Derivative


def derivatives_of(formula: Callable[..., Any]) -> tuple[Derivative, Derivative]:
    """Return the vjp and the jvp of a formula: two functions, each for all arguments, as `Primitive` takes them.

    Both record ``formula`` on fresh views of the arguments. Then the vjp runs reverse mode, and the jvp forward mode,
    between the views and the results. The formula returns an array, or a tuple of arrays and None.
    """

    def record(args: Sequence[Any]) -> tuple[list[Any], list[Any], int]:
        """Return the nodes of the views, the results, and the number at which the recording began."""
        first_number = next_node_number()
        with Mode(RECORDING):
            views = [alias(arg) if type(arg) is Array and arg.tracked else arg for arg in args]
            results = formula(*views)
        nodes = [view.node if type(view) is Array and view.tracked else None for view in views]
        return nodes, [*results] if type(results) is tuple else [results], first_number

    def vjp(g: Any, _output: Any, *args: Any) -> list[Any]:
        nodes, results, first_number = record(args)
        new_pass = BackwardPass(is_recorded=bool(grad_mode.value))
        cotangents = vjp_between(results, g if type(g) is list else [g], nodes, first_number, new_pass)
        return [cotangents.get(node) for node in nodes]

    def jvp(tangents: Sequence[Any], _output: Any, *args: Any) -> Any:
        nodes, results, first_number = record(args)
        pairs = zip(nodes, tangents, strict=False)
        tangent_by_node = {node: t for node, t in pairs if node is not None and t is not None}
        result_nodes = [None if result is None else node_or_leaf(result) for result in results]
        output_tangents = run_forward(tangent_by_node, result_nodes, first_number)
        return output_tangents if len(output_tangents) > 1 else output_tangents[0]

    return vjp, jvp
