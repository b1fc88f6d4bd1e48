"""Writes in place: checked, carried out, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, GradientError, PynestedError, ShapeError
from pynested.backends.host import from_host, written_to

from ..array import READ_ONLY, UNRECORDED, Array
from ..numbers import check_fits, scalar
from ..rules.functions import FUNCTIONS
from ..rules.kinds import same_device
from ..rules.pairs import PAIRS
from ..tape import state
from .canonical import as_array, numpy_array, operand, own_class
from .shapes import broadcast_shape

IN_PLACE = (  # what has such a method
    "add", "sub", "clamp", "neg", "abs", "relu", "masked_fill",
    *(name for name, one in FUNCTIONS.items() if one.dtypes != "bool"),
    *(name for name, one in PAIRS.items() if one.in_place),
)  # fmt: skip

Target = TypeVar("Target")  # an Array, or a class that only an Array will be of

_INSTEAD = {
    "copy": "x = source.clone()",
    "fill": "x = pn.full_like(x, value)",
    "zero": "x = pn.zeros_like(x)",
    "assignment": "x = pn.where(mask, value, x)",
}


def overwrite(self: Target, function: Callable[..., Array], *arguments: Any, **options: Any) -> Target:
    """Write the result of the operator ``function`` into the array itself."""
    array: Any = self
    name = function.__name__
    _refuse(array, name, arguments)
    plain = [argument.detach() if type(argument) is Array else argument for argument in arguments]
    _store(array, name, function(array.detach(), *plain, **options))
    return self


def write(self: Target, name: str, value: Any) -> Target:
    """Write ``value``, which broadcasts, into the array itself."""
    array: Any = self
    _store(array, name, checked_value(name, value, array))
    return self


def checked_value(name: str, value: Any, target: Array) -> Array:
    """What to write into ``target``, which may be written into."""
    given = written_value(name, value, target)
    _refuse(target, name, (given,))
    return given


def label(name: str) -> str:
    """How messages call the write ``name``: as its method, but for assignment, which is none."""
    return name if name == "assignment" else f"{name}_"


def written_value(name: str, value: Any, target: Array) -> Array:
    """What to write into ``target``, as an array on its device: numbers and lists are put there, arrays lie there."""
    if isinstance(value, list | tuple):
        listed = own_class(label(name), _listed(name, value))
        if not listed.size:  # which has no dtype to convert from
            listed = listed.astype(target.dtype)
        return Array(from_host(listed, target.device), target.device)
    given = operand(label(name), value, target.device)
    if type(given) is not Array:
        return as_array(label(name), scalar(label(name), given, target.dtype), target.device)
    if given.storage.device != target.storage.device:
        same_device(label(name), (target, given))
    return given


def _listed(name: str, value: Any) -> np.ndarray[Any, Any]:
    """A list or tuple of numbers as a NumPy array."""
    try:
        return numpy_array(label(name), value)
    except PynestedError:
        raise
    except ValueError as error:
        raise ArgumentError(
            f"{name}: a list with parts of different lengths is no array ({error}). Nest it first: "
            "pn.nested_array(value)."
        ) from None


def held(name: str, values: Array, dtype: np.dtype[Any]) -> Any:
    """The bare ``values`` in ``dtype``, which must be able to hold them; floats are rounded to a narrower one."""
    if values.dtype == dtype:
        return values.data
    check_fits(name, values.data, dtype)
    return get_backend(values.device).cast(values.data, dtype)


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
    if self.guard == READ_ONLY or written_to(self.data) is None:
        raise GradientError(
            f"{label(name)}: the memory is read-only, as that of a gradient in a hook is, or its places repeat (a "
            f"broadcast view). Use the functional form, {instead(name)}, or clone the array first."
        )


def _store(self: Array, name: str, value: Array) -> None:
    if broadcast_shape(label(name), self.shape, value.shape) != self.shape:
        raise ShapeError(
            f"{label(name)}: a result of shape {value.shape} does not fit into an array of shape {self.shape}."
        )
    written_to(self.data)[...] = held(label(name), value, self.dtype)
    self.storage.wrote()
