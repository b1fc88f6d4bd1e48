"""Programs in Python: what the steps are, where a target does not say otherwise.

The deeds and the questions have in PyTorch, in pynested and in whatever follows them the same names, so all that a
target has to add is how it pulls a cotangent back.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from pynested.spec.programs import OF_TAPE, PARTS, QUESTIONS, WRITES, names_in, outs, resolved

Step = Mapping[str, Any]


class Runs(Protocol):
    """What carries out the steps of a program: arrays by name, and a step at a time."""

    names: dict[str, Any]

    def step(self, step: Step) -> Any:
        """Carry a step out, and return the answer where it is a question."""


class Calls(Protocol):
    """What a target knows of its arrays; see `Target`, which says what each of these does."""

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call an operator."""

    def other(self, value: Any) -> Any:
        """Translate an argument that is no array."""

    def read(self, result: Any) -> Any:
        """Read arrays."""

    def part(self, op: str, array: Any) -> Any:
        """Return the array that an array answers to one of `PARTS`."""

    def pull_back(self, result: Any, cotangent: Any, retain: bool) -> None:
        """Make a backward pass."""

    def pull_to(self, array: Any, result: Any, cotangent: Any) -> Any:
        """Make one that is recorded, to an array."""

    def push(self, call: Callable[[Any], Any], array: Any, tangent: Any) -> Any:
        """Return how the result of a call moves where its array moves along a tangent."""


class PythonProgram:
    """Carries out steps on the arrays of a target, in one layout."""

    def __init__(self, names: dict[str, Any], layout: str, target: Calls) -> None:
        self.names = names
        self._layout, self._target = layout, target
        self._inputs, self._calls = dict(names), list[Step]()

    def step(self, step: Step) -> Any:
        """Carry a step out, and return the answer where it is a question."""
        op, args = step["op"], [self._resolved(one) for one in step["args"]]
        kwargs = {name: self._resolved(one) for name, one in step.get("kwargs", {}).items()}
        if op in QUESTIONS:
            return self._answer(op, *args)
        if op in WRITES:
            operator.setitem(*args) if op == "setitem" else getattr(args[0], op)(*args[1:])
            return None
        if op == "jvp":
            made = self._pushed(*names_in(step))
        elif op in OF_TAPE:
            made = self._of_tape(op, *args, **kwargs)
        else:
            self._calls.append(step)
            made = self._target.call(op, self._layout, args, kwargs)
        names = outs(step)
        self.names |= zip(names, made if isinstance(step.get("out"), list) else [made] * len(names), strict=True)
        return None

    def _resolved(self, value: Any) -> Any:
        return resolved(value, self.names, self._target.other)

    def _of_tape(self, op: str, array: Any, *rest: Any, retain_graph: bool = False) -> Any:
        if op == "backward":
            self._target.pull_back(array, rest[0], retain_graph)
        elif op == "vjp":
            return self._target.pull_to(rest[0], array, rest[1])
        elif op == "hook":
            array.register_hook(lambda gradient: gradient * rest[0])
        elif op == "retain_grad":
            array.retain_grad()
        return array.grad if op == "grad" else None

    def _pushed(self, result: str, array: str, tangent: str) -> Any:
        """Take the calls so far for a function of one input, which is how forward mode is asked for."""

        def again(x: Any) -> Any:
            program = PythonProgram({**self._inputs, array: x}, self._layout, self._target)
            for one in self._calls:
                program.step(one)
            return program.names[result]

        return self._target.push(again, self.names[array], self.names[tangent])

    def _answer(self, op: str, array: Any, *rest: Any) -> Any:
        if op in ("value", *PARTS):
            return self._target.read(array if op == "value" else self._target.part(op, array))
        if op == "len":
            return len(array)
        found = attribute(array, op)
        return bool(found) if op == "requires_grad" else found(*rest)


def attribute(array: Any, name: str) -> Any:
    """Return an attribute of an array; a library that lacks it does not have what it says."""
    if not hasattr(array, name):
        raise NotImplementedError(f"{type(array).__name__} has no {name}")
    return getattr(array, name)


def feasible(program: Runs, step: Step) -> bool:
    """Return whether everything that a step needs is there; a refused step has made nothing."""
    return set(names_in(step)) <= set(program.names)
