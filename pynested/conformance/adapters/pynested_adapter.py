"""pynested itself as a target, in this process."""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import pynested as pn
from pynested._version import __version__
from pynested.backends import get_backend
from pynested.backends.errors import PynestedError
from pynested.spec.components import Components, stacked
from pynested.spec.encoding import Index
from pynested.spec.programs import DENSE

from ..messages import Message
from ..placements import (
    APART,
    BARE,
    PACKED,
    Jagged,
    Strided,
    only_components,
    place_jagged,
    place_strided,
    ragged_dim,
    view,
)
from .base import Operand, Place, PythonAdapter, Target
from .functions_by_name import BY_NAME
from .serve import serve
from .values import Plain, in_brackets

# The constructors that take a layout; the others have it from what they are given.
_WITH_LAYOUT = {"nested_array", "as_nested_array", "narrow"}


class PynestedTarget(Target):
    """The reference implementation, in both layouts."""

    accumulates = True

    def __init__(self) -> None:
        self._layouts = {"jagged": pn.jagged, "strided": pn.strided}
        self._device = "cpu"

    def identity(self, device: str) -> Message:
        """Return name and version, or why the device cannot be used."""
        try:
            pn.array(np.zeros(1), device=device)
        except PynestedError as error:
            return {"unavailable": str(error)}
        self._device = device
        runtime = str(get_backend("emulated").launcher) if device == "emulated" else ""
        return {
            "name": "pynested",
            "version": __version__,
            "device": device,
            "runtime": runtime,
            "dialect": "pynested",
            "capabilities": {"programs": True},
        }

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build an array, or a nested array in the wanted layout and placement."""
        if not isinstance(value, Components):
            leaf = pn.array(value, device=self._device).requires_grad_(tracked)
            return Operand(leaf, lambda: None if leaf.grad is None else self.read(leaf.grad))
        if place.placement in (PACKED, APART) and _is_natural(value, place.layout):
            built = pn.nested_array(list(value), layout=self._layouts[place.layout], device=self._device)
        elif place.layout == "strided" and _sizes_are_known(value):
            return self._strided(value, place, tracked)
        else:
            return self._jagged(value, place, tracked)
        built = _sharing(built, place).requires_grad_(tracked)
        return Operand(built, lambda: None if built.grad is None else self.read(built.grad))

    def _strided(self, value: Components, place: Place, tracked: bool) -> Operand:
        """Build a nested array over a buffer that holds the components as the placement says."""
        placed = place.once(place_strided, value)
        leaf = pn.array(placed.whole, device=self._device).requires_grad_(tracked)
        parts = [placed.sizes] if place.placement == BARE else [placed.sizes, placed.strides, placed.offsets]
        built = pn.nested_array_from_strided(view(leaf, placed.steps), *parts)
        return Operand(_sharing(built, place), lambda: _gradient(leaf, placed, value))

    def _jagged(self, value: Components, place: Place, tracked: bool) -> Operand:
        """Build a nested array over values that hold the components as the placement says."""
        placed = place.once(place_jagged, value)
        leaf = pn.array(placed.whole, device=self._device).requires_grad_(tracked)
        values = view(leaf, placed.steps)
        made = pn.nested_array_from_jagged(values, placed.offsets, placed.lengths, jagged_dim=placed.ragged_dim)
        built = _sharing(made.to(layout=self._layouts[place.layout]), place)
        return Operand(built, lambda: _gradient(leaf, placed, value))

    def other(self, value: Any) -> Any:
        """Translate layouts, dtypes and indices."""
        if isinstance(value, Index):
            return in_brackets(value)
        return self._layouts.get(value, value) if isinstance(value, str) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the function of that name."""
        if op in _WITH_LAYOUT and "layout" not in kwargs:
            kwargs = {**kwargs, "layout": self._layouts[layout]}
        if op in DENSE:
            kwargs = {**kwargs, "device": self._device}
        return self.function(op)(*args, **kwargs)

    def function(self, op: str) -> Callable[..., Any]:
        """Return what is called; `getitem` as people write it, and functions of pairs by name."""
        if op == "getitem":
            return operator.getitem
        if op in BY_NAME:
            return BY_NAME[op]
        if not hasattr(pn, op):
            raise NotImplementedError(f"pynested has no {op}")
        found: Callable[..., Any] = getattr(pn, op)
        return found

    def read(self, result: Any) -> Any:
        """Return an array as it is, a nested array as its components, and lists of them."""
        if isinstance(result, Components):
            return result
        if isinstance(result, (list, tuple)):
            return [self.read(one) for one in result]
        if isinstance(result, pn.NestedArray):
            sizes = len(result), *result.regular_sizes
            return Components(map(self._host, result.detach().unbind()), sizes, result.dtype)
        return self._host(result.detach()) if isinstance(result, pn.Array) else result

    def _host(self, array: Any) -> Any:
        return (array if self._device == "cpu" else array.to("cpu")).numpy()

    def used(self, result: Any, read: Any) -> Iterator[tuple[str, Any]]:
        """Yield a nested result as padding shows it, and beside an array of its shape that is made apart."""
        if not isinstance(result, pn.NestedArray):
            return
        padded = self.read(pn.to_padded_array(result, 0))
        yield "to_padded_array", [row[tuple(map(slice, one.shape))] for row, one in zip(padded, read, strict=True)]
        beside = self.operand(read, Place(result.layout.name, APART), False).value.to(device=result.device)
        chosen = pn.where(pn.eq(result, beside), beside, result)  # which rounds nothing, and flushes nothing on a GPU
        yield "where", self.read(chosen)

    def pushed(self, call: Callable[..., Any], operands: Sequence[Operand], tangents: Sequence[Plain]) -> Any:
        """Read the tape forwards."""
        values = [one.value for one in operands]
        packed = (Place(one.layout.name if isinstance(one, pn.NestedArray) else "", PACKED) for one in values)
        along = (self.operand(*pair, False).value for pair in zip(tangents, packed, strict=True))
        return self.read(pn.jvp(call, tuple(values), tuple(along))[1])

    def pull_to(self, array: Any, result: Any, cotangent: Any) -> Any:
        """Pull back with a graph of the pass."""
        return pn.grad(result, array, cotangent, create_graph=True, allow_unused=True)

    def push(self, call: Callable[[Any], Any], array: Any, tangent: Any) -> Any:
        """Read the tape of the call forwards."""
        return pn.jvp(call, (array,), (tangent,))[1]

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull each cotangent back from its result; one that is cut off from the operands has nothing to pull."""
        for result, cotangent in zip(results, cotangents, strict=True):
            if not result.requires_grad:
                continue
            if isinstance(result, pn.NestedArray):
                sizes = len(result), *result.regular_sizes
                components = Components(cotangent, sizes, cotangent.dtype)
                seed = self.operand(components, Place(result.layout.name, PACKED), False).value
            else:
                dense = stacked(cotangent) if isinstance(cotangent, Components) else cotangent
                seed = pn.array(dense, device=self._device)
            result.backward(seed, retain_graph=True)


def _is_natural(components: Components, layout: str) -> bool:
    """Return whether the list of components says all that is to be known of them."""
    alone = Components(components, dtype=components.dtype)
    return bool(components) and (layout == "strided" or ragged_dim(components) == ragged_dim(alone))


def _sizes_are_known(components: Components) -> bool:
    """Return whether sizes say it all; those of no components do not, but jagged values have them."""
    return bool(components) or components.shape.count(None) != 1


def _sharing(built: Any, place: Place) -> Any:
    """Return the array with the structure of an earlier operand that is equal, unless it is to have its own."""
    if place.placement == APART:
        return built
    structures = place.shared.setdefault("structures", [])
    own: tuple[Any, ...] = built.structure.__reduce__() if structures else ()
    for other in structures:
        kind, fields = other.__reduce__()
        if kind is own[0] and all(map(np.array_equal, fields, own[1])):
            return pn.NestedArray(built.data, other)
    structures.append(built.structure)
    return built


def _gradient(leaf: Any, placed: Jagged | Strided, value: Components) -> Components | None:
    """Return what came to the components in the gradient of the whole leaf; nothing may have come to the rest."""
    if leaf.grad is None:
        return None
    return Components(only_components(placed, leaf.grad.to("cpu").numpy()), value.shape, value.dtype)


if __name__ == "__main__":
    serve(PythonAdapter(PynestedTarget()))
