"""The two ways to lift a function of dense arrays to nested arrays: elementwise, or component by component.

`map_elementwise` aligns the operands, so that one call of the function on whole buffers serves all components.
`map_components` calls the function for each component and nests the results. It works for every function and every
layout; an operator with a faster path has the same result. `elementwise` is `map_elementwise` for functions of users,
whose results are checked.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, canonical_dtype
from pynested.autograd.arguments.canonical import operand as as_operand
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import new_zeros
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.nested.component_views import unbind_components
from pynested.nested.layout_conversion import rows_to_strided, to_jagged
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import Operand, check_devices, first_nested
from pynested.nested.shape_comparison import mismatch_message
from pynested.structure import Jagged, Strided
from pynested.structure.layout import Layout, jagged

from .broadcasting import (
    broadcasts_behind_ragged,
    dense_mismatch_message,
    jagged_operands,
    row_operands,
    strided_operands,
)
from .result_layout import like_first_operand, nest_results, ragged_dim_of_results

# ---- elementwise functions: one call for all components -------------------------------------------------------------


def map_elementwise(name: str, function: Callable[..., Array], *operands: Operand) -> NestedArray:
    """Apply an elementwise ``function`` of dense arrays; at least one operand is nested: ``(B, *, D) -> (B, *, D)``.

    The function must return an element for each element of its broadcast operands. `elementwise` checks the result.
    """
    first: NestedArray = operands[0] if type(operands[0]) is NestedArray else first_nested(name, operands)
    structure, shape = first._structure, first._buffer._bare.shape
    # The fast path: the function can take the buffers as they are.
    if structure.is_packed:
        buffers: list[Any] = []
        for x in operands:
            if type(x) is NestedArray:
                other = x._structure
                if x._buffer._bare.shape != shape or not (other is structure or structure.same_placement(other)):
                    break
                buffers.append(x._buffer)
            elif type(x) in (int, float, bool) or (
                type(x) is Array and broadcasts_behind_ragged(x._bare.shape, shape, structure)
            ):
                buffers.append(x)
            else:
                break
        else:
            return wrap_unchecked(function(*buffers), structure)
    arrays = [x if type(x) is NestedArray else as_operand(name, x, first.device) for x in operands]
    check_devices(name, arrays)
    if isinstance(structure, Jagged):
        aligned = jagged_operands(name, first, structure, arrays)
        if aligned is not None:
            return NestedArray(function(*aligned), structure.packed)
    else:
        rows = row_operands(name, first, structure, arrays)
        if rows is not None:
            return rows_to_strided(function(*rows), structure)
    flats, extents = strided_operands(name, first, arrays)
    result = NestedArray(function(*flats), Strided.from_extents(extents, len(first)))
    return like_first_operand(result, arrays)


@operator
def elementwise(name: str, function: Callable[..., Array], *operands: Operand) -> NestedArray:
    """Apply an elementwise ``function`` of dense arrays; at least one operand is nested: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    name : str
        The name of the operator in error messages.
    function : callable
        Takes one array or number for each operand, of shapes that broadcast, and returns one array. It is called once,
        with whole buffers, so an element of the result can depend only on the elements of the operands at its index.
    *operands : NestedArray, Array or number
        Nested operands have equal shapes, up to regular dimensions of size 1. A dense operand broadcasts against the
        shape of the nested ones, aligned at the right.

    Raises
    ------
    StructureError, ShapeError, DeviceError
        If the operands do not broadcast or lie on different devices. ShapeError also if the result of ``function``
        does not have the shape to which its operands broadcast.
    ArgumentError
        If no operand is nested, or a result is not an array.

    Notes
    -----
    The result has the layout of the first nested operand and the dtype that ``function`` returns. Gaps do not reach
    the result, and empty components stay empty. Gradients are those of ``function``, if it consists of differentiable
    operators.

    Clauses: EXTEND-5, EXTEND-7 to EXTEND-9, BROADCASTING-1 to BROADCASTING-10.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.elementwise("cube", lambda x: x * x * x, nt).unbind()
    (array([1., 8.]), array([27.]))
    """

    def checked_function(*arrays: Any) -> Array:
        result = function(*arrays)
        _check_result(name, "", result)
        shape = broadcast_shape(name, *[x.shape for x in arrays if type(x) is Array])
        if result.shape != shape:
            raise ShapeError(
                f"{name}: the function gave an array of shape {result.shape} for operands that broadcast to {shape}. "
                "An elementwise function gives an element for each place; pn.map_components takes any other."
            )
        return result.contiguous()

    return map_elementwise(name, checked_function, *operands)


def _as_pynested_array(result: Any, device: str) -> Any:
    """Return the result of a function of the user, a NumPy array as a pynested array."""
    return as_array("map_components", result, device) if isinstance(result, np.ndarray | np.generic) else result


def _check_result(name: str, where: str, result: Any) -> None:
    """Raise unless the result of a function is an array of a supported dtype."""
    if type(result) is not Array:
        raise ArgumentError(
            f"{name}: {where}the function gave {type(result).__name__}; it must return a dense pn.Array, such as "
            "pn.array(result)."
        )
    canonical_dtype(result.dtype, result.device)


# ---- any function: one call for each component ----------------------------------------------------------------------


@operator
def map_components(
    function: Callable[..., Array], *operands: Operand, layout: Layout | None = None
) -> NestedArray | Array:
    """Nest ``function(c0), ..., function(cn)``, for any ``function`` of components: ``(B, *, D) -> (B, ...)``.

    Parameters
    ----------
    function : callable
        Takes one array for each operand and returns one array, all results of one rank.
    *operands : NestedArray, Array or number
        At least one is nested, and all nested ones have equally many components. A dense operand with as many
        dimensions gives each component its slice along dimension 0, which can have size 1. Any other dense operand is
        passed whole.
    layout : Layout, optional
        By default that of the first nested operand. Results that jagged cannot express are strided.

    Raises
    ------
    StructureError
        If numbers of components, or the ranks of results, differ.
    ShapeError
        If a dense operand has no slice for each component.
    ArgumentError
        If no operand is nested, or a result is not an array.

    Notes
    -----
    Results without dimensions make a dense ``(B,)``; dtypes are promoted. For an empty batch ``function`` is called
    once, with size 0 along irregular dimensions, to find shape and dtype; a dimension of size 0 in its result counts as
    irregular too. Gradients flow.

    Clauses: VALUES-1, EXTEND-1 to EXTEND-7.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.map_components(lambda c: c - c.mean(), nt).unbind()
    (array([-0.5,  0.5]), array([0.]))
    """
    name = "map_components"
    first = first_nested(name, operands)
    arrays = [x if isinstance(x, NestedArray) else as_operand(name, x, first.device) for x in operands]
    for x in arrays:
        if isinstance(x, NestedArray) and len(x) != len(first):
            raise StructureError(mismatch_message(name, first, x))
    arguments_by_operand = [_component_arguments(x, first) for x in arrays]
    if not len(first):
        return _map_empty_batch(function, arrays, layout or first.layout)
    results = [_as_pynested_array(function(*row), first.device) for row in zip(*arguments_by_operand, strict=True)]
    for i, result in enumerate(results):
        _check_result(name, f"for component {i} ", result)
        if result.ndim != results[0].ndim:
            raise StructureError(
                f"{name}: the function gave {results[0].ndim} dimensions for component 0 and {result.ndim} for "
                f"component {i}; all results must have one rank."
            )
    return nest_results(results, first, layout or first.layout)


def _component_arguments(x: Any, first: NestedArray) -> Sequence[Any]:
    """Return for each component of ``first`` the argument that an operand contributes."""
    if isinstance(x, NestedArray):
        return unbind_components(x)
    if type(x) is Array and x.ndim == first.ndim:
        if x.shape[0] not in (1, len(first)):
            raise ShapeError(dense_mismatch_message("map_components", x, first, x.shape, 0, 0, len(first)))
        return x.unbind() if x.shape[0] == len(first) else [x.select(0, 0)] * len(first)
    return [x] * len(first)


def _map_empty_batch(function: Callable[..., Any], operands: Sequence[Any], layout: Layout) -> NestedArray | Array:
    """Return the result for an empty batch: shape, dtype and tape come from one call with empty components."""
    nested = [x for x in operands if isinstance(x, NestedArray)]
    result = _as_pynested_array(function(*[_probe_argument(x, nested[0]) for x in operands]), nested[0].device)
    _check_result("map_components", "", result)
    flat: Array = moves.slice_(moves.reshape(result, (result.numel(),)), (slice(0, 0),))
    if not result.ndim:
        return flat
    known = 0 not in result.shape or all(None not in x.regular for x in nested)
    extents = np.array([[size if size or known else -1 for size in result.shape]], np.int64)
    empty = NestedArray(flat, Strided.from_extents(extents, 0))
    ragged = ragged_dim_of_results(empty.regular, nested[0]) if layout is jagged else None
    return empty if ragged is None else to_jagged(empty, ragged)


def _probe_argument(x: Any, first: NestedArray) -> Any:
    """Return the argument for a component of an empty batch: zeros, of size 0 along irregular dimensions."""
    if isinstance(x, NestedArray):
        return new_zeros(tuple(size or 0 for size in x.regular), x.data)
    return new_zeros(x.shape[1:], x) if type(x) is Array and x.ndim == first.ndim else x
