"""Gradients as functions: vjp, jvp, and what is made of them.

Inputs and outputs may be arrays, or anything `flatten` opens: nested arrays, tuples, lists, dicts.

Every call records on fresh views of its inputs, so that derivatives of derivatives keep apart. Results are recorded
only where something outside the call is differentiated too.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DeviceError, GradientError, named_type
from pynested.backends.host import from_host

from .array import Array, new_zeros
from .backward import backward, grad, ones_like
from .containers import flatten, flatten_like
from .dispatch import operator
from .modes import Mode
from .primitives.movement import alias, copy, stacked
from .primitives.unary import zeros_like
from .tape import OFF, RECORDING, next_number, source_of, state
from .traversal import boundary, run_forward

__all__ = ["backward", "grad", "hessian", "hvp", "jacobian", "jvp", "vjp"]


class _Recording:
    """A call of a function on fresh views of its arguments."""

    def __init__(self, function: Callable[..., Any], primals: tuple[Any, ...]) -> None:
        self.recording = state.mode != OFF
        self.primals, self.rebuild = flatten(primals)
        self.start = next_number()
        with Mode(state.mode or RECORDING):
            self.views = [alias(a) for a in self.primals]
            self.wrt = [view for view in self.views if view.requires_grad or is_float(view.dtype)]
            for view in self.wrt:
                view.requires_grad = True
            self.outputs = function(*self.rebuild(self.views))
        self.results, self.rebuild_outputs = flatten(self.outputs)

    def reaches_outside(self) -> bool:
        """Return whether an output is recorded and depends on an array outside the call that wants a gradient."""
        own = {source_of(view) for view in self.wrt if view.node is None}
        outside = boundary([source_of(result) for result in self.results], self.start)
        return self.recording and any(node not in own for node in outside)

    def released(self, outside: bool) -> Any:
        """The outputs, without history if all of it lies inside the call."""
        return self.outputs if outside else self.rebuild_outputs([result.detach() for result in self.results])


@operator
def vjp(function: Callable[..., Any], *primals: Any) -> tuple[Any, Callable[[Any], Any]]:
    """``function(*primals)``, and the function that pulls a cotangent of it back to one of each primal.

    Parameters
    ----------
    function : callable
        Takes the primals, and returns what `flatten` opens, too.
    *primals : arrays, nested arrays, containers
        Where to differentiate; floats whether they require grad or not.

    Returns
    -------
    outputs
        What the function returned.
    pull : callable
        Takes cotangents in the form of the outputs, any number of times; returns the cotangent of the one primal, or a
        tuple of them. Integers and bools have None; what the function does not use has zeros.

    Raises
    ------
    GradientError, ArgumentError
        By ``pull``, for cotangents that do not have the shape, or the form, of the outputs.

    Examples
    --------
    >>> y, pull = pn.vjp(lambda a, b: a * b, pn.array(2.0), pn.array(3.0))
    >>> pull(pn.array(1.0))
    (array(3.), array(2.))
    """
    call = _Recording(function, primals)
    outside = call.reaches_outside()

    def pull(cotangent: Any) -> Any:
        cotangents = flatten_like("vjp", call.outputs, cotangent)
        moving = any(one is not None and one.requires_grad for one in cotangents)
        found = iter(_pulled(call, cotangents, (outside or moving) and state.mode != OFF))
        back = call.rebuild([next(found) if view.requires_grad else None for view in call.views])
        return back[0] if len(primals) == 1 else back

    return call.released(outside), pull


def _pulled(call: _Recording, cotangents: Sequence[Array | None], graph: bool) -> list[Array]:
    """The cotangents of what the call can be differentiated by, zeros where it is not used."""
    pairs = [(r, c) for r, c in zip(call.results, cotangents, strict=True) if r.requires_grad]
    if not pairs:
        return [zeros_like(view) for view in call.wrt]
    outputs, given = zip(*pairs, strict=True)
    found = grad(outputs, call.wrt, given, retain_graph=True, create_graph=graph, allow_unused=True)
    return [zeros_like(view) if one is None else one for one, view in zip(found, call.wrt, strict=True)]


@operator
def jvp(function: Callable[..., Any], primals: Any, tangents: Any) -> tuple[Any, Any]:
    """``function(*primals)``, and its directional derivative along ``tangents``, by reading the tape forwards.

    Parameters
    ----------
    function : callable
        As for `vjp`.
    primals, tangents : tuple
        As many of one as of the other, in one form and of equal shapes. One that is no tuple or list stands for itself.

    Raises
    ------
    ArgumentError
        For tangents of another form or shape.

    Examples
    --------
    >>> pn.jvp(lambda x: x * x, (pn.array(3.0),), (pn.array(1.0),))
    (array(9.), array(6.))
    """
    if not isinstance(primals, tuple | list):
        primals, tangents = (primals,), (tangents,)
    if not isinstance(tangents, tuple | list):
        raise ArgumentError(f"jvp: the primals are {named_type(primals)}, so the tangents must be one, too.")
    return _pushed("jvp", function, tuple(primals), tuple(tangents))


def _pushed(
    name: str, function: Callable[..., Any], primals: tuple[Any, ...], tangents: tuple[Any, ...]
) -> tuple[Any, Any]:
    """`jvp` for the function ``name``."""
    call = _Recording(function, primals)
    given = flatten_like(name, primals, tangents, are_tangents=True)
    outside = call.reaches_outside()
    moving = any(tangent is not None and tangent.requires_grad for tangent in given)
    nodes = {
        source_of(view): _tangent(name, view, tangent)
        for view, tangent in zip(call.views, given, strict=True)
        if view.requires_grad and tangent is not None
    }
    with Mode(state.mode if outside or moving else OFF), np.errstate(all="ignore"):
        pushed = run_forward(nodes, [source_of(result) for result in call.results])
        filled = [zeros_like(r) if t is None else copy(t) for r, t in zip(call.results, pushed, strict=True)]
    return call.released(outside), call.rebuild_outputs(filled)


def _tangent(name: str, view: Array, tangent: Array) -> Array:
    if tangent.shape != view.shape:
        raise ArgumentError(f"{name}: a tangent of shape {tangent.shape} was given for a primal of shape {view.shape}.")
    if tangent.device != view.device:
        raise DeviceError(
            f"{name}: a tangent on {tangent.device!r} was given for a primal on {view.device!r}. Move it: "
            f"tangent.to({view.device!r})."
        )
    return tangent if tangent.dtype == view.dtype else tangent.to(view.dtype)


@operator
def jacobian(function: Callable[[Any], Any], x: Array) -> Array:
    """Every partial derivative of ``function`` at ``x``: shape of the output, then shape of ``x``.

    Parameters
    ----------
    function : callable
        Takes and returns one dense array.
    x : Array
        Where to differentiate.

    Raises
    ------
    ArgumentError
        For an argument or a result that is not one dense array.

    Examples
    --------
    >>> pn.jacobian(lambda x: x * x, pn.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _jacobian_for("jacobian", function, x)


def _jacobian_for(name: str, function: Callable[[Any], Any], x: Array) -> Array:
    """The Jacobian for the function ``name``, by a vjp for each element of the result."""
    if not isinstance(x, Array):
        raise ArgumentError(f"{name}: x must be one dense array, not {named_type(x)}: pn.array(x), or use vjp.")
    output, pull = vjp(function, x)
    if not isinstance(output, Array):
        what = type(output).__name__
        raise ArgumentError(f"{name}: the function must return one dense array, not a {what}; use vjp for others.")
    units = np.eye(output.numel(), dtype=output.dtype).reshape(output.numel(), *output.shape)
    rows = [pull(Array(from_host(unit, output.device), output.device)) for unit in units]
    if not rows:
        return new_zeros((*output.shape, *x.shape), x)
    return stacked(rows).reshape((*output.shape, *x.shape))


@operator
def hessian(function: Callable[[Any], Any], x: Array) -> Array:
    """The second derivatives of a function of one element: shape of ``x`` twice.

    Parameters
    ----------
    function : callable
        Takes one dense array, and returns one element.
    x : Array
        Where to differentiate.

    Raises
    ------
    GradientError
        For a result of more, or fewer, than one element.

    Examples
    --------
    >>> pn.hessian(lambda x: (x * x * x).sum(), pn.array([1.0, 2.0]))
    array([[ 6.,  0.],
           [ 0., 12.]])
    """
    return _jacobian_for("hessian", _gradient("hessian", function), x)


@operator
def hvp(function: Callable[[Any], Any], x: Any, vector: Any) -> tuple[Any, Any]:
    """The gradient of a function of one element at ``x``, and its Hessian times ``vector`` (forward over reverse).

    Parameters
    ----------
    function : callable
        Takes one array, nested array or container, and returns one element.
    x, vector
        Of one form and equal shapes.

    Raises
    ------
    GradientError
        For a result of more, or fewer, than one element.

    Examples
    --------
    >>> pn.hvp(lambda x: (x * x * x).sum(), pn.array([1.0, 2.0]), pn.array([1.0, 0.0]))
    (array([ 3., 12.]), array([6., 0.]))
    """
    return _pushed("hvp", _gradient("hvp", function), (x,), (vector,))


def _gradient(name: str, function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def gradient(x: Any) -> Any:
        output, pull = vjp(function, x)
        if not isinstance(output, Array) or output.numel() != 1:
            what = f"an array of shape {output.shape}" if isinstance(output, Array) else named_type(output)
            raise GradientError(f"{name}: the function must return one element, not {what}.")
        return pull(ones_like(output))

    return gradient
