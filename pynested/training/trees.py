"""Trees of arrays: parameters, their gradients, and what a step remembers of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from pynested.autograd import Array, no_grad
from pynested.autograd.arguments.containers import flatten
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError, named_type
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import check_same_shape

Rebuild = Callable[[Sequence[Any]], Any]
_SAME = "Take the gradients of the same tree: pn.grad(loss, parameters)."


def opened(name: str, parameters: Any, gradients: Any) -> tuple[list[Array], list[Array], Rebuild]:
    """The arrays of parameters and of their gradients, one for one, and the way back to a tree."""
    arrays, rebuild = arrays_of(name, "parameters", parameters)
    slopes = flatten(_in_order(name, parameters, gradients))[0]
    if len(slopes) != len(arrays):
        raise ArgumentError(f"{name}: there are {len(arrays)} parameters and {len(slopes)} gradients. {_SAME}")
    for i, (array, slope) in enumerate(zip(arrays, slopes, strict=True)):
        if array.shape != slope.shape:
            raise ShapeError(f"{name}: parameter {i} has shape {array.shape}, and its gradient {slope.shape}.")
        if not is_float(array.dtype):
            raise DTypeError(
                f"{name}: parameter {i} has dtype {array.dtype}, and steps are made of floats. Leave it out, or "
                "convert it: x.to(dtype=pn.float32)."
            )
    return arrays, slopes, rebuild


def arrays_of(name: str, what: str, tree: Any) -> tuple[list[Array], Rebuild]:
    """The arrays of a tree, at least one, and the way back; NumPy's, which would be left as they are, are refused."""
    _refuse_numpy(name, what, tree)
    arrays, rebuild = flatten(tree)
    if not arrays:
        raise ArgumentError(f"{name}: there is no array among the {what}.")
    return arrays, rebuild


def _refuse_numpy(name: str, what: str, tree: Any) -> None:
    if isinstance(tree, np.ndarray):
        raise ArgumentError(f"{name}: an array of NumPy is among the {what}. Make one of ours of it: pn.array(x).")
    if isinstance(tree, dict | list | tuple):
        for one in tree.values() if isinstance(tree, dict) else tree:
            _refuse_numpy(name, what, one)


def _in_order(name: str, parameters: Any, gradients: Any) -> Any:
    """The gradients in the order of the parameters, beside which they stand by their names and places."""
    if isinstance(parameters, dict) and isinstance(gradients, dict):
        alone = [
            *(key for key in parameters if key not in gradients),
            *(key for key in gradients if key not in parameters),
        ]
        if alone:
            where = "parameter without a gradient" if alone[0] in parameters else "gradient without a parameter"
            raise ArgumentError(f"{name}: {alone[0]!r} is a {where}. {_SAME}")
        return {key: _in_order(name, one, gradients[key]) for key, one in parameters.items()}
    if isinstance(parameters, list | tuple) and isinstance(gradients, list | tuple):
        if len(parameters) != len(gradients):
            raise ArgumentError(
                f"{name}: there are {len(parameters)} parameters and {len(gradients)} gradients. {_SAME}"
            )
        return [_in_order(name, one, slope) for one, slope in zip(parameters, gradients, strict=True)]
    kind = next((kind for kind in (dict, list | tuple, Array, NestedArray) if isinstance(parameters, kind)), None)
    if kind is None:
        return gradients  # of what is no array, or of a class of its own, which is opened by whoever knows it
    if not isinstance(gradients, kind):
        raise ArgumentError(
            f"{name}: {named_type(parameters)} is among the parameters where {named_type(gradients)} is among the "
            f"gradients. {_SAME}"
        )
    if isinstance(parameters, NestedArray) and isinstance(gradients, NestedArray):
        check_same_shape(name, parameters, gradients)
        if not parameters.structure.same_placement(gradients.structure):
            raise StructureError(f"{name}: a gradient does not lie in memory as its parameter does. {_SAME}")
    return gradients


def stepped(arrays: Sequence[Array], step: Callable[[int, Array], Array]) -> list[Array]:
    """What ``step`` makes of each parameter: new leaves that require grad where the old ones did."""
    with no_grad():
        made = [step(i, array.detach()) for i, array in enumerate(arrays)]
    for new, old in zip(made, arrays, strict=True):
        new.requires_grad_(old.requires_grad)
    return made
