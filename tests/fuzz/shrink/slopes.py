"""Simpler plans of gradients: undisturbed ones, and those of simpler chains."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from ..draw.slopes import Slope
from ..judge import Found
from ..judge.expected import Expected
from ..plan import Call, Chain, Ref
from .chains import simpler


def candidates(plan: Slope, found: Found) -> Iterator[Slope]:
    """Simpler plans. What follows the calls is written as calls too, so that it is renumbered with them."""
    yield from _undisturbed(plan)
    after = [Call("out", (plan.out,)), *[Call(f"write {way}", (ref,)) for way, ref in plan.writes]]
    if plan.hook is not None:
        after.append(Call(f"hook {plan.hook[1]}", (Ref("x", plan.hook[0]),)))
    values = {ref: value for ref, value in Expected(plan).known.items() if ref.whole != plan.out.whole}
    for chain in simpler(replace(plan.chain, steps=(*plan.chain.steps, *after)), values):
        again = _restored(plan, chain)
        if again is not None:
            yield again


def _undisturbed(plan: Slope) -> Iterator[Slope]:
    for i in range(len(plan.writes)):
        yield replace(plan, writes=plan.writes[:i] + plan.writes[i + 1 :])
    if plan.hook is not None:
        yield replace(plan, hook=None)
    if plan.checkpoint is not None:
        yield replace(plan, checkpoint=None)


def _restored(plan: Slope, chain: Chain) -> Slope | None:
    """The plan with another chain; None where nothing is left to differentiate."""
    count = next((i for i, step in enumerate(chain.steps) if step.op == "out"), 0)
    if not count or not chain.leaves:
        return None
    out = chain.steps[count].args[0]
    if out.whole != Ref("y", count - 1):
        return None
    writes = [(step.op[6:], step.args[0]) for step in chain.steps[count:] if step.op.startswith("write ")]
    hooks = [(step.args[0].number, step.op[5:]) for step in chain.steps[count:] if step.op.startswith("hook ")]
    hooked = [one for one in hooks if chain.memories[chain.operands[one[0]].memory].leaf]
    if len(hooked) < len(hooks):
        return None
    steps = replace(chain, steps=chain.steps[:count])
    return replace(plan, chain=steps, item=out.item, writes=tuple(writes), hook=hooked[0] if hooked else None)
