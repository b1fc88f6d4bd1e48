"""Writes in place into nested arrays: the same, component by component, in the shared memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.array import raw
from pynested.backends import get_backend
from pynested.backends.errors import GradientError, StructureError
from pynested.lifting.mapping import map_elementwise
from pynested.nested.component_views import unbind_components
from pynested.nested.layout_conversion import as_dense, gather_elements, to_strided
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Index, check_devices
from pynested.nested.shape_comparison import check_same_shape
from pynested.operators.indexing import getitem

from . import of_dense
from .of_dense import held, instead, label, refuse_recorded, write_at, written_value


def overwrite(self: NestedArray, function: Callable[..., Any], *arguments: Any, **options: Any) -> None:
    """Write the result of the operator ``function`` into the array itself."""
    name = function.__name__
    _refuse(self, name, arguments)
    plain = [x.detach() if isinstance(x, NestedArray | Array) else x for x in arguments]
    _store(self, name, function(self.detach(), *plain, **options))


def write(self: NestedArray, name: str, value: Any) -> None:
    """Write ``value``, which broadcasts, into the array itself."""
    given = _given(name, value, self)
    _refuse(self, name, (given,))
    _store(self, name, map_elementwise(label(name), _second, self.detach(), given))


def assign(self: NestedArray, index: Index, value: Any) -> None:
    """Write ``value``, which broadcasts, to what ``index`` names, be it a view or not."""
    name = "assignment"
    given = _given(name, value, self)
    refuse_recorded(self, self.data, name, (given,))
    target = getitem(self.detach(), index)
    if isinstance(target, Array) and isinstance(given, NestedArray):
        given = as_dense(name, given)
    memory = target.data.storage if isinstance(target, NestedArray) else target.storage
    if memory is not self.data.storage:
        _store_at(self, name, index, given)
    elif isinstance(target, NestedArray):
        write(target, name, given)
    else:
        of_dense.write(target, name, given)


def _given(name: str, value: Any, self: NestedArray) -> Any:
    """``value`` as a nested or dense array on the device of ``self``; a number in its dtype."""
    if not isinstance(value, NestedArray):
        return written_value(name, value, self.data)
    check_devices(label(name), (self, value))
    return value


def _store_at(self: NestedArray, name: str, index: Index, value: Any) -> None:
    """Write where the same index of the elements' positions says that its elements lie."""
    _refuse_read_only(self, name)
    xp, data = get_backend(self.device).xp, self.data.data
    counted = Array(xp.arange(data.size, dtype=np.int64).reshape(data.shape), self.device)
    named = getitem(NestedArray(counted, self.structure), index)
    if isinstance(named, NestedArray):
        spread = map_elementwise(name, _second, named, value.detach())
        check_same_shape(name, named, spread)
        write_at(name, self.data, gather_elements(to_strided(named)), gather_elements(to_strided(spread)))
    else:
        write_at(name, self.data, named, value.detach())


def _second(x: Array, value: Any) -> Array:
    """``value`` for every element of ``x``, in memory of its own: components are written one after another.

    One that would stretch ``x`` keeps its shape, by which `_store` refuses it.
    """
    xp = get_backend(x.device).xp
    given = xp.asarray(raw(value))
    shape = np.broadcast_shapes(x.shape, given.shape)
    return Array(xp.array(xp.broadcast_to(given, shape), order="C"), x.device)


def _refuse(self: NestedArray, name: str, arguments: tuple[Any, ...]) -> None:
    refuse_recorded(self, self.data, name, arguments)
    _refuse_read_only(self, name)
    if self.structure.has_overlap:
        raise StructureError(
            f"{label(name)}: components overlap, so one place would be written twice; clone the array first."
        )


def _refuse_read_only(self: NestedArray, name: str) -> None:
    if not self.data.is_writable():
        raise GradientError(
            f"{label(name)}: the memory is read-only, as that of a gradient in a hook is. Use the functional form, "
            f"{instead(name)}, or clone the array first."
        )


def _store(self: NestedArray, name: str, result: Any) -> None:
    check_same_shape(label(name), self, result)
    structure, values = result.structure, held(label(name), result.data, self.dtype)
    if self.structure.is_packed and self.structure.same_placement(structure) and self.data.shape == result.data.shape:
        self.data.data[...] = values
    else:
        new = NestedArray(Array(values, self.device), structure)
        for place, component in zip(unbind_components(self.detach()), unbind_components(new), strict=True):
            place.data[...] = component.data
    self.data.storage.wrote()
