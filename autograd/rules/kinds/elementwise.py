"""The elementwise kind of rule: partial derivatives given as expressions of the output and the inputs."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...array import Array, zeros_like
from ...tape import Node, state
from ..rule import Rule, Verb, fused_on_device

Expression = Callable[..., Any]


class Vjp:
    """A partial derivative that says itself what becomes of the cotangent: ``vjp(g, y, *inputs)``."""

    def __init__(self, vjp: Expression) -> None:
        self.vjp = vjp


def per(divisor: Expression) -> Vjp:
    """1 over ``divisor``: the cotangent is divided by it, and rounded once."""
    return Vjp(lambda g, y, *inputs: g / divisor(y, *inputs))


Partial = Expression | Vjp | int


class Elementwise(Rule):
    """``partials[i](y, *inputs)`` is the derivative of the output with respect to input ``i``; an int is a constant.

    ``saves`` names what each partial looks at, in the order of the inputs and separated by ``|``: ``y`` the output,
    ``a``, ``b`` the inputs; only what somebody will look at is saved. ``fused(k, g, y, x)`` pulls to the one input of a
    rule with a single kernel of the backend ``k``, where nobody wants to differentiate the pass itself.
    """

    broadcasts = True
    may_alias = False

    def __init__(
        self,
        name: str,
        verb: Verb,
        saves: str,
        *partials: Partial,
        fused: Expression | None = None,
    ) -> None:
        super().__init__(name, verb, len(partials), saves)
        self.partials = [_applied(partial) for partial in partials]
        self.fused = fused
        self.saved_names = [*saves.split("|"), ""][: self.arity]

    def inputs_read(self, sources: tuple[Any, ...]) -> list[bool]:
        """Return which inputs the derivatives of the tracked inputs read."""
        names = self.reads(sources)
        return [letter in names for letter in "ab"[: self.arity]]

    def reads_output(self, sources: tuple[Any, ...]) -> bool:
        """Return whether a derivative of the tracked inputs reads the output."""
        return "y" in self.reads(sources)

    def reads(self, sources: tuple[Any, ...]) -> str:
        """Return the names of the values that the derivatives of the tracked inputs read."""
        return "".join(names for names, source in zip(self.saved_names, sources, strict=True) if source is not None)

    def cotangents(self, node: Node, cotangent: Any, inputs: Any, output: Any, needed: set[Any] | None) -> Any:
        """The cotangent times each of the wanted partial derivatives."""
        pulled: list[Any] = []
        for partial, source in zip(self.partials, node.sources, strict=True):
            if source is None or (needed is not None and source not in needed):
                pulled.append(None)
            elif partial == 0:
                pulled.append(zeros_like(cotangent))
            elif partial == 1:
                pulled.append(cotangent)
            elif self.fused is None or state.mode:
                pulled.append(partial(cotangent, output, *inputs))
            else:
                pulled.append(fused_on_device(self.fused, cotangent, output, *inputs))
        return pulled

    def apply_jvp(self, node: Node, tangents: list[Any]) -> Any:
        """The sum of the tangents times the partial derivatives."""
        inputs, output = node.saved()
        recorded = Array.made_by(node, output) if output is not None else None
        inputs = inputs or (None,) * len(tangents)
        total = None
        for partial, tangent in zip(self.partials, tangents, strict=True):
            if tangent is None or partial == 0:
                continue
            term = tangent if partial == 1 else partial(tangent, recorded, *inputs)
            total = term if total is None else total + term
        return None if total is None else total.to(node.dtype).broadcast_to(node.shape)


def _applied(partial: Partial) -> Any:
    """``partial`` as a function of the cotangent, the output and the inputs; 0 and 1 stay."""
    if partial in (0, 1):
        return partial
    if partial == -1:
        return lambda g, y, *inputs: -g
    if isinstance(partial, Vjp):
        return partial.vjp
    expression: Any = partial
    return lambda g, y, *inputs: g * expression(y, *inputs)
