"""Reductions over any dimensions of a nested or dense array, in any layout.

`reduce_dims` translates dimensions into axes of a dense array, or into segments of rows. Then it calls the formula of
the operator with an `AxisReducer` or a `SegmentReducer`. A *slice* is the elements from which one element of the result
is computed. The public functions are in `pynested.operators.reduction`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import isfinite, prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array
from pynested.autograd.arguments.shapes import canonical_dim, canonical_dims, check_possible_shape
from pynested.autograd.primitives import binary, movement
from pynested.autograd.primitives import reduction as axis_primitives
from pynested.backends import Segments, packed_strides, strided_index
from pynested.backends.errors import ArgumentError, EmptyReductionError
from pynested.backends.host import from_host
from pynested.nested.layout_conversion import (
    as_jagged_view,
    axis_to_front,
    gather_elements,
    packed,
    rows_to_strided,
    slices_as_components,
    to_strided,
    with_dtype,
)
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import ArrayResult, Dims, DType, Operand
from pynested.nested.shape_comparison import shape_text
from pynested.structure import Jagged, Strided

from .reducers import AxisReducer, Reducer, SegmentReducer
from .result_dtypes import DTypeConversion, keep_dtype

Formula = Callable[[Reducer, Array], Array]  # returns one element for each slice of the array


def reduce_dims(
    name: str,
    x: Operand,
    dims: Dims,
    keepdim: bool,
    formula: Formula,
    *,
    if_empty: float | None,
    noun: str = "",
    convert: DTypeConversion = keep_dtype,
    dtype: DType | None = None,
    returns_index: bool = False,
) -> ArrayResult:
    """Reduce an operand, dense or nested, over ``dims``; None reduces all dimensions.

    The ``formula`` computes one element for each slice. ``if_empty`` is its result for a slice without elements; if it
    is None, such a slice raises EmptyReductionError, whose message calls the result ``noun``. ``dtype`` is the dtype
    that the user requested, an argument of ``convert``. A formula that ``returns_index`` reduces one dimension.
    """
    reduction = _Reduction(name, x, formula, if_empty, noun, returns_index)
    if type(x) is not NestedArray:
        return _reduce_dense(reduction, as_array(name, x), dims, keepdim, convert, dtype)
    canonical = reduction.canonical_dims(dims, x.ndim)
    values, result_dtype = convert(name, x.data, dtype)
    converted = x if values is x.data else NestedArray(values, x.structure)
    result: Any = _reduce_nested(reduction, converted, canonical, keepdim)
    return with_dtype(result, result_dtype)  # type: ignore[no-any-return]


@dataclass(slots=True)
class _Reduction:
    """The arguments of `reduce_dims` that all its steps need. Errors describe the operand."""

    name: str
    operand: Operand
    formula: Formula
    if_empty: float | None
    noun: str
    returns_index: bool

    def canonical_dims(self, dims: Dims, ndim: int) -> tuple[int, ...]:
        """Return the dimensions counted from the front and sorted; exactly one if the result is an index."""
        if not self.returns_index:
            return canonical_dims(self.name, dims, ndim)
        if dims is None:
            raise ArgumentError(
                f"{self.name}: the elements of a nested array have no common order, so an index needs a dimension. "
                f"Give one, dim=0 to dim={ndim - 1}."
            )
        return (canonical_dim(self.name, dims, ndim),)

    def reduce_axes(self, x: Array, axes: tuple[int, ...]) -> Array:
        """Reduce the axes of a dense array."""
        empty_axes = [axis for axis in axes if not x.shape[axis]]
        if empty_axes and self.if_empty is None and x.shape.count(0) == len(empty_axes):  # the result needs elements
            what = f"dimension {empty_axes[0]} of an array of shape {x.shape} is empty"
            if isinstance(self.operand, NestedArray):
                what = f"a nested array of shape {self.operand.shape} has no elements along dim"
            raise self.empty_error(what, "Reduce other dimensions, or join an element first.")
        result = self.formula(AxisReducer(axes), x)
        if empty_axes and self._needs_gradient_stop(result):
            return _stop_gradient(result, np.zeros(result.shape, np.bool_))
        return result

    def reduce_segments(self, rows: Array, segments: Segments, describe_segment: Callable[[int], str]) -> Array:
        """Reduce each segment of rows ``(N, ...)``; ``describe_segment(i)`` names segment ``i`` in errors."""
        if self.if_empty is None and segments.any_empty and 0 not in rows.shape[1:]:
            i = int(np.flatnonzero(segments.lengths == 0)[0])
            raise self.empty_error(
                f"{describe_segment(i)} is empty along dim", "Leave it out, or join an element to it first."
            )
        result = self.formula(SegmentReducer(segments), rows)
        if segments.any_empty and self._needs_gradient_stop(result):
            return _stop_gradient(result, (segments.lengths > 0).reshape(-1, *[1] * (result.ndim - 1)))
        return result

    def empty_error(self, what: str, advice: str = "") -> EmptyReductionError:
        """Return the error for a slice without elements."""
        return EmptyReductionError(
            f"{self.name}: {what}; the {self.noun} of no elements is undefined. {advice}".rstrip()
        )

    def _needs_gradient_stop(self, result: Array) -> bool:
        """Return whether gradients must not flow through the results of empty slices, as these are NaN or infinite."""
        return self.if_empty is not None and not isfinite(self.if_empty) and result.requires_grad


def _stop_gradient(result: Array, has_elements: NDArray[np.bool_]) -> Array:
    """Return the result; no gradient flows through its entries for slices without elements."""
    return binary.where(result, result.detach(), from_host(has_elements, result.device))


def _reduce_dense(
    reduction: _Reduction, x: Array, dims: Dims, keepdim: bool, convert: DTypeConversion, dtype: DType | None
) -> Array:
    if dims is None and reduction.returns_index:  # the index among all elements, in C order
        if not x.numel():
            raise reduction.empty_error(f"an array of shape {x.shape} has no elements", "Join an element to it first.")
        index = _reduce_dense(reduction, movement.reshape(x, (x.numel(),)), 0, False, convert, dtype)
        return movement.reshape(index, (1,) * x.ndim) if keepdim else index
    axes = reduction.canonical_dims(dims, x.ndim)
    x, result_dtype = convert(reduction.name, x, dtype)
    result = reduction.reduce_axes(x, axes)
    return movement.to_dtype(
        movement.reshape(result, axis_primitives.keepdim_shape(x.shape, axes)) if keepdim else result, result_dtype
    )


def _reduce_nested(reduction: _Reduction, x: NestedArray, dims: tuple[int, ...], keepdim: bool) -> ArrayResult:
    """Reduce canonical ``dims`` in one call of the formula for all components."""
    x = packed(x)
    if not dims:
        return NestedArray(reduction.reduce_axes(x.data, ()), x.structure)
    if dims[0] == 0:
        result = _reduce_batch(reduction, x, dims)
        if not keepdim:
            return result
        sizes = iter(result.shape)
        return movement.reshape(result, tuple(1 if dim in dims else next(sizes) for dim in range(x.ndim)))
    if isinstance(x.structure, Jagged):
        return _reduce_jagged(reduction, x, dims, keepdim)
    jagged_view = as_jagged_view(x)
    if jagged_view is None:
        return _reduce_strided(reduction, x, dims, keepdim)
    reduced = _reduce_jagged(reduction, jagged_view, dims, keepdim)
    if isinstance(reduced, NestedArray):
        return rows_to_strided(reduced.data, x.structure)
    return reduced if reduced.ndim == 1 else NestedArray(*slices_as_components(reduced, len(x)))


def _reduce_jagged(reduction: _Reduction, x: NestedArray, dims: tuple[int, ...], keepdim: bool) -> ArrayResult:
    """Reduce regular dimensions as axes of the values. If the ragged dimension is among them, reduce segments."""
    structure = x.structure
    assert isinstance(structure, Jagged)
    ragged_dim = structure.ragged_dim
    axes = tuple(dim - 1 for dim in dims if dim != ragged_dim)
    if ragged_dim in dims:
        result = _reduce_ragged(reduction, x, structure, axes)
        if not keepdim:
            return result
        sizes = [1 if dim in dims else size for dim, size in enumerate((len(x), *x.data.shape))]
        return movement.reshape(result, tuple(sizes))
    values = reduction.reduce_axes(x.data, axes)
    if keepdim:
        return NestedArray(movement.reshape(values, axis_primitives.keepdim_shape(x.data.shape, axes)), structure)
    num_reduced_before = len([axis for axis in axes if axis < ragged_dim - 1])
    return NestedArray(values, structure.with_ragged_dim(ragged_dim - num_reduced_before))


def _reduce_ragged(reduction: _Reduction, x: NestedArray, structure: Jagged, axes: tuple[int, ...]) -> Array:
    """Reduce the ragged dimension and ``axes`` in one step, as two steps would split the gradient of ties wrongly.

    Rows need the reduced axes side by side. Therefore kept axes between them are moved to the front.
    """
    ragged, shape = structure.ragged_dim - 1, x.data.shape
    if ragged == 0 and not axes:  # the rows and segments of the code below, without copies
        return reduction.reduce_segments(x.data, structure.segments, lambda i: _describe_component(x, i))
    last = max(ragged, *axes, 0)
    kept_axes = [axis for axis in range(len(shape)) if axis != ragged and axis not in axes]
    before, after = [axis for axis in kept_axes if axis < last], [axis for axis in kept_axes if axis > last]
    num_blocks, width = (prod(shape[axis] for axis in group) for group in (before, axes))
    order = (*before, ragged, *axes, *after)
    ordered = x.data if order == tuple(range(len(shape))) else movement.transpose(x.data, order)
    rows = movement.reshape(ordered, (num_blocks * shape[ragged] * width, *[shape[axis] for axis in after]))
    segments = structure.segments.repeated(num_blocks, width)
    result = reduction.reduce_segments(rows, segments, lambda i: _describe_component(x, i % len(x)))
    if not before:
        return result
    result = movement.reshape(result, (*[shape[axis] for axis in before], len(x), *result.shape[1:]))
    return axis_to_front(result, len(before)).contiguous()


def _describe_component(x: NestedArray, i: int) -> str:
    return f"component {i}, of shape {shape_text(x.component_shape(i))},"


def _reduce_strided(reduction: _Reduction, x: NestedArray, dims: tuple[int, ...], keepdim: bool) -> ArrayResult:
    """Move the reduced dimensions to the end, and reduce the segments that they form in a flat buffer."""
    sizes = x.component_sizes()
    reduced_axes = [dim - 1 for dim in dims]
    kept_axes = [axis for axis in range(x.ndim - 1) if axis not in reduced_axes]
    segments_per_component = sizes[:, kept_axes].prod(axis=1, dtype=np.int64)
    lengths = np.repeat(sizes[:, reduced_axes].prod(axis=1, dtype=np.int64), segments_per_component)
    ends = np.cumsum(segments_per_component)

    def describe_segment(i: int) -> str:
        return _describe_component(x, int(np.searchsorted(ends, i, "right")))

    result = reduction.reduce_segments(
        gather_elements(x, kept_axes + reduced_axes), Segments.from_lengths(lengths), describe_segment
    )
    if not kept_axes and not keepdim:
        return result
    extents = x.extents[:, kept_axes]
    if keepdim:
        extents = x.extents.copy()
        extents[:, reduced_axes] = 1
    return NestedArray(result, Strided.from_extents(extents, len(x)))


def _reduce_batch(reduction: _Reduction, x: NestedArray, dims: tuple[int, ...]) -> Array:
    """Reduce the batch, and possibly other dimensions."""
    if len(dims) == x.ndim:
        if reduction.if_empty is None and not x.data.numel():
            raise reduction.empty_error("the nested array has no elements")
        flat = gather_elements(x) if reduction.returns_index else movement.reshape(x.data, (x.data.numel(),))
        return reduction.reduce_axes(flat, (0,))
    jagged_x = x if isinstance(x.structure, Jagged) else as_jagged_view(x)
    if jagged_x is not None and jagged_x.structure.ragged_dim in dims:  # the rows of all components form one axis
        return reduction.reduce_axes(jagged_x.data, tuple(dim - 1 for dim in dims[1:]))
    return _reduce_positions(reduction, x, dims)


def _reduce_positions(reduction: _Reduction, x: NestedArray, dims: tuple[int, ...]) -> Array:
    """Reduce the batch, and possibly other dimensions. A slice holds the elements of all components at one position.

    Components are aligned at the left. A component without elements at a position does not count for the position.
    """
    sizes = x.component_sizes()
    kept_axes = [axis for axis in range(x.ndim - 1) if axis + 1 not in dims]
    shape = check_possible_shape(reduction.name, tuple(int(x.extents[:, axis].max(initial=0)) for axis in kept_axes))
    strides = np.zeros_like(sizes)  # steps in the result from an element of a component to the next along each axis
    strides[:, kept_axes] = packed_strides(np.array([shape], np.int64))
    position = strided_index(sizes, strides, np.zeros(len(sizes), np.int64))
    counts = np.bincount(position, minlength=prod(shape))
    order = np.argsort(position, kind="stable")

    def describe_segment(i: int) -> str:
        return f"position {tuple(int(index) for index in np.unravel_index(i, shape))} of the result"

    rows, segments = movement.take_rows(gather_elements(to_strided(x)), order), Segments.from_lengths(counts)
    result = reduction.reduce_segments(rows, segments, describe_segment)
    if reduction.returns_index:  # the index among the elements of a position becomes the index of a component
        components = from_host(np.repeat(np.arange(len(x)), sizes.prod(axis=1, dtype=np.int64))[order], x.device)
        result = Array(components[from_host(segments.offsets[:-1], x.device) + result.data], x.device)
    return movement.reshape(result, shape)
