"""How operands of elementwise operators meet: lined up so that one dense call serves all components.

A dense operand is aligned at the right against the shape (B, d1, ..., dk) of the nested one; against an irregular
dimension it has size 1, or the length that every component has there. Nested operands have equal shapes by value, up
to regular dimensions of size 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment
from pynested.backends.errors import ShapeError, StructureError

from .nested_array import NestedArray
from .packing import as_rows, difference, inverse, lead, packed, to_jagged, to_strided
from .structure import Ints, Jagged, Strided, frozen


def row_operands(name: str, first: NestedArray, structure: Strided, operands: Sequence[Any]) -> list[Any] | None:
    """Operands that broadcast against the rows of a strided array; None where it has none, or dimension 1 stretches."""
    rows = as_rows(first)
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
    sizes = [x.shape for x in aligned if type(x) is Array and x.ndim]
    try:
        np.broadcast_shapes(*sizes)
    except ValueError:
        other = next(x for x in operands if type(x) is NestedArray and not _fits(x, first))
        raise StructureError(difference(name, first, other)) from None
    at = structure.ragged_dim - 1
    rows = structure.segments.rows
    full = [x for x in sizes if len(x) == first.data.ndim]
    return aligned if rows == 1 or all(x[at] in (1, rows) for x in full) else None


def _fits(x: NestedArray, first: NestedArray) -> bool:
    try:
        np.broadcast_shapes(packed(x).data.shape, packed(first).data.shape)
    except ValueError:
        return False
    return True


def _jagged_like(name: str, first: NestedArray, structure: Jagged, x: NestedArray) -> Array | None:
    """The packed values of ``x`` with the runs of ``structure``; None if its dimension there is regular."""
    if x.ndim != first.ndim or len(x) != len(first):
        raise StructureError(difference(name, first, x))
    if isinstance(x.structure, Jagged):
        if x.structure.ragged_dim != structure.ragged_dim:
            return None
    else:
        others = [dim for dim in range(1, x.ndim) if dim != structure.ragged_dim]
        equal = np.array_equal(x.lengths_along(structure.ragged_dim), structure.component_lengths)
        if not equal or any(x.regular_size(dim) is None for dim in others):
            return None
        x = to_jagged(x, structure.ragged_dim)
    if not structure.same_lengths(x.structure):  # type: ignore[arg-type]
        raise StructureError(difference(name, first, x))
    return packed(x).data


def aligned_shape(name: str, x: Array, nested: NestedArray) -> tuple[int, ...]:
    """The shape of a dense operand with as many dimensions as ``nested``; each must be 1 or what it meets."""
    if x.ndim > nested.ndim:
        raise ShapeError(
            f"{name}: a dense operand of shape {x.shape} has more dimensions than the nested one, which has "
            f"{nested.ndim}."
        )
    shape = (1,) * (nested.ndim - x.ndim) + x.shape
    for dim in range(nested.ndim):
        met = np.array([len(nested)]) if dim == 0 else nested.lengths_along(dim)
        wrong = np.flatnonzero(met != shape[dim])
        if shape[dim] != 1 and wrong.size and not (dim and (met == 1).all() and nested.regular_size(dim) == 1):
            raise ShapeError(mismatch(name, x, nested, shape, dim, int(wrong[0]), int(met[wrong[0]])))
    return shape


def mismatch(name: str, x: Array, nested: NestedArray, shape: tuple[int, ...], dim: int, i: int, met: int) -> str:
    """Why a dense operand does not meet a nested one, and what to do."""
    where = f"the batch of {met} components" if dim == 0 else f"length {met} of component {i} along dimension {dim}"
    hint = ""
    if 1 < x.ndim < nested.ndim and x.shape[0] == len(nested):
        hint = " To give each component a slice of its own, use v[:, None, ...] so that dimension 0 meets the batch."
    elif x.ndim == 1 and x.shape[0] == len(nested):
        hint = " To give each component a number of its own, use v[:, None]."
    return (
        f"{name}: a dense operand of shape {x.shape}, aligned at the right as {shape}, has size {shape[dim]} where it "
        f"meets {where}; it must be 1 or equal.{hint}"
    )


def dense_rows(name: str, x: Array, nested: NestedArray, structure: Jagged) -> Array | None:
    """A dense operand as an array that broadcasts against the packed values of a jagged one."""
    shape = aligned_shape(name, x, nested)
    r = structure.ragged_dim
    if shape[0] == 1 and shape[r] == 1:
        return moves.reshape(x, shape[1:])
    order = lead(r - 1, nested.ndim - 1)
    if shape[r] == 1:
        rest = shape[1:r] + shape[r + 1 :]
        rows = segment.spread(moves.reshape(x, (shape[0], *rest)), structure.segments)
    else:
        both = moves.broadcast_to(moves.reshape(x, shape), (len(nested), *shape[1:]))
        axes = (0, r, *[dim for dim in range(1, nested.ndim) if dim != r])
        rest = shape[1:r] + shape[r + 1 :]
        rows = moves.reshape(moves.transpose(both, axes), (len(nested) * shape[r], *rest))
    return moves.transpose(rows, inverse(order)) if r > 1 else rows


def strided_operands(name: str, first: NestedArray, operands: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Operands gathered into flat buffers of one packed strided structure, and the sizes of its components."""
    arrays = [isinstance(x, NestedArray) or (type(x) is Array and x.ndim > 0) for x in operands]
    placed = [_placed(name, first, x) if array else None for x, array in zip(operands, arrays, strict=True)]
    target = np.ones((len(first), first.ndim - 1), np.int64)
    for found in placed:
        if found is not None:
            widens = (found[1] != 1).any(axis=0) if len(first) else found[1].shape[0] == 0
            target[:, widens] = np.where((target[:, widens] == 1).all(axis=0), found[1][:, widens], target[:, widens])
    flats: list[Any] = []
    for x, found in zip(operands, placed, strict=True):
        if found is None:
            flats.append(x)
            continue
        flat, sizes, strides, offsets = found
        ones = (sizes == 1).all(axis=0)
        _check_sizes(name, first, x, np.where(ones, target, sizes), target)
        strides = np.where(ones & (target != 1).any(axis=0), 0, strides)
        whole = Strided(target, strides, offsets, flat.numel())
        flats.append(flat if whole.contiguous else moves.gather(flat, target, strides, offsets))
    return flats, frozen(target)


