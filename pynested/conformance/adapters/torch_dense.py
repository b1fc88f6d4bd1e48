"""PyTorch's dense operators as a target: the call of a vector, made for each component on its own.

It tells whether a difference is one of PyTorch's nested tensors or of PyTorch. Calls that no dense operator can make
component by component, as those that join components, are not implemented here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from pynested.spec.encoding import Components
from pynested.spec.table import Operator, load_table

from ..messages import Message
from ..placements import Array
from .base import Operand, Place, Target
from .values import Plain

_CHAPTERS = {"elementwise", "comparison", "reduction", "normalization", "products", "scan"}
_OPERATORS = {"transpose", "unsqueeze", "unflatten", "select", "chunk", "split", "clone", "embedding"}
_JOIN = {"equal", "allclose"}  # one answer about all components
_DIMS = ("dim", "dim0", "dim1")
_WHOLE = {"weight", "bias"}  # the same for every component

Call = Callable[..., Any]


@dataclass(frozen=True)
class Parts:
    """The components of one operand, each a dense tensor of its own."""

    tensors: Sequence[Any]
    dims: int  # with the batch


class DenseTorch(Target):
    """The dense operators of PyTorch."""

    def __init__(self, torch: Any, function: Callable[[str], Call], other: Callable[[Any], Any]) -> None:
        self._torch, self._function, self._other = torch, function, other

    def identity(self, device: str) -> Message:
        """Return the name; it is the nested target that is started."""
        return {"name": "torch", "version": str(self._torch.__version__), "device": device}

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build a tensor for an array, or for each component."""
        if not isinstance(value, Components):
            tensor = self._tensor(value, tracked)
            return Operand(tensor, lambda: None if tensor.grad is None else tensor.grad.numpy())
        tensors = [self._tensor(one, tracked) for one in value]

        def gradient() -> Components | None:
            zeros = self._torch.zeros_like
            found = [zeros(one) if one.grad is None else one.grad for one in tensors]
            return None if all(one.grad is None for one in tensors) else Components(one.numpy() for one in found)

        return Operand(Parts(tensors, len(value.shape)), gradient)

    def _tensor(self, array: Array, tracked: bool) -> Any:
        return self._torch.from_numpy(np.array(array, order="C")).requires_grad_(tracked)

    def other(self, value: Any) -> Any:
        """Translate what is no array, as for nested tensors."""
        return self._other(value)

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the operator for each component, and gather the results."""
        operator = load_table()[op]
        if op in _JOIN or (operator.chapter not in _CHAPTERS and op not in _OPERATORS):
            raise NotImplementedError(f"{op} is not said component by component")
        given = _named(operator, args, kwargs)
        nested = [value for value in given.values() if isinstance(value, Parts)]
        if not nested or not all(len(one.tensors) == len(nested[0].tensors) for one in nested):
            raise NotImplementedError("needs nested operands with as many components each")
        if not nested[0].tensors:
            raise NotImplementedError("no component says what shape there would be")
        dims = nested[0].dims + (op == "unsqueeze")
        if operator.chapter == "reduction" and _joins(given.get("dim"), dims):
            return self._of_all(op, given, dims)
        for name in _DIMS:
            if name in given:
                given[name] = _shifted(given[name], dims)
        count = len(nested[0].tensors)
        found = [self._one(op, operator, given, number, count) for number in range(count)]
        if isinstance(found[0], (list, tuple)):
            return [Parts(pieces, dims) for pieces in zip(*found, strict=True)]
        return Parts(found, found[0].ndim + 1)

    def _one(self, op: str, operator: Operator, given: Mapping[str, Any], number: int, count: int) -> Any:
        """Call the operator for one component; what comes before the first keyword is given by position."""
        taken = {name: _component(name, value, number, count, given) for name, value in given.items()}
        if op == "bmm":
            return self._torch.bmm(*(value[None] for value in taken.values()))[0]
        names = [name for name in operator.call.parameters if name in taken]
        return self._called(op, taken, names)

    def _called(self, op: str, taken: Mapping[str, Any], names: Sequence[str]) -> Any:
        positional = [taken[name] for name in names if name not in _BY_NAME]
        return self._function(op)(*positional, **{name: taken[name] for name in names if name in _BY_NAME})

    def _of_all(self, op: str, given: Mapping[str, Any], dims: int) -> Any:
        """Reduce everything at once: the elements of all components in one row."""
        covered = given.get("dim") is None or len({one % dims for one in _tuple(given["dim"])}) == dims
        if not covered or given.get("keepdim"):
            raise NotImplementedError("joins components along dimension 0")
        row = self._torch.cat([one.reshape(-1) for one in given["self"].tensors])
        names = [name for name in given if name in _BY_NAME - {"keepdim"}]
        return self._called(op, {**given, "self": row}, ["self", *names])

    def read(self, result: Any) -> Any:
        """Return a tensor as an array, and parts as components."""
        if isinstance(result, (list, tuple)):
            return [self.read(one) for one in result]
        if isinstance(result, Parts):
            return Components(self.read(one) for one in result.tensors)
        return result.detach().numpy() if isinstance(result, self._torch.Tensor) else result

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull the cotangent of each component back."""
        pairs: list[tuple[Any, Any]] = []
        for result, cotangent in zip(results, cotangents, strict=True):
            whole = not isinstance(result, Parts)
            pairs += [(result, cotangent)] if whole else zip(result.tensors, cotangent, strict=True)
        tracked = [(one, self._torch.from_numpy(np.array(pull))) for one, pull in pairs if one.requires_grad]
        if tracked:
            self._torch.autograd.backward(*zip(*tracked, strict=True))


# Parameters that PyTorch takes by keyword, at whatever place the specification has them.
_BY_NAME = {"keepdim", "dtype", "alpha", "approximate", "correction", "training", "min", "max", "eps", "rounding_mode"}


def _named(operator: Operator, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments by the names of the table; too many are refused as by any function."""
    names = list(operator.call.parameters)
    if len(args) > len(names):
        raise TypeError(f"{operator.name}() takes {len(names)} arguments, but {len(args)} were given")
    return {**dict(zip(names, args, strict=False)), **kwargs}


def _component(name: str, value: Any, number: int, count: int, given: Mapping[str, Any]) -> Any:
    """Return what one component has of an argument: its own part, or its row of a dense one with a batch."""
    if isinstance(value, Parts):
        return value.tensors[number]
    dims = max(one.dims for one in given.values() if isinstance(one, Parts))
    if name in _WHOLE or not hasattr(value, "ndim") or value.ndim < dims:
        return value
    if value.ndim > dims or value.shape[0] not in (1, count):
        raise ValueError(f"{name} of shape {tuple(value.shape)} has no row for each of {count} components")
    return value[number if value.shape[0] == count else 0]


def _tuple(dim: Any) -> tuple[Any, ...]:
    return tuple(dim) if isinstance(dim, (list, tuple)) else (dim,)


def _joins(dim: Any, dims: int) -> bool:
    """Return whether a reduction goes over the components."""
    return dim is None or any(isinstance(one, int) and one in (0, -dims) for one in _tuple(dim))


def _shifted(dim: Any, dims: int) -> Any:
    """Return a dimension as a component counts it; one that is out of range stays so."""
    if isinstance(dim, (list, tuple)):
        return tuple(_shifted(one, dims) for one in dim)
    if isinstance(dim, bool) or not isinstance(dim, int):
        return dim
    if dim in (0, -dims):
        raise NotImplementedError("dimension 0 is that of the components")
    return dim - 1 if dim > 0 else dim
