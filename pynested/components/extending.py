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
from pynested.autograd.arguments.canonical import as_array, canonical_dtype, operand
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import new_zeros
from pynested.autograd.dispatch import operator
from pynested.autograd.rules import movement as moves
from pynested.backends.dtypes import promoted
from pynested.backends.errors import ArgumentError, ShapeError, StructureError
from pynested.nested.array import NestedArray
from pynested.nested.operands import Operand
from pynested.structure import Strided, regular_sizes
from pynested.structure.layouts import Layout, jagged, strided

from . import mapping
from .broadcasting import mismatch
from .mapping import first_nested
from .packing import nest, to_jagged
from .shapes import difference
from .views import unbound


@operator
def elementwise(name: str, function: Callable[..., Array], *operands: Operand) -> NestedArray:
    """A ``function`` of dense arrays, elementwise, where at least one operand is nested: ``(B, *, D) -> (B, *, D)``.

    Parameters
    ----------
    name : str
        How messages call the operator.
    function : callable
        Takes as many arrays and numbers as there are operands, of shapes that broadcast, and gives one array. It is
        called once, with whole buffers, so an element of the result may depend on the elements that meet there only.
    *operands : NestedArray, Array or number
        Nested ones have equal shapes by value, up to regular dimensions of size 1; a dense one broadcasts against the
        logical shape, aligned at the right.

    Raises
    ------
    StructureError, ShapeError, DeviceError
        For operands that do not meet. ShapeError also for a result of ``function`` that does not have the shape to
        which its operands broadcast.
    ArgumentError
        Where no operand is nested, and for a result that is no array.

    Notes
    -----
    The result has the layout of the first nested operand and the dtype that ``function`` gives. Holes take no part,
    empty components stay empty. Gradients are those of ``function``, if it is made of differentiable operators.

    Clauses: EXTEND-5, EXTEND-7 to EXTEND-9, BROADCASTING-1 to BROADCASTING-10.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.elementwise("cube", lambda x: x * x * x, nt).unbind()
    (array([1., 8.]), array([27.]))
    """

    def of_values(*arrays: Any) -> Array:
        result = function(*arrays)
        _check_array(name, "", result)
        shape = broadcast_shape(name, *[x.shape for x in arrays if type(x) is Array])
        if result.shape != shape:
            raise ShapeError(
                f"{name}: the function gave an array of shape {result.shape} for operands that broadcast to {shape}. "
                "An elementwise function gives an element for each place; pn.map_components takes any other."
            )
        return result.contiguous()

    return mapping.elementwise(name, of_values, *operands)


def _ours(result: Any, device: str) -> Any:
    """What a function gave; an array of NumPy's, as its own functions give, as one of ours."""
    return as_array("map_components", result, device) if isinstance(result, np.ndarray | np.generic) else result


def _check_array(name: str, where: str, result: Any) -> None:
    """What a function gave is an array of a dtype that pynested has."""
    if type(result) is not Array:
        raise ArgumentError(
            f"{name}: {where}the function gave {type(result).__name__}; it must return a dense pn.Array, such as "
            "pn.array(result)."
        )
    canonical_dtype(result.dtype, result.device)


