"""The two ways to extend pynested: an elementwise function of dense arrays, and a function of one component.

`elementwise` lines operands up, so that one call of a dense function on whole buffers serves all components.
`map_components` calls a dense function for each component and nests what comes back; it works for every function and
every layout, and a packed implementation of an operator is a faster way to the same result.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.dense.canonical import operand
from pynested.autograd.dense.movement import stack
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import segment
from pynested.backends.errors import DeviceError, ShapeError, StructureError
from pynested.layouts import Layout, jagged
from pynested.nested_array import NestedArray
from pynested.packing import as_rows, difference, from_rows, inverse, lead, nest, packed, to_jagged, to_strided, unbound
from pynested.structure import Ints, Jagged, Strided, frozen


def elementwise(name: str, function: Callable[..., Array], *operands: Any) -> NestedArray:
    """``function``, elementwise and of dense arrays, on operands of which at least one is nested.

    Nested operands have equal shapes by value, up to regular dimensions of size 1; dense ones broadcast against the
    logical shape, aligned at the right; numbers promote weakly.
    """
    first = next(x for x in operands if type(x) is NestedArray)
    structure, shape = first.structure, first.data.shape
    if structure.tiles:
        datas = []
        for x in operands:
            if type(x) is NestedArray:
                if x.data.shape != shape or not structure.same_placement(x.structure):
                    break
                datas.append(x.data)
            elif type(x) in (int, float, bool) or (type(x) is Array and not x.data.ndim):
                datas.append(x)
            else:
                break
        else:
            return NestedArray(function(*datas), structure)
    given = [x if type(x) is NestedArray else operand(name, x) for x in operands]
    check_devices(name, given)
    if isinstance(structure, Jagged):
        aligned = _jagged_operands(name, first, structure, given)
        if aligned is not None:
            return NestedArray(function(*aligned), structure.packed)
    else:
        rows = _row_operands(name, first, structure, given)
        if rows is not None:
            return from_rows(function(*rows), structure)
    flats, sizes = _strided_operands(name, first, given)
    return NestedArray(function(*flats), Strided.of_packed(sizes))


def _row_operands(name: str, first: NestedArray, structure: Strided, operands: Sequence[Any]) -> list[Any] | None:
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


def check_devices(name: str, operands: Sequence[Any]) -> None:
    """All arrays among ``operands`` lie on one device."""
    devices = {x.device for x in operands if isinstance(x, NestedArray | Array)}
    if len(devices) > 1:
        raise DeviceError(f"{name}: the operands lie on different devices: {', '.join(sorted(devices))}.")


def _jagged_operands(name: str, first: NestedArray, structure: Jagged, operands: Sequence[Any]) -> list[Any] | None:
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
    return aligned if rows == 1 or all(x[at] == rows for x in sizes if len(x) == first.data.ndim and x[at] != 1) else None


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
    elif not np.array_equal(x.lengths_along(structure.ragged_dim), structure.component_lengths):
        return None
    elif any(x.regular_size(dim) is None for dim in range(1, x.ndim) if dim != structure.ragged_dim):
        return None
    else:
        x = to_jagged(x, structure.ragged_dim)
    if not structure.same_lengths(x.structure):  # type: ignore[arg-type]
        raise StructureError(difference(name, first, x))
    return packed(x).data


def aligned_shape(name: str, x: Array, nested: NestedArray) -> tuple[int, ...]:
    """The shape of a dense operand with as many dimensions as ``nested``; each must be 1 or what it meets."""
    if x.ndim > nested.ndim:
        raise ShapeError(
            f"{name}: a dense operand of shape {x.shape} has more dimensions than the nested one, which has {nested.ndim}."
        )
    shape = (1,) * (nested.ndim - x.ndim) + x.shape
    for dim in range(nested.ndim):
        met = np.array([len(nested)]) if dim == 0 else nested.lengths_along(dim)
        wrong = np.flatnonzero(met != shape[dim])
        if shape[dim] != 1 and wrong.size and not (dim and (met == 1).all() and nested.regular_size(dim) == 1):
            raise ShapeError(_mismatch(name, x, nested, shape, dim, int(wrong[0]), int(met[wrong[0]])))
    return shape


def _mismatch(name: str, x: Array, nested: NestedArray, shape: tuple[int, ...], dim: int, i: int, met: int) -> str:
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
        return moves.reshape(x, shape[1:])  # type: ignore[no-any-return]
    order = lead(r - 1, nested.ndim - 1)
    if shape[r] == 1:
        rest = shape[1:r] + shape[r + 1 :]
        rows = segment.spread(moves.reshape(x, (shape[0], *rest)), structure.segments)
    else:
        both = moves.broadcast_to(moves.reshape(x, shape), (len(nested), *shape[1:]))
        axes = (0, r, *[dim for dim in range(1, nested.ndim) if dim != r])
        rest = shape[1:r] + shape[r + 1 :]
        rows = moves.reshape(moves.transpose(both, axes), (len(nested) * shape[r], *rest))
    return moves.transpose(rows, inverse(order)) if r > 1 else rows  # type: ignore[no-any-return]


def _strided_operands(name: str, first: NestedArray, operands: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Operands gathered into flat buffers of one packed strided structure, and the sizes of its components."""
    placed = [_placed(name, first, x) if isinstance(x, NestedArray) or (type(x) is Array and x.ndim) else None for x in operands]
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


