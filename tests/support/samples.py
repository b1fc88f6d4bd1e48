"""Arguments of sample calls as arrays of pynested."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pynested as pn

from ..batches import Batch, Call, Operand, mapped
from ..nests import place


def sample_arguments(
    call: Call,
    batch: Batch,
    placement: str = "packed",
    grad: bool = False,
    change: Callable[[Any], Any] = lambda x: x,
) -> tuple[list[Any], dict[str, Any]]:
    """Return the arguments and keywords of a sample call on the CPU, with ``change`` of each array.

    Parameters
    ----------
    placement : where the components of nested operands lie
    grad : floats require a gradient
    """

    def made(operand: Any) -> Any:
        nested = isinstance(operand, Operand)
        wanted = grad and (operand.components if nested else operand).dtype.kind == "f"
        if nested:
            return change(place(operand.components, batch.kind.layout, placement, operand.ragged, wanted).array)
        return change(pn.array(operand, requires_grad=wanted, device="cpu"))

    def argument(value: Any) -> Any:
        return {name: made(one) for name, one in value.items()} if isinstance(value, dict) else mapped(made, value)

    keywords = {name: argument(value) for name, value in call.keywords.items()}
    return [argument(value) for value in call.arguments(batch)], keywords
