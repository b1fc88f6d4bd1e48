"""The operators of a chain as steps: each is an operation, of registers or numbers, and fills one register."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from pynested.autograd.arguments.canonical import canonical_dtype

from ..forms import Value
from ..nodes import Fact, Node
from .ends import End, end_of
from .operations import BEFORE, MASK, Operation, Part, apart, parts_of

Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Step:
    """``register = operation(*operands)``; an operand is the number of a register, or a tuple that holds a constant."""

    operation: Operation
    operands: tuple[int | tuple[float], ...]
    register: int

    @property
    def reads(self) -> list[int]:
        """The registers that go in, once for each operand."""
        return [one for one in self.operands if type(one) is int]


@dataclass(frozen=True, eq=False)
class Steps:
    """A chain: the first registers are its inputs.

    Attributes
    ----------
    inputs : tuple of dtype
        Those of the inputs, the last of which are the masks of dropouts.
    outputs : tuple of int
        The registers that come out.
    nested : frozenset of int
        The registers that belong to nested arrays; the others to dense ones.
    ends : mapping of int to End
        The registers, among the outputs, that have a number for each row, and what becomes of these.
    drops : tuple of (float, Value or None)
        Which share of the elements each dropout drops, and by which generator.
    """

    steps: tuple[Step, ...]
    inputs: tuple[np.dtype[Any], ...]
    outputs: tuple[int, ...]
    nested: frozenset[int]
    ends: Mapping[int, End]
    drops: tuple[tuple[float, Value | None], ...]
    made: dict[Any, Any] = field(default_factory=dict)  # what `kept` has made of them


def kept(make: Callable[..., Made]) -> Callable[..., Made]:
    """``make(steps, ...)``, which makes each thing once for a chain, and keeps it as long as the chain."""

    def found(steps: Steps, *others: Any) -> Made:
        key = make, *others
        if key not in steps.made:
            steps.made[key] = make(steps, *others)
        return steps.made[key]  # type: ignore[no-any-return]

    return found


def steps_of(
    nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], facts: Mapping[int, Fact]
) -> Steps:
    """The steps of ``nodes``."""
    ended = {node.results: end for node in nodes if (end := end_of(node)) is not None}
    parts = [(node, *part) for node in nodes for part in apart(_parts(node, ended), facts[node.results.number])]
    drops = tuple([(operation.share, operation.generator) for _, operation, _ in parts if operation.share])
    registers = {value: i for i, value in enumerate(inputs)}
    nested = {i for value, i in registers.items() if facts[value.number].kind == "nested"}
    masks = iter(range(len(inputs), len(inputs) + len(drops)))
    steps: list[Step] = []
    for node, operation, given in parts:
        register = len(inputs) + len(drops) + len(steps)
        operands = tuple([next(masks) if one is MASK else _operand(one, registers, register - 1) for one in given])
        steps.append(Step(operation, operands, register))
        registers[node.results] = register
        if facts[node.results.number].kind == "nested":
            nested.add(register)
    dtypes = [canonical_dtype(fact.dtype, fact.device) for fact in (facts[value.number] for value in inputs)]
    dtypes += [np.dtype(bool)] * len(drops)
    ends = {registers[value]: end for value, end in ended.items()}
    return Steps(tuple(steps), tuple(dtypes), tuple(registers[one] for one in outputs), frozenset(nested), ends, drops)


def _parts(node: Node, ended: Mapping[Value, End]) -> list[Part]:
    end = ended.get(node.results)
    return parts_of(node) if end is None else [(end.operation, (end.operand,))]


def _operand(one: Any, registers: Mapping[Value, int], before: int) -> int | tuple[float]:
    if one is BEFORE:
        return before
    return registers[one] if type(one) is Value else (one,)
