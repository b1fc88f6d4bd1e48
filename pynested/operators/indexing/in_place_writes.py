"""Writes in place into dense and nested arrays: ``x[index] = value``, ``x.fill_(value)``, ``x.add_(y)``.

Every write is checked first. It must not change values that a recorded operation needs, it must not change read-only
memory, and it must not write an element twice. Then the new values are converted to the dtype of the array and stored
in the memory of the array. Methods call three functions: `write` stores new values, `overwrite` stores the result of an
operator, and `assign` writes by an index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, as_operand, as_plain_ndarray, numpy_array
from pynested.autograd.arguments.scalars import check_fits, checked_scalar
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import READ_ONLY, UNRECORDED, raw
from pynested.autograd.array_methods import ArrayMethods
from pynested.autograd.decorators import method
from pynested.autograd.tape import grad_mode
from pynested.backends import get_backend
from pynested.backends.errors import ArgumentError, GradientError, PynestedError, ShapeError, StructureError
from pynested.backends.host import from_host
from pynested.backends.repeating_views import writable_view
from pynested.lifting.mapping import map_elementwise
from pynested.nested.component_views import unbind_components
from pynested.nested.layout_conversion import as_dense, gather_elements, to_strided
from pynested.nested.nested_array import NestedArray
from pynested.nested.operands import Index, check_devices
from pynested.nested.shape_comparison import check_same_shape

from .getitem import getitem, without_scalar_mask
from .index_parsing import has_arrays

Target = TypeVar("Target")  # an Array or a NestedArray

_FUNCTIONAL_FORMS = {
    "copy_": "x = source.clone()",
    "fill_": "x = pn.full_like(x, value)",
    "zero_": "x = pn.zeros_like(x)",
    "uniform_": "x = pn.rand_like(x)",
    "normal_": "x = pn.randn_like(x)",
    "assignment": "x = pn.where(mask, value, x)",
}


def overwrite(self: Target, function: Callable[..., Any], *arguments: Any, **options: Any) -> Target:
    """Write ``function(self, *arguments, **options)`` into ``self``, and return ``self``."""
    name = f"{function.__name__}_"
    try:
        check_write(self, name, arguments)
        detached = [x.detach() if isinstance(x, NestedArray | Array) else x for x in arguments]
        _store(self, name, function(self.detach(), *detached, **options))  # type: ignore[attr-defined]
    except (PynestedError, OverflowError) as error:
        text = str(error)
        if text.startswith(f"{function.__name__}:"):  # name the method in place instead of the operator
            error.args = (name + text.removeprefix(function.__name__),)
        raise
    return self


def write(self: Target, name: str, value: Any) -> Target:
    """Write ``value``, which broadcasts, into ``self``, and return ``self``. ``name`` is the method, for errors."""
    new_value = _operand_to_write(name, value, self)
    check_write(self, name, (new_value,))
    if isinstance(self, NestedArray):
        new_value = map_elementwise(name, _broadcast_copy, self.detach(), new_value)
    _store(self, name, new_value)
    return self


@method
def assign(self: Any, index: Index, value: Any) -> None:
    """Write ``value``, which broadcasts, to the elements ``self[index]``."""
    if type(self) is NestedArray:
        _assign_nested(self, index, value)
    else:
        _assign_dense(self, index, value)


def _assign_dense(self: Array, index: Any, value: Any) -> None:
    self, index = without_scalar_mask(self, index)
    if not has_arrays(index):
        write(getitem(self, index), "assignment", value)
        return
    new_value = _operand_to_write("assignment", value, self)
    check_write(self, "assignment", (new_value,))
    _write_at_positions(self, "assignment", getitem(_element_positions(self), index), new_value)


def _assign_nested(self: NestedArray, index: Index, value: Any) -> None:
    name = "assignment"
    new_value = _operand_to_write(name, value, self)
    _refuse_recorded(self, self.data, name, (new_value,))
    target = getitem(self.detach(), index)
    if isinstance(target, Array) and isinstance(new_value, NestedArray):
        new_value = as_dense(name, new_value)
    memory = target.data.storage if isinstance(target, NestedArray) else target.storage
    if memory is self.data.storage:
        write(target, name, new_value)
    else:
        _write_to_copied_elements(self, name, index, new_value)


def _write_to_copied_elements(self: NestedArray, name: str, index: Index, value: Any) -> None:
    """Write to the elements of an index for which `getitem` copies: index the positions of all elements instead."""
    if not self.data.is_writable():
        raise _read_only_error(name)
    selected = getitem(NestedArray(_element_positions(self.data), self.structure), index)
    if isinstance(selected, NestedArray):
        full_value = map_elementwise(name, _broadcast_copy, selected, value.detach())
        check_same_shape(name, selected, full_value)
        _write_at_positions(
            self.data, name, gather_elements(to_strided(selected)), gather_elements(to_strided(full_value))
        )
    else:
        _write_at_positions(self.data, name, selected, value.detach())


def _element_positions(x: Array) -> Array:
    """Return the position in C order of each element of ``x``."""
    xp = get_backend(x.device).xp
    return Array(xp.arange(x.numel(), dtype=np.int64).reshape(x.shape), x.device)


# ---- checks ---------------------------------------------------------------------------------------------------------


def check_write(self: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Raise an error if ``self`` must not be written to."""
    if isinstance(self, NestedArray):
        _refuse_recorded(self, self.data, name, arguments)
        if not self.data.is_writable():
            raise _read_only_error(name)
        if self.structure.has_overlap:
            raise StructureError(
                f"{name}: components overlap, so an element would be written twice. Clone the array first."
            )
        return
    _refuse_recorded(self, self, name, arguments)
    if self.guard == READ_ONLY or writable_view(self.data) is None:
        raise _read_only_error(name)


