"""Derivatives as functions: `vjp`, `jvp`, `jacobian`, `hessian` and `hvp`.

Inputs and outputs are arrays or containers of them: nested arrays, tuples, lists, dicts.

Every call records the function on fresh views of its inputs, so that a derivative inside another derivative ends at its
own views. Results keep their history if an input, or another array that the function reads, requires grad.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, GradientError, named_type
from pynested.backends.host import from_host

from .array import Array, check_gradient, new_zeros
from .backward import checked_seed, grad, ones_like
from .call_errors import check_function
from .containers import flatten, flatten_like, without_constants
from .decorators import operator
from .modes import Mode
from .primitives.movement import alias, copy, stacked, to_dtype
from .primitives.unary import zeros_like
from .tape import OFF, RECORDING, grad_mode, next_node_number, node_or_leaf
from .traversal import run_forward, walk_back


class _TracedCall:
    """A call of a function on fresh views of its arguments.

    `is_recorded` says whether results must keep their history: True if the mode is not `no_grad`, and an output depends
    on an array that requires grad and is none of these views.
    """

    def __init__(self, function: Callable[..., Any], primals: tuple[Any, ...]) -> None:
        first_number, is_recording = next_node_number(), grad_mode.value != OFF
        arrays, self.rebuild = flatten(primals)
        with Mode(RECORDING):
            self.views = [alias(x) for x in arrays]
            self.inputs = [view for view in self.views if is_float(view.dtype)]
            for view in self.inputs:
                view.requires_grad = True
            outputs = function(*self.rebuild(self.views))
        self.results, self.rebuild_outputs = flatten(outputs)
        input_leaves = {node_or_leaf(view) for view in self.inputs if view.node is None}
        _, sources = walk_back([node_or_leaf(result) for result in self.results], first_number)
        self.is_recorded = is_recording and not input_leaves.issuperset(sources)
        # The caller must not see the tape of the views.
        self.outputs = outputs if self.is_recorded else self.rebuild_outputs([x.detach() for x in self.results])


@operator
def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], Any]]:
    """Return ``function(*primals)`` and its vjp, a function that takes a cotangent back from the output to the primals.

    Parameters
    ----------
    function : callable
        Takes the primals, and returns an array, a nested array or a container.
    *primals : arrays, nested arrays, containers
        The point of the derivative. Floats are differentiated, whether they require grad or not.

    Returns
    -------
    outputs
        The outputs of the function.
    function_vjp : callable
        Can be called any number of times. It takes cotangents in the same containers as the outputs, and returns one
        cotangent, or a tuple for several primals: None for integers, bools and everything that is not an array, and
        zeros for a primal that the function does not use.

    Raises
    ------
    GradientError, ArgumentError, StructureError
        By ``function_vjp``, for cotangents in other containers than the outputs, or of another shape.

    Examples
    --------
    >>> y, product_vjp = pn.vjp(lambda a, b: a * b, pn.array(2.0), pn.array(3.0))
    >>> product_vjp(pn.array(1.0))
    (array(3.), array(2.))
    """
    check_function("vjp", function)
    call = _TracedCall(function, primals)

    def function_vjp(cotangent: Any) -> Any:
        cotangents = flatten_like("vjp", call.outputs, cotangent)
        is_recorded = call.is_recorded or any(g is not None and g.requires_grad for g in cotangents)
        create_graph = is_recorded and grad_mode.value != OFF
        outputs = zip(call.results, cotangents, strict=True)
        seeds = [checked_seed("vjp", y, g, create_graph, call.outputs) if y.tracked else None for y, g in outputs]
        gradients = grad(
            call.results, call.inputs, seeds, retain_graph=True, create_graph=create_graph, allow_unused=True
        )
        pairs = zip(gradients, call.inputs, strict=True)
        gradients_or_zeros = iter([zeros_like(view) if g is None else g for g, view in pairs])
        cotangents = [next(gradients_or_zeros) if view.requires_grad else None for view in call.views]
        result = without_constants(call.rebuild(cotangents))
        return result[0] if len(primals) == 1 else result

    return call.outputs, function_vjp


@operator
def jvp(function: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """Return ``function(*primals)`` and its directional derivative along ``tangents``; None for what is no array.

    Parameters
    ----------
    function : callable
        As for `vjp`.
    primals, tangents : tuple
        As many tangents as primals, in the same containers and shapes; they are cast to the dtypes of the primals. A
        single primal and its tangent need no tuple, unless the primal is itself a tuple or a list.

    Raises
    ------
    ArgumentError, StructureError
        For tangents in other containers, or of another shape.

    Examples
    --------
    >>> pn.jvp(lambda x: x * x, (pn.array(3.0),), (pn.array(1.0),))
    (array(9.), array(6.))
    """
    if not isinstance(primals, tuple | list):
        primals, tangents = (primals,), (tangents,)
    if not isinstance(tangents, tuple | list):
        raise ArgumentError(
            f"jvp: the primals are {named_type(primals)}, so the tangents must be a tuple or list, too."
        )
    return _named_jvp("jvp", function, tuple(primals), tuple(tangents))


def _named_jvp(
    name: str, function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """Return what `jvp` returns; errors begin with ``name``, the public function."""
    check_function(name, function)
    call = _TracedCall(function, primals)
    arrays = flatten_like(name, primals, tangents, is_tangent=True)
    is_recorded = call.is_recorded or any(t is not None and t.requires_grad for t in arrays)
    tangent_by_node = {}
    for view, t in zip(call.views, arrays, strict=True):
        if view.requires_grad and t is not None:
            tangent = tangent_by_node[node_or_leaf(view)] = to_dtype(t, view.dtype)
            check_gradient(f"{name}: got", tangent, view.shape, view.dtype, view.device, "tangent", ArgumentError)
    with Mode(grad_mode.value if is_recorded else OFF), np.errstate(all="ignore"):
        results = run_forward(tangent_by_node, [node_or_leaf(y) for y in call.results])
        output_tangents = [zeros_like(y) if t is None else copy(t) for y, t in zip(call.results, results, strict=True)]
    return call.outputs, without_constants(call.rebuild_outputs(output_tangents))


@operator
def jacobian(function: Callable[[Any], Any], x: Array) -> Array:
    """Return every partial derivative of ``function`` at ``x``, with the shape of the output, then that of ``x``.

    Parameters
    ----------
    function : callable
        Takes and returns one dense array.
    x : Array
        The point of the derivative.

    Raises
    ------
    ArgumentError, DTypeError
        For an argument or a result that is not one dense array, and an argument that is not of floats.

    Examples
    --------
    >>> pn.jacobian(lambda x: x * x, pn.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _named_jacobian("jacobian", function, x)


def _named_jacobian(name: str, function: Callable[[Any], Any], x: Array) -> Array:
    """Return the Jacobian, by a vjp for each element of the result; errors begin with ``name``."""
    check_function(name, function)
    if not isinstance(x, Array):
        raise ArgumentError(f"{name}: x must be one dense array, not {named_type(x)}: pn.array(x), or use vjp.")
    if not is_float(x.dtype):
        raise DTypeError(f"{name}: x must be of floats, not {x.dtype}. Convert it: x.to(dtype=pn.float64).")
    output, function_vjp = vjp(function, x)
    if not isinstance(output, Array):
        raise ArgumentError(f"{name}: the function must return one dense array, not {named_type(output)}; or use vjp.")
    units = np.eye(output.numel(), dtype=output.dtype).reshape(output.numel(), *output.shape)
    rows = [function_vjp(Array(from_host(unit, output.device), output.device)) for unit in units]
    if not rows:
        return new_zeros((*output.shape, *x.shape), x.dtype, x.device)
    return stacked(rows).reshape((*output.shape, *x.shape))


@operator
def hessian(function: Callable[[Any], Any], x: Array) -> Array:
    """Return the second derivatives, of shape ``(*x.shape, *x.shape)``, of a function whose result has one element.

    Parameters
    ----------
    function : callable
        Takes one dense array, and returns one element.
    x : Array
        The point of the derivative.

    Raises
    ------
    GradientError
        For a result of more, or fewer, than one element.
    ArgumentError, DTypeError
        For an argument that is not one dense array of floats.

    Examples
    --------
    >>> pn.hessian(lambda x: (x * x * x).sum(), pn.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return _named_jacobian("hessian", _gradient("hessian", function), x)


@operator
def hvp(function: Callable[[Any], Any], x: Any, vector: Any) -> tuple[Any, Any]:
    """Return the gradient at ``x`` of a function whose result has one element, and its Hessian times ``vector``.

    The product is computed by forward mode over reverse mode.

    Parameters
    ----------
    function : callable
        Takes one array, nested array or container, and returns one element.
    x, vector
        In the same containers, and of equal shapes.

    Raises
    ------
    GradientError
        For a result of more, or fewer, than one element.
    ArgumentError, StructureError
        For a vector in other containers than ``x``, or of another shape.

    Examples
    --------
    >>> pn.hvp(lambda x: (x * x * x).sum(), pn.array([1.0, 2.0]), pn.array([1.0, 0.0]))
    (array([ 3., 12.]), array([6., 0.]))
    """
    return _named_jvp("hvp", _gradient("hvp", function), (x,), (vector,))


def _gradient(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return the gradient as a function; errors begin with ``name``."""
    check_function(name, function)

    def gradient(x: Any) -> Any:
        output, function_vjp = vjp(function, x)
        if not isinstance(output, Array) or output.numel() != 1:
            kind = f"an array of shape {output.shape}" if isinstance(output, Array) else named_type(output)
            raise GradientError(f"{name}: the function must return one element, not {kind}.")
        return function_vjp(ones_like(output))

    return gradient
