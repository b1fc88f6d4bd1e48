"""One block of a chain, backwards: what is needed is computed again, then each step pulls, from the last to the first.

What arrives at a register is added in the order in which the lines of the steps would have added it, so that gradients
are those of the steps bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .forward import called, compiled, named, operand
from .steps import Step, Steps, kept

_CHEAP = frozenset({"add", "sub", "mul", "neg", "abs", "maximum", "minimum", "relu", "square", "sgn"})
_DEAR, _MEMORY = 10, 2  # operators of this kind, and writing and reading a value, in cheap operators


@dataclass(frozen=True)
class Backward:
    """A function of one block, and what it takes and gives.

    ``f(*inputs, *kept, *cotangents, *sums) -> results``: registers that the forward pass has kept, cotangents of
    outputs that have one, what has arrived already at inputs of full size. Results are the new sums, and contributions
    to inputs that were spread, one by one.
    """

    function: Callable[..., Any]
    sums: tuple[int, ...]  # the inputs at which sums arrive
    spread: tuple[int, ...]  # the inputs that were spread, once for each contribution
    looks: frozenset[int]  # the inputs whose values are looked at
    keeps: tuple[int, ...]  # the registers that are better kept than computed again


class Passes(NamedTuple):
    """Between which registers cotangents are pulled, and what is there already."""

    arrived: tuple[int, ...]  # outputs that have a cotangent
    begun: tuple[int, ...]  # inputs at which something has arrived from elsewhere
    wanted: frozenset[int]  # inputs that want some
    spread: frozenset[int]  # those that were spread to the full size
    kept: tuple[int, ...]  # registers that the forward pass has kept


@kept
def backward(steps: Steps, passes: Passes) -> Backward:
    """What pulls through ``steps``."""
    return _Writer(steps, passes).backward()


class _Writer:
    def __init__(self, steps: Steps, passes: Passes) -> None:
        self.steps, self.passes = steps, passes
        self.names: dict[str, Any] = {"zeros_like": np.zeros_like}
        self.lines: list[str] = []
        self.parts: list[tuple[int, str]] = []
        self.has = {*passes.arrived, *passes.begun}
        self.reached = set(passes.wanted)  # the registers between the inputs and the outputs
        for step in steps.steps:
            if self.reached.intersection(step.reads):
                self.reached.add(step.register)
        self.looked: set[int] = set()

    def backward(self) -> Backward:
        """Write the text, and compile it."""
        for step in reversed(self.steps.steps):
            if step.register in self.has and step.register in self.reached:
                self._pull(step)
        sums = tuple(i for i in sorted(self.passes.wanted - self.passes.spread) if i in self.has)
        results = [f"c{i}" for i in sums] + [name for _, name in self.parts]
        parameters = [f"r{i}" for i in (*range(self.steps.inputs), *self.passes.kept)]
        parameters += [f"c{i}" for i in (*self.passes.arrived, *self.passes.begun)]
        keeps = self._keeps()
        again = self._again()
        text = [f"def chain({', '.join(parameters)}):", *again, *self.lines]
        text.append(f"    return {''.join(one + ', ' for one in results) or '()'}")
        looks = frozenset(i for i in self.looked if i < self.steps.inputs)
        return Backward(compiled(text, self.names), sums, tuple(i for i, _ in self.parts), looks, keeps)

    def _pull(self, step: Step) -> None:
        """The contributions of one step to its operands."""
        rule = step.rule
        wanted = [type(one) is int and one in self.reached for one in step.operands]
        looks = rule.looks[tuple(wanted)]
        operands = [self._operand(one, "ab"[i] in looks) for i, one in enumerate(step.operands)]
        output = "None"
        if "y" in looks:
            output = f"r{step.register}"
            self.looked.add(step.register)
        for partial, one, want in zip(rule.partials, step.operands, wanted, strict=True):
            if want:
                cotangent = f"c{step.register}"
                if partial == 0:
                    cotangent = f"zeros_like({cotangent})"
                elif partial != 1:
                    pull = named(rule.fused_on_cpu or partial, self.names)
                    cotangent = f"{pull}({cotangent}, {output}, {', '.join(operands)})"
                self._add(one, cotangent)  # type: ignore[arg-type]

    def _operand(self, one: int | tuple[float], looks: bool) -> str:
        if type(one) is not int:
            return operand(one) if looks else "None"
        if looks:
            self.looked.add(one)
        return f"r{one}" if looks else "None"

    def _add(self, register: int, cotangent: str) -> None:
        if register in self.passes.spread:
            name = f"p{len(self.parts)}"
            self.lines.append(f"    {name} = {cotangent}")
            self.parts.append((register, name))
        elif register in self.has:
            self.lines.append(f"    c{register} = c{register} + {cotangent}")
        else:
            self.lines.append(f"    c{register} = {cotangent}")
            self.has.add(register)

    def _keeps(self) -> tuple[int, ...]:
        """The registers looked at that take more to compute than to write and to read."""
        there: set[int] = set()
        for step in self.steps.steps:
            free = step.register in self.steps.outputs  # it is written anyway
            if step.register in self.looked and (free or self._cost(step, there) > _MEMORY):
                there.add(step.register)
        return tuple(sorted(there))

    def _cost(self, step: Step, there: set[int]) -> int:
        """How much is to be computed for a step where some registers are there."""
        needed, cost = {step.register}, 0
        for one in reversed(self.steps.steps):
            if one.register in needed - there:
                needed.update(one.reads)
                cost += 1 if one.rule.name in _CHEAP else _DEAR
        return cost

    def _again(self) -> list[str]:
        """The steps whose results somebody looks at, and those that lead to them."""
        lines = []
        for step in reversed(self.steps.steps):
            if step.register in self.looked and step.register not in self.passes.kept:
                self.looked.update(step.reads)
                lines.append(f"    r{step.register} = {called(step, self.names)}")
        return lines[::-1]
