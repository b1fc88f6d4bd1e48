"""Functions of nested jagged tensors in PyTorch: eager, and by its own `torch.compile`."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import torch
from torch.nn import functional

warnings.filterwarnings("ignore", message=".*nested tensors is in prototype stage.*")


def calls(
    function: Callable[..., Any], lengths: Sequence[int], values: Sequence[Any], others: Sequence[Any], backward: bool
) -> dict[str, Callable[[], Any]]:
    """Return ``function(functional, *nested tensors, *others)``, with gradients or without, by names of contenders."""
    torch.set_num_threads(1)
    torch._dynamo.reset()
    offsets = torch.tensor(np.concatenate([[0], np.cumsum(lengths)]))
    nested = [torch.nested.nested_tensor_from_jagged(torch.tensor(array), offsets) for array in values]
    leaves = [tensor.detach().requires_grad_(backward) for tensor in nested]
    rest = [torch.tensor(array) for array in others]

    def call(f: Callable[..., Any]) -> Callable[[], Any]:
        def forward() -> Any:
            return f(*leaves, *rest)

        def both() -> Any:
            y = forward()
            return torch.autograd.grad(y, leaves, torch.ones_like(y))

        return both if backward else forward

    of_torch = lambda *given: function(functional, *given)  # noqa: E731
    result = {"torch": call(of_torch), "torch compiled": call(torch.compile(of_torch))}
    for name, made in list(result.items()):
        try:
            made()
        except Exception as error:
            print(f"    {name} refuses: {type(error).__name__}: {str(error).strip().splitlines()[0]}")
            del result[name]
    return result
