"""Backward passes: `backward` accumulates gradients into leaves, `grad` returns them."""

from __future__ import annotations

from collections.abc import Container, Sequence
from typing import Any

import numpy as np

from pynested.backends import get_backend
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, GradientError, named_type

from .array import Array, check_gradient
from .call_errors import check_flags, check_optional_flags
from .containers import flatten, flatten_like, without_constants
from .decorators import operator
from .hooks import apply_hooks
from .modes import Mode
from .primitives.movement import copy, to_dtype
from .tape import OFF, RECORDING, BackwardPass, SourceCotangents, node_or_leaf
from .traversal import nodes_between, run_backward, walk_back


def backward(
    outputs: Any, gradients: Any = None, *, retain_graph: bool | None = None, create_graph: bool = False
) -> None:
    """Add the gradient of ``outputs``, weighted by ``gradients``, to the ``grad`` of each leaf.

    Parameters
    ----------
    outputs : array or container of arrays
        At least one of them requires grad.
    gradients : like outputs, optional
        The weight of each element. It can be left out, or be None, for an output of one element.
    retain_graph : bool, optional
        Keep the saved values for another pass over the same graph. The default is ``create_graph``.
    create_graph : bool
        Record the pass, so that the gradients can be differentiated.

    Raises
    ------
    GradientError
        If no output requires grad, a gradient does not fit, or an earlier pass freed the graph.

    Examples
    --------
    >>> x = pn.array([1.0, 2.0], requires_grad=True)
    >>> pn.autograd.backward((x * x).sum())
    >>> x.grad
    array([2., 4.])
    """
    check_flags("backward", create_graph=create_graph)
    check_optional_flags("backward", retain_graph=retain_graph)
    seeds = _seeds("backward", outputs, gradients, create_graph)
    if not seeds:
        raise _no_grad_error("backward")
    nodes, leaves = walk_back([node for node, _ in seeds])
    this_pass = BackwardPass(create_graph, {*nodes, *leaves})
    cotangents = _run_quietly(this_pass, seeds, retain_graph)
    pairs = [(leaf.array(), cotangent) for leaf, cotangent in cotangents.items()]
    pairs = [(array, cotangent) for array, cotangent in pairs if array is not None and array.requires_grad]
    for (array, _), gradient in zip(pairs, _as_gradients(pairs, this_pass), strict=True):
        array.accumulate(gradient)


@np.errstate(all="ignore")
def _run_quietly(
    this_pass: BackwardPass, seeds: SourceCotangents, retain_graph: bool | None, result_nodes: Container[Any] = ()
) -> dict[Any, Any]:
    """Run a pass without warnings, recorded only if it can be differentiated. ``retain_graph=None``: if recorded."""
    retain_graph = this_pass.is_recorded if retain_graph is None else retain_graph
    with Mode(RECORDING if this_pass.is_recorded else OFF):
        return run_backward(this_pass, seeds, retain_graph=retain_graph, result_nodes=result_nodes)


def _as_gradients(pairs: Sequence[tuple[Array, Any]], this_pass: BackwardPass) -> list[Array | None]:
    """Apply the hooks of each leaf to its cotangent, once, and return the results, each in memory of its own.

    ``pairs`` has arrays and their cotangents, or None, which stays None. An array can occur twice.
    """
    with_hooks = {x: (x._hooks, g) for x, g in pairs if x._hooks and g is not None}
    hooked = {x: apply_hooks(hooks, g, this_pass) for x, (hooks, g) in with_hooks.items()}
    return [None if g is None else _in_own_memory(hooked.get(x, g), this_pass) for x, g in pairs]


def _in_own_memory(cotangent: Array, this_pass: BackwardPass) -> Array:
    """Return a cotangent; a copy if recorded, not contiguous or not writable, or if a caller can hold its memory."""
    if this_pass.is_recorded:
        return copy(cotangent)
    storages = this_pass.caller_storages
    if cotangent.storage in storages or not (cotangent.is_contiguous() and cotangent.is_writable()):
        return Array(get_backend(cotangent.device).copy(cotangent.data), cotangent.device)
    storages.add(cotangent.storage)
    return cotangent


def _no_grad_error(name: str) -> GradientError:
    return GradientError(
        f"{name}: no output requires grad. Give requires_grad=True to an array it is computed from, and do not compute "
        "inside no_grad()."
    )


