"""A chain, forwards; and what runs it: a program on the CPU, a kernel on a device."""

from __future__ import annotations

from collections.abc import Sequence

from ..cuda import Kernel
from .program import Program
from .registers import Place, Register, registers_of
from .steps import Steps, kept

Run = Program | Kernel


@kept
def forward(steps: Steps, place: Place, wanted: tuple[int, ...]) -> Run:
    """What makes the registers ``wanted`` of all inputs."""
    registers = registers_of(steps, place)
    return run_of(steps, place, registers[: steps.inputs], [registers[i] for i in wanted])


def run_of(
    steps: Steps, place: Place, parameters: Sequence[Register], results: Sequence[Register], does: str = ""
) -> Run:
    """What makes ``results`` of ``parameters`` at a place."""
    if place[0] == "cpu":
        return Program(parameters, results)
    return Kernel(f"{does}chain of {', '.join(step.rule.name for step in steps.steps)}", parameters, results, place)
