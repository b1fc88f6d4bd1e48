"""Writes in place into dense and nested arrays: ``x[index] = value``, ``x.fill_(value)``, ``x.add_(y)``.

Every write is checked first: a write that should be recorded, into read-only memory, or twice into one element, is
refused. Then the new values are converted to the dtype of the array and stored in the memory of the array, the
*target*. If a recorded operation needs the overwritten values, its derivative raises GradientError. Methods call three
functions: `write_value` stores new values, `write_result` stores the result of an operator, and `setitem` writes to the
elements of an index.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.operands import as_array, as_operand, checked_ndarray, numpy_array
from pynested.autograd.arguments.scalars import check_fits, checked_scalar
from pynested.autograd.arguments.shapes import broadcast_shape
from pynested.autograd.array import NO_GRAD_ONLY, READ_ONLY, raw
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


def write_result(target: Target, function: Callable[..., Any], *arguments: Any, **options: Any) -> Target:
    """Write ``function(target, *arguments, **options)`` into ``target``, and return ``target``."""
    name = f"{function.__name__}_"
    try:
        check_write(target, name, (*arguments, *options.values()))
        _store(target, name, function(target, *arguments, **options))  # nothing that the check accepts is recorded
    except (PynestedError, OverflowError) as error:
        text = str(error)
        if text.startswith(f"{function.__name__}:"):  # name add_ instead of add
            error.args = (name + text.removeprefix(function.__name__),)
        raise
    return target


def write_value(target: Target, name: str, value: Any) -> Target:
    """Write ``value``, which broadcasts, into ``target``, and return ``target``. Error messages begin with ``name``."""
    new_value = _operand_to_write(name, value, target)
    check_write(target, name, (new_value,))
    if isinstance(target, NestedArray):
        new_value = map_elementwise(name, _broadcast_copy, target.detach(), new_value)
    _store(target, name, new_value)
    return target


@method
def setitem(target: Any, index: Index, value: Any) -> None:
    """Write ``value``, which broadcasts, to the elements ``target[index]``."""
    if type(target) is NestedArray:
        _setitem_nested(target, index, value)
    else:
        _setitem_dense(target, index, value)


def _setitem_dense(target: Array, index: Any, value: Any) -> None:
    target, index = without_scalar_mask(target, index)
    if not has_arrays(index):
        write_value(getitem(target, index), "assignment", value)
        return
    new_value = _operand_to_write("assignment", value, target)
    check_write(target, "assignment", (new_value,))
    _write_at_positions(target, "assignment", getitem(_element_positions(target), index), new_value)


def _setitem_nested(target: NestedArray, index: Index, value: Any) -> None:
    name = "assignment"
    new_value = _operand_to_write(name, value, target)
    _refuse_recorded(target, target.data, name, (new_value,))
    selected_view = getitem(target.detach(), index)
    if isinstance(selected_view, Array) and isinstance(new_value, NestedArray):
        new_value = as_dense(name, new_value)
    memory = selected_view.data.storage if isinstance(selected_view, NestedArray) else selected_view.storage
    if memory is target.data.storage:
        write_value(selected_view, name, new_value)
    else:
        _write_to_copied_elements(target, name, index, new_value)


def _write_to_copied_elements(target: NestedArray, name: str, index: Index, value: Any) -> None:
    """Write to the elements of an index for which `getitem` returns a copy.

    The same index of an array of positions selects the positions to write to.
    """
    if not target.data.is_writable():
        raise _read_only_error(name)
    selected = getitem(NestedArray(_element_positions(target.data), target.structure), index)
    if isinstance(selected, NestedArray):
        full_value = map_elementwise(name, _broadcast_copy, selected, value.detach())
        check_same_shape(name, selected, full_value)
        _write_at_positions(
            target.data, name, gather_elements(to_strided(selected)), gather_elements(to_strided(full_value))
        )
    else:
        _write_at_positions(target.data, name, selected, value.detach())


def _element_positions(x: Array) -> Array:
    """Return the position in C order of each element of ``x``."""
    return Array(get_backend(x.device).xp.arange(x.numel(), dtype=np.int64).reshape(x.shape), x.device)


# ---- checks ---------------------------------------------------------------------------------------------------------


def check_write(target: Any, name: str, arguments: tuple[Any, ...]) -> None:
    """Raise an error if ``target`` must not be written to."""
    if isinstance(target, NestedArray):
        _refuse_recorded(target, target.data, name, arguments)
        if not target.data.is_writable():
            raise _read_only_error(name)
        if target.structure.has_overlap:
            raise StructureError(
                f"{name}: components overlap, so an element would be written twice. Clone the array first."
            )
        return
    _refuse_recorded(target, target, name, arguments)
    if target.write_guard == READ_ONLY or writable_view(target.data) is None:
        raise _read_only_error(name)


def _read_only_error(name: str) -> GradientError:
    return GradientError(
        f"{name}: the memory is read-only, like a gradient in a hook, or its elements repeat, like a "
        f"broadcast view. Use the functional form, {_functional_form(name)}, or clone the array first."
    )


def _refuse_recorded(target: Any, values: Array, name: str, arguments: tuple[Any, ...]) -> None:
    """Raise GradientError if a write into ``values``, the memory of ``target``, should be recorded.

    That is so if recording is on, and ``target`` or an argument requires grad or is a view of an array that does.
    """
    if not grad_mode.value:
        return
    arrays: list[Any] = [x for x in (target, *arguments) if isinstance(x, ArrayMethods)]
    arrays_with_grad = [x for x in arrays if x.requires_grad]
    if arrays_with_grad:
        reason = "this array requires grad" if arrays_with_grad[0] is target else "an operand requires grad"
    elif values.write_guard == NO_GRAD_ONLY:
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


def _operand_to_write(name: str, value: Any, target: Any) -> Any:
    """Return ``value`` as a nested or dense array on the device of ``target``. Arrays must lie there already."""
    if isinstance(value, list | tuple):
        listed = checked_ndarray(name, _list_to_numpy(name, value))
        if not listed.size:  # NumPy makes an empty list float64, which the dtype of the target may not represent
            listed = listed.astype(target.dtype)
        return Array(from_host(listed, target.device), target.device)
    is_nested = isinstance(target, NestedArray) and isinstance(value, NestedArray)
    operand = value if is_nested else as_operand(name, value, target.device)
    if not isinstance(operand, Array | NestedArray):
        return as_array(name, checked_scalar(name, operand, target.dtype), target.device)
    check_devices(name, (target, operand))
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

    The components of ``x`` are written one after another, so ``value`` must not share their memory. A value larger than
    ``x`` is not cut; `_store_nested` refuses it.
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


def _store(target: Any, name: str, result: Any) -> None:
    """Write ``result`` into the memory of ``target``."""
    if isinstance(target, NestedArray):
        _store_nested(target, name, result)
    elif type(result) is Array:
        _store_dense(target, name, result)
    else:
        raise StructureError(f"{name}: the result is nested and cannot be written into a dense array.")


def _store_dense(target: Array, name: str, value: Array) -> None:
    if broadcast_shape(name, target.shape, value.shape) != target.shape:
        raise ShapeError(f"{name}: a result of shape {value.shape} does not fit into an array of shape {target.shape}.")
    writable_view(target.data)[...] = in_target_dtype(name, value, target.dtype)
    target.storage.count_write()


def _store_nested(target: NestedArray, name: str, result: Any) -> None:
    check_same_shape(name, target, result)
    structure, values = result.structure, in_target_dtype(name, result.data, target.dtype)
    same_placement = target.structure.is_packed and target.structure.same_placement(structure)
    if same_placement and target.data.shape == result.data.shape:
        target.data.data[...] = values
    else:
        new_values = NestedArray(Array(values, target.device), structure)
        target_components = unbind_components(target.detach())
        for component, new_component in zip(target_components, unbind_components(new_values), strict=True):
            component.data[...] = new_component.data
    target.data.storage.count_write()


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
