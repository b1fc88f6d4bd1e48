"""What works on whole rows: the reductions at the end of a chain, and what pulls through them.

A kernel ``kernel(out, *operands)`` takes rows ``(N, D)`` and, of what is narrow, a number for each of them ``(N,)``,
all contiguous. No row is ever cut, so that its sum has the same bits in a block as in the whole array.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.rules.reduction import attained, by_count
from pynested.backends.numpy.extremes import best_of_rows
from pynested.backends.numpy.products import add_rows

Kernel = Callable[..., None]


def add(totals: NDArray[Any], x: NDArray[Any]) -> None:
    """The sum of each row."""
    add_rows(x, totals)


def greatest(most: NDArray[Any], x: NDArray[Any]) -> None:
    """The greatest element of each row."""
    best_of_rows(np.maximum, x, most)


def least(fewest: NDArray[Any], x: NDArray[Any]) -> None:
    """The least element of each row."""
    best_of_rows(np.minimum, x, fewest)


def spread(out: NDArray[Any], numbers: NDArray[Any]) -> None:
    """The number of each row at all of its elements."""
    np.copyto(out, numbers[:, None])


def share(out: NDArray[Any], numbers: NDArray[Any], best: NDArray[Any], x: NDArray[Any]) -> None:
    """The number of each row, shared evenly by those of its elements that are ``best``; +0 elsewhere."""
    ties = attained(x, best[:, None])
    places = np.flatnonzero(ties)
    out.fill(0)
    if len(places) == len(numbers):  # one in each row
        out.reshape(-1)[places] = numbers
        return
    np.copyto(out, by_count(numbers[:, None], ties.sum(axis=1, keepdims=True)), where=ties)


OF_ROWS = frozenset({add, greatest, least, spread, share})


def whole(kernel: Kernel, dtype: np.dtype[Any], narrow: bool) -> Callable[..., NDArray[Any]]:
    """``kernel`` as a function ``made(shape, *operands)`` of whole arrays, which makes a new one."""

    def made(shape: tuple[int, ...], *operands: NDArray[Any]) -> NDArray[Any]:
        out = np.empty(shape[:-1] if narrow else shape, dtype)
        kernel(*[_in_rows(x, shape) for x in (out, *operands)])
        return out

    return made


def _in_rows(x: NDArray[Any], shape: tuple[int, ...]) -> NDArray[Any]:
    return x.reshape(-1, shape[-1]) if x.ndim == len(shape) else x.reshape(-1)
