"""The gradient of every sample call against differences: in both directions and both orders, nested and dense.

What is differentiated is the square of each result, so that a linear operator has a second derivative, too. It is seen
along a few directions, in each of which every element of every operand moves: one that is wrong is off along all of
them. Only where something is off the elements are asked one by one, so that the error names the one that is wrong.
A call meets half of the kinds of arrays that it takes; `pytest -m exhaustive` makes it meet the others.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

import pynested as pn
from pynested.backends.errors import GradientError
from pynested.spec.table import load_table

from ..batches import Batch, Call, of_calls
from ..calls import CALLS
from ..nests import DENSE, JAGGED_2, PLACEMENTS, STRIDED_2, Kind, Placed, place, plain

TABLE = load_table()
DIFFERENTIABLE = [call for call in CALLS if TABLE[call.op].differentiable]
# The first of these on which the call is accepted, has elements and gives numbers: a mean of nothing, or a variance of
# one, does not.
LENGTHS = (2, 0, 1), (2, 1, 3), (3, 3, 2), (3, 2, 2, 1, 3)
DIRECTIONS = 2


class Function:
    """A call as a function of the buffers that its operands of floats look into."""

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
        """The call where its buffers are moved by so many steps in each of the directions."""
        return self(*(self._moved(steps, number) for number in range(len(self.points))))

    def _moved(self, steps: Any, number: int) -> Any:
        point = self.points[number].astype(steps.dtype)
        moves = steps @ pn.array(directions(point.size, number).astype(steps.dtype))
        return moves.reshape(point.shape) + point


@lru_cache
def directions(size: int, seed: int) -> Any:
    """Directions for so many elements: of both signs, no two numbers equal, and none near 0."""
    numbers = np.random.default_rng((size, seed)).uniform(0.5, 1.5, (DIRECTIONS, size))
    return np.where(numbers > 1, numbers, -numbers)


def finite(result: Any) -> bool:
    return all(map(finite, result)) if isinstance(result, list) else bool(np.isfinite(result).all())


def differentiable(call: Call, kind: Kind, placement: str) -> Function:
    """The call, of the first of the batches where it has numbers for results."""
    for lengths in LENGTHS if kind is not DENSE else [(2, 2)]:
        batch = Batch(kind, lengths)
        if call.refuses(batch) is None and any(map(np.prod, batch.shapes)):  # else there is nothing to vary
            function = Function(call, batch, placement)
            if finite(plain(function(*map(pn.array, function.points)))):
                return function
    raise AssertionError(
        f"{call} of {kind} arrays is accepted and finite on none of LENGTHS: add a batch on which it is"
    )


@of_calls(DIFFERENTIABLE, {JAGGED_2: STRIDED_2}, turns=2)
def test_the_gradient_is_the_slope(call: Call, kind: Kind) -> None:
    placements = [one for one in PLACEMENTS if call.op != "view" or one != "transposed"]
    function = differentiable(call, kind, placements[CALLS.index(call) % len(placements)])
    try:
        assert pn.gradcheck(function.along, pn.zeros(DIRECTIONS, requires_grad=True))
    except GradientError:
        assert pn.gradcheck(function, *(pn.array(point, requires_grad=True) for point in function.points))
        raise
