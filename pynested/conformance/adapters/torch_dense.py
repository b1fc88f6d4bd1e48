"""PyTorch's dense operators as a target: the call of a vector, made for each component on its own.

It tells whether a difference is one of PyTorch's nested tensors or of PyTorch. Where there are no components, one that
might have been there is asked, for what it refuses, and for its dtype. Calls that no dense operator can make component
by component, as those that join operands along dimension 0, are not implemented here.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from pynested.spec.encoding import Components
from pynested.spec.table import Operator, load_table

from ..kinds import is_of_dtypes
from ..messages import Message
from ..placements import Array
from ..spelling import OF_RESULT, defaults
from .base import Operand, Place, Target
from .torch_batch import OF_BATCH, Absent, Parts, gathered, joined
from .values import Plain

_CHAPTERS = {"elementwise", "comparison", "reduction", "normalization", "products", "scan", "attention"}
_OPERATORS = {"transpose", "unsqueeze", "unflatten", "select", "chunk", "split", "clone", "embedding"}
_OPERATORS |= {"to", "contiguous", "detach", "squeeze", "flatten", "permute", "cat", "stack", "reshape_as"}
_JOIN = {"equal", "allclose"}  # one answer about all components
_DIMS = {"dim", "dim0", "dim1", "dims", "start_dim", "end_dim"}
_WHOLE = {"weight", "bias"}  # the same for every component
_PLACES = {"argmax", "argmin"}  # of which an answer is a place in the batch

# Parameters that PyTorch takes by keyword, at whatever place the specification has them.
_BY_NAME = {"keepdim", "dtype", "alpha", "approximate", "correction", "training", "min", "max", "eps", "rounding_mode"}
_BY_NAME |= {"layout", "device", "attn_mask", "dropout_p", "is_causal", "scale", "enable_gqa"}

Call = Callable[..., Any]


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
            return Operand(tensor, lambda: None if tensor.grad is None else tensor.grad.numpy(force=True))
        tensors = [self._tensor(one, tracked) for one in value]

        def gradient() -> Components | None:
            zeros = self._torch.zeros_like
            found = [zeros(one) if one.grad is None else one.grad for one in tensors]
            return (
                None if all(one.grad is None for one in tensors) else Components(one.numpy(force=True) for one in found)
            )

        made = tensors or self._might_be(value)
        return Operand(Parts(made, value.shape), gradient)

    def _might_be(self, nothing: Components) -> Absent:
        """Return a component that a batch of none might have: of one row where the length is not known."""
        sizes = [1 if size is None else size for size in nothing.shape[1:]]
        return Absent([self._tensor(np.zeros(sizes, nothing.dtype), False)])

    def _tensor(self, array: Array, tracked: bool) -> Any:
        return self._torch.from_numpy(np.array(array, order="C")).requires_grad_(tracked)

    def other(self, value: Any) -> Any:
        """Translate what is no array, as for nested tensors."""
        return self._other(value)

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the operator for each component, and gather the results."""
        operator = load_table()[op]
        if op in OF_BATCH:
            return OF_BATCH[op](self._torch, *args, **kwargs)
        if (
            op in _JOIN or operator.chapter == "products"
        ):  # which looks at dtypes where there are elements, and only there
            self._takes(op, _named(operator, args, kwargs))
        if op in _JOIN or (operator.chapter not in _CHAPTERS and op not in _OPERATORS):
            raise NotImplementedError(f"{op} is not said component by component")
        given = _named(operator, args, kwargs)
        if op == "cat" and given.get("dim", 0) == 0:
            return joined(self._torch, given["arrays"])
        nested = [value for value in _flat(given.values()) if isinstance(value, Parts)]
        if not nested or not all(len(one.tensors) == len(nested[0].tensors) for one in nested):
            raise NotImplementedError("needs nested operands with as many components each")
        dims = nested[0].dims + (op in OF_RESULT)
        if operator.chapter == "reduction" and _joins(given.get("dim"), dims):
            return self._over_batch(op, given, dims)
        given |= _dims(operator, given, dims)
        count = len(nested[0].tensors)
        found = [self._one(op, given, number, count) for number in range(count)]
        absent = isinstance(nested[0].tensors, Absent)
        if isinstance(found[0], (list, tuple)):
            return [gathered(pieces, absent) for pieces in zip(*found, strict=True)]
        return gathered(found, absent)

    def _one(self, op: str, given: Mapping[str, Any], number: int, count: int) -> Any:
        """Call the operator for one component; what comes before the first keyword is given by position."""
        taken = {name: _component(name, value, number, count, given) for name, value in given.items()}
        if op == "bmm":
            return self._torch.bmm(*(value[None] for value in taken.values()))[0]
        return self._called(op, taken)

    def _called(self, op: str, taken: Mapping[str, Any]) -> Any:
        """Make the call; what is taken by name, or comes after a parameter that is left out, is given by name."""
        first = itertools.takewhile(lambda name: name in taken or name in _BY_NAME, load_table()[op].call.parameters)
        positional = [name for name in first if name in taken and name not in _BY_NAME]
        named = {name: value for name, value in taken.items() if name not in positional}
        return self._function(op)(*(taken[name] for name in positional), **named)

    def _takes(self, op: str, given: Mapping[str, Any]) -> None:
        """Raise what the operator raises where it does not take such arguments at all, as `prod` no tuple."""
        try:
            self._called(op, {name: _stand_in(value) for name, value in given.items()})
        except (RuntimeError, IndexError, ValueError) as error:
            if is_of_dtypes(str(error)):  # of all else it is the stand-in that is refused
                raise

    def _over_batch(self, op: str, given: Mapping[str, Any], dims: int) -> Any:
        """Reduce along dimension 0: the elements that are present at each place of the kept dimensions, as one row."""
        dim, parts = given.get("dim"), given["self"]
        reduced = range(dims) if dim is None else [one % dims for one in _tuple(dim) if -dims <= one < dims]
        if dim is not None and len(set(reduced)) < len(_tuple(dim)):
            self._takes(op, given)
            raise NotImplementedError("a dimension is out of range, or is there twice")
        along = {} if dim is None else {"dim": 0 if isinstance(dim, int) else (0,)}
        sizes = [1 if d in reduced else parts.size(d) for d in range(dims)]
        values = []
        for place in itertools.product(*map(range, sizes)):
            numbers, rows = parts.elements([slice(None) if d in reduced else place[d] for d in range(1, dims)])
            values.append(self._called(op, {**given, "self": self._torch.cat(rows), **along}).reshape(()))
            if op in _PLACES and dim is not None:
                values[-1] = self._torch.tensor(numbers)[values[-1]]
        if not values:  # one element says of which dtype they would be
            values = [self._called(op, {**given, "self": parts.tensors[0].new_ones(1), **along}).reshape(-1)[:0]]
        found = self._torch.stack(values)
        return found.reshape(sizes if given.get("keepdim") else [sizes[d] for d in range(dims) if d not in reduced])

    def read(self, result: Any) -> Any:
        """Return a tensor as an array, and parts as components."""
        if isinstance(result, (list, tuple)):
            return [self.read(one) for one in result]
        if isinstance(result, Parts):
            arrays = [self.read(one) for one in result.tensors]
            absent = isinstance(result.tensors, Absent)
            return Components([], result.shape, arrays[0].dtype) if absent else Components(arrays)
        return result.numpy(force=True) if isinstance(result, self._torch.Tensor) else result

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull the cotangent of each component back."""
        pairs: list[tuple[Any, Any]] = []
        for result, cotangent in zip(results, cotangents, strict=True):
            parts = result.tensors if isinstance(result, Parts) else [result]
            pulls = cotangent if isinstance(result, Parts) else [cotangent]
            pairs += [] if isinstance(parts, Absent) else zip(parts, pulls, strict=True)
        tracked = [(one, self._torch.from_numpy(np.array(pull))) for one, pull in pairs if one.requires_grad]
        if tracked:
            self._torch.autograd.backward(*zip(*tracked, strict=True))


def _stand_in(value: Any) -> Any:
    """Return a dense tensor of one element for an operand: with as many dimensions, and of its dtype."""
    one = value.tensors[0] if isinstance(value, Parts) and value.tensors else value
    dims = getattr(value, "dims", getattr(value, "ndim", None))
    return value if dims is None else one.new_ones([1] * dims)


def _flat(values: Any) -> list[Any]:
    return [one for value in values for one in (value if isinstance(value, (list, tuple)) else [value])]


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
    if isinstance(value, list):
        return [_component(name, one, number, count, given) for one in value]
    dims = max(one.dims for one in _flat(given.values()) if isinstance(one, Parts))
    if name in _WHOLE or not hasattr(value, "ndim") or value.ndim < dims:
        return value
    if value.ndim == dims and value.shape[0] == 0:  # as many rows as there are components: none
        return value.new_zeros(value.shape[1:])
    if value.ndim > dims or value.shape[0] not in (1, count):
        raise ValueError(f"{name} of shape {tuple(value.shape)} has no row for each of {count} components")
    return value[number if value.shape[0] == count else 0]


def _tuple(dim: Any) -> tuple[Any, ...]:
    return tuple(dim) if isinstance(dim, (list, tuple)) else (dim,)


def _joins(dim: Any, dims: int) -> bool:
    """Return whether a reduction goes over the components."""
    return dim is None or any(isinstance(one, int) and one in (0, -dims) for one in _tuple(dim))


def _dims(operator: Operator, given: Mapping[str, Any], dims: int) -> dict[str, Any]:
    """Return the dimensions among the arguments as a component counts them; what joins components is refused."""
    found = {name: given[name] for name in _DIMS & set(given)}
    left = _DIMS & set(operator.call.parameters) - set(given)
    if operator.name == "permute" and found["dims"][:1] == (0,):
        return {"dims": _shifted(found["dims"][1:], dims)}
    if operator.chapter == "movement" and any(defaults(operator)[name] in (0, None) for name in left):
        raise NotImplementedError("it is along dimension 0, or all of them, where none is given")
    return {name: _shifted(dim, dims) for name, dim in found.items()}


def _shifted(dim: Any, dims: int) -> Any:
    """Return a dimension as a component counts it; one that is out of range stays so."""
    if isinstance(dim, (list, tuple)):
        return tuple(_shifted(one, dims) for one in dim)
    if isinstance(dim, bool) or not isinstance(dim, int):
        return dim
    if dim in (0, -dims):
        raise NotImplementedError("dimension 0 is that of the components")
    return dim - 1 if dim > 0 else dim
