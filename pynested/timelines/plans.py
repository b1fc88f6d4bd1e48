"""How operands of elementwise operators meet: dense ones in one loop, nested ones lined up."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.array import raw
from pynested.nested.array import NestedArray
from pynested.surface.passing import Call

from .recorder import Recorder

NUMBERS = (bool, int, float)


def dense_plan(operands: Sequence[Any]) -> dict[str, Any]:
    """The shape in which operands meet, their steps there, in bytes, and the loop that NumPy makes of them.

    A step of 0 repeats an element. The loop has its dimensions in the order of the memory, and those that follow one
    another in all operands are one; the array module of a GPU plans its own.
    """
    datas = [raw(one) for one in operands]
    arrays = [one for one in datas if hasattr(one, "strides")]
    try:
        shape = np.broadcast_shapes(*[one.shape for one in arrays])
    except ValueError:  # which the rule will say
        return {"shape": "none: the operands do not broadcast"}
    plan: dict[str, Any] = {"shape": list(shape), "strides": [_steps(one, shape) for one in datas]}
    on_host = [one for one in arrays if isinstance(one, np.ndarray)]
    if len(on_host) == len(arrays):
        loop = np.nditer(on_host, ["zerosize_ok"], [["readonly"]] * len(on_host))
        plan["loop"] = list(loop.itviews[0].shape)
    plan["dtypes"] = [type(one).__name__ if isinstance(one, NUMBERS) else str(one.dtype) for one in datas]
    return plan


def _steps(data: Any, shape: tuple[int, ...]) -> list[int]:
    """The steps of an operand along the dimensions of ``shape``, 0 where it has one element for all."""
    if not hasattr(data, "strides"):
        return [0] * len(shape)
    before = len(shape) - len(data.shape)
    own = zip(data.shape, data.strides, shape[before:], strict=True)
    return [0] * before + [0 if size == 1 != met else step for size, step, met in own]


def lined_up(seen: Recorder, call: Call) -> Any:
    """Operands of which one is nested: `components.mapping.elementwise`."""
    name, _, *operands = call.args
    first = next(one for one in operands if isinstance(one, NestedArray))
    facts = {"layout": first.layout.name, "operands": [_meets(seen, one, first) for one in operands]}
    with seen.span("lineup", name, **facts, way="whole buffers, as they lie") as event:
        result = call.run()
        event.facts["result"] = seen.names.words(result)
    return result


def _meets(seen: Recorder, x: Any, first: NestedArray) -> str:
    """How an operand meets the first nested one."""
    words = seen.names.words(x)
    if x is first:
        return f"{words}, whose structure is the result's"
    if isinstance(x, NestedArray):
        own, structure = x.structure, first.structure
        if own is structure:
            return f"{words}, of the same structure"
        if type(own) is type(structure) and structure.same_placement(own):
            return f"{words}, of an equal structure"
        return f"{words}, placed otherwise"
    if type(x) is Array or hasattr(x, "shape"):
        return f"{words}, aligned at the right" if len(x.shape) else f"{words}, for every element"
    return f"{words}, for every element"


def way(words: str) -> Any:
    """The handler of one of the ways to line operands up; it gives None where another has to be taken."""

    def handler(seen: Recorder, call: Call) -> Any:
        result = call.run()
        if result is not None and seen.inside and seen.inside[-1].kind == "lineup":
            seen.inside[-1].facts["way"] = words
        return result

    return handler


def spread(seen: Recorder, call: Call) -> Any:
    """A dense operand, lined up with the values of a nested one: `components.broadcasting.dense_rows`."""
    result = call.run()
    _, x, nested, _ = call.args
    shared = x.ndim < nested.ndim or x.shape[0] == 1
    how = "one for all components" if shared else "spread, to each component its own"
    lineup = next((event for event in reversed(seen.inside) if event.kind == "lineup"), None)
    if lineup is not None:
        noted = lineup.facts.setdefault("dense", [])
        noted.append(f"{seen.names.words(x)}: {how}, as {tuple(result.shape)}")
    return result


def repacked(seen: Recorder, call: Call) -> Any:
    """Components that do not tile their buffer: `components.packing.repacked`."""
    (x,) = call.args
    way = "copied into memory that they cover exactly once"
    with seen.span("lineup", "packing", layout=x.layout.name, operands=[seen.names.words(x)], way=way) as event:
        result = call.run()
        event.facts["result"] = seen.names.words(result)
    return result