@operator
def map_components(
    function: Callable[..., Array], *operands: Operand, layout: Layout | None = None
) -> NestedArray | Array:
    """``nest(function(c0), ..., function(cn))``, whatever ``function`` is: ``(B, *, D) -> (B, ...)``.

    Parameters
    ----------
    function : callable
        Takes one array for each operand and returns one array, all results of one rank.
    *operands : NestedArray, Array or number
        At least one is nested, and all nested ones have as many components. A dense one with as many dimensions gives
        each component its slice along dimension 0, or the one that it has; every other is passed whole.
    layout : Layout, optional
        By default that of the first nested operand. What jagged cannot express is strided.

    Raises
    ------
    StructureError
        For different numbers of components, and results of different rank.
    ShapeError
        For a dense operand without a slice for each component.
    ArgumentError
        Where no operand is nested, and for a result that is no array.

    Notes
    -----
    Results without dimensions make a dense ``(B,)``; dtypes are promoted. With no components ``function`` is called
    once, with arrays of size 0 where dimensions are irregular, to learn shape and dtype; where its result has size 0
    then, the dimension is taken to be irregular too. Gradients flow.

    Clauses: VALUES-1, EXTEND-1 to EXTEND-7.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.map_components(lambda c: c - c.mean(), nt).unbind()
    (array([-0.5,  0.5]), array([0.]))
    """
    name = "map_components"
    first = first_nested(name, operands)
    given = [x if isinstance(x, NestedArray) else operand(name, x, first.device) for x in operands]
    for x in given:
        if isinstance(x, NestedArray) and len(x) != len(first):
            raise StructureError(difference(name, first, x))
    columns = [_slices(x, first) for x in given]
    if not len(first):
        return _of_nothing(function, given, layout or first.layout)
    results = [_ours(function(*row), first.device) for row in zip(*columns, strict=True)]
    for i, result in enumerate(results):
        _check_array(name, f"for component {i} ", result)
        if result.ndim != results[0].ndim:
            raise StructureError(
                f"{name}: the function gave {results[0].ndim} dimensions for component 0 and {result.ndim} for "
                f"component {i}; all results must have one rank."
            )
    return nested_result(results, first, layout or first.layout)


def nested_result(results: Sequence[Array], first: NestedArray, layout: Layout) -> NestedArray | Array:
    """Results of components of ``first`` as one array: in ``layout``, or strided where jagged cannot express them."""
    if not results[0].ndim:
        dtype = promoted(*[result.dtype for result in results])
        return moves.stacked([moves.to_dtype(result, dtype) for result in results])
    sizes = np.array([result.shape for result in results], np.int64)
    ragged = _ragged_dim(regular_sizes(sizes), first) if layout is jagged else None
    return nest(results, strided if ragged is None else jagged, ragged)


def _ragged_dim(regular: Sequence[int | None], first: NestedArray) -> int | None:
    """The one irregular dimension; without one that of ``first``, as far as there is such; None where there are two."""
    irregular = [dim for dim, size in enumerate(regular, 1) if size is None]
    at = first.structure.ragged_dim or 1
    return None if len(irregular) > 1 else (irregular or [min(at, len(regular))])[0]


def _slices(x: Any, first: NestedArray) -> Sequence[Any]:
    """What each component of ``first`` meets of an operand."""
    if isinstance(x, NestedArray):
        return unbound(x)
    if type(x) is Array and x.ndim == first.ndim:
        if x.shape[0] not in (1, len(first)):
            raise ShapeError(mismatch("map_components", x, first, x.shape, 0, 0, len(first)))
        return x.unbind() if x.shape[0] == len(first) else [x.select(0, 0)] * len(first)
    return [x] * len(first)


def _of_nothing(function: Callable[..., Any], operands: Sequence[Any], layout: Layout) -> NestedArray | Array:
    """The result for no components: of the shape and dtype that an empty component gives, and with its history."""
    nested = [x for x in operands if isinstance(x, NestedArray)]
    result = _ours(function(*[_probe(x, nested[0]) for x in operands]), nested[0].device)
    _check_array("map_components", "", result)
    flat: Array = moves.slice_(moves.reshape(result, (result.numel(),)), (slice(0, 0),))
    if not result.ndim:
        return flat
    known = 0 not in result.shape or all(None not in x.regular for x in nested)
    outline = np.array([[size if size or known else -1 for size in result.shape]], np.int64)
    made = NestedArray(flat, Strided.of_packed(outline, 0))
    ragged = _ragged_dim(made.regular, nested[0]) if layout is jagged else None
    return made if ragged is None else to_jagged(made, ragged)


def _probe(x: Any, first: NestedArray) -> Any:
    """What a component would meet of an operand if there were one."""
    if isinstance(x, NestedArray):
        return new_zeros(tuple(size or 0 for size in x.regular), x.data)
    return new_zeros(x.shape[1:], x) if type(x) is Array and x.ndim == first.ndim else x
