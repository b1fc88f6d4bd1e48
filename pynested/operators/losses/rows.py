"""Rows and numbers: which row of a table, or which class of a row of scores, each number means; the losses of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.array import raw
from pynested.autograd.numbers import canonical_real, in_words
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import reduction as of_axes
from pynested.autograd.rules import rows as of_rows
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, DTypeError, IndexOutOfRange, ShapeError
from pynested.backends.numpy.running import quiet
from pynested.nested.layout_conversion import elements
from pynested.nested.nested_array import NestedArray


def outside(x: NestedArray, size: int, ignored: int | None = None) -> str:
    """The first element of ``x`` that is not in 0 .. size - 1, and where it is, in words."""
    flat = raw(elements(x))
    at = int(np.flatnonzero(((flat < 0) | (flat >= size)) & (flat != ignored))[0])
    sizes = x.component_sizes()
    ends = np.cumsum(sizes.prod(axis=1))
    i = int(np.searchsorted(ends, at, "right"))
    position = np.unravel_index(at - (int(ends[i - 1]) if i else 0), sizes[i])
    return f"{flat[at]} at component {i}, position {tuple(int(k) for k in position)},"


def numbers(given: Array, end: int) -> tuple[Any, Any]:
    """``given`` as flat int64, a copy that no write into it changes, and where that is outside 0..end - 1."""
    flat = given.data.reshape(-1).astype(np.int64)
    return flat, np.flatnonzero((flat < 0) | (flat >= end))


def check_reduction(reduction: str) -> str:
    """One of the three reductions."""
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"cross_entropy: reduction must be 'none', 'mean' or 'sum', not {reduction!r}.")
    return reduction


def checked_options(ignore_index: Any, label_smoothing: Any) -> tuple[int, float]:
    """An integer that a target may equal, and a number from 0 to 1."""
    ignore = canonical_int("cross_entropy", "ignore_index", ignore_index)
    if not -(2**63) <= ignore < 2**63:
        raise OverflowError(f"cross_entropy: ignore_index {in_words(ignore)} is out of bounds for int64.")
    return ignore, canonical_real("cross_entropy", "label_smoothing", label_smoothing, 0, 1)


def prepared(x: Array, labels: Array, weight: Array | None, ignore: int, classes: int) -> tuple[Array, Any, Any]:
    """Rows of scores, their targets (int64, in range or ignored), and the weight of each class or None."""
    if labels.dtype.kind not in "iu":
        raise DTypeError(f"cross_entropy: targets must be class numbers, these are {labels.dtype}.")
    marked, outside = numbers(labels, classes)
    wrong = outside[marked[outside] != ignore]
    if wrong.size:
        raise IndexOutOfRange(
            f"cross_entropy: target {marked[wrong[0]]} at flat position {wrong[0]} is not one of the {classes} classes "
            f"0..{classes - 1}, nor ignore_index {ignore}."
        )
    shares = None
    if weight is not None:
        if weight.shape != (classes,):
            raise ShapeError(f"cross_entropy: weight must have shape ({classes},), not {weight.shape}.")
        shares = get_backend(x.device).cast(weight.data, x.dtype)  # a copy too
    return moves.reshape(x, (marked.size, classes)), marked, shares


def row_losses(rows: Array, marked: Any, shares: Any, ignore: int, smoothing: float) -> Array:
    """The loss of each row, 0 where it is ignored."""
    kept = get_backend(rows.device).cross_entropy(raw(rows), marked, shares, ignore, smoothing)
    return of_rows.cross_entropy(rows, marked, shares, ignore, smoothing, kept)


def reduced(losses: Array, marked: Any, shares: Any, ignore: int, reduction: str) -> Array:
    """The sum of the losses, or their mean weighted by the weight of each row's class.

    It is NaN where the weights add up to nothing, as where all rows are ignored, or to more than any float.
    """
    summed = of_axes.sum_axes(losses, (0,))
    if reduction == "sum":
        return summed
    count = _weight_of(marked, shares, ignore)
    return summed / count if 0 < abs(count) < np.inf else summed * np.nan


@quiet
def _weight_of(marked: Any, shares: Any, ignore: int) -> float:
    """What the losses of the rows that count weigh together; where all weigh as much, how many they are."""
    valid = marked[marked != ignore]
    return float(valid.size if shares is None else shares[valid].sum(dtype=np.float64))