def map_components(function: Callable[..., Any], *operands: Any, layout: Layout | None = None) -> NestedArray | Array:
    """``nest(function(c0), …, function(cn))``: call ``function`` with each component and nest what it returns.

    Dense operands with as many dimensions as the nested ones give each component its slice along dimension 0 (or the
    one slice they have); others are passed whole. Gradients flow. Components without dimensions make a dense ``(B,)``.
    """
    given = [x if isinstance(x, NestedArray) else operand("map_components", x) for x in operands]
    first = next(x for x in given if isinstance(x, NestedArray))
    for x in given:
        if isinstance(x, NestedArray) and len(x) != len(first):
            raise StructureError(difference("map_components", first, x))
    columns = [_slices(x, first) for x in given]
    if not len(first):
        return _of_nothing(function, given, layout or first.layout)
    results = [function(*row) for row in zip(*columns, strict=True)]
    return nested_result(results, first, layout or first.layout)


def nested_result(results: Sequence[Array], first: NestedArray, layout: Layout) -> NestedArray | Array:
    """Results of components of ``first`` as one array: in ``layout``, or strided where jagged cannot express them."""
    if not results[0].ndim:
        return stack(results)
    if layout is jagged:
        sizes = np.array([result.shape for result in results], np.int64)
        differs = [dim + 1 for dim in range(sizes.shape[1]) if (sizes[:, dim] != sizes[0, dim]).any()]
        at = first.structure.ragged_dim if isinstance(first.structure, Jagged) else 1
        if not differs or len(differs) == 1:
            return nest(results, layout, differs[0] if differs else min(at, results[0].ndim))
        from pynested.layouts import strided

        return nest(results, strided)
    return nest(results, layout)


def _slices(x: Any, first: NestedArray) -> Sequence[Any]:
    """What each component of ``first`` meets of an operand."""
    if isinstance(x, NestedArray):
        return unbound(x)
    if type(x) is Array and x.ndim == first.ndim:
        if x.shape[0] not in (1, len(first)):
            raise ShapeError(_mismatch("map_components", x, first, x.shape, 0, 0, len(first)))
        return x.unbind() if x.shape[0] == len(first) else [x.select(0, 0)] * len(first)
    return [x] * len(first)


def _of_nothing(function: Callable[..., Any], operands: Sequence[Any], layout: Layout) -> NestedArray | Array:
    """The result for no components: of the rank and dtype that an empty component gives."""
    first = next(x for x in operands if isinstance(x, NestedArray))
    probes = []
    for x in operands:
        if isinstance(x, NestedArray):
            probes.append(Array(np.zeros([x.regular_size(dim) or 0 for dim in range(1, x.ndim)], x.dtype), x.device))
        elif type(x) is Array and x.ndim == first.ndim:
            probes.append(Array(np.zeros(x.shape[1:], x.dtype), x.device))
        else:
            probes.append(x)
    result = function(*probes)
    if not result.ndim:
        return Array(np.zeros(0, result.dtype), result.device)
    if layout is jagged:
        at = min(first.structure.ragged_dim if isinstance(first.structure, Jagged) else 1, result.ndim)
        shape = (*result.shape[: at - 1], 0, *result.shape[at:])
        return NestedArray(Array(np.zeros(shape, result.dtype), result.device), Jagged(frozen([0]), None, at))
    empty = Strided.of_packed(np.zeros((0, result.ndim), np.int64))
    return NestedArray(Array(np.zeros(0, result.dtype), result.device), empty)
