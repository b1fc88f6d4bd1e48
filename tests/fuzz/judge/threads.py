"""Threads: what is right in one thread is right in several."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

import pynested as pn

from ...crowd import together
from .. import draw
from ..draw.threads import Threads
from . import Difference, Found, chains


def check(plan: Threads, device: str = "cpu") -> tuple[int, Found | None]:
    """How many rounds were made, and the first difference."""
    work = {"checkpoint": _checkpoint, "random": _random, "chains": _chains}[plan.way]
    gathered: list[Any] = []
    together([partial(_guarded, work, plan, i, device, gathered) for i in range(plan.count)])
    found = next(filter(None, (_difference(one, device) for one in gathered)), None)
    numbers = [one for one in gathered if isinstance(one, float)]
    if found is None and len(set(numbers)) < len(numbers):
        found = Difference("random numbers", f"{len(set(numbers))} of {len(numbers)} distinct", "all distinct")
    return plan.count * plan.repeats, None if found is None else Found(found, plan, plan.way)


def _guarded(work: Callable[..., None], plan: Threads, number: int, device: str, gathered: list[Any]) -> None:
    try:
        work(plan, number, device, gathered)
    except Exception as error:
        gathered.append(Difference("raw error", f"{type(error).__name__}: {error}", "what one thread gives"))


def _difference(gathered: Any, device: str) -> Difference | None:
    """The difference in what a thread gathered; one that is there in one thread too is the business of another mode."""
    if not isinstance(gathered, Found):
        return gathered if isinstance(gathered, Difference) else None
    alone = chains.check(gathered.plan, device, laws=False)[1]
    return gathered.difference if alone is None or alone.kind != gathered.kind else None


def _checkpoint(plan: Threads, number: int, device: str, gathered: list[Any]) -> None:
    """The gradient of a dropout shows which elements were kept: the same as its value does."""
    for _ in range(plan.repeats):
        x = pn.array(np.ones(plan.size), requires_grad=True, device=device)
        y = pn.checkpoint(lambda z: pn.dropout(z, 0.5), x)
        y.sum().backward()
        if not np.array_equal(x.grad.to("cpu").numpy(), y.detach().to("cpu").numpy()):
            gathered.append(Difference("checkpoint", "the gradient of another mask", "that of the mask in the value"))


def _random(plan: Threads, number: int, device: str, gathered: list[Any]) -> None:
    for _ in range(plan.repeats * 10):
        gathered.append(pn.rand(1).item())


def _chains(plan: Threads, number: int, device: str, gathered: list[Any]) -> None:
    """Chains of calls, judged as in one thread."""
    for i in range(plan.repeats):
        found = chains.check(draw.chain(plan.seed, plan.count * i + number), device, laws=False)[1]
        if found is not None:
            gathered.append(found)
