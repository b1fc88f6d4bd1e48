"""Cross entropy of scores, and `embedding`, which selects rows of a table: chapter *losses* of the specification.

A row is one slice along the last dimension: the scores of all classes for one target, or the row of a table.
"""

from __future__ import annotations

from typing import Any, overload

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_arrays_on_one_device
from pynested.autograd.arguments.scalars import canonical_real, value_text
from pynested.autograd.arguments.shapes import canonical_int
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import binary, movement
from pynested.autograd.primitives import normalization as primitives
from pynested.autograd.primitives import reduction as axis_primitives
from pynested.autograd.tape import grad_mode
from pynested.backends import get_backend
from pynested.backends.dtypes import computing_dtype
from pynested.backends.errors import (
    ArgumentError,
    DTypeError,
    GradientError,
    IndexOutOfRange,
    ShapeError,
    StructureError,
)
from pynested.backends.quiet import without_warnings
from pynested.lifting.along_dim import map_last_dims
from pynested.lifting.result_dtypes import check_float
from pynested.nested.layout_conversion import contiguous, elements, from_elements
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Dense, DenseLike, Operand
from pynested.nested.shape_comparison import component_text, first_difference, shape_text

__all__ = ["cross_entropy", "embedding"]


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
    """Compute ``-weight[y] * log_softmax(x)[y]`` of rows x and targets y: ``(B, *, C), (B, *) -> ()`` or ``(B, *)``.

    ``self`` holds the scores, which are floats; its last dimension has size C, the number of classes. ``target`` holds
    integers from 0 to C - 1, or ``ignore_index``. ``weight`` is the weight of each class, ``(C,)``; by default 1. The
    loss has the dtype of ``self``. The mean over no targets is NaN, the sum over no targets is +0. Gradient: the
    derivative of the formula; the row of an ignored target gets +0, even if the mean is NaN. Clauses: CROSS_ENTROPY-1
    to CROSS_ENTROPY-13. After `torch.nn.functional.cross_entropy`.

    Parameters
    ----------
    reduction : {"mean", "sum", "none"}
        ``"mean"`` is the sum of all losses of all components, divided by the sum of the weights of their targets.
        ``"sum"`` is the sum of all losses. ``"none"`` gives one loss for each target, in the shape and layout of
        ``target``.
    ignore_index : int
        A target equal to this number has loss +0 and does not count for the mean, whatever values its row has.
    label_smoothing : float
        The number s. The loss becomes ``(1 - s)`` times the loss above plus ``s / C`` times the sum over all classes c
        of ``-weight[c] * log_softmax(x)[c]``.

    Raises
    ------
    IndexOutOfRange
        For a target that is neither 0 to C - 1 nor ``ignore_index``, naming the component and the position in it.
    StructureError
        If there is not one target for each row of a nested array, and for an irregular last dimension.
    ShapeError
        If there is not one target for each row of a dense array, and for a ``weight`` whose shape is not ``(C,)``.
    DTypeError
        For scores that are not floats, and for targets that are not integers.
    GradientError
        For a ``weight`` that requires grad, while operations are recorded.
    ArgumentError
        For an unknown ``reduction``, for a ``label_smoothing`` below 0 or above 1, and for an ``ignore_index`` that is
        not an integer. OverflowError for one beyond int64.

    Examples
    --------
    >>> scores = pn.nested_array([[[0.0, 0.0], [9.0, 0.0]], [[0.0, 0.0]]], layout=pn.jagged)
    >>> target = pn.nested_array([[0, -100], [1]], layout=pn.jagged)
    >>> pn.cross_entropy(scores, target)
    array(0.69314718)
    """
    if not isinstance(reduction, str) or reduction not in ("none", "mean", "sum"):
        raise ArgumentError(f"cross_entropy: reduction must be 'none', 'mean' or 'sum', not {value_text(reduction)}.")
    ignore = canonical_int("cross_entropy", "ignore_index", ignore_index)
    if not -(2**63) <= ignore < 2**63:
        raise OverflowError(f"cross_entropy: ignore_index {value_text(ignore)} is out of bounds for int64.")
    smoothing = canonical_real("cross_entropy", "label_smoothing", label_smoothing, 0, 1)
    if type(self) is not NestedArray and type(target) is not NestedArray:
        x, targets, class_weights = as_arrays_on_one_device("cross_entropy", self, target, weight, optional=1)
        if x.shape != (*targets.shape, *x.shape[-1:]) or not x.ndim:
            raise ShapeError(
                f"cross_entropy: scores of shape {x.shape} and targets of shape {targets.shape} must have the same "
                "shape, but for a last dimension of the scores, the classes."
            )
        losses = _losses(x, x.shape[-1], targets, class_weights, reduction, ignore, smoothing)
        return movement.reshape(losses, targets.shape) if reduction == "none" else losses
    nested, targets = _paired_operands(self, target)
    *_, class_weights = as_arrays_on_one_device("cross_entropy", nested.data, targets.data, weight, optional=1)
    num_classes = nested.regular_size(nested.ndim - 1)
    if num_classes is None:
        raise StructureError(
            "cross_entropy: the last dimension, the classes, is irregular. Every row must have equally many scores."
        )
    losses = _losses(elements(nested), num_classes, targets, class_weights, reduction, ignore, smoothing)
    if reduction != "none":
        return losses
    extents = np.maximum(nested.extents[:, :-1], targets.extents)
    return from_elements(losses, extents, len(nested), targets.structure.ragged_dim)


