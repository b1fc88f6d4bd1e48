"""`Chain`: several elementwise operators as one call."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.random import Generator

from pynested.autograd import Array, random
from pynested.autograd.tape import state
from pynested.backends.host import from_host
from pynested.backends.numpy.running import another_quiet_context
from pynested.nested.array import NestedArray, around

from ..cuda import has_others
from ..forms import Value
from ..nodes import Fact, Node
from ..replay import runner
from .forward import forward
from .lined_up import Lined, lined_up_or_packed
from .rule import ChainRule
from .steps import steps_of


class Chain:
    """The operators of ``nodes``, from ``inputs``, arrays and then generators of random numbers, to ``outputs``.

    All of them make nested arrays, or all of them dense ones. A call looks whether the operands line up: nested ones in
    one structure, packed where they have holes, dense ones that broadcast behind the ragged dimension. Otherwise it
    calls the operators one by one, which know what to do, or what to refuse.
    """

    def __init__(
        self, nodes: Sequence[Node], inputs: Sequence[Value], outputs: Sequence[Value], facts: Mapping[int, Fact]
    ) -> None:
        self.name, self.nodes = name_of(nodes), nodes
        self.device = facts[outputs[0].number].device
        arrays = [value for value in inputs if facts[value.number].kind != "other"]
        self.steps = steps_of(nodes, arrays, outputs, facts)
        self.generators = {value: i for i, value in enumerate(inputs) if value not in arrays}
        self.dtypes = [facts[value.number].dtype for value in outputs]
        self.tracked = [facts[value.number].tracked for value in outputs]
        self.one_by_one = runner(inputs, nodes, tuple(outputs))
        self.rule = ChainRule(self)

    def __call__(self, *operands: Any) -> Any:
        """One result, or a tuple of them."""
        given, operands = operands, operands[: len(operands) - len(self.generators)]
        arrays = [x._buffer if type(x) is NestedArray else x for x in operands]
        recorded = state.mode and any(self.tracked) and any(x.tracked for x in arrays)
        found = None
        if not (recorded and met_twice(arrays)):
            packed, found = lined_up_or_packed(operands, self.steps, bool(recorded))
            if packed is not operands:
                arrays = [x._buffer if type(x) is NestedArray else x for x in packed]
        if found is None or (self.device != "cpu" and has_others(self.device)):
            results = self.one_by_one(*given)
            return results if len(results) > 1 else results[0]
        lined, structure = found
        if self.steps.drops:
            drops = [(share, None if one is None else given[self.generators[one]]) for share, one in self.steps.drops]
            masks = [self._mask(lined.shape, *drop) for drop in drops]
            lined = Lined(lined.shape, lined.cut.union(range(len(arrays), len(arrays) + len(masks))))
            arrays += masks
        outputs = self.steps.outputs
        kept = self.rule.kept(arrays, lined) if recorded else ()
        wanted = outputs + tuple([one for one in kept if one not in outputs])
        made = [Array(data, self.device) for data in self._computed([x._bare for x in arrays], lined, wanted)]
        if recorded:
            registers = dict(zip(wanted, made, strict=True))
            made = made[: len(outputs)]
            self.rule.record(made, arrays, lined, {one: registers[one].detach() for one in kept})
        if self.steps.ends:
            made = self._finished(made, lined.shape)
        if structure is not None:
            nested = [around(one, structure) for one in made]
            return nested[0] if len(nested) == 1 else tuple(nested)
        return made[0] if len(made) == 1 else tuple(made)

    def _mask(self, shape: tuple[int, ...], share: float, generator: Generator | None) -> Array:
        """Which elements a dropout keeps, by the next random numbers."""
        return Array(from_host(random.default(generator).random(shape) >= share, self.device), self.device)

    def _finished(self, made: list[Array], shape: tuple[int, ...]) -> list[Array]:
        """The results, where those that end in a reduction have a number for each row yet."""
        ends = [self.steps.ends.get(one) for one in self.steps.outputs]
        return [
            one if end is None else end.finished(one, shape, dtype)
            for one, end, dtype in zip(made, ends, self.dtypes, strict=True)
        ]

    def of_dense(self, operands: Sequence[Any]) -> tuple[Any, ...]:
        """The steps one by one, of dense arrays that broadcast; each writes a line of its own."""
        registers = list(operands)
        for step in self.steps.steps:
            given: list[Any] = [registers[one] if isinstance(one, int) else one[0] for one in step.operands]
            registers.append(step.operation.call(*given))
        return tuple(registers[one] for one in self.steps.outputs)

    def _computed(self, datas: list[Any], lined: Lined, wanted: tuple[int, ...]) -> Any:
        """The registers ``wanted``."""
        run = forward(self.steps, self.device, wanted)
        return another_quiet_context().run(run, lined.shape, datas)


def name_of(nodes: Sequence[Node]) -> str:
    """What several operators are called as one."""
    return f"chain of {', '.join(node.name for node in nodes)}"


def met_twice(arrays: Sequence[Any]) -> bool:
    """Whether two operands send their gradients to one place, where the order in which they arrive would be another."""
    sources = [id(x.line or x.stand_in()) for x in arrays if x.tracked]
    return len(set(sources)) < len(sources)
