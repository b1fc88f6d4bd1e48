"""What the numbers of a step have to be, and what it has to remember."""

from __future__ import annotations

import math
from collections.abc import Sequence
from numbers import Real
from typing import Any, NamedTuple

from pynested.autograd import Array
from pynested.backends.errors import ArgumentError, named_type


def check_numbers(name: str, **numbers: Any) -> None:
    """Refuse what is no number, is below 0, or is not finite."""
    for what, number in numbers.items():
        if callable(number):
            raise ArgumentError(f"{name}: {what} is a number, not a function. Call the schedule: {what}=rate(step).")
        if not isinstance(number, Real):
            raise ArgumentError(f"{name}: {what} is a number, not {named_type(number)}.")
        if not 0 <= float(number) < math.inf:
            raise ArgumentError(f"{name}: {what} must be 0 or above, and finite, not {number!r}.")


def check_betas(name: str, betas: Any) -> None:
    """Refuse what is no pair of numbers from 0 to below 1."""
    pair = isinstance(betas, list | tuple) and len(betas) == 2 and all(isinstance(beta, Real) for beta in betas)
    if not pair or not all(0 <= beta < 1 for beta in betas):
        raise ArgumentError(f"{name}: betas are two numbers from 0 to below 1, not {betas!r}.")


def check_state(name: str, state: NamedTuple | None, kind: type, arrays: Sequence[Array]) -> None:
    """Refuse a state that is not what this step gave for these parameters."""
    if state is None:
        return
    if not isinstance(state, kind):
        raise ArgumentError(
            f"{name}: the state is {kind.__name__}, which the step before gave, or None for the first step; not "
            f"{named_type(state)}."
        )
    for part in (one for one in state if isinstance(one, list)):
        shapes, now = [one.shape for one in part], [array.shape for array in arrays]
        if shapes != now:
            raise ArgumentError(
                f"{name}: the state is that of parameters of shapes {shapes}, and these have {now}. Begin anew with "
                "None, or take the state that belongs to them."
            )
