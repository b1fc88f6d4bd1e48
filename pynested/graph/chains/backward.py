"""A chain, backwards: what is needed is computed again, then each step pulls, from the last to the first.

What arrives at a register is added in the order in which the lines of the steps would have added it, so that gradients
are those of the steps bit for bit.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from pynested.backends.dtypes import is_float, is_half

from .forward import run_of
from .registers import Recorder, Register, in_order, operands_of, recorder_for, registers_of
from .steps import Step, Steps, kept

_CHEAP = frozenset({
    "add", "sub", "mul", "neg", "abs", "maximum", "minimum", "relu", "square", "sgn", "where", "to float64",
    "to float32", "eq", "ne", "lt", "le", "gt", "ge", "logical_not", "logical_and", "logical_or", "bitwise_and",
    "bitwise_or",
})  # fmt: skip
_DEAR, _MEMORY = 10, 5  # operators of this kind, and writing and reading a value, in cheap operators


@dataclass(frozen=True)
class Backward:
    """A program, and what it takes and gives.

    ``function(shape, (*inputs, *kept, *cotangents, *begun)) -> results``: registers that the forward pass has kept,
    cotangents of outputs that have one, what has arrived already at inputs of full size. Results are the sums at
    inputs, and contributions to inputs that were spread, one by one.
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
def backward(steps: Steps, device: str, passes: Passes) -> Backward:
    """What pulls through ``steps``; on a device it keeps nothing, where to read is slower than to compute."""
    registers = registers_of(steps, device, passes.kept)
    given = {i: registers[i].parameter() for i in (*passes.arrived, *passes.begun)}
    found, parts = _pulled(steps, passes, registers, dict(given), recorder_for(device))
    sums = tuple(i for i in sorted(passes.wanted - passes.spread) if i in found)
    results = [*[found[i] for i in sums], *[part for _, part in parts]]
    parameters = [*registers[: len(steps.inputs)], *[registers[i] for i in passes.kept], *given.values()]
    run = run_of(steps, device, parameters, results, "pull through the ")
    looks = frozenset(i for i in run.takes if i < len(steps.inputs))
    keeps = _keeps(steps, _looked_at(results, registers), registers) if device == "cpu" else ()
    return Backward(run, sums, tuple(i for i, _ in parts), looks, keeps)


def _pulled(
    steps: Steps, passes: Passes, registers: list[Register], cotangents: dict[int, Register], recorder: Recorder
) -> tuple[dict[int, Register], list[tuple[int, Register]]]:
    """The cotangents of all registers, and contributions to inputs that are spread."""
    parts: list[tuple[int, Register]] = []
    reached = set(passes.wanted)  # the registers between the inputs and the outputs
    for step in steps.steps:
        if is_float(registers[step.register].dtype) and reached.intersection(step.reads):
            reached.add(step.register)
    for step in reversed(steps.steps):
        if step.register not in cotangents:
            continue
        for pull, one in zip(step.operation.pulls, step.operands, strict=True):
            if type(one) is not int or one not in reached or pull is None:
                continue
            part = _part(step, pull, cotangents[step.register], registers, recorder)
            if one in passes.spread:
                parts.append((one, part))
            else:
                part = part.astype(registers[one].dtype)
                cotangents[one] = cotangents[one] + part if one in cotangents else part
    return cotangents, parts


def _part(step: Step, pull: Any, cotangent: Register, registers: list[Register], recorder: Recorder) -> Register:
    """What a step sends to one of its operands."""
    if pull == 0:
        return Register(cotangent.dtype, np.zeros_like, (cotangent,))
    if pull == 1:
        return cotangent
    made: Register = pull(recorder, cotangent, registers[step.register], *operands_of(step, registers))
    return made


def _looked_at(results: list[Register], registers: list[Register]) -> set[int]:
    """The registers that pulls look at, without those that only lead to these."""
    number = {one: i for i, one in enumerate(registers)}
    pulls = [one for one in in_order(results, frozenset(registers)) if one not in number]
    return {number[read] for one in pulls for read in one.reads if read in number}


def _keeps(steps: Steps, looked: set[int], registers: list[Register]) -> tuple[int, ...]:
    """The registers looked at that take more to compute, besides what is computed anyway, than to write and to read."""
    free = looked.intersection(steps.outputs)  # these are written anyway
    there = {step.register for step in steps.steps if step.register in looked}
    for one in sorted(there - free):
        without = there - {one}
        if _cost(steps, looked, without, registers) - _cost(steps, looked, there, registers) <= _MEMORY:
            there = without
    return tuple(sorted(there))


def _cost(steps: Steps, looked: set[int], there: set[int], registers: list[Register]) -> int:
    """How much is to be computed for the registers looked at where some are there."""
    needed, cost = set(looked), 0
    for one in reversed(steps.steps):
        if one.register in needed - there:
            needed.update(one.reads)
            cheap = one.operation.name in _CHEAP and not is_half(registers[one.register].dtype)
            cost += 1 if cheap else _DEAR
    return cost