def _paired_operands(scores: Any, target: Any) -> tuple[NestedArray, NestedArray]:
    """Return scores ``(B, *, C)`` and targets ``(B, *)`` in contiguous memory; raise unless they are nested and fit."""
    if type(scores) is not NestedArray or type(target) is not NestedArray:
        raise StructureError("cross_entropy: scores and targets must both be nested, or both dense.")
    x, targets = contiguous(scores), contiguous(target)
    if x.ndim != targets.ndim + 1 or len(x) != len(targets):
        raise StructureError(
            f"cross_entropy: scores of {x.ndim} dimensions and {len(x)} components need targets of {x.ndim - 1} "
            f"dimensions and {len(x)} components, not {targets.ndim} and {len(targets)}."
        )
    row_sizes, target_sizes = x.extents[:, :-1], targets.extents
    difference = first_difference(row_sizes, target_sizes)
    if difference:
        i = difference[0]
        raise StructureError(
            f"cross_entropy: {component_text(i, len(x))} has scores for positions {shape_text(row_sizes[i])} and "
            f"targets for {shape_text(target_sizes[i])}; they must be equal."
        )
    return x, targets


def _losses(
    scores: Array, num_classes: int, targets: NestedArray | Array, weight: Array | None, reduction: str, ignore: int,
    smoothing: float,
) -> Array:  # fmt: skip
    """Return the losses of all rows as a flat array, 0 for an ignored target; or reduce them to a sum or mean."""
    if targets.dtype.kind not in "iu":
        raise DTypeError(f"cross_entropy: targets must be integers, which number classes, not {targets.dtype}.")
    flat_targets, is_outside = _flat_indices(targets, num_classes, ignore)
    if is_outside.any():
        raise IndexOutOfRange(
            f"cross_entropy: target {_first_out_of_range(targets, num_classes, ignore)} is not one of the "
            f"{num_classes} classes, counted from 0, nor ignore_index {ignore}."
        )
    if weight is not None and weight.requires_grad and grad_mode.value:
        raise GradientError("cross_entropy: weight requires grad, and has no derivative. Detach it: weight.detach().")
    if weight is not None and weight.shape != (num_classes,):
        raise ShapeError(f"cross_entropy: weight must have shape ({num_classes},), not {weight.shape}.")
    x = movement.to_dtype(check_float("cross_entropy", scores), computing_dtype(scores.dtype))
    # The raw weights are always a copy, which no later write changes.
    raw_weights = None if weight is None else get_backend(x.device).cast(weight.data, x.dtype)
    rows = movement.reshape(x, (flat_targets.size, num_classes))
    losses = primitives.cross_entropy(rows, flat_targets, raw_weights, ignore, smoothing)
    if reduction != "none":
        losses = axis_primitives.sum_axes(losses, (0,))
    if reduction == "mean":  # The mean is NaN if the total weight is infinite or 0.
        total_weight = _total_weight(flat_targets, raw_weights, ignore)
        losses = losses / total_weight if 0 < abs(total_weight) < np.inf else losses * np.nan
    return movement.to_dtype(losses, scores.dtype)  # halves are rounded once, after the reduction


@without_warnings
def _total_weight(targets: Any, weights: Any, ignore: int) -> float:
    """Return the sum of the weights of all targets that are not ignored; each weight is 1 if ``weights`` is None."""
    valid = targets[targets != ignore]
    return float(valid.size if weights is None else weights[valid].sum(dtype=np.float64))


