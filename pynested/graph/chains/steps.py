"""The operators of a chain as steps: each is a rule, of registers or numbers, and fills one register."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

from pynested.autograd.rules import elementwise as rules
from pynested.autograd.rules.functions import RULES as OF_ONE
from pynested.autograd.rules.kinds.elementwise import Elementwise
from pynested.autograd.rules.pairs import RULES as OF_TWO

from ..forms import Value
from ..nodes import Fact, Node

# What an operator of the tables computes of floats, by its name: one rule, and nothing else.
RULES: dict[str, Elementwise] = {
    **OF_ONE, **OF_TWO, "add": rules.add, "sub": rules.sub, "neg": rules.neg, "abs": rules.abs_, "sgn": rules.sgn,
    "relu": rules.relu, "silu": rules.silu, "gelu": rules.gelu,
}  # fmt: skip


Made = TypeVar("Made")


@dataclass(frozen=True, eq=False)
class Step:
    """``register = rule(*operands)``; an operand is a register, by its number, or a constant in a tuple of its own."""

    rule: Elementwise
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
    inputs : int
        How many there are.
    outputs : tuple of int
        The registers that come out.
    nested : frozenset of int
        The registers that belong to nested arrays; the others to dense ones.
    """

    steps: tuple[Step, ...]
    inputs: int
    outputs: tuple[int, ...]
    nested: frozenset[int]
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
    registers = {value: i for i, value in enumerate(inputs)}
    steps = []
    for node in nodes:
        operands = tuple(registers[one] if type(one) is Value else (one,) for one in node.args)
        register = registers[node.results] = len(registers)
        steps.append(Step(RULES[node.name], operands, register))
    nested = frozenset(i for value, i in registers.items() if facts[value.number].kind == "nested")
    return Steps(tuple(steps), len(inputs), tuple(registers[one] for one in outputs), nested)
