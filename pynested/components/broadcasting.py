"""How operands of elementwise operators meet: lined up so that one dense call serves all components.

A dense operand is aligned at the right against the shape (B, d1, ..., dk) of the nested one; against an irregular
dimension it has size 1, or the length that every component has there. Nested operands have equal shapes by value, up
to regular dimensions of size 1.
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
from pynested.nested.array import NestedArray
from pynested.structure import Ints, Jagged, Strided
from pynested.structure.metadata import check_possible

from .packing import as_jagged_view, gathered, in_buffer, inverse, lead, packed, to_jagged, to_strided
from .shapes import apart, broadcast_outlines, difference, stretching


def row_operands(name: str, first: NestedArray, structure: Strided, operands: Sequence[Any]) -> list[Any] | None:
    """Operands that broadcast against the rows of a strided array; None where it has none, or dimension 1 stretches."""
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
    return _meeting(name, aligned, operands) if len(operands) > 2 else aligned


def _meeting(name: str, aligned: list[Any], operands: Sequence[Any]) -> list[Any]:
    """The aligned ``operands``, if they broadcast against each other too."""
    try:
        broadcast_shape(name, *[x.shape for x in aligned if type(x) is Array])
    except ShapeError:
        check_pairs(name, operands)  # which says where
        raise
    return aligned


def behind_runs(shape: tuple[int, ...], values: tuple[int, ...], structure: Jagged | Strided) -> bool:
    """Whether a dense operand meets none but regular dimensions behind the ragged one: it broadcasts against values."""
    if not shape:
        return True
    if isinstance(structure, Strided) or len(shape) > len(values) - structure.ragged_dim:
        return False
    return all(size in (1, met) for size, met in zip(reversed(shape), reversed(values), strict=False))


def jagged_operands(name: str, first: NestedArray, structure: Jagged, operands: Sequence[Any]) -> list[Any] | None:
    """Operands that broadcast against the packed values of ``first``; None if that takes the strided way."""
    aligned: list[Any] = []
    for x in operands:
        if type(x) is NestedArray:
            data = _jagged_like(name, first, structure, x)
        elif type(x) is Array and x.ndim:
            data = dense_rows(name, x, first, structure)
        else:
            data = x
        if data is None:
            return None
        aligned.append(data)
    return _meeting(name, aligned, operands)


def _jagged_like(name: str, first: NestedArray, structure: Jagged, x: NestedArray) -> Array | None:
    """The packed values of ``x`` with the runs of ``structure``; None if its dimension there is not ragged alone."""
    if x.ndim != first.ndim or len(x) != len(first):
        raise StructureError(difference(name, first, x))
    if isinstance(x.structure, Jagged):
        if x.structure.ragged_dim != structure.ragged_dim:
            return None
    else:
        at = structure.ragged_dim - 1
        regular = (*x.regular[:at], *x.regular[at + 1 :])
        if None in regular or not same_integers(x.structure.sizes[:, at], structure.component_lengths):
            return None
        x = to_jagged(x, structure.ragged_dim)
    if not structure.same_lengths(x.structure):  # type: ignore[arg-type]
        raise StructureError(difference(name, first, x, stretch=True))
    return packed(x).data


def aligned_shape(name: str, x: Array, nested: NestedArray) -> tuple[int, ...]:
    """The shape of a dense operand with as many dimensions as ``nested``; each must be 1 or what it meets."""
    if x.ndim > nested.ndim:
        raise ShapeError(
            f"{name}: a dense operand of shape {x.shape} has more dimensions than the nested one, which has "
            f"{nested.ndim}."
        )
    shape = (1,) * (nested.ndim - x.ndim) + x.shape
    if shape[0] not in (1, len(nested)):
        raise ShapeError(mismatch(name, x, nested, shape, 0, 0, len(nested)))
    for dim, (size, met) in enumerate(zip(shape[1:], nested.regular, strict=True), 1):
        if size == 1 or met in (1, size):
            continue
        lengths = nested.lengths_along(dim) if met is None else np.array([met])
        wrong = np.flatnonzero(lengths != size)
        if wrong.size:
            raise ShapeError(mismatch(name, x, nested, shape, dim, int(wrong[0]), int(lengths[wrong[0]])))
    return shape


def mismatch(name: str, x: Array, nested: NestedArray, shape: tuple[int, ...], dim: int, i: int, met: int) -> str:
    """Why a dense operand does not meet a nested one, and what to do."""
    component = f" of component {i}" if len(nested) else ""
    where = f"the batch of {met} components" if dim == 0 else f"length {met}{component} along dimension {dim}"
    hint = ""
    if 1 < x.ndim < nested.ndim and x.shape[0] == len(nested):
        hint = " To give each component a slice of its own, use v[:, None, ...] so that dimension 0 meets the batch."
    elif x.ndim == 1 and x.shape[0] == len(nested):
        hint = " To give each component a number of its own, use v[:, None]."
    return (
        f"{name}: a dense operand of shape {x.shape}, aligned at the right as {shape}, has size {shape[dim]} where it "
        f"meets {where}; it must be 1 or equal.{hint}"
    )


def dense_rows(name: str, x: Array, nested: NestedArray, structure: Jagged) -> Array:
    """A dense operand as an array that broadcasts against the packed values of a jagged one."""
    shape = aligned_shape(name, x, nested)
    r = structure.ragged_dim
    if shape[0] == 1 and shape[r] == 1:
        return moves.reshape(x, shape[1:])
    order = lead(r - 1, nested.ndim - 1)
    rest = shape[1:r] + shape[r + 1 :]
    if shape[r] == 1:
        rows = segment.spread(moves.reshape(x, (shape[0], *rest)), structure.segments)
    else:
        both = moves.broadcast_to(moves.reshape(x, shape), (len(nested), *shape[1:]))
        axes = (0, r, *[dim for dim in range(1, nested.ndim) if dim != r])
        rows = moves.reshape(moves.transpose(both, axes), (len(nested) * shape[r], *rest))
    return moves.transpose(rows, inverse(order)) if r > 1 else rows


def check_pairs(name: str, operands: Sequence[Any]) -> None:
    """Say which two operands do not meet; the first one may stretch where others differ."""
    arrays: list[Any] = [x for x in operands if type(x) is NestedArray or (type(x) is Array and x.ndim)]
    for a, b in combinations(arrays, 2):
        if isinstance(a, NestedArray) and isinstance(b, NestedArray):
            if apart(np.where(stretching(a, b), -1, a.outline), b.outline):
                raise StructureError(difference(name, a, b, stretch=True))
        elif isinstance(a, NestedArray) or isinstance(b, NestedArray):
            aligned_shape(name, *((b, a) if isinstance(a, NestedArray) else (a, b)))
        else:
            broadcast_shape(name, a.shape, b.shape)


@dataclass
class _Placed:
    """Where the components that an operand contributes lie, and which of their dimensions may stretch."""

    flat: Array
    outline: Ints
    strides: Ints
    offsets: Ints
    stretches: NDArray[np.bool_]


def strided_operands(name: str, first: NestedArray, operands: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Operands gathered into flat buffers of one packed strided structure, and the outline of its components."""
    if all(_of_sizes(first, x) for x in operands):
        return [gathered(to_strided(x)) if isinstance(x, NestedArray) else x for x in operands], first.outline
    arrays = [isinstance(x, NestedArray) or (type(x) is Array and x.ndim > 0) for x in operands]
    placed = [_placed(name, first, x) if array else None for x, array in zip(operands, arrays, strict=True)]
    outline, all_meet = broadcast_outlines([(x.outline, x.stretches) for x in placed if x is not None])
    if not all_meet:
        check_pairs(name, operands)
    check_possible(name, outline)
    flats: list[Any] = []
    for x, found in zip(operands, placed, strict=True):
        if found is None:
            flats.append(x)
            continue
        strides = np.where(found.stretches & (outline != 1).any(axis=0), 0, found.strides)
        whole = Strided.derived(outline, strides, found.offsets, found.flat.numel())
        flats.append(found.flat if whole.contiguous else moves.gather(found.flat, whole.sizes, strides, found.offsets))
    return flats, outline


