"""Four kinds of rule. Each knows how to compute, how to pull a cotangent back and how to push a tangent forward.

*linear*       jointly linear in its arrays: the jvp is the function itself, the adjoint is given
*multilinear*  linear in each array on its own: the jvp replaces one argument at a time, the adjoints are given
*elementwise*  the partial derivatives are given, as expressions of the output and the inputs (in pointwise.py)
*custom*       both directions are given

Derivatives are written with operators and with other rules, so a pass that is recorded can be differentiated again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pynested.backends import get_backend
from pynested.backends.events import listening

from ...array import Array
from ...tape import Node, state
from ..rule import PART, RULES, Rule, Verb, bind, fused_on_device, same_device

__all__ = [
    "PART", "RULES", "Custom", "Linear", "Multilinear", "Rule", "Several", "Variadic", "Verb", "bind",
    "same_device",
]  # fmt: skip

Adjoint = Callable[..., Any]


class Linear(Rule):
    """Jointly linear in all its arrays; ``adjoint(g, shapes, *static)`` returns one cotangent, or a tuple of them.

    A tuple of adjoints, one for each array, is asked only for the cotangents that are wanted.
    """

    def __init__(self, name: str, verb: Verb, adjoint: Adjoint | tuple[Adjoint, ...], arity: int = 1) -> None:
        super().__init__(name, verb, arity, "")
        self.adjoint = adjoint

    def cotangents(self, node: Node, cotangent: Any, inputs: Any, output: Any, needed: set[Any] | None) -> Any:
        """What the adjoint says."""
        if isinstance(self.adjoint, tuple):
            return [
                adjoint(cotangent, node.shapes, *node.static) if _wanted(source, needed) else None
                for adjoint, source in zip(self.adjoint, node.sources, strict=True)
            ]
        pulled = self.adjoint(cotangent, node.shapes, *node.static)
        return pulled if type(pulled) is tuple else (pulled,)

    def apply_jvp(self, node: Node, tangents: list[Any]) -> Any:
        """The function itself, zeros standing for what has no tangent."""
        if all(tangent is None for tangent in tangents):
            return None
        like = next(tangent for tangent in tangents if tangent is not None)
        xp = get_backend(like.device).xp
        full = [
            Array(xp.zeros(shape, node.dtype), like.device) if tangent is None else tangent
            for tangent, shape in zip(tangents, node.shapes, strict=True)
        ]
        return self.apply(tuple(full), node.static)


class Variadic(Linear):
    """A linear rule over any number of arrays, given as one sequence."""

    def __call__(self, *arguments: Any) -> Any:
        """Apply to the arrays of the first argument."""
        apply = self.apply_observed if listening.count else self.apply
        return apply(tuple(arguments[0]), arguments[1:])


class Several(Linear):
    """A linear rule with several outputs; its adjoint gets a list of their cotangents, None where none arrived."""

    def __call__(self, *arguments: Any) -> Any:
        """The outputs, as a tuple."""
        apply = self.apply_observed if listening.count else self.apply
        return apply(arguments[:1], arguments[1:])


class Multilinear(Rule):
    """Linear in each array on its own; ``adjoints[i](g, shapes, *inputs, *static)`` pulls to argument ``i``.

    An adjoint does not look at its own argument, which is saved only if another one wants a gradient.
    """

    broadcasts = True

    def __init__(self, name: str, verb: Verb, adjoints: tuple[Adjoint, ...]) -> None:
        super().__init__(name, verb, len(adjoints), "abcdef"[: len(adjoints)])
        self.adjoints = adjoints

    def inputs_read(self, sources: tuple[Any, ...]) -> list[bool]:
        """An input is looked at if another one is differentiated."""
        differentiated = [source is not None for source in sources]
        count = sum(differentiated)
        return [count > own for own in differentiated]

    def cotangents(self, node: Node, cotangent: Any, inputs: Any, output: Any, needed: set[Any] | None) -> Any:
        """What the adjoints of the wanted arguments say."""
        return [
            adjoint(cotangent, node.shapes, *inputs, *node.static) if _wanted(source, needed) else None
            for adjoint, source in zip(self.adjoints, node.sources, strict=True)
        ]

    def apply_jvp(self, node: Node, tangents: list[Any]) -> Any:
        """The sum over the arguments of the function with that argument's tangent in its place."""
        inputs = node.saved()[0]
        total = None
        for i, tangent in enumerate(tangents):
            if tangent is not None:
                term = self.apply((*inputs[:i], tangent, *inputs[i + 1 :]), node.static)
                total = term if total is None else total + term
        return total


class Custom(Rule):
    """Both directions given: ``vjp(g, y, inputs, *static)`` and ``jvp(tangents, y, inputs, *static)``.

    ``fused(k, g, y, inputs, *static)`` is the vjp by kernels of the backend ``k``, for passes that nobody wants to
    differentiate. ``select_static`` says what a node keeps of the static arguments, where that is less than all.
    """

    def __init__(
        self,
        name: str,
        verb: Verb,
        saves: str,
        vjp: Callable[..., Any],
        jvp: Callable[..., Any],
        arity: int = 1,
        select_static: Callable[..., tuple[Any, ...]] | None = None,
        fused: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(name, verb, arity, saves)
        self.fused = fused
        self.vjp = vjp
        self.jvp = jvp
        self.select_static = select_static

    def cotangents(self, node: Node, cotangent: Any, inputs: Any, output: Any, needed: set[Any] | None) -> Any:
        """Return the cotangents from ``fused`` if it is given and the pass is not recorded, else from ``vjp``."""
        if self.fused is not None and not state.mode:
            return fused_on_device(self.fused, cotangent, output, inputs, *node.static)
        return self.vjp(cotangent, output, inputs, *node.static)

    def apply_jvp(self, node: Node, tangents: list[Any]) -> Any:
        """Return the tangent of the output from ``jvp``."""
        if all(tangent is None for tangent in tangents):
            return None
        inputs, output = node.saved()
        recorded = Array.made_by(node, output) if output is not None else None
        return self.jvp(tangents, recorded, inputs or (None,) * len(tangents), *node.static)


def _wanted(source: Any, needed: set[Any] | None) -> bool:
    return source is not None and (needed is None or source in needed)
