"""Every operator on dense tensors: PyTorch's function of the same name, or what differs from it."""

from __future__ import annotations

from functools import partial
from typing import Any

import torch
from torch.nn import functional

from pynested.spec.pairs import PAIRS
from pynested.spec.reductions import REDUCTIONS

from .components import Operator
from .dense import OWN_OF_TWO, cbrt, clamped, dense_flex_attention, heads, of_two
from .reductions import quiet, torch_prod


def of_dense(op: str) -> Operator:
    """PyTorch's operator on dense tensors."""
    homes = (home for home in (functional, torch, torch.Tensor) if hasattr(home, op))
    return DIFFERENT[op] if op in DIFFERENT else getattr(next(homes), op)


def reduction(function: Operator) -> Operator:
    """``function``, over all dimensions where none is named."""

    def reduced(x: Any, dim: Any = None, keepdim: bool = False) -> Any:
        dims = tuple(range(x.ndim)) if dim is None else (dim,) if isinstance(dim, int) else dim
        return function(x, dim=dims, keepdim=keepdim)

    return reduced


def cross_entropy(x: Any, target: Any, reduction: str = "mean", **options: Any) -> Any:
    """Of classes along the last dimension."""
    losses = functional.cross_entropy(x.flatten(0, -2), target.flatten(), reduction=reduction, **options)
    return losses.reshape(target.shape) if reduction == "none" else losses


def stacked_heads(query: Any, key: Any, value: Any, *given: Any) -> Any:
    """One component after the other: PyTorch's function has the batch as the second dimension."""
    return torch.stack(heads([*query], [*key], [*value], *given))


def layer_norm(x: Any, shape: Any, weight: Any = None, bias: Any = None) -> Any:
    """With the bias added behind: PyTorch has no second derivative of a bias without a weight."""
    normal = functional.layer_norm(x, shape, weight)
    return normal if bias is None else normal + bias


def getitem(x: Any, index: Any) -> Any:
    """With steps below 0, which PyTorch refuses."""
    plain = []
    for dim, part in enumerate(index):
        backwards = isinstance(part, slice) and part.step is not None and part.step < 0
        if backwards:
            x = x.index_select(dim, torch.tensor(range(*part.indices(x.shape[dim])), dtype=torch.int64))
        plain.append(slice(None) if backwards else part)
    return x[tuple(plain)]


DIFFERENT: dict[str, Operator] = {
    **{name: of_two(getattr(torch, name)) for name in (*PAIRS, *OWN_OF_TWO)},
    **{name: reduction(quiet(getattr(torch, name))) for name in (*REDUCTIONS, "sum", "mean", "amax", "amin")},
    "add": lambda a, b, alpha=1: a + alpha * b,
    "cbrt": cbrt,
    "clamp": clamped,
    "cross_entropy": cross_entropy,
    "flex_attention": dense_flex_attention,
    "floor_divide": of_two(partial(torch.div, rounding_mode="floor")),  # the one with a gradient
    "gelu": lambda x, approximate="none": functional.gelu(x, approximate=approximate),
    "getitem": getitem,
    "layer_norm": layer_norm,
    "multi_head_attention": stacked_heads,
    "prod": reduction(torch_prod),
    "sub": lambda a, b, alpha=1: a - alpha * b,
    "to": lambda x, dtype: x.to(getattr(torch, dtype.name)),
}
