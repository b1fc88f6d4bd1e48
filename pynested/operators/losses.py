"""Rows of a table by number, and the cross entropy of rows, on nested and dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import dense
from pynested.autograd.dense import losses
from pynested.autograd.dense.canonical import as_array
from pynested.autograd.dense.normalization import floating
from pynested.autograd.dense.reduction import to_dtype
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import IndexOutOfRange, StructureError
from pynested.nested_array import NestedArray
from pynested.packing import contiguous, gathered, to_strided
from pynested.structure import Jagged, Strided

from . import conversion


def _place(x: NestedArray, flat: int) -> str:
    """Where element ``flat``, counted through all components, is: its component and position there."""
    sizes = x.component_sizes()
    ends = np.cumsum(sizes.prod(axis=1))
    i = int(np.searchsorted(ends, flat, "right"))
    within = flat - (int(ends[i - 1]) if i else 0)
    return f"component {i}, position {tuple(int(k) for k in np.unravel_index(within, sizes[i]))}"


def embedding(indices: Any, weight: Any) -> Any:
    """The rows of ``weight`` at ``indices``."""
    if type(indices) is not NestedArray:
        return dense.embedding(indices, weight)
    table = as_array("embedding", weight)
    x = contiguous(indices)
    if table.ndim == 2 and x.dtype.kind in "iu":
        wrong = np.flatnonzero((x.data.data.reshape(-1) < 0) | (x.data.data.reshape(-1) >= table.shape[0]))
        if wrong.size and isinstance(x.structure, Strided):
            value = x.data.data[wrong[0]]
            raise IndexOutOfRange(
                f"embedding: index {value} at {_place(x, int(wrong[0]))} is outside the table's 0..{table.shape[0] - 1}."
            )
        if wrong.size:
            at = np.argwhere((x.data.data < 0) | (x.data.data >= table.shape[0]))[0]
            value = x.data.data[tuple(at)]
            raise IndexOutOfRange(
                f"embedding: index {value} at {_jagged_place(x, at)} is outside the table's 0..{table.shape[0] - 1}."
            )
    rows = dense.embedding(x.data, table)
    if isinstance(x.structure, Jagged):
        return NestedArray(rows, x.structure)
    sizes = np.concatenate([x.structure.sizes, np.full((len(x), 1), table.shape[1])], axis=1)
    return NestedArray(moves.reshape(rows, (rows.numel(),)), Strided.of_packed(sizes))


def _jagged_place(x: NestedArray, at: Any) -> str:
    """Where the entry ``at`` of the packed values of a jagged array is."""
    axis = x.structure.ragged_dim - 1  # type: ignore[union-attr]
    i = int(np.searchsorted(x.structure.offsets, at[axis], "right")) - 1
    position = [int(k) for k in at]
    position[axis] -= int(x.structure.offsets[i])
    return f"component {i}, position {tuple(position)}"


def cross_entropy(
    self: Any,
    target: Any,
    *,
    weight: Any = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> Any:
    """-log softmax(x)[target] of each row."""
    if type(self) is not NestedArray and type(target) is not NestedArray:
        return dense.cross_entropy(
            self, target, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
        )
    losses.check_reduction(reduction)
    if type(self) is NestedArray and self.dtype == np.float16:  # rounded once, after the reduction
        wide = NestedArray(to_dtype(self.data, np.dtype(np.float32)), self.structure)
        found = cross_entropy(
            wide, target, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
        )
        return conversion.to(found, np.float16)
    x, labels = _paired(self, target)
    sizes = x.component_sizes()
    classes = x.regular_size(x.ndim - 1)
    if classes is None:
        raise StructureError("cross_entropy: the last dimension, the classes, is irregular; every row needs as many.")
    scores = floating("cross_entropy", gathered(to_strided(x)))
    rows_of = int(sizes[:, :-1].prod(axis=1).sum())
    rows, marked, shares = losses.prepared(
        moves.reshape(scores, (rows_of, classes)),
        gathered(to_strided(labels)),
        weight,
        ignore_index,
        label_smoothing,
        classes,
    )
    lost = losses.row_losses(rows, marked, shares, ignore_index, label_smoothing)
    if reduction != "none":
        return losses.reduced(lost, marked, shares, ignore_index, reduction)
    if isinstance(labels.structure, Jagged) and labels.structure.ragged_dim == 1:
        return NestedArray(moves.reshape(lost, labels.data.shape), labels.structure)
    return NestedArray(lost, Strided.of_packed(sizes[:, :-1]))


def _paired(scores: Any, target: Any) -> tuple[NestedArray, NestedArray]:
    """Scores (B, *, C) and targets (B, *), both nested, of the same lengths."""
    if type(scores) is not NestedArray or type(target) is not NestedArray:
        raise StructureError("cross_entropy: scores and targets must both be nested, or both dense.")
    x, labels = contiguous(scores), contiguous(target)
    if x.ndim != labels.ndim + 1 or len(x) != len(labels):
        raise StructureError(
            f"cross_entropy: scores of {x.ndim} dimensions and {len(x)} components need targets of {x.ndim - 1} "
            f"dimensions and as many components, not {labels.ndim} and {len(labels)}."
        )
    sizes, wanted = x.component_sizes()[:, :-1], labels.component_sizes()
    if not np.array_equal(sizes, wanted):
        i = int(np.flatnonzero((sizes != wanted).any(axis=1))[0])
        raise StructureError(
            f"cross_entropy: component {i} has scores for positions {tuple(sizes[i].tolist())} and targets for "
            f"{tuple(wanted[i].tolist())}; they must be equal."
        )
    return x, labels