@overload
def embedding(indices: DenseLike, weight: Dense, padding_idx: int | None = None) -> Array: ...
@overload
def embedding(indices: NestedArray, weight: Dense, padding_idx: int | None = None) -> NestedArray: ...
@operator
def embedding(indices: Operand, weight: Dense, padding_idx: int | None = None) -> NestedArray | Array:
    """Replace each index by the row of ``weight`` with this number: ``(B, *), (V, E) -> (B, *, E)``.

    ``indices`` holds integers from 0 to V - 1. The result has the layout of ``indices`` and the dtype of ``weight``. An
    empty component gets the shape (0, E), even if V is 0. Gradient: a row of ``weight`` gets the sum of the cotangents
    of all indices that select the row. A row without indices, and the row ``padding_idx``, get +0. ``indices`` have no
    gradient. Clauses: EMBEDDING-1 to EMBEDDING-6, EMBEDDING-8 to EMBEDDING-12. After `torch.nn.functional.embedding`.

    Parameters
    ----------
    padding_idx : int or None
        The row of ``weight`` that gets no gradient, from -V to V - 1; a negative number counts from the end.

    Raises
    ------
    IndexOutOfRange
        For an index outside 0 to V - 1, naming the component and the position in it; for a ``padding_idx`` outside -V
        to V - 1.
    ArgumentError
        For a ``padding_idx`` that is not an integer.
    DTypeError
        For indices that are not integers, also for bools.
    ShapeError
        For a ``weight`` that is not a matrix.

    Examples
    --------
    >>> tokens = pn.nested_array([[2, 0], [1]], layout=pn.jagged)
    >>> pn.embedding(tokens, pn.array([[0.0, 0.5], [1.0, 1.5], [2.0, 2.5]])).unbind()
    (array([[2. , 2.5],
           [0. , 0.5]]), array([[1. , 1.5]]))
    """
    if type(indices) is not NestedArray:
        x, table = as_arrays_on_one_device("embedding", indices, weight)
        return _take_table_rows(x, x, table, _padding_row(padding_idx, table))
    _, table = as_arrays_on_one_device("embedding", indices.data, weight)
    padding = _padding_row(padding_idx, table)
    nested = contiguous(indices)
    return map_last_dims(nested, (), lambda values: _take_table_rows(nested, values, table, padding))


def _padding_row(padding_idx: int | None, table: Array) -> int | None:
    """Return ``padding_idx`` as the number of a row, counted from the first; raise unless the table has the row."""
    if table.ndim != 2:
        raise ShapeError(f"embedding: weight must have shape (V, E), not {table.shape}.")
    if padding_idx is None:
        return None
    row, count = canonical_int("embedding", "padding_idx", padding_idx), table.shape[0]
    if not -count <= row < count:
        limits = f"an integer from {-count} to {count - 1}, or None" if count else "None"
        raise IndexOutOfRange(f"embedding: padding_idx {row} is not one of the {count} rows of weight. Give {limits}.")
    return row % count


def _take_table_rows(x: NestedArray | Array, values: Array, table: Array, padding: int | None) -> Array:
    """Select the row of the table for each index in ``values``, the buffer of ``x``: ``(...), (V, E) -> (..., E)``.

    No gradient flows to the row ``padding``. An error names the position of an index in ``x``.
    """
    if values.dtype.kind not in "iu":
        raise DTypeError(f"embedding: indices must be integers, not {values.dtype}.")
    num_rows = table.shape[0]
    flat, is_outside = _flat_indices(values, num_rows)
    if is_outside.any():
        raise IndexOutOfRange(
            f"embedding: index {_first_out_of_range(x, num_rows)} is not one of the {num_rows} rows of weight."
        )
    rows: Array = movement.take_rows(table, flat)
    if padding is not None and rows.requires_grad:
        rows = binary.where(rows, rows.detach(), (flat != padding)[:, None])
    return movement.reshape(rows, (*values.shape, table.shape[1]))


def _flat_indices(indices: NestedArray | Array, count: int, ignored: int | None = None) -> tuple[Any, Any]:
    """Return indices as flat raw int64, and a mask of those outside 0 to ``count`` - 1; ``ignored`` is not outside."""
    values = elements(indices) if isinstance(indices, NestedArray) else indices
    flat = values.data.reshape(-1).astype(np.int64)
    is_outside = (flat < 0) | (flat >= count)
    return flat, is_outside if ignored is None else is_outside & (flat != ignored)


def _first_out_of_range(x: NestedArray | Array, count: int, ignored: int | None = None) -> str:
    """Return the first element that is out of range, as in `_flat_indices`, and its position, as text."""
    flat, is_outside = _flat_indices(x, count, ignored)
    flat_position = int(np.flatnonzero(is_outside)[0])
    if not isinstance(x, NestedArray):
        return f"{flat[flat_position]} at flat position {flat_position}"
    sizes = x.component_sizes()
    ends = np.cumsum(sizes.prod(axis=1))
    i = int(np.searchsorted(ends, flat_position, "right"))
    position = np.unravel_index(flat_position - (int(ends[i - 1]) if i else 0), sizes[i])
    return f"{flat[flat_position]} at component {i}, position {tuple(int(k) for k in position)},"
