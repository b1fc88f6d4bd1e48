"""Writes in place: checked, carried out, counted."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np

from pynested.backends.errors import ArgumentError, DTypeError, GradientError, ShapeError
from pynested.backends.host import from_host

from ..array import UNRECORDED, Array
from ..rules.kinds import same_device
from ..tape import state
from .canonical import broadcast_shape, operand
from .comparison import scalar

Target = TypeVar("Target")  # an Array, or a class that only an Array will be of

_INSTEAD = {
    "copy": "x = source.clone()",
    "fill": "x = pn.full_like(x, value)",
    "zero": "x = pn.zeros_like(x)",
    "assignment": "x = pn.where(mask, value, x)",
}


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
    given = written_value(name, value, array)
    _refuse(array, name, (given,))
    _store(array, name, given)
    return self


def label(name: str) -> str:
    """How messages call the write ``name``: as its method, but for assignment, which is none."""
    return name if name == "assignment" else f"{name}_"


def written_value(name: str, value: Any, target: Array) -> Array:
    """What to write into ``target``, as an array on its device: numbers and lists are put there, arrays lie there."""
    whole = _listed(name, value, target.dtype) if isinstance(value, list | tuple) else value
    given = operand(name, whole, target.device)
    if type(given) is Array and not isinstance(value, list | tuple):
        if given.storage.device != target.storage.device:
            same_device(label(name), (target, given))
        return given
    values = given.data if type(given) is Array else np.asarray(scalar(label(name), given, target.dtype))
    return Array(from_host(values, target.device), target.device)


def _listed(name: str, value: Any, dtype: np.dtype[Any]) -> Any:
    """A list or tuple of numbers as a NumPy array, integers in the integer ``dtype`` they go to."""
    try:
        made = np.asarray(value)
    except ValueError as error:
        raise ArgumentError(
            f"{name}: a list with parts of different lengths is no array ({error}). Nest it first: "
            "pn.nested_array(value)."
        ) from None
    return np.asarray(value, dtype) if made.dtype.kind in "iu" and dtype.kind in "iu" else made


def unrecorded(name: str, what: str) -> GradientError:
    """The refusal of a write that gradients would not know of, with what to do instead."""
    return GradientError(
        f"{label(name)}: {what}, and a write in place would not be recorded. Use the functional form, {instead(name)}, "
        "or write inside pn.no_grad()."
    )


def instead(name: str) -> str:
    """The functional form of the write ``name``."""
    return _INSTEAD.get(name, f"x = x.{name}(...)")


def _refuse(self: Array, name: str, arguments: tuple[Any, ...]) -> None:
    recorded = [a for a in (self, *arguments) if type(a) is Array and a.requires_grad]
    if state.mode and recorded:
        what = "this array requires grad" if recorded[0] is self else "an operand requires grad"
        raise unrecorded(name, what)
    if state.mode and self.guard == UNRECORDED:
        raise unrecorded(name, "this array is a view, made inside no_grad, of one that requires grad")
    if not self.is_writable():
        raise GradientError(
            f"{label(name)}: the memory is read-only, as that of a gradient in a hook is, or its places repeat (a "
            f"broadcast view). Use the functional form, {instead(name)}, or clone the array first."
        )


def _store(self: Array, name: str, value: Array) -> None:
    if broadcast_shape(label(name), self.shape, value.shape) != self.shape:
        raise ShapeError(
            f"{label(name)}: a result of shape {value.shape} does not fit into an array of shape {self.shape}."
        )
    if not np.can_cast(value.dtype, self.dtype, "same_kind"):
        raise DTypeError(
            f"{label(name)}: a result of dtype {value.dtype} cannot be written into an array of dtype "
            f"{self.dtype} without loss."
        )
    with np.errstate(over="ignore"):
        self.data[...] = value.data
    self.storage.wrote()