def _read_only_error(name: str) -> GradientError:
    return GradientError(
        f"{name}: the memory is read-only, like a gradient in a hook, or its elements repeat, like a "
        f"broadcast view. Use the functional form, {_functional_form(name)}, or clone the array first."
    )


def _refuse_recorded(self: Any, values: Array, name: str, arguments: tuple[Any, ...]) -> None:
    """Raise GradientError if recording is on and ``self``, which holds ``values``, or an argument requires grad."""
    if not grad_mode.current:
        return
    arrays: list[Any] = [x for x in (self, *arguments) if isinstance(x, ArrayMethods)]
    arrays_with_grad = [x for x in arrays if x.requires_grad]
    if arrays_with_grad:
        reason = "this array requires grad" if arrays_with_grad[0] is self else "an operand requires grad"
    elif values.guard == UNRECORDED:
        reason = "this array is a view, made inside no_grad, of an array that requires grad"
    else:
        return
    raise GradientError(
        f"{name}: {reason}, and a write in place would not be recorded. Use the functional form, "
        f"{_functional_form(name)}, or write inside pn.no_grad()."
    )


def _functional_form(name: str) -> str:
    """Return an expression that computes the result of a write without writing."""
    return _FUNCTIONAL_FORMS.get(name, f"x = x.{name.removesuffix('_')}(...)")


# ---- values to write ------------------------------------------------------------------------------------------------


def _operand_to_write(name: str, value: Any, self: Any) -> Any:
    """Return ``value`` as a nested or dense array on the device of ``self``. Arrays must lie there already."""
    if isinstance(value, list | tuple):
        listed = as_plain_ndarray(name, _list_to_numpy(name, value))
        if not listed.size:  # NumPy makes an empty list float64, which the dtype of the target may not represent
            listed = listed.astype(self.dtype)
        return Array(from_host(listed, self.device), self.device)
    is_nested = isinstance(self, NestedArray) and isinstance(value, NestedArray)
    operand = value if is_nested else as_operand(name, value, self.device)
    if not isinstance(operand, Array | NestedArray):
        return as_array(name, checked_scalar(name, operand, self.dtype), self.device)
    check_devices(name, (self, operand))
    return operand


def _list_to_numpy(name: str, value: Any) -> np.ndarray[Any, Any]:
    try:
        return numpy_array(name, value)
    except PynestedError:
        raise
    except ValueError as error:
        raise ArgumentError(
            f"{name}: a list with parts of different lengths is not an array ({error}). Nest it first: "
            "pn.nested_array(value)."
        ) from None


def _broadcast_copy(x: Array, value: Any) -> Array:
    """Return a copy of ``value``, broadcast to ``x``.

    The components of ``x`` are written one after another, so ``value`` must not share their memory. A value with a
    larger shape than ``x`` keeps its shape, and `_store_nested` raises an error.
    """
    xp = get_backend(x.device).xp
    raw_value = xp.asarray(raw(value))
    shape = np.broadcast_shapes(x.shape, raw_value.shape)
    return Array(xp.array(xp.broadcast_to(raw_value, shape), order="C"), x.device)


# ---- stores ---------------------------------------------------------------------------------------------------------


def in_target_dtype(name: str, values: Array, dtype: np.dtype[Any]) -> Any:
    """Return the raw ``values`` in ``dtype``, which must be able to represent them; floats are rounded."""
    if values.dtype == dtype:
        return values.data
    check_fits(name, values.data, dtype)
    return get_backend(values.device).cast(values.data, dtype)


def _store(self: Any, name: str, result: Any) -> None:
    """Write ``result`` into the memory of ``self``."""
    if isinstance(self, NestedArray):
        _store_nested(self, name, result)
    elif type(result) is Array:
        _store_dense(self, name, result)
    else:
        raise StructureError(f"{name}: the result is nested and cannot be written into a dense array.")


def _store_dense(self: Array, name: str, value: Array) -> None:
    if broadcast_shape(name, self.shape, value.shape) != self.shape:
        raise ShapeError(f"{name}: a result of shape {value.shape} does not fit into an array of shape {self.shape}.")
    writable_view(self.data)[...] = in_target_dtype(name, value, self.dtype)
    self.storage.count_write()


def _store_nested(self: NestedArray, name: str, result: Any) -> None:
    check_same_shape(name, self, result)
    structure, values = result.structure, in_target_dtype(name, result.data, self.dtype)
    if self.structure.is_packed and self.structure.same_placement(structure) and self.data.shape == result.data.shape:
        self.data.data[...] = values
    else:
        new_values = NestedArray(Array(values, self.device), structure)
        for target, component in zip(unbind_components(self.detach()), unbind_components(new_values), strict=True):
            target.data[...] = component.data
    self.data.storage.count_write()


def _write_at_positions(target: Array, name: str, positions: Array, value: Array) -> None:
    """Write ``value``, which broadcasts, to the elements of ``target`` at the C-order positions ``positions``."""
    if broadcast_shape(name, positions.shape, value.shape) != positions.shape:
        raise ShapeError(f"{name}: a value of shape {value.shape} does not fit into the shape {positions.shape}.")
    xp = get_backend(target.device).xp
    if xp.unique(positions.data).size != positions.numel():
        raise StructureError(
            f"{name}: an element would be written twice, as components overlap or the index names it twice. Clone the "
            "array first, and name each element once."
        )
    raw_values = in_target_dtype(name, value, target.dtype)
    writable_view(target.data)[xp.unravel_index(positions.data, target.shape)] = raw_values
    target.storage.count_write()
