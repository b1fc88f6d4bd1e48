"""Sample calls whose operands get other values, another placement or another device."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

import pynested as pn
from pynested.spec.encoding import Components

from ...batches import Batch, Call, Operand
from ...calls import CALLS
from ...nests import Kind, Numbers, Placed, place

Change = Callable[[Numbers, int | None], Numbers]  # of an array, with the number of the component that it is

EVERY = pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["in turns", "every"]
)


def samples(every: bool, turn: int = 0) -> Iterator[tuple[Call, Kind]]:
    """Yield each sample call with every kind of array, or with one of them: the kinds take turns."""
    for number, call in enumerate(CALLS, turn):
        for kind in call.forms if every else [call.forms[number % len(call.forms)]]:
            yield call, kind


def make_arguments(
    call: Call, batch: Batch, placement: str = "packed", change: Change | None = None, gap: float | None = None
) -> tuple[list[Any], list[Placed]]:
    """Return the arguments of a call, and its nested operands; arrays of floats require a gradient."""
    operands: list[Placed] = []

    def changed(array: Numbers, component: int | None = None) -> Numbers:
        return array if change is None else change(array, component)

    def new(value: Any) -> Any:
        if not isinstance(value, Operand):
            made = changed(value)
            return pn.array(made, requires_grad=made.dtype.kind == "f")
        components = [changed(array, i) for i, array in enumerate(value.components)]
        dtype = components[0].dtype if components else value.components.dtype
        given = Components(components, value.components.shape, dtype)
        is_float = dtype.kind == "f"
        operands.append(place(given, batch.kind.layout, placement, value.ragged, is_float, gap if is_float else None))
        return operands[-1].array

    return call.given(batch, new), operands


def recorded(result: Any) -> list[Any]:
    """Return the arrays of a result that have a history."""
    return [part for part in (result if isinstance(result, tuple | list) else [result]) if is_recorded(part)]


def is_recorded(part: Any) -> bool:
    return isinstance(part, pn.Array | pn.NestedArray) and part.requires_grad
