"""Programs of the small implementation: each call leaves a line, and a pass reads them from the last to the first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from calc import Nest, nest

from pynested.conformance.adapters.programs import PythonProgram
from pynested.spec.programs import WRITES

Step = Mapping[str, Any]


class Program(PythonProgram):
    def __init__(self, names: dict[str, Any], layout: str, target: Any) -> None:
        super().__init__(names, layout, target)
        self.lines: list[tuple[Any, Any, list[Any]]] = []  # a result, its pull, and the operands

    def step(self, step: Step) -> Any:
        if step["op"] in (*WRITES, "hook", "retain_grad", "requires_grad", "vjp", "jvp", "getitem"):
            raise NotImplementedError(step["op"])
        if step["op"] == "backward":
            array, cotangent = (self.names[one["name"]] for one in step["args"])
            return self.pull_back(array, cotangent, "kwargs" in step)
        if step["op"] == "grad":
            array = self.names[step["args"][0]["name"]]
            self.names[step["out"]] = gradient(array)
            return None
        before = set(self.names)
        answer = super().step(step)
        made = [self.names[name] for name in self.names if name not in before]
        if made and isinstance(step["out"], str):
            self.lines.append((made[0], self._target.pull, self.operands(step)))
        elif made:
            raise NotImplementedError("several results")
        return answer

    def operands(self, step: Step) -> list[Any]:
        found: dict[int, Any] = {}
        for one in step["args"]:
            for part in one["list"] if isinstance(one, dict) and "list" in one else [one]:
                if isinstance(part, dict) and "name" in part:
                    array = self.names[part["name"]]
                    found[id(array)] = array
        return list(found.values())

    def pull_back(self, array: Any, cotangent: Any, retain: bool) -> None:
        if not any(result is array for result, _, _ in self.lines):
            raise RuntimeError("this graph is gone")
        coming = {id(array): parts(cotangent)}
        kept = []
        for result, pull, operands in reversed(self.lines):
            if id(result) not in coming:
                kept.append((result, pull, operands))
                continue
            before = [one.grad for one in operands]
            for one in operands:
                one.grad = None
            pull(coming[id(result)])
            for one, old in zip(operands, before, strict=True):
                coming[id(one)] = added(coming.get(id(one)), one.grad)
                one.grad = added(old, one.grad)
        self.lines = self.lines if retain else kept[::-1]


def parts(array: Any) -> Any:
    return array.parts() if isinstance(array, Nest) else array.array


def added(old: Any, new: Any) -> Any:
    if old is None or new is None:
        return new if old is None else old
    return old + new if isinstance(old, np.ndarray) else [a + b for a, b in zip(old, new, strict=True)]


def gradient(array: Any) -> Any:
    if not isinstance(array, Nest):
        return array.grad
    zeros: Sequence[Any] = [np.zeros_like(part) for part in array.parts()]
    return nest(zeros if array.grad is None else array.grad, array, none=array.values)
