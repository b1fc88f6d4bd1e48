"""The cross entropy of rows, on nested and dense arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import together
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.movement import to_dtype
from pynested.backends.dtypes import computing_dtype, is_half
from pynested.backends.errors import IndexOutOfRange, ShapeError, StructureError
from pynested.lifting.result_dtypes import check_float
from pynested.nested.layout_conversion import contiguous, elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, Operand
from pynested.nested.shape_comparison import first_difference, shape_text

from .rows import check_reduction, checked_options, outside, prepared, reduced, row_losses


@operator
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
        return _of_dense(self, target, weight, reduction, ignore_index, label_smoothing)
    check_reduction(reduction)
    ignore, smoothing = checked_options(ignore_index, label_smoothing)
    if type(self) is NestedArray and is_half(self.dtype):  # rounded once, after the reduction
        wide = NestedArray(to_dtype(self.data, np.dtype(np.float32)), self.structure)
        found = cross_entropy(
            wide, target, weight=weight, reduction=reduction, ignore_index=ignore, label_smoothing=smoothing
        )
        return found.to(self.dtype)
    x, labels = _paired(self, target)
    *_, given = together("cross_entropy", x.data, labels.data, weight, optional=1)
    classes = x.regular_size(x.ndim - 1)
    if classes is None:
        raise StructureError("cross_entropy: the last dimension, the classes, is irregular; every row needs as many.")
    scores = check_float("cross_entropy", elements(x))
    rows = moves.reshape(scores, (labels.numel(), classes))
    try:
        rows, marked, shares = prepared(rows, elements(labels), given, ignore, classes)
    except IndexOutOfRange:
        raise IndexOutOfRange(
            f"cross_entropy: target {outside(labels, classes, ignore)} is not one of the {classes} classes "
            f"0..{classes - 1}, nor ignore_index {ignore}."
        ) from None
    lost = row_losses(rows, marked, shares, ignore, smoothing)
    if reduction != "none":
        return reduced(lost, marked, shares, ignore, reduction)
    return from_elements(lost, np.maximum(x.extents[:, :-1], labels.extents), len(x), labels.structure.ragged_dim)


def _of_dense(scores: Any, target: Any, weight: Any, reduction: str, ignore_index: Any, label_smoothing: Any) -> Array:
    """(..., C), (...) -> () or (...)."""
    x, labels, weight = together("cross_entropy", scores, target, weight, optional=1)
    x = check_float("cross_entropy", x)
    if is_half(x.dtype):  # rounded once, after the reduction
        wide = to_dtype(x, computing_dtype(x.dtype))
        return to_dtype(_of_dense(wide, labels, weight, reduction, ignore_index, label_smoothing), x.dtype)
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
    sizes, wanted = x.extents[:, :-1], labels.extents
    differing = first_difference(sizes, wanted)
    if differing:
        i = differing[0]
        which = f"component {i} has" if len(x) else "there are no components, but theirs would have"
        raise StructureError(
            f"cross_entropy: {which} scores for positions {shape_text(sizes[i])} and targets for "
            f"{shape_text(wanted[i])}; they must be equal."
        )
    return x, labels
