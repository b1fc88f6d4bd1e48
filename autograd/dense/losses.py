"""Rows of a table by number, and the cross entropy of rows."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import computing_dtype, is_half
from pynested.backends.errors import ArgumentError, DTypeError, IndexOutOfRange, ShapeError
from pynested.backends.memory import with_room
from pynested.backends.numpy.running import quiet

from ..array import Array, raw
from ..numbers import canonical_real, in_words
from ..rules import movement as moves
from ..rules import rows as rules
from .along import sum as total
from .canonical import together
from .entries import floating
from .reduction import to_dtype
from .shapes import canonical_int

__all__ = ["cross_entropy", "embedding"]


def embedding(indices: Any, weight: Any) -> Array:
    """The rows of ``weight`` at ``indices``: (...), (V, E) -> (..., E)."""
    index, table = together("embedding", indices, weight)
    if table.ndim != 2:
        raise ShapeError(f"embedding: weight must have shape (V, E), not {table.shape}.")
    flat = rows_of("embedding", index, table.shape[0])
    rows: Array = moves.take_rows(table, flat)
    return moves.reshape(rows, (*index.shape, table.shape[1]))


def rows_of(name: str, index: Array, rows: int) -> Any:
    """``index`` as flat int64 numbers, each checked to be one of ``rows`` rows."""
    if index.dtype.kind not in "iu":
        raise DTypeError(f"{name}: indices must be integers, these are {index.dtype}.")
    flat, wrong = _numbers(index, rows)
    if wrong.size:
        raise IndexOutOfRange(
            f"{name}: index {flat[wrong[0]]} at flat position {wrong[0]} is outside the table's 0..{rows - 1}."
        )
    return flat


@with_room
def _numbers(given: Array, end: int) -> tuple[Any, Any]:
    """``given`` as flat int64, a copy that no write into it changes, and where that is outside 0..end - 1."""
    flat = given.data.reshape(-1).astype(np.int64)
    return flat, np.flatnonzero((flat < 0) | (flat >= end))


def cross_entropy(
    self: Any,
    target: Any,
    *,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Array:
    """-log softmax(x)[target] of each row: (..., C), (...) -> () or (...); classes are last."""
    x, labels, weight = together("cross_entropy", self, target, weight)
    x = floating("cross_entropy", x)
    if is_half(x.dtype):  # rounded once, after the reduction
        wide = to_dtype(x, computing_dtype(x.dtype))
        found = cross_entropy(
            wide, labels, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
        )
        return to_dtype(found, x.dtype)
    if not x.ndim or x.shape[:-1] != labels.shape:
        raise ShapeError(
            f"cross_entropy: scores of shape {x.shape} need targets of shape {x.shape[:-1]}, not {labels.shape}."
        )
    classes = x.shape[-1]
    ignore, smoothing = checked_options(ignore_index, label_smoothing)
    rows, marked, shares = prepared(x, labels, weight, ignore, classes)
    losses = row_losses(rows, marked, shares, ignore, smoothing)
    if check_reduction(reduction) == "none":
        return moves.reshape(losses, labels.shape)
    return reduced(losses, marked, shares, ignore, reduction)


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
    marked, outside = _numbers(labels, classes)
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
    return rules.cross_entropy(rows, marked, shares, ignore, smoothing, kept)


def reduced(losses: Array, marked: Any, shares: Any, ignore: int, reduction: str) -> Array:
    """The sum of the losses, or their mean weighted by the weight of each row's class.

    It is NaN where the weights add up to nothing, as where all rows are ignored, or to more than any float.
    """
    summed = total(losses)
    if reduction == "sum":
        return summed
    count = _weight_of(marked, shares, ignore)
    return summed / count if 0 < abs(count) < np.inf else summed * np.nan


@quiet
def _weight_of(marked: Any, shares: Any, ignore: int) -> float:
    """What the losses of the rows that count weigh together; where all weigh as much, how many they are."""
    valid = marked[marked != ignore]
    return float(valid.size if shares is None else shares[valid].sum(dtype=np.float64))