def _check_sizes(name: str, first: NestedArray, x: Any, sizes: Ints, target: Ints) -> None:
    if np.array_equal(sizes, target):
        return
    if isinstance(x, NestedArray) and x is not first:
        raise StructureError(difference(name, first, x))
    i, dim = (int(k) for k in np.argwhere(sizes != target)[0])
    raise StructureError(
        f"{name}: the operands differ at component {i}: lengths {sizes[i, dim]} and {target[i, dim]} along dimension "
        f"{dim + 1}. Components must have equal shapes, up to regular dimensions of size 1."
    )


def _placed(name: str, first: NestedArray, x: Any) -> tuple[Array, Ints, Ints, Ints]:
    """Where the components that an operand contributes lie: flat buffer, sizes, strides, offsets."""
    if isinstance(x, NestedArray):
        if x.ndim != first.ndim or len(x) != len(first):
            raise StructureError(difference(name, first, x))
        strided = to_strided(x)
        structure = strided.structure
        assert isinstance(structure, Strided)
        return strided.data, structure.sizes, structure.strides, structure.offsets
    shape = aligned_shape(name, x, first)
    dense = moves.reshape(x, shape).contiguous()
    steps = np.array(dense.stride(), np.int64)
    count = len(first)
    sizes = np.broadcast_to(np.array(shape[1:], np.int64), (count, first.ndim - 1))
    strides = np.broadcast_to(steps[1:], (count, first.ndim - 1))
    offsets = np.arange(count) * (steps[0] if shape[0] != 1 else 0)
    return moves.reshape(dense, (dense.numel(),)), sizes, strides, offsets
