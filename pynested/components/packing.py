"""Between placements and layouts: packed, strided, jagged, dense; and components nested again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import possible_shape
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import Matrices, packed_strides
from pynested.backends.errors import GradientError, LayoutError, StructureError
from pynested.nested.array import NestedArray, around
from pynested.structure import Ints, Jagged, Strided, regular_sizes
from pynested.structure.layouts import Layout, jagged, strided

from .shapes import check_same_shape, describe


def lead(axis: int, ndim: int) -> tuple[int, ...]:
    """The order of axes that brings ``axis`` to the front."""
    return (axis, *[i for i in range(ndim) if i != axis])


def inverse(axes: Sequence[int]) -> tuple[int, ...]:
    """The order of axes that undoes ``axes``."""
    return tuple(sorted(range(len(axes)), key=axes.__getitem__))


def packed(x: NestedArray) -> NestedArray:
    """The same components in memory that they cover exactly once: ``x`` itself if they do already."""
    return x if x.structure.tiles else repacked(x)


def repacked(x: NestedArray) -> NestedArray:
    """A copy of the components in memory that they cover exactly once."""
    structure = x.structure
    if isinstance(structure, Strided):
        values = moves.gather(x.data, structure.sizes, structure.strides, structure.offsets)
    else:
        values = along(x.data, structure.ragged_dim - 1, structure.row_index)
    return around(values, structure.tight)


def along(values: Array, axis: int, index: Ints) -> Array:
    """The entries of ``values`` at ``index`` along ``axis``."""
    if axis == 0:
        return moves.take_rows(values, index)
    order = lead(axis, values.ndim)
    return moves.transpose(moves.take_rows(moves.transpose(values, order), index), inverse(order)).contiguous()


def gathered(x: NestedArray, order: Sequence[int] | None = None) -> Array:
    """The elements of a strided array, component by component, each row-major after its dimensions took ``order``."""
    structure = x.structure
    assert isinstance(structure, Strided)
    turned = structure if order is None else structure.with_axes(order)
    return x.data if turned.contiguous else moves.gather(x.data, turned.sizes, turned.strides, turned.offsets)


def elements(x: NestedArray) -> Array:
    """The elements in one flat array, component by component, each row-major."""
    if x.structure.ragged_dim != 1:
        return gathered(to_strided(x))
    rows = packed(x).data
    return moves.reshape(rows, (rows.numel(),))


def of_elements(flat: Array, outline: Ints, count: int, ragged_dim: int | None) -> NestedArray:
    """The way back from `elements`: components of these sizes, jagged along ``ragged_dim``, strided if it is None."""
    made = around(flat if flat.is_contiguous() else flat.contiguous(), Strided.of_packed(outline, count))
    return made if ragged_dim is None else to_jagged(made, ragged_dim)


def as_matrices(x: NestedArray) -> tuple[Matrices, Array]:
    """All matrices of all components of ``x``, which has three dimensions or more, and values that they tile."""
    tight = packed(x)
    structure, values = tight.structure, tight.data
    if isinstance(structure, Jagged):
        if structure.ragged_dim == 1:
            return structure.matrices(values.shape), values
        if values.ndim == 2:
            return structure.matrices(values.shape), moves.transpose(values, (1, 0))
    flat, placed = in_buffer(tight)
    return placed.matrices, gathered(around(flat, placed))


def contiguous(x: NestedArray) -> NestedArray:
    """The same components row-major, one after another, and nothing else: ``x`` itself, a view of it, or a copy."""
    structure = x.structure
    if x.is_contiguous():
        if structure.packed is structure:
            return x
        before = (slice(None),) * ((structure.ragged_dim or 1) - 1)
        return around(moves.slice_(x.data, (*before, structure.span)), structure.tight)
    if isinstance(x.structure, Strided):
        return NestedArray(gathered(x), x.structure.packed)
    tight = packed(x)
    return NestedArray(tight.data.contiguous(), tight.structure)


def compact(x: NestedArray) -> NestedArray:
    """Return the elements of ``x`` alone, row-major and without gaps; ``x`` itself if its memory holds no others.

    A dimension of stride 0, along which elements repeat, is kept once, so that it has stride 0 again.
    """
    if isinstance(x.structure, Jagged):
        return x if x.structure.tiles else _compact_jagged(x.data, x.structure)
    full = int(x.structure.numels.sum()) == x.structure.buffer_size
    return x if full and x.structure.contiguous else _compact_strided(x.data, x.structure)


def _compact_jagged(values: Array, structure: Jagged) -> NestedArray:
    axis = structure.ragged_dim - 1
    repeats = [step == 0 and values.shape[i] > 1 and i != axis for i, step in enumerate(values.stride())]
    once = values[tuple([slice(0, 1) if repeat else slice(None) for repeat in repeats])]
    rows = along(once, axis, structure.row_index)
    if any(repeats):
        shape = (*values.shape[:axis], rows.shape[axis], *values.shape[axis + 1 :])
        rows = rows.as_strided(
            shape, tuple([0 if repeat else step for repeat, step in zip(repeats, rows.stride(), strict=True)])
        )
    return NestedArray(rows, structure.tight)


def _compact_strided(values: Array, structure: Strided) -> NestedArray:
    sizes, strides = structure.sizes, structure.strides
    repeats = ((strides == 0) | (sizes <= 1)).all(axis=0) & (sizes > 1).any(axis=0)
    once = Strided.of_packed(np.where(repeats, np.minimum(structure.outline, 1), structure.outline), structure.count)
    kept = moves.gather(values, once.sizes, strides, structure.offsets)
    if not np.count_nonzero(repeats):
        return around(kept, once)
    again = np.where(repeats, 0, once.strides)
    return around(kept, Strided.derived(structure.outline, again, once.offsets, once.buffer_size))


def to_strided(x: NestedArray) -> NestedArray:
    """``x`` in the strided layout: a view if its values are contiguous in some order of their axes, else a copy."""
    return x if isinstance(x.structure, Strided) else NestedArray(*in_buffer(x))


def in_buffer(x: NestedArray) -> tuple[Array, Strided]:
    """The flat buffer and the structure of ``x`` in the strided layout."""
    structure, values = x.structure, x.data
    if isinstance(structure, Strided):
        return values, structure
    found = values.data.strides
    order = tuple(sorted(range(values.ndim), key=lambda i: -found[i]))
    ordered = moves.transpose(values, order)
    if not ordered.is_contiguous():
        order, ordered = tuple(range(values.ndim)), values.contiguous()
    shape, at = values.shape, structure.ragged_dim - 1

    def make() -> Strided:
        sizes = np.array([ordered.shape], np.int64)
        strides = packed_strides(sizes)[0, list(inverse(order))]  # NumPy's can be negative
        steps = np.broadcast_to(strides, (structure.count, values.ndim))
        return Strided.derived(x.outline, steps, structure.offsets[:-1] * strides[at], values.numel())

    # Components with holes share their segments with a packed copy, and lie elsewhere.
    key = "in_buffer", at, order, shape[:at], shape[at + 1 :]
    placed = structure.segments.remember(key, make) if structure.tiles else make()
    return moves.reshape(ordered, (values.numel(),)), placed


def to_jagged(x: NestedArray, ragged_dim: int | None = None) -> NestedArray:
    """``x`` in the jagged layout; ``ragged_dim`` is the one irregular dimension, or 1 if there is none."""
    if isinstance(x.structure, Jagged):
        return x
    at = irregular_dim(x.regular) if ragged_dim is None else ragged_dim
    order = lead(at - 1, x.ndim - 1)
    flat = gathered(x, order)
    rows = Jagged.of_lengths(x.structure.sizes[:, at - 1], at)
    values = moves.reshape(flat, (rows.rows, *[x.regular[i] or 0 for i in order[1:]]))
    return NestedArray(values if at == 1 else moves.transpose(values, inverse(order)).contiguous(), rows)


def irregular_dim(regular: Sequence[int | None]) -> int:
    """The one dimension along which components differ, or 1 if they do not."""
    if not regular:
        raise StructureError(
            "jagged: components without dimensions have none that could be ragged. Use layout=pn.strided."
        )
    differing = [dim for dim, size in enumerate(regular, 1) if size is None]
    if len(differing) > 1:
        raise LayoutError(
            f"jagged: dimensions {' and '.join(map(str, differing))} are irregular, and the jagged layout has a single "
            "ragged dimension, (B, *, D). Use layout=pn.strided."
        )
    return differing[0] if differing else 1


def as_jagged_view(x: NestedArray) -> NestedArray | None:
    """A strided array as a jagged view of the same memory, where only dimension 1 of packed components differs."""
    if isinstance(x.structure, Jagged) or x.structure.jagged_view is None:
        return None
    rows, rest = x.structure.jagged_view
    return NestedArray(moves.reshape(x.data, (rows.segments.rows, *rest)), rows)


def in_strided_again(values: Array, structure: Strided) -> NestedArray:
    """The way back from `as_jagged_view`: values (N, ...) of the runs of ``structure``, in the strided layout."""
    flat = moves.reshape(values, (values.numel(),))
    if structure.jagged_view is not None and structure.jagged_view[1] == values.shape[1:]:
        return NestedArray(flat, structure.packed)
    rest = np.tile(np.array(values.shape[1:], np.int64), (structure.count, 1))
    outline = np.concatenate([structure.sizes[:, :1], rest], axis=1)
    return NestedArray(flat, Strided.of_packed(outline, structure.count))


def in_layout(x: NestedArray, layout: Layout) -> NestedArray:
    """``x`` in ``layout``."""
    return to_strided(x) if layout is strided else to_jagged(x)


def nest(components: Sequence[Array], layout: Layout, ragged_dim: int | None = None) -> NestedArray:
    """Components, at least one and all of one rank, as a nested array; gradients flow to each of them."""
    dtype = np.result_type(*{component.dtype for component in components})
    given = [to_dtype(component, dtype) for component in components]
    sizes = np.array([component.shape for component in given], np.int64).reshape(len(given), given[0].ndim)
    if layout is jagged:
        at = irregular_dim(regular_sizes(sizes)) if ragged_dim is None else ragged_dim
        return NestedArray(moves.concatenate(given, at - 1), Jagged.of_lengths(sizes[:, at - 1], at))
    flat = moves.concatenate([moves.reshape(component, (component.numel(),)) for component in given], 0)
    return NestedArray(flat, Strided.of_packed(sizes, len(given)))


def placed_like(name: str, x: NestedArray, like: NestedArray) -> Array:
    """The values of ``x`` where ``like`` has its own, zero in its holes; shapes have to be equal."""
    target = like.structure
    if target.tiles and x.data.shape == like.data.shape and x.structure.same_placement(target):
        return x.data
    check_same_shape(name, like, x)
    if isinstance(target, Jagged):
        tight = packed(x if isinstance(x.structure, Jagged) else to_jagged(x, target.ragged_dim)).data
        if target.lengths is None:
            return tight
        at = target.ragged_dim - 1
        order = lead(at, tight.ndim)
        rows = moves.add_rows(moves.transpose(tight, order), target.row_index, like.data.shape[at])
        return moves.transpose(rows, inverse(order))
    flat = gathered(to_strided(x))
    if target.contiguous:
        return flat
    return moves.scatter(flat, target.sizes, target.strides, target.offsets, target.buffer_size)


def as_gradient(name: str, value: Any, like: NestedArray) -> Array:
    """The values of a gradient of ``like``, in its placement."""
    if not isinstance(value, NestedArray):
        raise GradientError(f"{name}: the gradient of a nested array is nested, not {type(value).__name__}.")
    return placed_like(name, value, like)


def as_dense(name: str, x: NestedArray) -> Array:
    """The components as one dense array, if all have one shape."""
    outline = x.outline
    if (outline != outline[0]).any():
        i = int(np.flatnonzero((outline != outline[0]).any(axis=1))[0])
        raise StructureError(
            f"{name}: component {i} has shape {describe(outline[i])} and component 0 has shape {describe(outline[0])}; "
            "only components of one shape make a dense array. Use pn.to_padded_array(nt, 0.0), or nt.values()."
        )
    shape = possible_shape(name, (len(x), *np.maximum(outline[0], 0).tolist()))
    return moves.reshape(gathered(to_strided(x)), shape)
