"""Reductions of a list of components in dense PyTorch; over the batch, of those that are present at a place."""

from __future__ import annotations

import math
import warnings
from typing import Any

import torch
from torch.nn import functional

from .components import Operator, each


def aligned(x: list[Any], fill: float) -> Any:
    """The components aligned at the left, in one tensor."""
    shape = [max(sizes) for sizes in zip(*[c.shape for c in x], strict=True)]
    padding = [[n for size, own in zip(shape[::-1], c.shape[::-1], strict=True) for n in (0, size - own)] for c in x]
    return torch.stack([functional.pad(c, ends, value=fill) for c, ends in zip(x, padding, strict=True)])


def quiet(function: Operator) -> Operator:
    """``function``, which warns where a result is not a number."""

    def call(*arguments: Any, **options: Any) -> Any:
        with warnings.catch_warnings(action="ignore"):
            return function(*arguments, **options)

    return call


def reduction(function: Operator, over_batch: Operator) -> Operator:
    """``function`` of each component, or ``over_batch`` where the batch is among the dims."""

    def reduced(x: Any, dim: Any = None, keepdim: bool = False, **options: Any) -> Any:
        dims = tuple(range(x[0].ndim + 1)) if dim is None else (dim,) if isinstance(dim, int) else dim
        if 0 in dims:
            return over_batch(x, dims, keepdim, **options)
        return each(lambda c: function(c, dim=tuple(d - 1 for d in dims), keepdim=keepdim, **options), x)

    return reduced


def over_present(function: Operator) -> Operator:
    """``function`` of the elements that are present at each place of the kept dims."""

    def over_batch(x: Any, dims: Any, keepdim: bool, **options: Any) -> Any:
        there, values = aligned([torch.ones_like(c) for c in x], 0) > 0, aligned(x, 0)
        outer = [d for d in range(values.ndim) if d not in dims]
        order, shape = [*outer, *dims], [values.shape[d] for d in outer]
        width = math.prod([values.shape[d] for d in dims])
        columns = [one.permute(order).reshape(math.prod(shape), width) for one in (values, there)]
        found = [function(run[own], dim=0, **options) for run, own in zip(*columns, strict=True)]
        found = torch.stack(found).reshape(shape) if found else values.new_zeros(shape)
        return found.reshape([1 if d in dims else n for d, n in enumerate(values.shape)]) if keepdim else found

    return over_batch


def batch_sum(x: Any, dims: Any, keepdim: bool) -> Any:
    return aligned(x, 0.0).sum(dim=dims, keepdim=keepdim)


def batch_mean(x: Any, dims: Any, keepdim: bool) -> Any:
    return batch_sum(x, dims, keepdim) / batch_sum([torch.ones_like(c) for c in x], dims, keepdim)


def torch_prod(x: Any, dim: Any, keepdim: bool) -> Any:
    for one in sorted(dim, reverse=True):  # PyTorch's takes one dimension
        x = torch.prod(x, one, keepdim)
    return x


def batch_prod(x: Any, dims: Any, keepdim: bool) -> Any:
    return torch_prod(aligned(x, 1.0), dims, keepdim)


def extreme(function: Operator, fill: float) -> Operator:
    return reduction(function, lambda x, dims, keepdim: function(aligned(x, fill), dim=dims, keepdim=keepdim))


def places(function: Operator, fill: float) -> Operator:
    def found(x: Any, dim: int, keepdim: bool = False) -> Any:
        if dim == 0:
            return function(aligned(x, fill), 0, keepdim)
        return each(lambda c: function(c, dim - 1, keepdim), x)

    return found


# ---- runs, products, losses ---------------------------------------------------------------------------------------
