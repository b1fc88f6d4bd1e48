"""Writes in place: checked, carried out, counted."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from pynested.backends.errors import DTypeError, GradientError, ShapeError

from ..array import Array
from ..tape import state
from .canonical import as_array, broadcast_shape, operand
from .comparison import scalar

Target = TypeVar("Target")  # an Array, or a class that only an Array will be of


def overwrite(self: Target, name: str, *arguments: Any, **options: Any) -> Target:
    """Write the result of the operator ``name`` into the array itself."""
    from .. import dense

    array: Any = self
    _refuse(array, name, arguments)
    plain = [argument.detach() if type(argument) is Array else argument for argument in arguments]
    _store(array, name, getattr(dense, name)(array.detach(), *plain, **options))
    return self


def write(self: Target, name: str, value: Any) -> Target:
    """Write ``value``, which broadcasts, into the array itself."""
    array: Any = self
    _refuse(array, name, (value,))
    given = operand(name, value)
    _store(array, name, given if type(given) is Array else as_array(name, scalar(f"{name}_", given, array.dtype)))
    return self


def _refuse(self: Array, name: str, arguments: tuple[Any, ...]) -> None:
    recorded = [a for a in (self, *arguments) if type(a) is Array and a.requires_grad]
    if state.mode and recorded:
        what = "this array requires grad" if recorded[0] is self else "an operand requires grad"
        raise GradientError(
            f"{name}_: {what}, and a write in place would not be recorded. Use the functional form, x = x.{name}(...), "
            "or write inside pn.no_grad()."
        )
    if not self.data.flags.writeable:
        raise GradientError(
            f"{name}_: the memory is read-only, or its places repeat (a broadcast view); clone the array first."
        )


def _store(self: Array, name: str, value: Array) -> None:
    if broadcast_shape(f"{name}_", self.shape, value.shape) != self.shape:
        raise ShapeError(f"{name}_: a result of shape {value.shape} does not fit into an array of shape {self.shape}.")
    if not np.can_cast(value.dtype, self.dtype, "same_kind"):
        raise DTypeError(
            f"{name}_: a result of dtype {value.dtype} cannot be written into an array of dtype {self.dtype} without "
            "loss."
        )
    with np.errstate(over="ignore"):
        self.data[...] = value.data
    self.storage.wrote()