def _seeds(name: str, outputs: Any, gradients: Any, create_graph: bool) -> SourceCotangents:
    """Return pairs of node and cotangent for the outputs that require grad."""
    arrays = flatten(outputs)[0]
    return [
        (node_or_leaf(array), checked_seed(name, array, gradient, create_graph, outputs))
        for array, gradient in zip(arrays, flatten_like(name, outputs, gradients), strict=True)
        if array.tracked
    ]


def checked_seed(name: str, output: Array, gradient: Array | None, create_graph: bool, outputs: Any) -> Array:
    """Return the cotangent of an output, cast to its dtype; raise unless floating, and of its shape and device."""
    if gradient is None:
        if output.numel() != 1:
            is_nested = getattr(outputs, "is_nested", False)
            form = f"is nested, of {output.numel()} elements" if is_nested else f"has shape {output.shape}"
            hints = {"grad": "pn.grad(y, x, pn.ones_like(y)), or pn.grad(y.sum(), x)", "vjp": "pn.ones_like(y)"}
            hint = hints.get(name, "y.backward(pn.ones_like(y)), or y.sum().backward()")
            raise GradientError(
                f"{name}: a gradient can be created implicitly only for an output of one element, this one {form}. "
                f"Give the gradient of what you want: {hint}."
            )
        return ones_like(output)
    if not is_float(gradient.dtype):
        raise GradientError(f"{name}: the gradient must be floating point, not {gradient.dtype}.")
    gradient = to_dtype(gradient if create_graph or not gradient.tracked else gradient.detach(), output.dtype)
    check_gradient(f"{name}: got", gradient, output.shape, output.dtype, output.device)
    return gradient


def ones_like(value: Array) -> Array:
    """Return ones of the shape and dtype of ``value``, on its device."""
    return Array(get_backend(value.device).xp.ones(value.shape, value.dtype), value.device)


@operator
def grad(
    outputs: Any,
    inputs: Any,
    gradients: Any = None,
    *,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    allow_unused: bool = False,
) -> Any:
    """Return the gradients of ``outputs`` with respect to ``inputs``, in the same containers as ``inputs``.

    Nothing is accumulated into the ``grad`` of a leaf. An entry of a container that is no array has the gradient None.

    Parameters
    ----------
    outputs, gradients, retain_graph, create_graph
        As in `backward`.
    inputs : array or container of arrays
        Leaves or results, each of which requires grad.
    allow_unused : bool
        Return None for an input that the outputs do not depend on, which is an error otherwise.

    Examples
    --------
    >>> x = pn.array(3.0, requires_grad=True)
    >>> slope = pn.grad(x * x * x, x, create_graph=True)
    >>> pn.grad(slope, x)
    array(18.)
    """
    check_flags("grad", create_graph=create_graph, allow_unused=allow_unused)
    check_optional_flags("grad", retain_graph=retain_graph)
    arrays, rebuild = flatten(inputs)
    if not arrays and not isinstance(inputs, tuple | list | dict):
        raise ArgumentError(f"grad: inputs must be arrays that require grad, not {named_type(inputs)}.")
    if callable(outputs):
        raise ArgumentError(
            f"grad: outputs are arrays, not the {type(outputs).__name__} that gives them: pn.grad(f(x), x). Functions "
            "are what pn.vjp, pn.jvp and pn.jacobian take."
        )
    nodes = [node_or_leaf(array) for array in arrays]
    if None in nodes:
        raise GradientError(f"grad: input {nodes.index(None)} does not require grad.")
    seeds = _seeds("grad", outputs, gradients, create_graph)
    if arrays and not seeds and not allow_unused:
        raise _no_grad_error("grad")
    this_pass = BackwardPass(create_graph, nodes_between([node for node, _ in seeds], nodes))
    cotangents = _run_quietly(this_pass, seeds, retain_graph, set(nodes))
    unused = [i for i, node in enumerate(nodes) if node not in cotangents]
    if unused and not allow_unused:
        raise GradientError(
            f"grad: input {unused[0]} was not used in the outputs. Give allow_unused=True to get None for it."
        )
    pairs = [(array, cotangents.get(node)) for array, node in zip(arrays, nodes, strict=True)]
    return without_constants(rebuild(_as_gradients(pairs, this_pass)))
