"""Writes in place into nested arrays: checked, carried out in the shared memory, counted."""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.autograd import Array, is_grad_enabled
from pynested.autograd.array import raw
from pynested.autograd.dense.canonical import operand
from pynested.autograd.dense.comparison import scalar
from pynested.backends.errors import DTypeError, GradientError, StructureError
from pynested.mapping import elementwise
from pynested.nested_array import NestedArray
from pynested.packing import check_same_shape, unbound

from .. import operators


def overwrite(self: NestedArray, name: str, *arguments: Any) -> NestedArray:
    """Write the result of the operator ``name`` into the array itself."""
    _refuse(self, name, arguments)
    plain = [x.detach() if isinstance(x, NestedArray | Array) else x for x in arguments]
    return _store(self, name, getattr(operators, name)(self.detach(), *plain))


def write(self: Any, name: str, value: Any) -> Any:
    """Write ``value``, which broadcasts, into the array itself."""
    if type(self) is not NestedArray:
        return self.copy_(value)
    _refuse(self, name, (value,))
    given = value.detach() if isinstance(value, NestedArray) else operand(name, value)
    if not isinstance(given, NestedArray | Array):
        given = Array(np.asarray(scalar(f"{name}_", given, self.dtype)), self.device)
    return _store(self, name, elementwise(name, _second, self.detach(), given))


def _second(x: Array, value: Any) -> Array:
    """``value`` for every element of ``x``, in memory of its own: components are written one after another."""
    return Array(np.array(np.broadcast_to(raw(value), x.shape), order="C"))


def _refuse(self: NestedArray, name: str, arguments: tuple[Any, ...]) -> None:
    recorded = [x for x in (self, *arguments) if isinstance(x, NestedArray | Array) and x.requires_grad]
    if is_grad_enabled() and recorded:
        what = "this array requires grad" if recorded[0] is self else "an operand requires grad"
        raise GradientError(
            f"{name}_: {what}, and a write in place would not be recorded. Use the functional form, x = x.{name}(...), "
            "or write inside pn.no_grad()."
        )
    if not self.data.data.flags.writeable:
        raise GradientError(f"{name}_: the memory is read-only; clone the array first.")
    if self.structure.overlapping:
        raise StructureError(
            f"{name}_: components overlap, so one place would be written twice; clone the array first."
        )


def _store(self: NestedArray, name: str, result: Any) -> NestedArray:
    if type(result) is not NestedArray:
        raise StructureError(f"{name}_: the result is dense and cannot be written into a nested array.")
    check_same_shape(f"{name}_", self, result)
    if not np.can_cast(result.dtype, self.dtype, "same_kind"):
        raise DTypeError(f"{name}_: a result of dtype {result.dtype} cannot be written into {self.dtype} without loss.")
    if (
        self.structure.tiles
        and self.structure.same_placement(result.structure)
        and self.data.shape == result.data.shape
    ):
        self.data.data[...] = result.data.data
    else:
        for own, new in zip(unbound(self.detach()), unbound(result), strict=True):
            own.data[...] = new.data
    self.data.storage.wrote()
    return self
