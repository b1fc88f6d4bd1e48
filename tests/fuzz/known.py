"""Differences that are known and are being mended: each a sentence, and what recognises it.

Delete an entry when it is mended. When none is left, `KNOWN` is the empty tuple and all else here can go.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from .draw.slopes import Slope
from .judge import Found
from .oracle import Nest, nests
from .plan import seen

ADDING = ("sum", "mean", "matmul", "bmm", "linear", "layer_norm", "softmax", "cross_entropy")


@dataclass(frozen=True)
class Known:
    """A difference in a sentence, and whether what was found is one."""

    sentence: str
    holds: Callable[[Found], bool]


def aspect(found: Found, *aspects: str) -> bool:
    return any(found.difference.aspect.startswith(one) for one in aspects)


def vast(found: Found) -> bool:
    """Numbers whose sums or squares are beyond float32."""
    parts = [one for x in arrays(found) for one in x if x.dtype.kind == "f"]
    return any(float(np.nanmax(np.abs(one), initial=0.0, where=np.isfinite(one))) > 1e17 for one in parts if one.size)


def arrays(found: Found) -> list[Nest]:
    """Every array that the call takes; of a gradient, every operand of its chain."""
    if isinstance(found.plan, Slope):
        chain = found.plan.chain
        return [seen(chain.memories[one.memory], one) for one in chain.operands]
    return nests((*found.values, *found.options.values()))


def disturbed(found: Found, how: str) -> bool:
    """A gradient that is disturbed by a write, by a hook that writes, or by another result of a checkpoint."""
    plan = found.plan
    if not isinstance(plan, Slope):
        return False
    ways = {
        "write": bool(plan.writes),
        "hook": plan.hook is not None and plan.hook[1] == "write",
        "impure": plan.impure,
    }
    return ways[how] and aspect(found, "gradient", "second pass", "holes", "dtype", "impure", "cotangent")


def tied(found: Found) -> bool:
    """A gradient of amax over several dimensions."""
    if not isinstance(found.plan, Slope) or not aspect(found, "gradient", "forward mode", "second order"):
        return False
    dims = [step.kwargs.get("dim") for step in found.plan.chain.steps if step.op == "amax"]
    return any(isinstance(dim, tuple) and len(dim) > 1 for dim in dims)


KNOWN: tuple[Known, ...] = (
    # the definitions and numerics that are on their way
    Known(
        "huge numbers overflow inside, or leave the bound",
        lambda f: f.op in ADDING and aspect(f, "value", "law") and vast(f),
    ),
    Known(
        "linear of float16 is rounded before the bias is added, and has its dtype without it",
        lambda f: f.op == "linear" and any(x.dtype == np.float16 for x in arrays(f)),
    ),
    Known("amax over several dimensions splits ties in stages", tied),
    # the gradients and generators that are on their way
    Known("forward mode through components fails", lambda f: "ndarray is not contiguous" in f.difference.came),
    Known("a write between a call and its gradient is not noticed", lambda f: disturbed(f, "write")),
    Known("a hook that writes changes other gradients", lambda f: disturbed(f, "hook")),
    Known("a checkpoint does not notice that the function changed", lambda f: disturbed(f, "impure")),
    Known("checkpoints and threads share one generator", lambda f: aspect(f, "checkpoint", "random numbers")),
)
