"""Gradients against those of PyTorch's dense operators, one component at a time in float64. It needs PyTorch."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import torch

from pynested.conformance.adapters.torch_adapter import TorchTarget
from pynested.conformance.adapters.torch_batch import Parts
from pynested.conformance.adapters.torch_dense import DenseTorch

from ..draw.slopes import Slope
from ..oracle import Nest, Refused, Silent
from ..plan import Call, Dense, Ref, found, places
from ..run import attempt
from . import Difference, Found
from .expected import Expected
from .gradients import Judged

TARGET = TorchTarget(torch)
DENSE_TORCH = DenseTorch(torch, TARGET.function, TARGET.other)
OTHERWISE = (RuntimeError, TypeError, ValueError, IndexError)  # of a call that dense PyTorch cannot make


def check(plan: Slope, device: str = "cpu") -> tuple[int, Found | None]:
    """Whether the gradients were judged, and the difference; nothing is written and hooked on the way."""
    plan = replace(plan, writes=(), hook=None)
    try:
        expected = Expected(plan)
    except (Refused, Silent):
        return 0, None
    judged = Judged(plan, expected, device)
    theirs = gradients(judged) if expected.finite else None
    if theirs is None:
        return 0, None
    outcome = attempt(lambda: (judged.run(), judged.out.requires_grad and judged.out.backward(judged.seed)))
    if outcome.error is not None:
        open_ = outcome.refused and expected.may_refuse
        return 1, None if open_ else judged.found(Difference("refused", str(outcome), "a gradient"))
    for i, mine in judged.gradients().items():
        scale = 1 + float(np.abs(theirs[i]).max(initial=0.0))
        wrong = ~(np.abs(mine - theirs[i]) <= expected.tolerance * scale) & np.isfinite(theirs[i])
        if wrong.any():
            at = tuple(int(k) for k in np.argwhere(wrong)[0])
            place = f" of a{i} at {list(at)}, by PyTorch"
            return 1, judged.found(Difference("gradient", repr(mine[at]), repr(theirs[i][at]), place))
    return 1, None


def gradients(judged: Judged) -> dict[int, Any] | None:
    """The gradient of every leaf; None where a call has no dense form, or one that gives other values."""
    expected, chain = judged.expected, judged.plan.chain
    memories = [torch.tensor(_wide(np.ascontiguousarray(memory.numbers))) for memory in chain.memories]
    leaves = {i: memories[i].requires_grad_() for i in chain.leaves}
    known: dict[Ref, Any] = {}
    for i, one in enumerate(chain.operands):
        values = memories[one.memory]
        ref = Ref("x", i)
        whole = isinstance(one, Dense)
        known[ref] = values if whole else Parts(_components(values, one), expected.known[ref].shape)
    try:
        for i, call in enumerate(chain.steps):
            value = _called(call, known)
            if not _same(value, expected.known[Ref("y", i)]):
                return None
            known[Ref("y", i)] = value
        parts = _parts(found(judged.plan.out, known))
        total = sum((a * torch.tensor(_wide(b))).sum() for a, b in zip(parts, judged.cotangent, strict=True))
        grads = torch.autograd.grad(total, list(leaves.values()), allow_unused=True)
    except OTHERWISE:
        return None
    pairs = zip(leaves.items(), grads, strict=True)
    return {i: np.zeros(leaf.shape) if grad is None else grad.numpy() for (i, leaf), grad in pairs}


def _wide(numbers: Any) -> Any:
    return np.asarray(numbers, np.float64 if numbers.dtype.kind == "f" else numbers.dtype)


def _components(values: Any, operand: Any) -> list[Any]:
    return [values.reshape(-1)[torch.tensor(where)] for where in places(operand, tuple(values.shape))]


def _called(call: Call, known: dict[Ref, Any]) -> Any:
    """Make a call in dense PyTorch; NumPy's arrays among the arguments are tensors too."""
    args, kwargs = call.known(known)
    return DENSE_TORCH.call(call.op, "", [*map(_plain, args)], {name: _plain(one) for name, one in kwargs.items()})


def _plain(value: Any) -> Any:
    return torch.tensor(_wide(value)) if isinstance(value, np.ndarray) else DENSE_TORCH.other(value)


def _parts(value: Any) -> list[Any]:
    return list(value.tensors) if isinstance(value, Parts) else [value]


def _same(value: Any, due: Any) -> bool:
    """Return whether the values are those that are due, so that the call is the same."""
    if not isinstance(due, Nest):
        return isinstance(value, list | tuple) and len(value) == len(due) and all(map(_same, value, due))
    mine, theirs = _parts(value), list(due)
    if len(mine) != len(theirs) or isinstance(value, Parts) == due.dense:
        return False
    return all(
        tuple(a.shape) == b.shape and np.allclose(a.detach().numpy(), b, 1e-4, 1e-6)
        for a, b in zip(mine, theirs, strict=True)
    )
