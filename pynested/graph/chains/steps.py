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
IN_CHAINS = frozenset({*RULES, "clamp"})
BEFORE = object()  # in the place of an operand: what the rule before has made


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


def parts_of(node: Node) -> list[tuple[Elementwise, tuple[Any, ...]]]:
    """The rules that a call comes to, one after the other, each with its operands; none where chains do not have it."""
    if node.name == "clamp":
        return _clamped(*node.args, **node.kwargs)
    rule = RULES.get(node.name)
    return [] if rule is None or node.kwargs or len(node.args) != rule.arity else [(rule, node.args)]


def _clamped(self: Any, min: Any = None, max: Any = None) -> list[tuple[Elementwise, tuple[Any, ...]]]:
    bounds = [(rule, one) for rule, one in ((rules.clamp_min, min), (rules.clamp_max, max)) if one is not None]
    return [(rule, (BEFORE if i else self, one)) for i, (rule, one) in enumerate(bounds)]


def steps_of(
    nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], facts: Mapping[int, Fact]
) -> Steps:
    """The steps of ``nodes``."""
    registers = {value: i for i, value in enumerate(inputs)}
    nested = {i for value, i in registers.items() if facts[value.number].kind == "nested"}
    steps: list[Step] = []
    for node in nodes:
        for rule, given in parts_of(node):
            register = len(inputs) + len(steps)
            operands = tuple([_operand(one, registers, register - 1) for one in given])
            steps.append(Step(rule, operands, register))
            if facts[node.results.number].kind == "nested":
                nested.add(register)
        registers[node.results] = len(inputs) + len(steps) - 1
    return Steps(tuple(steps), len(inputs), tuple(registers[one] for one in outputs), frozenset(nested))


def _operand(one: Any, registers: Mapping[Value, int], before: int) -> int | tuple[float]:
    if one is BEFORE:
        return before
    return registers[one] if type(one) is Value else (one,)
