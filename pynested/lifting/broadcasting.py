"""Broadcasting of elementwise operands: aligned so that one dense call computes all components.

A dimension is *regular* if the structure gives it one size for all components, else *irregular*; even so,
components can have equal lengths along it. A dense operand is aligned at the right with the shape
(B, d1, ..., dk) of the nested operand. Along an irregular dimension its size must be 1, or the length of every
component. Nested operands must have equal shapes, except for regular dimensions of size 1.

There are three strategies, which `pynested/lifting/mapping.py` tries in this order. ``template`` is the first nested
operand:

- `align_to_packed_values` is for a jagged ``template``. It returns arrays that broadcast against the packed values of
  ``template``, or None if a nested operand is irregular along a different dimension.
- `align_to_rows` is for a strided ``template`` whose rows, the slices of components along dimension 1, lie one
  after another. It returns arrays that broadcast against these rows, or None if a nested operand has other rows.
- `align_in_flat_buffers` gathers every operand into a flat buffer, and never returns None.

All three raise an error if the operands do not broadcast.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.primitives import movement, segment
from pynested.backends import same_integers
from pynested.backends.errors import ShapeError, StructureError
from pynested.nested.layout_conversion import (
    as_jagged_view,
    as_strided_parts,
    front_to_axis,
    gather_elements,
    packed,
    slices_as_components,
    to_jagged,
    to_strided,
)
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.shape_comparison import broadcast_extents, broadcasting_difference, mismatch_message
from pynested.structure import Ints, Jagged, Strided
from pynested.structure.validation import check_size_limits

# ---- dense operands -------------------------------------------------------------------------------------------------


def aligned_shape(name: str, x: Array, nested: NestedArray) -> tuple[int, ...]:
    """Return the shape of a dense operand, with 1s in front for missing dimensions; raise unless it broadcasts."""
    if x.ndim > nested.ndim:
        raise ShapeError(
            f"{name}: a dense operand of shape {x.shape} has more dimensions than the nested operand, which has "
            f"{nested.ndim}."
        )
    shape = (1,) * (nested.ndim - x.ndim) + x.shape
    if shape[0] not in (1, len(nested)):
        raise ShapeError(dense_mismatch_message(name, x, nested, shape, 0, 0, len(nested)))
    for dim, (size, regular) in enumerate(zip(shape[1:], nested.regular_sizes, strict=True), 1):
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
    expected = f"the batch of {length} components" if dim == 0 else f"length {length}{component} along dimension {dim}"
    hint = ""
    if 0 < x.ndim < nested.ndim and x.shape[0] == len(nested):
        index = ", ".join([":", *["None"] * (nested.ndim - x.ndim), *[":"] * (x.ndim - 1)])
        hint = f" To use one entry for each component, align dimension 0 with the batch: v[{index}]."
    return (
        f"{name}: a dense operand of shape {x.shape}, aligned at the right as {shape}, has size {shape[dim]} for "
        f"{expected}; the size must be equal or 1.{hint}"
    )


def broadcasts_from_axis(shape: tuple[int, ...], full_shape: tuple[int, ...], first_axis: int) -> bool:
    """Return whether ``shape`` broadcasts against the axes of ``full_shape`` from ``first_axis`` on."""
    if len(shape) > len(full_shape) - first_axis:
        return False
    return all(size in (1, full_size) for size, full_size in zip(reversed(shape), reversed(full_shape), strict=False))


def dense_rows(name: str, x: Array, nested: NestedArray, structure: Jagged) -> Array:
    """Return a dense operand as an array that broadcasts against the packed values of a jagged operand."""
    shape = aligned_shape(name, x, nested)
    ragged_dim = structure.ragged_dim
    if shape[0] == 1 and shape[ragged_dim] == 1:
        return movement.reshape(x, shape[1:])
    row_shape = shape[1:ragged_dim] + shape[ragged_dim + 1 :]
    if shape[ragged_dim] == 1:  # one slice for each component, repeated for all its rows
        rows = segment.spread(movement.reshape(x, (shape[0], *row_shape)), structure.segments)
    else:  # a row for each row of each component, as all components have the same length
        full = movement.broadcast_to(movement.reshape(x, shape), (len(nested), *shape[1:]))
        axes = (0, ragged_dim, *[dim for dim in range(1, nested.ndim) if dim != ragged_dim])
        num_rows = len(nested) * shape[ragged_dim]
        rows = movement.reshape(movement.transpose(full, axes), (num_rows, *row_shape))
    return front_to_axis(rows, ragged_dim - 1)


# ---- against packed values ------------------------------------------------------------------------------------------


def align_to_packed_values(
    name: str, template: NestedArray, structure: Jagged, operands: Sequence[Any]
) -> list[Any] | None:
    """Return operands that broadcast against the packed values of a jagged ``template``; None if that is impossible."""
    aligned: list[Any] = []
    for x in operands:
        if type(x) is NestedArray:
            values = _jagged_values(name, template, structure, x)
        elif type(x) is Array and x.ndim:
            values = dense_rows(name, x, template, structure)
        else:
            values = x
        if values is None:
            return None
        aligned.append(values)
    return _check_joint_broadcast(name, aligned, operands)


def _jagged_values(name: str, template: NestedArray, structure: Jagged, x: NestedArray) -> Array | None:
    """Return the packed values of ``x`` with the segments of ``structure``; None if they do not have such segments."""
    if x.ndim != template.ndim or len(x) != len(template):
        raise StructureError(mismatch_message(name, template, x))
    if isinstance(x.structure, Jagged):
        if x.structure.ragged_dim != structure.ragged_dim:
            return None
    else:
        axis = structure.ragged_dim - 1
        other_sizes = (*x.regular_sizes[:axis], *x.regular_sizes[axis + 1 :])
        if None in other_sizes or not same_integers(x.structure.sizes[:, axis], structure.component_lengths):
            return None
        x = to_jagged(x, structure.ragged_dim)
    if not structure.same_lengths(x.structure):  # type: ignore[arg-type]
        raise StructureError(mismatch_message(name, template, x, broadcast=True))
    return packed(x).data


def align_to_rows(name: str, template: NestedArray, operands: Sequence[Any]) -> list[Any] | None:
    """Return operands that broadcast against the rows of a strided ``template``; None if an operand has other rows."""
    jagged_template = as_jagged_view(template)
    if jagged_template is None or template.regular_size(1) == 1:
        return None
    structure: Any = jagged_template.structure
    views = [as_jagged_view(x) if type(x) is NestedArray else x for x in operands]
    nested_views = [view for view in views if view is None or type(view) is NestedArray]
    if any(view is None or not structure.same_lengths(view.structure) for view in nested_views):
        return None
    return align_to_packed_values(name, jagged_template, structure, views)


def _check_joint_broadcast(name: str, aligned: list[Any], operands: Sequence[Any]) -> list[Any]:
    """Return the aligned operands; raise an error about ``operands`` unless all aligned operands broadcast together."""
    try:
        broadcast_shape(name, *[x.shape for x in aligned if type(x) is Array])
    except ShapeError:
        check_pairs(name, operands)  # raises an error that names the component
        raise
    return aligned


# ---- in flat buffers ------------------------------------------------------------------------------------------------


class _StridedOperand(NamedTuple):
    """Operand in a flat buffer: the structure of its components, and whether each axis can broadcast."""

    flat: Array
    structure: Strided
    broadcasts: NDArray[np.bool_]


def align_in_flat_buffers(name: str, template: NestedArray, operands: Sequence[Any]) -> tuple[list[Any], Ints]:
    """Return the operands as flat buffers, broadcast and packed, and the extents to which they broadcast."""
    if all(_has_equal_sizes(template, x) for x in operands):
        flats = [gather_elements(to_strided(x)) if isinstance(x, NestedArray) else x for x in operands]
        return flats, template.extents
    converted = [_as_strided_operand(name, template, x) for x in operands]
    arrays = [x for x in converted if isinstance(x, _StridedOperand)]
    extents, is_valid = broadcast_extents([(x.structure.extents, x.broadcasts) for x in arrays])
    if not is_valid:
        check_pairs(name, operands)
    check_size_limits(name, extents)
    return [_broadcast_elements(x, extents) if isinstance(x, _StridedOperand) else x for x in converted], extents


def _broadcast_elements(x: _StridedOperand, extents: Ints) -> Array:
    """Return the elements of an operand that broadcasts to ``extents``, as a packed flat buffer."""
    strides = np.where(x.broadcasts & (extents != 1).any(axis=0), 0, x.structure.strides)
    target = Strided.from_validated(extents, strides, x.structure.offsets, x.flat.numel())
    return gather_elements(wrap_unchecked(x.flat, target))


def _has_equal_sizes(template: NestedArray, x: Any) -> bool:
    """Return whether an operand is a number or has the component shapes of ``template``, so that nothing broadcasts."""
    if isinstance(x, NestedArray):
        return len(x) == len(template) and same_integers(x.extents, template.extents)
    return type(x) is not Array or not x.ndim


def _as_strided_operand(name: str, template: NestedArray, x: Any) -> Any:
    """Return an array as a `_StridedOperand`; an operand without dimensions stays as it is."""
    if isinstance(x, NestedArray):
        if x.ndim != template.ndim or len(x) != len(template):
            raise StructureError(mismatch_message(name, template, x))
        return _StridedOperand(*as_strided_parts(x), np.array([size == 1 for size in x.regular_sizes], np.bool_))
    if type(x) is not Array or not x.ndim:
        return x
    shape = aligned_shape(name, x, template)
    flat, structure = slices_as_components(movement.reshape(x, shape), len(template))
    return _StridedOperand(flat, structure, np.array(shape[1:]) == 1)


def check_pairs(name: str, operands: Sequence[Any]) -> None:
    """Raise an error about the first two operands that do not broadcast against each other."""
    arrays: list[Any] = [x for x in operands if type(x) is NestedArray or (type(x) is Array and x.ndim)]
    for a, b in combinations(arrays, 2):
        if isinstance(a, NestedArray) and isinstance(b, NestedArray):
            if broadcasting_difference(a, b):
                raise StructureError(mismatch_message(name, a, b, broadcast=True))
        elif isinstance(a, NestedArray) or isinstance(b, NestedArray):
            aligned_shape(name, *((b, a) if isinstance(a, NestedArray) else (a, b)))
        else:
            broadcast_shape(name, a.shape, b.shape)
