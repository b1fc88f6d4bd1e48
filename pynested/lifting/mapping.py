"""The two ways to lift a function of dense arrays to nested arrays: elementwise, or component by component.

`map_elementwise` aligns the operands, so that one call of the function on whole buffers computes all components.
`elementwise` does the same for a function of the user, and checks its result. `map_components` calls the function for
each component and nests the results. It works for every function and every layout; the results of all faster
implementations must equal its results. ``template`` is the first nested operand, whose layout the result has if
possible.

A dimension is *regular* if the structure gives it one size for all components, else *irregular*.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, as_operand, canonical_dtype
from pynested.autograd.arguments.scalars import value_text
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import new_zeros
from pynested.autograd.call_errors import check_function
from pynested.autograd.decorators import operator
from pynested.autograd.primitives import movement
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.nested.component_views import unbind_components
from pynested.nested.layout_conversion import rows_to_strided, to_jagged
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import Operand, check_devices, first_nested
from pynested.nested.shape_comparison import mismatch_message
from pynested.structure import Jagged, Strided
from pynested.structure.layout import Layout, canonical_layout, jagged

from .broadcasting import (
    align_in_flat_buffers,
    align_to_packed_values,
    align_to_rows,
    broadcasts_from_axis,
    dense_mismatch_message,
)
from .result_layout import like_first_operand, nest_results, ragged_dim_of_results

# ---- elementwise functions: one call for all components -------------------------------------------------------------


def map_elementwise(name: str, function: Callable[..., Array], *operands: Operand) -> NestedArray:
    """Apply an elementwise ``function`` of dense arrays; at least one operand is nested: ``(B, *, D) -> (B, *, D)``.

    The function must return an element for each element of its broadcast operands. `elementwise` checks the result.
    """
    template: NestedArray = operands[0] if type(operands[0]) is NestedArray else first_nested(name, operands)
    structure, shape = template._structure, template._buffer._raw.shape
    # The fast path: if all operands have the same packed placement, the function takes their buffers as they are.
    if structure.is_packed:
        buffers: list[Any] = []
        # Rows of different components lie along the ragged axis, so a dense operand may vary only along later axes.
        axis_behind_rows = structure.ragged_dim or 1  # without a ragged axis, the first one holds the elements
        for x in operands:
            if type(x) is NestedArray:
                other = x._structure
                if x._buffer._raw.shape != shape or not (other is structure or structure.same_placement(other)):
                    break
                buffers.append(x._buffer)
            elif type(x) in (int, float, bool) or (
                type(x) is Array and broadcasts_from_axis(x._raw.shape, shape, axis_behind_rows)
            ):
                buffers.append(x)
            else:
                break
        else:
            return wrap_unchecked(function(*buffers), structure)
    arrays = [x if type(x) is NestedArray else as_operand(name, x, template.device) for x in operands]
    check_devices(name, arrays)
    if isinstance(structure, Jagged):
        aligned = align_to_packed_values(name, template, structure, arrays)
        if aligned is not None:  # None if a nested operand is irregular along a different dimension
            return NestedArray(function(*aligned), structure.packed)
    else:
        rows = align_to_rows(name, template, arrays)
        if rows is not None:  # None if the operands have different rows
            return rows_to_strided(function(*rows), structure)
    flats, extents = align_in_flat_buffers(name, template, arrays)
    result = NestedArray(function(*flats), Strided.from_extents(extents, len(template)))
    return like_first_operand(result, arrays)


@operator
def elementwise(name: str, function: Callable[..., Array], *operands: Operand) -> NestedArray:
    """Apply an elementwise ``function`` of dense arrays; at least one operand is nested: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    name : str
        The name of the operator in error messages.
    function : callable
        Takes an array or a number for each operand, of shapes that broadcast, and returns one array. It is called once,
        with whole buffers, so an element of the result must depend only on the elements of the operands at its index.
    *operands : NestedArray, Array or number
        Nested operands have equal shapes, except for regular dimensions of size 1. A dense operand broadcasts against
        the shape of the nested ones, aligned at the right.

    Raises
    ------
    StructureError, ShapeError, DeviceError
        If the operands do not broadcast or lie on different devices. If the result of ``function`` does not have the
        shape to which its operands broadcast.
    ArgumentError
        If ``name`` is not a string, ``function`` not a function, a result not an array, or no operand is nested.

    Notes
    -----
    The result has the layout of the first nested operand, or is strided if the operands have different ragged
    dimensions. Its dtype is that of ``function``. Gaps have no effect, and empty components stay empty. Gradients flow
    through ``function`` if its operators are differentiable.

    Clauses: EXTEND-5, EXTEND-7 to EXTEND-9, BROADCASTING-1 to BROADCASTING-10.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.elementwise("cube", lambda x: x * x * x, nt).unbind()
    (array([1., 8.]), array([27.]))
    """
    if not isinstance(name, str):
        raise ArgumentError(f"elementwise: 'name' must be a string, not {value_text(name)}.")
    check_function("elementwise", function)

    def checked_function(*arrays: Any) -> Array:
        result = function(*arrays)
        _check_result(name, result)
        shape = broadcast_shape(name, *[x.shape for x in arrays if type(x) is Array])
        if result.shape != shape:
            raise ShapeError(
                f"{name}: the function returned an array of shape {result.shape} for operands that broadcast to "
                f"{shape}. An elementwise function returns an array of that shape. Use pn.map_components for others."
            )
        # A result that is an operand, or a view of one, is copied, as the two arrays would share their memory.
        is_view = any(type(x) is Array and x.storage is result.storage for x in arrays)
        return result.clone() if is_view else result.contiguous()

    first_nested(name, operands)  # raises if no operand is nested, or if there are no operands
    return map_elementwise(name, checked_function, *operands)


def _as_pynested_array(result: Any, device: str) -> Any:
    """Return the result of a function of the user; a NumPy array is converted to an `Array`."""
    return as_array("map_components", result, device) if isinstance(result, np.ndarray | np.generic) else result


def _check_result(name: str, result: Any, origin: str = "") -> None:
    """Raise unless the result of a function is an array of a supported dtype; ``origin`` is part of the message."""
    if type(result) is not Array:
        raise ArgumentError(
            f"{name}: {origin}the function returned {type(result).__name__}; it must return a dense pn.Array, such "
            "as pn.array(result)."
        )
    canonical_dtype(name, result.dtype, result.device)


# ---- any function: one call for each component ----------------------------------------------------------------------


@operator
def map_components(
    function: Callable[..., Array], *operands: Operand, layout: Layout | None = None
) -> NestedArray | Array:
    """Nest ``function(c)`` of each component c, for any ``function`` of components: ``(B, *, D) -> (B, ...)``.

    Parameters
    ----------
    function : callable
        Takes an array for each operand and returns one array. All results must have equal rank.
    *operands : NestedArray, Array or number
        At least one operand is nested, and all nested operands have the same number of components. A dense operand of
        the same rank as the first nested operand has a slice along dimension 0 for each component, or one slice for
        all. Any other dense operand is passed to every call as a whole.
    layout : Layout, optional
        The layout of the result; by default the layout of the first nested operand. Results that the jagged layout
        cannot hold are strided.

    Raises
    ------
    StructureError, ShapeError, LayoutError
        If numbers of components, or the ranks of results, differ. If a dense operand has no slice for each component.
        For a ``layout`` that is not a layout.
    ArgumentError
        If no operand is nested, or a result is not an array.

    Notes
    -----
    If the results have no dimensions, they are stacked to a dense ``(B,)``. Dtypes are promoted. Gradients flow. For an
    empty batch, one call of ``function`` finds the shape and the dtype of the result. Its arguments have size 0 along
    irregular dimensions, and a dimension of size 0 in its result counts as irregular.

    Clauses: VALUES-1, EXTEND-1 to EXTEND-7.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.map_components(lambda c: c - c.mean(), nt).unbind()
    (array([-0.5,  0.5]), array([0.]))
    """
    name = "map_components"
    check_function(name, function)
    template = first_nested(name, operands)
    layout = template.layout if layout is None else canonical_layout(name, layout)
    arrays = [x if isinstance(x, NestedArray) else as_operand(name, x, template.device) for x in operands]
    for x in arrays:
        if isinstance(x, NestedArray) and len(x) != len(template):
            raise StructureError(mismatch_message(name, template, x))
    arguments_by_operand = [_component_arguments(x, template) for x in arrays]
    if not len(template):
        return _map_empty_batch(function, arrays, layout)
    results = [_as_pynested_array(function(*row), template.device) for row in zip(*arguments_by_operand, strict=True)]
    for i, result in enumerate(results):
        _check_result(name, result, f"for component {i} ")
        if result.ndim != results[0].ndim:
            raise StructureError(
                f"{name}: the function returned {results[0].ndim} dimensions for component 0 and {result.ndim} for "
                f"component {i}; the numbers must be equal."
            )
    return nest_results(results, template, layout)


def _component_arguments(x: Any, template: NestedArray) -> Sequence[Any]:
    """Return the arguments that an operand provides, one for each component of ``template``."""
    if isinstance(x, NestedArray):
        return unbind_components(x)
    if type(x) is Array and x.ndim == template.ndim:
        if x.shape[0] not in (1, len(template)):
            raise ShapeError(dense_mismatch_message("map_components", x, template, x.shape, 0, 0, len(template)))
        return x.unbind() if x.shape[0] == len(template) else [x.select(0, 0)] * len(template)
    return [x] * len(template)


def _map_empty_batch(function: Callable[..., Any], operands: Sequence[Any], layout: Layout) -> NestedArray | Array:
    """Return the result for an empty batch. Its shape, dtype and history come from one call with arrays of zeros."""
    nested = [x for x in operands if isinstance(x, NestedArray)]
    result = _as_pynested_array(function(*[_probe_argument(x, nested[0]) for x in operands]), nested[0].device)
    _check_result("map_components", result)
    flat: Array = movement.slice_(movement.reshape(result, (result.numel(),)), (slice(0, 0),))
    if not result.ndim:
        return flat
    # A size of 0 can come from an irregular dimension of the operands; then it is unknown.
    is_known = 0 not in result.shape or all(None not in x.regular_sizes for x in nested)
    extents = np.array([[size if size or is_known else -1 for size in result.shape]], np.int64)
    empty = NestedArray(flat, Strided.from_extents(extents, 0))
    ragged = ragged_dim_of_results(empty.regular_sizes, nested[0]) if layout is jagged else None
    return empty if ragged is None else to_jagged(empty, ragged)


def _probe_argument(x: Any, template: NestedArray) -> Any:
    """Return the argument that stands for a component of an empty batch: zeros, of size 0 if a size is unknown."""
    if isinstance(x, NestedArray):
        return new_zeros(tuple(size or 0 for size in x.regular_sizes), x.dtype, x.device)
    return new_zeros(x.shape[1:], x.dtype, x.device) if type(x) is Array and x.ndim == template.ndim else x
