"""Writes in place into dense arrays: checked, carried out, counted."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.canonical import as_array, numpy_array, operand, own_class
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import READ_ONLY, UNRECORDED
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.numbers import check_fits, scalar
from pynested.autograd.rules.kinds import same_device
from pynested.autograd.tape import state
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, GradientError, PynestedError, ShapeError, StructureError
from pynested.backends.host import from_host, written_to
from pynested.operators.dense_indexing import without_bare_mask
from pynested.operators.index_arrays import has_arrays
from pynested.operators.indexing import getitem

_INSTEAD = {
    "copy": "x = source.clone()",
    "fill": "x = pn.full_like(x, value)",
    "zero": "x = pn.zeros_like(x)",
    "uniform": "x = pn.rand_like(x)",
    "normal": "x = pn.randn_like(x)",
    "assignment": "x = pn.where(mask, value, x)",
}


def overwrite(self: Array, function: Callable[..., Array], *arguments: Any, **options: Any) -> None:
    """Write the result of the operator ``function`` into the array itself."""
    name = function.__name__
    refuse_write(self, name, arguments)
    plain = [x.detach() if type(x) is Array else x for x in arguments]
    result: Any = function(self.detach(), *plain, **options)
    if type(result) is not Array:
        raise StructureError(f"{label(name)}: the result is nested and cannot be written into a dense array.")
    _store(self, name, result)


def write(self: Array, name: str, value: Any) -> None:
    """Write ``value``, which broadcasts, into the array itself."""
    given = written_value(name, value, self)
    refuse_write(self, name, (given,))
    _store(self, name, given)


def assign(self: Array, index: Any, value: Any) -> None:
    """Write ``value``, which broadcasts, to what ``index`` names, be it a view or not."""
    self, index = without_bare_mask(self, index)
    if not has_arrays(index):
        write(getitem(self, index), "assignment", value)
        return
    given = written_value("assignment", value, self)
    refuse_write(self, "assignment", (given,))
    xp = get_backend(self.device).xp
    counted = Array(xp.arange(self.numel(), dtype=np.int64).reshape(self.shape), self.device)
    write_at("assignment", self, getitem(counted, index), given)


def write_at(name: str, target: Array, where: Array, value: Array) -> None:
    """Write ``value``, which broadcasts, to the elements of ``target`` whose numbers in C order are ``where``."""
    if broadcast_shape(name, where.shape, value.shape) != where.shape:
        raise ShapeError(f"{name}: a value of shape {value.shape} does not fit into the shape {where.shape}.")
    xp = get_backend(target.device).xp
    if xp.unique(where.data).size != where.numel():
        raise StructureError(
            f"{name}: one place would be written twice, as components overlap, or the index names it twice; clone the "
            "array first, and name each place once."
        )
    written_to(target.data)[xp.unravel_index(where.data, target.shape)] = held(label(name), value, target.dtype)
    target.storage.wrote()


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
            f"{label(name)}: a list with parts of different lengths is no array ({error}). Nest it first: "
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


def refuse_recorded(self: Any, values: Array, name: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to write into ``self``, which holds ``values``, while recording what must not change."""
    if not state.mode:
        return
    arrays: list[Any] = [x for x in (self, *arguments) if isinstance(x, ArrayMethods)]
    recorded = [x for x in arrays if x.requires_grad]
    if recorded:
        what = "this array requires grad" if recorded[0] is self else "an operand requires grad"
        raise unrecorded(name, what)
    if values.guard == UNRECORDED:
        raise unrecorded(name, "this array is a view, made inside no_grad, of one that requires grad")


def refuse_write(self: Array, name: str, arguments: tuple[Any, ...]) -> None:
    """Refuse to write into ``self`` while recording what must not change, and into memory that is read-only."""
    refuse_recorded(self, self, name, arguments)
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
