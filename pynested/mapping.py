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
from pynested.autograd.array import new_zeros
from pynested.autograd.dense.canonical import as_array, operand
from pynested.autograd.dense.movement import stack
from pynested.autograd.rules.rule import apart
from pynested.backends.errors import ArgumentError, ShapeError, StructureError

from .broadcasting import behind_runs, jagged_operands, mismatch, row_operands, strided_operands
from .layouts import Layout, jagged, strided
from .nested_array import NestedArray
from .operands import Kind, Operand
from .packing import difference, from_rows, nest, unbound
from .structure import Jagged, Strided, frozen


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
        For operands that do not meet.
    ArgumentError
        Where no operand is nested.

    Notes
    -----
    The result has the layout of the first nested operand and the dtype that ``function`` gives. Holes take no part,
    empty components stay empty. Gradients are those of ``function``, if it is made of differentiable operators.

    Clauses: BROADCASTING-1 to BROADCASTING-10.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.elementwise("cube", lambda x: x * x * x, nt).unbind()
    (array([1., 8.]), array([27.]))
    """
    first = _first_nested(name, operands)
    structure, shape = first.structure, first.data.shape
    if structure.tiles:
        datas: list[Any] = []
        for x in operands:
            if type(x) is NestedArray:
                if x.data.shape != shape or not structure.same_placement(x.structure):
                    break
                datas.append(x.data)
            elif type(x) in (int, float, bool) or (type(x) is Array and behind_runs(x.data.shape, shape, structure)):
                datas.append(x)
            else:
                break
        else:
            return NestedArray(function(*datas), structure)
    given = [x if type(x) is NestedArray else operand(name, x, first.device) for x in operands]
    check_devices(name, given)
    if isinstance(structure, Jagged):
        aligned = jagged_operands(name, first, structure, given)
        if aligned is not None:
            return NestedArray(function(*aligned), structure.packed)
    else:
        rows = row_operands(name, first, structure, given)
        if rows is not None:
            return from_rows(function(*rows), structure)
    flats, sizes = strided_operands(name, first, given)
    return NestedArray(function(*flats), Strided.of_packed(sizes))


def unary(name: str, function: Callable[[Array], Array], x: Kind) -> Kind:
    """An elementwise ``function`` of one operand: nested gives nested, dense gives dense."""
    if isinstance(x, NestedArray):
        return elementwise(name, function, x)
    return function(x)


def _first_nested(name: str, operands: Sequence[Any]) -> NestedArray:
    for x in operands:
        if type(x) is NestedArray:
            return x
    raise ArgumentError(f"{name}: no operand is nested; call the function itself, or nest one: pn.as_nested_array(x).")


def together(name: str, a: Any, b: Any) -> tuple[Any, Any]:
    """Two operands, nested or else dense arrays, that lie on one device; a number goes where the other one is."""
    if type(a) is not NestedArray and type(a) is not Array:
        a = as_array(name, a, b.device)
    if type(b) is not NestedArray and type(b) is not Array:
        b = as_array(name, b, a.device)
    if a.device != b.device:
        raise apart(name, {a.device, b.device})
    return a, b


def check_devices(name: str, operands: Sequence[Any]) -> None:
    """All arrays among ``operands`` lie on one device."""
    devices = {x.device for x in operands if isinstance(x, NestedArray | Array)}
    if len(devices) > 1:
        raise apart(name, devices)


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
        For different numbers of components.
    ShapeError
        For a dense operand without a slice for each component.
    ArgumentError
        Where no operand is nested, and for a result that is no array.

    Notes
    -----
    Results without dimensions make a dense ``(B,)``. With no components ``function`` is called once, with an empty one,
    to learn rank and dtype. Gradients flow.

    Clauses: VALUES-1.

    Examples
    --------
    >>> nt = pn.nested_array([[1.0, 2.0], [3.0]], layout=pn.jagged)
    >>> pn.map_components(lambda c: c - c.mean(), nt).unbind()
    (array([-0.5,  0.5]), array([0.]))
    """
    first = _first_nested("map_components", operands)
    given = [x if isinstance(x, NestedArray) else operand("map_components", x, first.device) for x in operands]
    for x in given:
        if isinstance(x, NestedArray) and len(x) != len(first):
            raise StructureError(difference("map_components", first, x))
    columns = [_slices(x, first) for x in given]
    if not len(first):
        return _of_nothing(function, given, layout or first.layout)
    results = [function(*row) for row in zip(*columns, strict=True)]
    for i, result in enumerate(results):
        if type(result) is not Array:
            raise ArgumentError(
                f"map_components: for component {i} the function gave {type(result).__name__}; it must return a dense "
                "pn.Array, such as pn.array(result)."
            )
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
        return nest(results, strided)
    return nest(results, layout)


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
    """The result for no components: of the rank and dtype that an empty component gives."""
    first = next(x for x in operands if isinstance(x, NestedArray))
    probes = []
    for x in operands:
        if isinstance(x, NestedArray):
            probes.append(new_zeros(tuple(x.regular_size(dim) or 0 for dim in range(1, x.ndim)), x.data))
        elif type(x) is Array and x.ndim == first.ndim:
            probes.append(new_zeros(x.shape[1:], x))
        else:
            probes.append(x)
    result = function(*probes)
    if not result.ndim:
        return new_zeros((0,), result)  # type: ignore[no-any-return]
    if layout is jagged:
        at = min(first.structure.ragged_dim if isinstance(first.structure, Jagged) else 1, result.ndim)
        shape = (*result.shape[: at - 1], 0, *result.shape[at:])
        return NestedArray(new_zeros(shape, result), Jagged(frozen([0]), None, at))
    empty = Strided.of_packed(np.zeros((0, result.ndim), np.int64))
    return NestedArray(new_zeros((0,), result), empty)
