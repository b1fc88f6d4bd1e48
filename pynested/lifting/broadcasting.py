"""Broadcasting of elementwise operands: aligned so that one dense call serves all components.

A dense operand is aligned at the right with the shape (B, d1, ..., dk) of the nested one. Along an irregular dimension
its size is 1, or the length that every component has. Nested operands have equal shapes, up to regular dimensions of
size 1.

`pynested/lifting/mapping.py` tries the strategies from the cheapest on: `jagged_operands` and `row_operands` return
arrays that broadcast against the packed values, or None if they cannot; `strided_operands` gathers every operand into a
flat buffer, and always succeeds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment
from pynested.backends import same_integers
from pynested.backends.errors import ShapeError, StructureError
from pynested.nested.layout_conversion import (
    as_jagged_view,
    as_strided_parts,
    axis_first,
    gather_elements,
    inverse_permutation,
    packed,
    to_jagged,
    to_strided,
)
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import (
    broadcast_extents,
    broadcastable_dims,
    first_difference,
    mismatch_message,
)
from pynested.structure import Ints, Jagged, Strided
from pynested.structure.validation import check_size_limits

# ---- dense operands -------------------------------------------------------------------------------------------------


def aligned_shape(name: str, x: Array, nested: NestedArray) -> tuple[int, ...]:
    """Return the shape of a dense operand, with 1s in front for missing dimensions; raise unless it broadcasts."""
    if x.ndim > nested.ndim:
        raise ShapeError(
            f"{name}: a dense operand of shape {x.shape} has more dimensions than the nested one, which has "
            f"{nested.ndim}."
        )
    shape = (1,) * (nested.ndim - x.ndim) + x.shape
    if shape[0] not in (1, len(nested)):
        raise ShapeError(dense_mismatch_message(name, x, nested, shape, 0, 0, len(nested)))
    for dim, (size, regular) in enumerate(zip(shape[1:], nested.regular, strict=True), 1):
        if size == 1 or regular in (1, size):
            continue
        lengths = nested.lengths_along(dim) if regular is None else np.array([regular])
        wrong = np.flatnonzero(lengths != size)
        if wrong.size:
            i = int(wrong[0])
            raise ShapeError(dense_mismatch_message(name, x, nested, shape, dim, i, int(lengths[i])))
    return shape


def dense_mismatch_message(
    name: str, x: Array, nested: NestedArray, shape: tuple[int, ...], dim: int, i: int, length: int
) -> str:
    """Return the error message for a dense operand that does not broadcast to component ``i``, of ``length``."""
    component = f" of component {i}" if len(nested) else ""
    where = f"the batch of {length} components" if dim == 0 else f"length {length}{component} along dimension {dim}"
    hint = ""
    if 1 < x.ndim < nested.ndim and x.shape[0] == len(nested):
        hint = " To give each component a slice of its own, use v[:, None, ...] so that dimension 0 meets the batch."
    elif x.ndim == 1 and x.shape[0] == len(nested):
        hint = " To give each component a number of its own, use v[:, None]."
    return (
        f"{name}: a dense operand of shape {x.shape}, aligned at the right as {shape}, has size {shape[dim]} where it "
        f"meets {where}; it must be 1 or equal.{hint}"
    )


def broadcasts_behind_ragged(shape: tuple[int, ...], values: tuple[int, ...], structure: Jagged | Strided) -> bool:
    """Return whether a dense operand has only dimensions behind the ragged one: it broadcasts against the values."""
    if not shape:
        return True
    if isinstance(structure, Strided) or len(shape) > len(values) - structure.ragged_dim:
        return False
    return all(size in (1, other) for size, other in zip(reversed(shape), reversed(values), strict=False))


def dense_rows(name: str, x: Array, nested: NestedArray, structure: Jagged) -> Array:
    """Return a dense operand as an array that broadcasts against the packed values of a jagged one."""
    shape = aligned_shape(name, x, nested)
    r = structure.ragged_dim
    if shape[0] == 1 and shape[r] == 1:
        return moves.reshape(x, shape[1:])
    order = axis_first(r - 1, nested.ndim - 1)
    rest = shape[1:r] + shape[r + 1 :]
    if shape[r] == 1:
        rows = segment.spread(moves.reshape(x, (shape[0], *rest)), structure.segments)
    else:
        both = moves.broadcast_to(moves.reshape(x, shape), (len(nested), *shape[1:]))
        axes = (0, r, *[dim for dim in range(1, nested.ndim) if dim != r])
        rows = moves.reshape(moves.transpose(both, axes), (len(nested) * shape[r], *rest))
    return moves.transpose(rows, inverse_permutation(order)) if r > 1 else rows


# ---- against packed values ------------------------------------------------------------------------------------------


def jagged_operands(name: str, first: NestedArray, structure: Jagged, operands: Sequence[Any]) -> list[Any] | None:
    """Return operands that broadcast against the packed values of ``first``, None if they need `strided_operands`."""
    aligned: list[Any] = []
    for x in operands:
        if type(x) is NestedArray:
            values = _jagged_values(name, first, structure, x)
        elif type(x) is Array and x.ndim:
            values = dense_rows(name, x, first, structure)
        else:
            values = x
        if values is None:
            return None
        aligned.append(values)
    return _check_joint_broadcast(name, aligned, operands)


def _jagged_values(name: str, first: NestedArray, structure: Jagged, x: NestedArray) -> Array | None:
    """Return the packed values of ``x`` with the segments of ``structure``; None if ``x`` has other irregular dims."""
    if x.ndim != first.ndim or len(x) != len(first):
        raise StructureError(mismatch_message(name, first, x))
    if isinstance(x.structure, Jagged):
        if x.structure.ragged_dim != structure.ragged_dim:
            return None
    else:
        axis = structure.ragged_dim - 1
        other_sizes = (*x.regular[:axis], *x.regular[axis + 1 :])
        if None in other_sizes or not same_integers(x.structure.sizes[:, axis], structure.component_lengths):
            return None
        x = to_jagged(x, structure.ragged_dim)
    if not structure.same_lengths(x.structure):  # type: ignore[arg-type]
        raise StructureError(mismatch_message(name, first, x, broadcast=True))
    return packed(x).data


def row_operands(name: str, first: NestedArray, structure: Strided, operands: Sequence[Any]) -> list[Any] | None:
    """Return operands that broadcast against the rows of a strided array, None if they need `strided_operands`.

    The rows are those of `as_jagged_view`. If dimension 1 is regular with size 1, it can broadcast, which rows cannot.
    """
    rows = as_jagged_view(first)
    if rows is None or first.regular_size(1) == 1:
        return None
    aligned: list[Any] = []
    for x in operands:
        if type(x) is NestedArray:
            if not structure.same_placement(x.structure):
                return None
            aligned.append(moves.reshape(x.data, rows.data.shape))
        else:
            aligned.append(dense_rows(name, x, rows, rows.structure) if type(x) is Array and x.ndim else x)  # type: ignore[arg-type]
    return _check_joint_broadcast(name, aligned, operands) if len(operands) > 2 else aligned


def _check_joint_broadcast(name: str, aligned: list[Any], operands: Sequence[Any]) -> list[Any]:
    """Return the aligned operands if they also broadcast against each other, else raise an error about ``operands``."""
    try:
        broadcast_shape(name, *[x.shape for x in aligned if type(x) is Array])
    except ShapeError:
        check_pairs(name, operands)  # raises the better message, which names the component
        raise
    return aligned


# ---- in flat buffers ------------------------------------------------------------------------------------------------


@dataclass
class _StridedOperand:
    """Placement of an operand in a flat buffer, one row for each component, and the axes that can broadcast."""

    flat: Array
    extents: Ints
    strides: Ints
    offsets: Ints
    broadcasts: NDArray[np.bool_]


def strided_operands(name: str, first: NestedArray, operands: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return the operands as flat buffers of one packed strided structure, and the extents of its components."""
    if all(_has_equal_sizes(first, x) for x in operands):
        return [gather_elements(to_strided(x)) if isinstance(x, NestedArray) else x for x in operands], first.extents
    is_array = [isinstance(x, NestedArray) or (type(x) is Array and x.ndim > 0) for x in operands]
    placements = [
        _as_strided_operand(name, first, x) if array else None for x, array in zip(operands, is_array, strict=True)
    ]
    extents, is_valid = broadcast_extents([(x.extents, x.broadcasts) for x in placements if x is not None])
    if not is_valid:
        check_pairs(name, operands)
    check_size_limits(name, extents)
    flats: list[Any] = []
    for x, placement in zip(operands, placements, strict=True):
        if placement is None:
            flats.append(x)
            continue
        strides = np.where(placement.broadcasts & (extents != 1).any(axis=0), 0, placement.strides)
        target = Strided.from_valid(extents, strides, placement.offsets, placement.flat.numel())
        if target.is_contiguous:
            flats.append(placement.flat)
        else:
            flats.append(moves.gather(placement.flat, target.sizes, strides, placement.offsets))
    return flats, extents


