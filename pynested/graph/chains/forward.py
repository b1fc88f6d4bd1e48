"""A chain, forwards."""

from __future__ import annotations

from typing import Any

import numpy as np

from .program import Program
from .registers import registers_of
from .steps import Steps, kept


@kept
def forward(steps: Steps, dtype: np.dtype[Any], wanted: tuple[int, ...]) -> Program:
    """The program that makes the registers ``wanted`` of all inputs."""
    registers = registers_of(steps, dtype)
    return Program(registers[: steps.inputs], [registers[i] for i in wanted])
