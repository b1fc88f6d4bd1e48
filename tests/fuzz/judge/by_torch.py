"""Gradients against those of PyTorch's dense operators, one component at a time in float64. It needs PyTorch."""

from __future__ import annotations

import inspect
import operator
from dataclasses import replace
from typing import Any

import numpy as np
import torch

from ...against_torch.dense import OPERATORS, elementwise
from ..draw.slopes import Slope
from ..oracle import RULES, Answer, Nest, Refused, Silent, ask
from ..plan import Call, Dense, Ref, found, places
from ..run import attempt
from . import Difference, Found
from .expected import Expected
from .gradients import Judged

MORE = {"ne": operator.ne, "gt": operator.gt, "le": operator.le, "ge": operator.ge}
DENSE = {**OPERATORS, **{name: elementwise(sign) for name, sign in MORE.items()}}
OTHERWISE = (RuntimeError, TypeError, ValueError, IndexError, KeyError)  # where a call is not of the form of `DENSE`


def check(plan: Slope, device: str = "cpu") -> tuple[int, Found | None]:
    """Whether the gradients were judged, and the difference; nothing is written and hooked on the way."""
    plan = replace(plan, writes=(), hook=None, impure=False)
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
        known[Ref("x", i)] = values if isinstance(one, Dense) else _components(values, one)
    try:
        for i, call in enumerate(chain.steps):
            due = expected.known[Ref("y", i)]
            value = _called(call, known, ask(call.op, *call.known(expected.known)), due)
            if not _same(value, due):
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


def _called(call: Call, known: dict[Ref, Any], answer: Answer, due: Any) -> Any:
    """The call by the operators of `DENSE`: arrays as tensors, all else as the definitions take it."""
    nested = any(isinstance(found(ref, known), list) for ref in call.refs)
    given = inspect.signature(RULES[call.op]).bind(*call.args, **call.kwargs).arguments
    given.update(given.pop("options", {}))
    args = {name: _argument(given.get(name), value, known, nested) for name, value in answer.arguments.items()}
    if call.op == "select" and not args["dim"]:  # a component, where the dense operator would look into each
        return args["self"][args["index"]]
    if call.op in ("matmul", "bmm") and not nested:  # whose definitions take dense arrays as they are
        args = {name: [one] for name, one in args.items()}
    named = {}
    if call.op == "cross_entropy":  # which takes options by their names
        named = {name: args.pop(name) for name in list(args)[2:]}
    if call.op == "layer_norm":
        if args["eps"] != 1e-5:
            raise KeyError("eps")
        args = {name: args.get(name) for name in ("self", "normalized_shape", "weight", "bias")}
    value = DENSE[call.op](*args.values(), **named)
    if isinstance(due, Nest) and due.dense and isinstance(value, list):
        return torch.stack(value) if nested else value[0]
    return value


def _argument(given: Any, value: Any, known: dict[Ref, Any], nested: bool) -> Any:
    """A tensor, or a list of components, where an array is given; all else as the definition takes it."""
    if isinstance(given, Ref):
        one = found(given, known)
        return [one] if isinstance(value, list) and not nested else one
    if isinstance(given, list | tuple) and any(isinstance(one, Ref) for one in given):
        return [_argument(a, b, known, nested) for a, b in zip(given, value, strict=True)]
    return value


def _parts(value: Any) -> list[Any]:
    return [value] if isinstance(value, torch.Tensor) else list(value)


def _same(value: Any, due: Any) -> bool:
    """Whether the values are those that are due, so that the call is the same."""
    if isinstance(value, tuple):
        return len(value) == len(due) and all(map(_same, value, due))
    mine, theirs = _parts(value), list(due)
    if len(mine) != len(theirs) or isinstance(value, torch.Tensor) != due.dense:
        return False
    return all(
        tuple(a.shape) == b.shape and np.allclose(a.detach().numpy(), b, 1e-4, 1e-6)
        for a, b in zip(mine, theirs, strict=True)
    )
