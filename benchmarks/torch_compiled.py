"""What `compiled.py` measures, of nested jagged tensors in PyTorch: eager, and by its own `torch.compile`."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from torch.nn import functional

warnings.filterwarnings("ignore", message=".*nested tensors is in prototype stage.*")

Function = Callable[..., Any]


class Made(NamedTuple):
    """A function compiled: what it took, and the two calls that are compared; or the words of a refusal."""

    seconds: float = 0.0  # to the first result, on the clock on the wall
    eager: Callable[[], Any] | None = None
    compiled: Callable[[], Any] | None = None
    refusal: str = ""


def made(function: Function, lengths: Sequence[int], values: Sequence[Any], others: Sequence[Any], back: bool) -> Made:
    """``function(functional, *nested tensors, *others)`` eager and compiled, with gradients by the nested ones."""
    torch.set_num_threads(1)
    torch._dynamo.reset()
    offsets = torch.tensor(np.concatenate([[0], np.cumsum(lengths)]))
    nested = [torch.nested.nested_tensor_from_jagged(torch.tensor(one), offsets) for one in values]
    leaves = [one.detach().requires_grad_(back) for one in nested]
    rest = [torch.tensor(one) for one in others]

    def call(f: Function) -> Callable[[], Any]:
        def forward() -> Any:
            return f(*leaves, *rest)

        def both() -> Any:
            y = forward()
            return torch.autograd.grad(y, leaves, torch.ones_like(y))

        return both if back else forward

    of_torch = lambda *given: function(functional, *given)  # noqa: E731
    eager, compiled = call(of_torch), call(torch.compile(of_torch))
    start = time.perf_counter()
    try:
        compiled()
    except Exception as error:
        return Made(refusal=f"{type(error).__name__}: {next(line for line in str(error).splitlines() if line.strip())}")
    return Made(time.perf_counter() - start, eager, compiled)
