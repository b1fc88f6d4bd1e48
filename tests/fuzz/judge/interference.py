"""What may happen between a call and its backward pass: writes to memory that it used, and hooks on leaves."""

from __future__ import annotations

from typing import Any

import numpy as np

import pynested as pn

from ..draw.slopes import Slope
from ..plan import Ref
from ..run import World, attempt


def interfere(plan: Slope, world: World) -> None:
    """Do what the plan says; a write that is refused is no write."""
    for way, target in plan.writes:
        attempt(lambda way=way, target=target: _write(way, target, world))
    if plan.hook is not None:
        operand, what = plan.hook
        world.leaves[plan.chain.operands[operand].memory].register_hook(HOOKS[what])


def _write(way: str, target: Ref, world: World) -> None:
    """Multiply an operand's memory, or a result, by 3."""
    value, memory = world.known.get(target), None
    if target.kind == "x":
        number = world.chain.operands[target.number].memory
        memory = world.memories[number]
        value = world.leaves.get(number, memory)
    value = value[0] if isinstance(value, tuple) else value
    if way == "second nested array" and memory is not None:
        pn.nested_array_from_jagged(memory, [0, memory.shape[0]]).mul_(3)
    elif isinstance(value, np.ndarray) or (way == "second array" and memory is not None):
        pn.array(memory, copy=False).mul_(3)
    elif way == "detach":
        value.detach().mul_(3)
    elif way == "no_grad":
        with pn.no_grad():
            value.mul_(3)
    elif way == "dlpack":
        plain = value.detach()
        pn.from_dlpack(plain if isinstance(plain, pn.Array) else plain.values()).mul_(3)
    elif way == "view made in no_grad":
        with pn.no_grad():
            view = value[0:1]
        view.mul_(3)


def _double(gradient: Any) -> Any:
    return gradient * 2


def _overwrite(gradient: Any) -> None:
    gradient.mul_(10)


def _keep(gradient: Any) -> None:
    """Look at the gradient and leave it alone."""


HOOKS: dict[str, Any] = {"keep": _keep, "double": _double, "write": _overwrite}
