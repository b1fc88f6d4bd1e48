"""Second order: the gradient of a gradient against the difference of two gradients, where nothing has a kink."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

import pynested as pn
from pynested.fuzzing.chance import Chance

from ..draw.slopes import directions
from ..oracle import flat
from ..oracle.slopes import KINKED
from ..run import attempt, bare
from . import Difference

if TYPE_CHECKING:
    from .gradients import Judged

ROUGH = (*KINKED, "detach", "nested_array")  # where differences of gradients are no second derivatives
WIDTH = 2.0**-14  # of the step between the two gradients
NEAR = 1e-3
SHARE = 0.3  # of the plans are asked: this costs as much as all else together
SECOND = 4  # what directions are drawn for


def second_order(judged: Judged) -> Iterator[Difference]:
    """What differs, if the plan is smooth and undisturbed."""
    plan, expected = judged.plan, judged.expected
    rough = any(step.op in ROUGH for step in plan.chain.steps) or expected.tolerance > 1e-6
    if rough or judged.disturbed or plan.hook or not expected.finite or not Chance(plan.key, 3).happens(SHARE):
        return
    step = directions(plan, SECOND)[0]
    outcome = attempt(lambda: (_twice(judged), _quotient(judged, WIDTH), _quotient(judged, WIDTH / 4)))
    if outcome.error is not None:
        yield Difference("second order", str(outcome), "a gradient")
        return
    grads, (rough_due, _), (due, above) = outcome.value
    if not abs(rough_due - due) <= NEAR * (abs(due) + 1):
        return  # too steep or too bent to be told from two gradients
    parts = flat([bare(g.detach()) * step[i] for i, g in grads.items() if g is not None], np.float64)
    came, size = float(parts.sum()), float(np.abs(parts).sum())
    if not abs(came - due) <= NEAR * (size + abs(due) + 1 + abs(above)):
        yield Difference("second order", repr(came), repr(due))


def _quotient(judged: Judged, width: float) -> tuple[float, float]:
    """The difference of two gradients over that of their places, and one of the gradients."""
    above, below = (float(_weighted(judged, shift)[1].item()) for shift in (width, -width))
    return (above - below) / (2 * width), above


def _twice(judged: Judged) -> dict[int, Any]:
    """The gradient of the weighted sum of the gradient."""
    leaves, total = _weighted(judged, 0.0)
    if not total.requires_grad:
        return {}
    return dict(zip(leaves, pn.grad(total, list(leaves.values()), allow_unused=True), strict=True))


def _weighted(judged: Judged, shift: float) -> tuple[dict[int, Any], Any]:
    """Leaves a little further along, and the gradient there, summed with weights."""
    step, weights = directions(judged.plan, SECOND, 2)
    leaves = {
        i: pn.array(bare(leaf.detach()) + shift * step[i], requires_grad=True, device=judged.device)
        for i, leaf in judged.world.leaves.items()
    }
    grads = pn.grad(judged.of(leaves), list(leaves.values()), judged.seed, create_graph=True, allow_unused=True)
    total = pn.array(0.0, device=judged.device)
    for i, one in zip(leaves, grads, strict=True):
        total = total if one is None else total + (one * pn.array(weights[i], device=judged.device)).sum()
    return leaves, total