def _of_sizes(first: NestedArray, x: Any) -> bool:
    """Whether an operand is one number, or has the sizes of ``first``: nothing stretches."""
    if isinstance(x, NestedArray):
        return len(x) == len(first) and same_integers(x.outline, first.outline)
    return type(x) is not Array or not x.ndim


def _placed(name: str, first: NestedArray, x: Any) -> _Placed:
    if isinstance(x, NestedArray):
        if x.ndim != first.ndim or len(x) != len(first):
            raise StructureError(difference(name, first, x))
        buffer, structure = in_buffer(x)
        stretches = np.array([size == 1 for size in x.regular], np.bool_)
        return _Placed(buffer, structure.outline, structure.strides, structure.offsets, stretches)
    shape = aligned_shape(name, x, first)
    dense = moves.reshape(x, shape).contiguous()
    steps, count = np.array(dense.stride(), np.int64), len(first)
    offsets = np.arange(count) * (steps[0] if shape[0] != 1 else 0)
    outline = np.broadcast_to(np.array(shape[1:], np.int64), (max(count, 1), first.ndim - 1))
    strides = np.broadcast_to(steps[1:], (count, first.ndim - 1))
    flat = moves.reshape(dense, (dense.numel(),))
    return _Placed(flat, outline, strides, offsets, np.array(shape[1:]) == 1)
