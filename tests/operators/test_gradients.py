"""The gradient of every sample input equals finite differences, in reverse and forward mode.

The differentiated function is the square of each result, so that a linear operator has a second derivative, too. It is
differentiated along a few directions, in which every element of every operand moves: a wrong one is off along all of
them. If something is off, every element is varied on its own, so that the error names the wrong one. One sample input
of each family of operators is differentiated twice. The other kinds of arrays and the other second derivatives are
exhaustive.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np
import pytest

import pynested as pn
from pynested.backends.errors import GradientError
from pynested.spec.table import load_table

from ..batches import Batch, Call, of_calls
from ..calls import CALLS
from ..nests import DENSE, JAGGED_2, PLACEMENTS, STRIDED_2, Kind, Placed, place, plain
from .test_law import MEMBERS

TABLE = load_table()
DIFFERENTIABLE = [call for call in CALLS if TABLE[call.op].differentiable]
# The first of these on which the call is accepted, has elements and gives numbers: a mean of nothing, or a variance of
# one, does not.
LENGTHS = (2, 0, 1), (2, 1, 3), (3, 3, 2), (3, 2, 2, 1, 3)
DIRECTIONS = 2


class Function:
    """A call as a function of the buffers of its operands of floats."""

    def __init__(self, call: Call, batch: Batch, placement: str) -> None:
        self.call, self.placement, self.layout = call, placement, batch.kind.layout
        self.points: list[Any] = []
        self.given = call.given(batch, self._placed)

    def _placed(self, operand: Any) -> Any:
        if isinstance(operand, np.ndarray):
            made = Placed(pn.array(operand), pn.array(operand), [], lambda leaf: leaf)
        else:
            made = place(operand.components, self.layout, self.placement, operand.ragged)
        if made.buffer.dtype.kind != "f":
            return made.array
        self.points.append(made.smooth())
        return made

    def __call__(self, *buffers: Any) -> Any:
        left = iter(buffers)

        def seen(value: Any) -> Any:
            if isinstance(value, list):
                return [seen(one) for one in value]
            return value.view(next(left)) if isinstance(value, Placed) else value

        result = self.call.function(*map(seen, self.given), **self.call.keywords)
        return [one * one for one in result] if isinstance(result, tuple) else result * result

    def along(self, steps: Any) -> Any:
        """Return the call with its buffers moved by so many steps in each of the directions."""
        return self(*(self._moved(steps, number) for number in range(len(self.points))))

    def _moved(self, steps: Any, number: int) -> Any:
        point = self.points[number].astype(steps.dtype)
        moves = steps @ pn.array(directions(point.size, number).astype(steps.dtype))
        return moves.reshape(point.shape) + point


@lru_cache
def directions(size: int, seed: int) -> Any:
    """Return directions for so many elements: of both signs, no two numbers equal, and none near 0."""
    numbers = np.random.default_rng((size, seed)).uniform(0.5, 1.5, (DIRECTIONS, size))
    return np.where(numbers > 1, numbers, -numbers)


def finite(result: Any) -> bool:
    return all(map(finite, result)) if isinstance(result, list) else bool(np.isfinite(result).all())


def differentiable(call: Call, kind: Kind, placement: str) -> Function:
    """Return the call on the first batch on which its results are finite."""
    for lengths in LENGTHS if kind is not DENSE else [(2, 2)]:
        batch = Batch(kind, lengths)
        if call.refuses(batch) is None and any(map(np.prod, batch.shapes)):  # else there is nothing to vary
            function = Function(call, batch, placement)
            if finite(plain(function(*map(pn.array, function.points)))):
                return function
    raise AssertionError(
        f"{call} of {kind} arrays is accepted and finite on none of LENGTHS: add a batch on which it is"
    )


def check(call: Call, kind: Kind, order: int) -> None:
    """Compare the derivatives of a call with finite differences."""
    placements = [one for one in PLACEMENTS if call.op != "view" or one != "transposed"]
    function = differentiable(call, kind, placements[CALLS.index(call) % len(placements)])
    try:
        assert pn.gradcheck(function.along, pn.zeros(DIRECTIONS, requires_grad=True), order=order)
    except GradientError:
        leaves = (pn.array(point, requires_grad=True) for point in function.points)
        assert pn.gradcheck(function, *leaves, order=order)
        raise


@of_calls(DIFFERENTIABLE, {JAGGED_2: STRIDED_2}, turns=2)
def test_gradients_equal_finite_differences(call: Call, kind: Kind) -> None:
    check(call, kind, order=2 if str(call) in MEMBERS else 1)


@pytest.mark.exhaustive
@of_calls(DIFFERENTIABLE, {JAGGED_2: STRIDED_2})
def test_second_derivatives_equal_finite_differences(call: Call, kind: Kind) -> None:
    check(call, kind, order=2)
