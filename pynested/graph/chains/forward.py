"""A chain, forwards; and what runs it: a program on the CPU, a kernel on a device."""

from __future__ import annotations

from collections.abc import Sequence

from ..cuda import Kernel
from .program import Program
from .registers import Register, registers_of
from .steps import Steps, kept

Run = Program | Kernel


@kept
def forward(steps: Steps, device: str, wanted: tuple[int, ...]) -> Run:
    """What makes the registers ``wanted`` of all inputs."""
    registers = registers_of(steps, device)
    return run_of(steps, device, registers[: len(steps.inputs)], [registers[i] for i in wanted])


def run_of(
    steps: Steps, device: str, parameters: Sequence[Register], results: Sequence[Register], does: str = ""
) -> Run:
    """What makes ``results`` of ``parameters`` on a device."""
    if device == "cpu":
        return Program(parameters, results)
    names = ", ".join(step.operation.name for step in steps.steps)
    return Kernel(f"{does}chain of {names}", parameters, results, device)
