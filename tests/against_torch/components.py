"""A nested operand as components: which part of each operand one of them meets."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torch

Operator = Callable[..., Any]


def rows(x: Any, rank: int, count: int) -> Sequence[Any]:
    """What each component meets of an operand: its own of a list, its slice of a batch, all of anything else."""
    if isinstance(x, list):
        return x
    if isinstance(x, torch.Tensor) and x.ndim == rank:
        return [x[0]] * count if x.shape[0] == 1 else list(x)
    return [x] * count


def each(function: Operator, *operands: Any) -> list[Any]:
    """``function`` of each component."""
    first = next(x for x in operands if isinstance(x, list))
    columns = [rows(x, first[0].ndim + 1, len(first)) for x in operands]
    return [function(*row) for row in zip(*columns, strict=True)]