def _has_equal_sizes(first: NestedArray, x: Any) -> bool:
    """Return whether an operand is one number, or has the component shapes of ``first``: nothing broadcasts."""
    if isinstance(x, NestedArray):
        return len(x) == len(first) and same_integers(x.extents, first.extents)
    return type(x) is not Array or not x.ndim


def _as_strided_operand(name: str, first: NestedArray, x: Any) -> _StridedOperand:
    if isinstance(x, NestedArray):
        if x.ndim != first.ndim or len(x) != len(first):
            raise StructureError(mismatch_message(name, first, x))
        buffer, structure = as_strided_parts(x)
        broadcasts = np.array([size == 1 for size in x.regular], np.bool_)
        return _StridedOperand(buffer, structure.extents, structure.strides, structure.offsets, broadcasts)
    shape = aligned_shape(name, x, first)
    dense = moves.reshape(x, shape).contiguous()
    steps, count = np.array(dense.stride(), np.int64), len(first)
    offsets = np.arange(count) * (steps[0] if shape[0] != 1 else 0)
    extents = np.broadcast_to(np.array(shape[1:], np.int64), (max(count, 1), first.ndim - 1))
    strides = np.broadcast_to(steps[1:], (count, first.ndim - 1))
    flat = moves.reshape(dense, (dense.numel(),))
    return _StridedOperand(flat, extents, strides, offsets, np.array(shape[1:]) == 1)


def check_pairs(name: str, operands: Sequence[Any]) -> None:
    """Raise an error about the first two operands that do not broadcast against each other."""
    arrays: list[Any] = [x for x in operands if type(x) is NestedArray or (type(x) is Array and x.ndim)]
    for a, b in combinations(arrays, 2):
        if isinstance(a, NestedArray) and isinstance(b, NestedArray):
            if first_difference(np.where(broadcastable_dims(a, b), -1, a.extents), b.extents):
                raise StructureError(mismatch_message(name, a, b, broadcast=True))
        elif isinstance(a, NestedArray) or isinstance(b, NestedArray):
            aligned_shape(name, *((b, a) if isinstance(a, NestedArray) else (a, b)))
        else:
            broadcast_shape(name, a.shape, b.shape)
