"""Schedules: functions that say for each step, counted from 0, what the learning rate is."""

from __future__ import annotations

import math
from collections.abc import Callable

from pynested.autograd.dispatch import method
from pynested.backends.errors import ArgumentError

Schedule = Callable[[int], float]


@method
def constant(rate: float, *, warmup: int = 0) -> Schedule:
    """``rate`` at every step, after ``warmup`` steps that lead up to it in equal parts.

    Examples
    --------
    >>> rate = pn.training.constant(1.0, warmup=4)
    >>> [rate(step) for step in range(6)]
    [0.25, 0.5, 0.75, 1.0, 1.0, 1.0]
    """
    return _schedule("constant", rate, 0, warmup, lambda done: 1.0)


@method
def linear(rate: float, steps: int, *, warmup: int = 0, end: float = 0.0) -> Schedule:
    """From ``rate`` in a straight line down to ``end`` times ``rate`` at step ``steps``, and so on from there.

    Examples
    --------
    >>> rate = pn.training.linear(1.0, 4)
    >>> [rate(step) for step in range(6)]
    [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """
    return _schedule("linear", rate, steps, warmup, lambda done: end + (1 - end) * (1 - done))


@method
def cosine(rate: float, steps: int, *, warmup: int = 0, end: float = 0.0) -> Schedule:
    """From ``rate`` along half a cosine down to ``end`` times ``rate`` at step ``steps``, and so on from there.

    Examples
    --------
    >>> rate = pn.training.cosine(1.0, 4)
    >>> [round(rate(step), 3) for step in range(6)]
    [1.0, 0.854, 0.5, 0.146, 0.0, 0.0]
    """
    return _schedule("cosine", rate, steps, warmup, lambda done: end + (1 - end) * (1 + math.cos(math.pi * done)) / 2)


def _schedule(name: str, rate: float, steps: int, warmup: int, part: Callable[[float], float]) -> Schedule:
    """``rate`` times ``part`` of how much is done after the warmup, from 0 to 1."""
    if warmup < 0 or (steps and steps <= warmup) or steps < 0:
        raise ArgumentError(f"{name}: warmup={warmup} must be 0 or above, and below the {steps} steps.")

    def at(step: int) -> float:
        if step < warmup:
            return rate * (step + 1) / warmup
        return rate * part(min((step - warmup) / max(steps - warmup, 1), 1.0))

    return at
