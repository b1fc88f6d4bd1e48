"""Rows of a table by number, and the cross entropy of rows, on nested and dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array, dense
from pynested.autograd.array import raw
from pynested.autograd.dense import losses
from pynested.autograd.dense.canonical import together
from pynested.autograd.dense.entries import floating
from pynested.autograd.dense.reduction import to_dtype
from pynested.autograd.rules import movement as moves
from pynested.backends.dtypes import is_half
from pynested.backends.errors import IndexOutOfRange, StructureError
from pynested.components.packing import contiguous, elements, of_elements
from pynested.components.runs import over_last
from pynested.components.shapes import apart, describe
from pynested.nested.array import NestedArray
from pynested.nested.operands import Dense, Operand

__all__ = ["cross_entropy", "embedding"]


def _outside(x: NestedArray, size: int, ignored: int | None = None) -> str:
    """The first element of ``x`` that is not in 0 .. size - 1, and where it is, in words."""
    flat = raw(elements(x))
    at = int(np.flatnonzero(((flat < 0) | (flat >= size)) & (flat != ignored))[0])
    sizes = x.component_sizes()
    ends = np.cumsum(sizes.prod(axis=1))
    i = int(np.searchsorted(ends, at, "right"))
    position = np.unravel_index(at - (int(ends[i - 1]) if i else 0), sizes[i])
    return f"{flat[at]} at component {i}, position {tuple(int(k) for k in position)},"


def embedding(indices: Operand, weight: Dense) -> NestedArray | Array:
    """Each index is replaced by that row of ``weight``: ``(B, *), (V, E) -> (B, *, E)``.

    Parameters
    ----------
    indices : NestedArray or Array
        Integers from 0 to V - 1; the result has their layout and one more dimension.
    weight : Array
        ``(V, E)``; the result has its dtype.

    Raises
    ------
    IndexOutOfRange
        For an index below 0 or not below V, naming the component and the position in it.
    DTypeError
        For indices that are not integers, bools included.
    ShapeError
        For a ``weight`` that is not a matrix.

    Notes
    -----
    An empty component becomes one of shape (0, E), also where V is 0. Gradient: a row gets the sum of the cotangents of
    every place that names it, +0 where none does; ``indices`` have none.

    Clauses: EMBEDDING-1 to EMBEDDING-7. After `torch.nn.functional.embedding`.

    Examples
    --------
    >>> tokens = pn.nested_array([[2, 0], [1]], layout=pn.jagged)
    >>> pn.embedding(tokens, pn.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])).unbind()
    (array([[2. , 2.5],
           [0. , 0.5]]), array([[1. , 1.5]]))
    """
    if type(indices) is not NestedArray:
        return dense.embedding(indices, weight)
    _, table = together("embedding", indices.data, weight)
    x = contiguous(indices)
    try:
        return over_last(x, (), lambda values: dense.embedding(values, table))
    except IndexOutOfRange:
        raise IndexOutOfRange(
            f"embedding: index {_outside(x, table.shape[0])} is not one of the {table.shape[0]} rows of the table."
        ) from None


def cross_entropy(
    self: Operand,
    target: Operand,
    *,
    weight: Dense | None = None,
    reduction: str = "mean",
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
) -> NestedArray | Array:
    """``-weight[y] * log_softmax(x)[y]`` of each row x and target y: ``(B, *, C), (B, *) -> ()``, or ``(B, *)``.

    Parameters
    ----------
    self : NestedArray or Array
        Floats; the classes, C of them, lie along the last dimension. The loss has their dtype.
    target : NestedArray or Array
        Integers from 0 to C - 1, or ``ignore_index``.
    weight : Array, optional
        ``(C,)``, by default 1.
    reduction : {"mean", "sum", "none"}
        The sum of all losses by the sum of their targets' weights (every target counts once, not every component); the
        sum; or one loss for each target, in the shape and layout of ``target``.
    ignore_index : int
        A target equal to it has the loss +0 and does not count in the mean, whatever its row holds.
    label_smoothing : float
        s gives ``(1 - s)`` times the loss above plus ``s / C`` times the sum of ``-weight[c] * log_softmax(x)[c]``.

    Raises
    ------
    IndexOutOfRange
        For another target outside 0 to C - 1, naming the component and the position in it.
    StructureError
        For targets that do not have the shape of the rows, and an irregular last dimension.
    ShapeError
        For a ``weight`` of another shape.
    DTypeError
        For scores that are not floats, and targets that are not integers.
    ArgumentError
        For another ``reduction``, and a ``label_smoothing`` below 0 or above 1.

    Notes
    -----
    The mean is NaN where no target counts, and the sum of no losses +0. Gradient: that of the formula; the row of an
    ignored target gets +0, also where the mean is NaN.

    Clauses: CROSS_ENTROPY-1 to CROSS_ENTROPY-13. After `torch.nn.functional.cross_entropy`.

    Examples
    --------
    >>> scores = pn.nested_array([[[0.0, 0.0], [9.0, 0.0]], [[0.0, 0.0]]], layout=pn.jagged)
    >>> target = pn.nested_array([[0, -100], [1]], layout=pn.jagged)
    >>> pn.cross_entropy(scores, target)
    array(0.69314718)
    """
    if type(self) is not NestedArray and type(target) is not NestedArray:
        return dense.cross_entropy(
            self, target, weight=weight, reduction=reduction, ignore_index=ignore_index, label_smoothing=label_smoothing
        )
    losses.check_reduction(reduction)
    ignore, smoothing = losses.checked_options(ignore_index, label_smoothing)
    if type(self) is NestedArray and is_half(self.dtype):  # rounded once, after the reduction
        wide = NestedArray(to_dtype(self.data, np.dtype(np.float32)), self.structure)
        found = cross_entropy(
            wide, target, weight=weight, reduction=reduction, ignore_index=ignore, label_smoothing=smoothing
        )
        return found.to(self.dtype)
    x, labels = _paired(self, target)
    *_, given = together("cross_entropy", x.data, labels.data, weight)
    classes = x.regular_size(x.ndim - 1)
    if classes is None:
        raise StructureError("cross_entropy: the last dimension, the classes, is irregular; every row needs as many.")
    scores = floating("cross_entropy", elements(x))
    rows = moves.reshape(scores, (labels.numel(), classes))
    try:
        rows, marked, shares = losses.prepared(rows, elements(labels), given, ignore, classes)
    except IndexOutOfRange:
        raise IndexOutOfRange(
            f"cross_entropy: target {_outside(labels, classes, ignore)} is not one of the {classes} classes "
            f"0..{classes - 1}, nor ignore_index {ignore}."
        ) from None
    lost = losses.row_losses(rows, marked, shares, ignore, smoothing)
    if reduction != "none":
        return losses.reduced(lost, marked, shares, ignore, reduction)
    return of_elements(lost, np.maximum(x.outline[:, :-1], labels.outline), len(x), labels.structure.ragged_dim)


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
    sizes, wanted = x.outline[:, :-1], labels.outline
    differing = apart(sizes, wanted)
    if differing:
        i = differing[0]
        which = f"component {i} has" if len(x) else "there are no components, but theirs would have"
        raise StructureError(
            f"cross_entropy: {which} scores for positions {describe(sizes[i])} and targets for {describe(wanted[i])}; "
            "they must be equal."
        )
    return x, labels
