"""pynested itself as a target, in this process."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import pynested as pn
from pynested._version import __version__
from pynested.backends.cuda import emulated_kernels
from pynested.backends.errors import PynestedError
from pynested.spec.components import Components, stacked
from pynested.spec.encoding import Index

from ..messages import Message
from ..placements import PACKED, place_jagged, place_strided, ragged_dim
from .base import Operand, Place, Plain, PythonAdapter, Target
from .serve import serve

# The constructors that take a layout; the others have it from what they are given.
_WITH_LAYOUT = {"nested_array", "as_nested_array", "narrow"}


class PynestedTarget(Target):
    """The reference implementation, in both layouts."""

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
        runtime = str(emulated_kernels().launcher) if device == "emulated" else ""
        return {
            "name": "pynested",
            "version": __version__,
            "device": device,
            "runtime": runtime,
            "capabilities": {"programs": True},
        }

    def operand(self, value: Plain, place: Place, tracked: bool) -> Operand:
        """Build an array, or a nested array in the wanted layout and placement."""
        if isinstance(value, Components):
            built = self._nested(value, place.layout, place.placement)
        else:
            built = pn.array(value, device=self._device)
        built = built.requires_grad_() if tracked else built
        return Operand(built, lambda: None if built.grad is None else self.read(built.grad))

    def _nested(self, components: Components, layout: str, placement: str) -> Any:
        """Build a nested array; a packed one as anybody would, from the list of its components."""
        natural = layout == "strided" or ragged_dim(components) == ragged_dim(Components(components, dtype=np.int8))
        if placement == PACKED and components and natural:
            return pn.nested_array(list(components), layout=self._layouts[layout], device=self._device)
        regular = not components and components.shape.count(None) == 1  # sizes that no component has, but jagged values
        if layout == "strided" and not regular:
            placed = place_strided(components, placement)
            return pn.nested_array_from_strided(
                pn.array(placed.buffer, device=self._device), placed.sizes, placed.strides, placed.offsets
            )
        jagged = place_jagged(components, placement)
        values = pn.array(jagged.values, device=self._device)
        made = pn.nested_array_from_jagged(values, jagged.offsets, jagged.lengths, jagged_dim=jagged.ragged_dim)
        return made.to(layout=self._layouts[layout])

    def other(self, value: Any) -> Any:
        """Translate layouts, dtypes and indices."""
        if isinstance(value, Index):
            return value.items
        return self._layouts.get(value, value) if isinstance(value, str) else value

    def call(self, op: str, layout: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """Call the function of that name."""
        if op in _WITH_LAYOUT and "layout" not in kwargs:
            kwargs = {**kwargs, "layout": self._layouts[layout]}
        return self.function(op)(*args, **kwargs)

    def function(self, op: str) -> Callable[..., Any]:
        """Return what is called; `getitem` as people write it."""
        if op == "getitem":
            return operator.getitem
        if not hasattr(pn, op):
            raise NotImplementedError(f"pynested has no {op}")
        found: Callable[..., Any] = getattr(pn, op)
        return found

    def read(self, result: Any) -> Any:
        """Return an array as it is, a nested array as its components, and lists of them."""
        if isinstance(result, (list, tuple)):
            return [self.read(one) for one in result]
        if isinstance(result, pn.NestedArray):
            sizes = [result.regular_size(dim) for dim in range(result.ndim)]
            return Components((self.read(one) for one in result.unbind()), sizes, result.dtype)
        return result.detach().to("cpu").numpy() if isinstance(result, pn.Array) else result

    def backward(self, results: Sequence[Any], cotangents: Sequence[Plain]) -> None:
        """Pull each cotangent back from its result; one that is cut off from the operands has nothing to pull."""
        for result, cotangent in zip(results, cotangents, strict=True):
            if not result.requires_grad:
                continue
            if isinstance(result, pn.NestedArray):
                sizes = [result.regular_size(dim) for dim in range(result.ndim)]
                components = Components(cotangent, sizes, cotangent.dtype)
                seed = self._nested(components, result.layout.name, PACKED)
            else:
                dense = stacked(cotangent) if isinstance(cotangent, Components) else cotangent
                seed = pn.array(dense, device=self._device)
            result.backward(seed, retain_graph=True)


if __name__ == "__main__":
    serve(PythonAdapter(PynestedTarget()))
