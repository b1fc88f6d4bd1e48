"""Trees of parameters: pairs of parameters and gradients, and the parameters of a module of PyTorch."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.call_errors import check_flags
from pynested.autograd.containers import Rebuild, flatten
from pynested.autograd.decorators import method
from pynested.backends.dtypes import is_float
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError, named_type
from pynested.interchange import from_torch
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import check_same_shape

_SAME = "Take the gradients of the same tree: pn.grad(loss, parameters)."


def tree_leaves(name: str, what: str, tree: Any, path: str = "") -> dict[str, Any]:
    """Return the arrays of a tree by their paths, as ``['layers'][0]``; what is no array is left out."""
    if isinstance(tree, Array | NestedArray):
        return {path: tree}
    if isinstance(tree, np.ndarray):
        raise ArgumentError(f"{name}: {what}{path} is an array of NumPy. Make one of ours of it: pn.array(x).")
    branches = tree if isinstance(tree, dict) else dict(enumerate(tree)) if isinstance(tree, list | tuple) else {}
    leaves: dict[str, Any] = {}
    for key, branch in branches.items():
        leaves |= tree_leaves(name, what, branch, f"{path}[{key!r}]")
    if not path and not leaves:
        raise ArgumentError(f"{name}: there is no array among the {what}.")
    return leaves


def matching_leaves(name: str, parameters: Any, gradients: Any) -> tuple[list[Array], list[Array], Rebuild]:
    """Return the arrays of the parameters, their gradients in the same order, and the way back to a tree."""
    leaves, slopes = tree_leaves(name, "parameters", parameters), tree_leaves(name, "gradients", gradients)
    for path in leaves | slopes:
        if path not in slopes:
            raise ArgumentError(f"{name}: parameters{path} has no gradient. {_SAME}")
        if path not in leaves:
            raise ArgumentError(f"{name}: gradients{path} has no parameter. {_SAME}")
        label, parameter, gradient = f"{name}: parameters{path}", leaves[path], slopes[path]
        if type(parameter) is not type(gradient):
            raise ArgumentError(f"{label} is {named_type(parameter)}, and its gradient {named_type(gradient)}. {_SAME}")
        if isinstance(parameter, NestedArray):
            check_same_shape(label, parameter, gradient)
            if not parameter.structure.same_placement(gradient.structure):
                raise StructureError(f"{label}: its gradient does not lie in memory as the parameter does. {_SAME}")
        elif parameter.shape != gradient.shape:
            raise ShapeError(f"{label} has shape {parameter.shape}, and its gradient {gradient.shape}. {_SAME}")
        if not is_float(parameter.dtype):
            raise DTypeError(
                f"{label} has dtype {parameter.dtype}, and steps are made of floats. Leave it out, or convert it: "
                "x.to(dtype=pn.float32)."
            )
    arrays, rebuild = flatten(parameters)
    return arrays, flatten([slopes[path] for path in leaves])[0], rebuild


@method
def from_state_dict(state: Mapping[str, Any], *, requires_grad: bool = True) -> dict[str, Array]:
    """Copy the parameters of a module of PyTorch, by their names: ``from_state_dict(module.state_dict())``.

    `pynested.transformer_encoder_layer` takes its weights by the same names. Parameters of floats require grad if
    ``requires_grad`` is true; integers never do. Errors: ArgumentError for an argument that is no mapping, and for a
    value that is no tensor, naming it. DTypeError for a dtype that pynested does not have, as bfloat16 on the CPU.
    MissingDependency if PyTorch is not installed.

    Examples
    --------
    >>> import torch  # doctest: +SKIP
    >>> weights = pn.training.from_state_dict(torch.nn.Linear(2, 1).state_dict())  # doctest: +SKIP
    >>> sorted(weights)  # doctest: +SKIP
    ['bias', 'weight']
    """
    check_flags("from_state_dict", requires_grad=requires_grad)
    if not isinstance(state, Mapping):
        raise ArgumentError(f"from_state_dict: takes what module.state_dict() gives, not {named_type(state)}.")
    arrays: dict[str, Array] = {}
    for name, tensor in state.items():
        if not hasattr(tensor, "detach"):
            raise ArgumentError(f"from_state_dict: {name!r} is {type(tensor).__name__}, not a tensor.")
        array = from_torch(tensor.detach(), copy=True)
        arrays[name] = array.requires_grad_(requires_grad and array.dtype.kind == "f")  # type: ignore[assignment]
    return arrays
