"""Plans for gradients: a chain of tame calls, the memories that want a gradient, and what happens on the way back."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from pynested.fuzzing.chance import Chance

from ..oracle import Nest
from ..plan import Call, Chain, Dense, Memory, Ref
from . import DRAWS, arrays, spelled
from .draft import Draft
from .elements import JUDGING, PLACES

SLOPE = 2  # the first number of a key
OFTEN = ("add", "add", "mul", "mul", "sub", "div", "where", "sum", "softmax", "layer_norm", "amax", "matmul")
NO_FLOATS = ("equal", "allclose", "logical_not", "sgn", "any", "all", *PLACES, *JUDGING)
OPERATORS = (*(op for op in DRAWS if op not in NO_FLOATS), *OFTEN)
WAYS = ("detach", "no_grad", "dlpack", "second array", "second nested array", "view made in no_grad")
HOOKS = ("keep", "double", "write")
CHECKPOINTS = ("given", "closed over", "half")
EIGHTHS = np.array([n / 8 for n in (-12, -7, -5, -3, 3, 4, 6, 9, 11)])


@dataclass(frozen=True)
class Slope:
    """A chain to be differentiated: its last result, or one item of that, with respect to the leaves of its memories.

    ``writes`` are ways of writing into an operand or a result between the call and the backward pass. A ``checkpoint``
    holds all calls, without writes, and its leaves are given to it, closed over, or one half so and one half so. A
    ``hook`` on the leaf of an operand keeps, doubles or overwrites what it is given.
    """

    chain: Chain
    key: int
    item: int | None = None
    writes: tuple[tuple[str, Ref], ...] = ()
    checkpoint: str | None = None
    hook: tuple[int, str] | None = None

    @property
    def out(self) -> Ref:
        return Ref("y", len(self.chain.steps) - 1, self.item)


def slope(seed: int, number: int) -> Slope:
    """Plan ``number``."""
    chance = Chance(SLOPE, seed, number)
    while True:
        d = Draft(chance, tame=True)
        for _ in range(chance.one((1, 1, 2, 2, 3, 4))):
            d.call(spelled(d, DRAWS[chance.one(OPERATORS)](d)))
        _take_apart(d)
        found = _finished(d)
        if found is not None:
            return found


def _take_apart(d: Draft) -> None:
    """Now and then one component of the last result is all that is looked at."""
    nested = [ref for ref in d.arrays if ref.kind == "y" and not d.value(ref).dense and d.value(ref).count]
    if not nested or not d.chance.happens(0.25):
        return
    ref = nested[-1]
    at = d.chance.below(d.value(ref).count)
    ways = Call("unbind", (ref,)), Call("select", (ref, 0, at)), Call("getitem", (ref, at), spelling="infix")
    d.call(d.chance.one(ways))


def _finished(d: Draft) -> Slope | None:
    """The chain with what is to be differentiated, if anything is."""
    outs = [ref for ref in d.arrays if ref.kind == "y" and d.value(ref).dtype.kind == "f"]
    weights = [step.kwargs["weight"] for step in d.steps if step.op == "cross_entropy" and "weight" in step.kwargs]
    constants = [d.operands[ref.number].memory for ref in weights if ref.kind == "x"]  # which must not require grad
    numbers = [memory.numbers for memory in d.memories]
    floats = [i for i, array in enumerate(numbers) if array.dtype.kind == "f" and i not in constants]
    if not outs or not floats or len(constants) < len(weights):
        return None
    chance, out = d.chance, outs[-1]
    several = chance.happens(0.6)  # or one alone, so that nothing else meets its tangent on the way
    leaves = {i for i in floats if several and chance.happens(0.8)} or {chance.one(floats)}
    memories = tuple(replace(memory, leaf=i in leaves) for i, memory in enumerate(d.memories))
    chain = Chain(memories, tuple(d.operands), tuple(d.steps[: out.number + 1]))
    targets = [ref for ref in d.known if ref.kind == "x" or ref.number < len(chain.steps)]
    checkpoint = chance.one(CHECKPOINTS) if chance.happens(0.15) else None
    has_writes = checkpoint is None and chance.happens(0.25)
    writes = [(chance.one(WAYS), chance.one(targets)) for _ in range(2)] if has_writes else []
    hooked = [i for i, operand in enumerate(chain.operands) if operand.memory in leaves]
    hook = (chance.one(hooked), chance.one(HOOKS)) if hooked and chance.happens(0.15) else None
    return Slope(chain, chance.below(2**31), out.item, tuple(writes), checkpoint, hook)


def cotangent(plan: Slope, out: Nest) -> tuple[Nest, arrays.Placed]:
    """A number for every element of the result, none of them 0; and where these lie, which is anywhere."""
    chance = Chance(plan.key)
    numbers = out.like([chance.picks(EIGHTHS, one.size).reshape(one.shape).astype(out.dtype) for one in out])
    if out.dense:
        return numbers, (Memory(numbers[0]), Dense(0))
    return numbers, arrays.placed(chance, numbers, out.layout)


def directions(plan: Slope, purpose: int, count: int = 1) -> list[dict[int, Any]]:
    """Numbers from -1 to 1 for every element of every leaf, ``count`` times, others for each purpose."""
    chance = Chance(plan.key, purpose)
    shapes = {i: plan.chain.memories[i].numbers.shape for i in plan.chain.leaves}
    return [
        {i: (chance.uniform(math.prod(shape)) * 2 - 1).reshape(shape) for i, shape in shapes.items()}
        for _ in range(count)
    ]
