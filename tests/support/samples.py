"""Arguments of sample calls as arrays of pynested, and the parts of their results."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any

import pytest

import pynested as pn
from pynested.spec.encoding import Components

from ..batches import Batch, Call, Operand, mapped
from ..calls import CALLS
from ..nests import Kind, Numbers, Placed, place

EVERY = pytest.mark.parametrize(
    "every", [False, pytest.param(True, marks=pytest.mark.exhaustive)], ids=["in turns", "every"]
)


def samples(every: bool, turn: int = 0, calls: Sequence[Call] = CALLS) -> Iterator[tuple[Call, Kind]]:
    """Yield each sample call with every kind of array, or with one of them: the kinds take turns."""
    for number, call in enumerate(calls, turn):
        for kind in call.forms if every else [call.forms[number % len(call.forms)]]:
            yield call, kind


def sample_arguments(
    call: Call,
    batch: Batch,
    placement: str = "packed",
    grad: bool = False,
    change: Callable[[Numbers, int | None], Numbers] = lambda numbers, component: numbers,
    convert: Callable[[Any], Any] = lambda array: array,
    gap: float | None = None,
) -> tuple[list[Any], dict[str, Any], list[Placed]]:
    """Return the arguments and keywords of a sample call on the CPU, and its nested operands.

    Parameters
    ----------
    placement : where the components of nested operands lie
    grad : floats require a gradient, except the class weights of `cross_entropy`, the only array among the keywords
    change : function of the numbers of an array, and of the number of the component that they are
    convert : function of each array that is made
    gap : what gaps between floats contain
    """
    operands: list[Placed] = []

    def make(value: Any, grad: bool = grad) -> Any:
        if not isinstance(value, Operand):
            numbers = change(value, None)
            return convert(pn.array(numbers, requires_grad=grad and numbers.dtype.kind == "f", device="cpu"))
        parts = [change(part, i) for i, part in enumerate(value.components)]
        components = Components(parts, value.components.shape, parts[0].dtype if parts else value.components.dtype)
        is_float = components.dtype.kind == "f"
        gaps = gap if is_float else None
        operands.append(place(components, batch.kind.layout, placement, value.ragged, grad and is_float, gaps))
        return convert(operands[-1].array)

    keywords = {name: mapped(partial(make, grad=False), value) for name, value in call.keywords.items()}
    return call.given(batch, make), keywords, operands


def recorded(result: Any) -> list[Any]:
    """Return the arrays of a result that have a history."""
    parts = result if isinstance(result, tuple | list) else [result]
    return [part for part in parts if isinstance(part, pn.Array | pn.NestedArray) and part.requires_grad]
