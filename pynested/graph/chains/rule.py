"""The one line of the tape that a chain writes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pynested.autograd import Array, api
from pynested.autograd.array import raw
from pynested.autograd.pending import Pending
from pynested.autograd.rules.rule import RULES, Rule, hang
from pynested.autograd.tape import Line, held
from pynested.backends.numpy.running import another_quiet_context

from .backward import Backward, Passes, backward
from .lined_up import Lined


class ChainRule(Rule):
    """Of all arrays that go into a chain; a line of it saves them, and computes again what lies between."""

    def __init__(self, chain: Any) -> None:  # not among the rules by name: there is one for each chain
        self.name, self.chain, self.steps = chain.name, chain, chain.steps
        self.plans: dict[tuple[tuple[bool, ...], frozenset[int]], Backward] = {}

    def kept(self, operands: list[Any], lined: Lined) -> tuple[int, ...]:
        """The registers that a line keeps, for a backward pass from all outputs to all that wants a gradient."""
        return self._planned(operands, lined.cut).keeps

    def _planned(self, operands: list[Any], cut: frozenset[int]) -> Backward:
        tracked, device = tuple([one.tracked for one in operands]), self.chain.device
        plan = self.plans.get((tracked, cut))
        if plan is None:
            wanted = frozenset(i for i, one in enumerate(tracked) if one)
            first = backward(self.steps, device, Passes(self.steps.outputs, (), wanted, wanted - cut, ()))
            again = backward(self.steps, device, Passes(self.steps.outputs, (), wanted, wanted - cut, first.keeps))
            plan = self.plans[tracked, cut] = replace(again, keeps=first.keeps)
        return plan

    def record(self, results: list[Array], operands: list[Any], lined: Lined, kept: Mapping[int, Any]) -> None:
        """Let ``results`` hang from one line, which keeps the registers ``kept``."""
        sources = tuple(
            (one.line or one.stand_in()) if type(one) is Array and one.tracked else None for one in operands
        )
        given = [held(one, source) for one, source in zip(operands, sources, strict=True)]
        line = Line(self, sources, (lined, given, tuple(kept)), results[0].shape, results[0].dtype)
        looks = self._planned(operands, lined.cut).looks
        saved = [one if i in looks else None for i, one in enumerate(given)]
        line.save((*saved, *kept.values()), None)
        if len(results) == 1:
            results[0].line, results[0].tracked = line, True
        else:
            hang(results, line, self.chain.tracked)

    def pull(self, line: Line, cotangent: Any, pending: Pending, needed: set[Any] | None) -> None:
        """Send what arrived at the outputs to the inputs, block by block."""
        cotangents = cotangent if line.parts else [cotangent]
        arrived = {i: one for i, one in zip(self.steps.outputs, cotangents, strict=True) if one is not None}
        wanted = self._wanted(line, needed)
        if pending.graph:
            self._pull_recorded(line, arrived, pending, wanted)
        else:
            self._pull_blocks(line, arrived, pending, wanted)

    def _wanted(self, line: Line, needed: set[Any] | None) -> list[int]:
        sources = enumerate(line.sources)
        return [i for i, one in sources if one is not None and (needed is None or one in needed)]

    def _pull_blocks(self, line: Line, arrived: dict[int, Any], pending: Pending, wanted: list[int]) -> None:
        lined: Lined = line.static[0]
        inputs = line.saved()[0]
        there, device = pending.cotangents, self.chain.device
        begun = {i: there[line.sources[i]] for i in wanted if i in lined.cut and line.sources[i] in there}
        goal = frozenset(wanted)
        passes = Passes(tuple(arrived), tuple(begun), goal, goal - lined.cut, line.static[2])
        pull = backward(self.steps, device, passes)
        given = [raw(one) for one in (*inputs, *arrived.values(), *begun.values())]
        found = _computed(pull.function, lined.shape, given)
        if device != "cpu":  # where a pass is one of arrays
            found = [Array(one, device) for one in found]
        for i, total in zip(pull.sums, found[: len(pull.sums)], strict=True):
            if i in begun:
                pending.cotangents[line.sources[i]] = total
            else:
                pending.add(line.sources[i], total)
        for i, part in zip(pull.spread, found[len(pull.sums) :], strict=True):
            source = line.sources[i]
            total = RULES["sum_to"](part, source.shape)
            pending.add(source, total if total.dtype == source.dtype else RULES["cast"](total, source.dtype))

    def _pull_recorded(self, line: Line, arrived: dict[int, Any], pending: Pending, wanted: list[int]) -> None:
        """By the steps themselves, each of which writes a line: for passes that are differentiated themselves."""
        line.saved()
        operands = line.static[1]
        _, pull = api.vjp(lambda *given: self.chain.of_dense(_placed(operands, wanted, given)), *_at(operands, wanted))
        outputs = [arrived.get(i) for i in self.steps.outputs]
        cotangents = tuple(outputs)
        found = pull(cotangents)
        for i, one in zip(wanted, found if len(wanted) > 1 else (found,), strict=True):
            pending.add(line.sources[i], one)

    def push(self, line: Line, tangents: list[Any]) -> Any:
        """By the steps themselves."""
        line.saved()
        operands = line.static[1]
        moving = [i for i, tangent in enumerate(tangents) if tangent is not None]
        if not moving:
            return None
        primals = tuple(_at(operands, moving))
        _, pushed = api.jvp(
            lambda *given: self.chain.of_dense(_placed(operands, moving, given)), primals, tuple(_at(tangents, moving))
        )
        return pushed if line.parts else pushed[0]


def _at(things: Any, places: list[int]) -> list[Any]:
    return [things[i] for i in places]


def _placed(things: Any, places: list[int], others: Any) -> list[Any]:
    """``things``, but ``others`` at some places."""
    mixed = list(things)
    for i, one in zip(places, others, strict=True):
        mixed[i] = one
    return mixed


def _computed(function: Any, shape: tuple[int, ...], given: list[Any]) -> Any:
    """``function(shape, given)``, quietly, and once more where memory is short."""
    return another_quiet_context().run(function, shape, given)
