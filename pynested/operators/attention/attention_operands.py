"""Checks of the arguments of attention: dtypes, devices, the scale, and sizes that must fit each other."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from pynested.autograd.arguments.operands import as_operand, device_of
from pynested.autograd.arguments.scalars import canonical_number, nearest_float, value_text
from pynested.backends.dtypes import is_float, promoted
from pynested.backends.errors import ArgumentError, DTypeError, ShapeError, StructureError
from pynested.lifting.result_dtypes import not_float_error
from pynested.nested.layout_conversion import structure_of_slices
from pynested.nested.nested_array import NestedArray
from pynested.nested.shape_comparison import first_difference, shape_text
from pynested.structure import Ints

MASK = "attn_mask"
NAMES = ("query", "key", "value", MASK)


# ---- arrays ---------------------------------------------------------------------------------------------------------


def as_arrays(op: str, operands: list[Any]) -> list[Any]:
    """Return operands as arrays or numbers, on the device of the first nested operand if there is one."""
    device = next((x.device for x in operands if type(x) is NestedArray), None) or device_of(*operands)
    return [x if type(x) is NestedArray else as_operand(op, x, device) for x in operands]


def checked_scale(op: str, scale: Any) -> float | None:
    """Return the scale as a float, or None; raise unless it is finite."""
    if scale is None:
        return None
    number = canonical_number(op, "scale", scale)
    if type(number) is bool or not math.isfinite(nearest_float(number)):
        raise ArgumentError(f"{op}: scale must be a finite number, not {value_text(number)}.")
    return float(number)


# ---- sizes ----------------------------------------------------------------------------------------------------------


class AttentionOperand(NamedTuple):
    """An argument of attention, nested or dense, without its elements.

    ``sizes`` has the size along each dimension, None for an irregular dimension. ``structure`` has the components; it
    is None for a dense argument until their number is known. ``ragged_dim`` is None unless the argument is jagged.
    ``op`` and ``name`` are the names of the operator and of the argument, for error messages.
    """

    op: str
    name: str
    is_nested: bool
    sizes: tuple[int | None, ...]
    dtype: np.dtype[Any]
    ragged_dim: int | None
    structure: Any  # Strided

    @property
    def extents(self) -> Ints:
        """The shape of each component."""
        return self.structure.extents  # type: ignore[no-any-return]

    @property
    def broadcasts(self) -> NDArray[np.bool_]:
        """Whether each axis of the components can broadcast, because all have size 1 along it."""
        return np.array([size == 1 for size in self.sizes[1:]], np.bool_)


def common_dtype(operands: tuple[AttentionOperand, ...]) -> np.dtype[Any]:
    """Return the dtype to which floats promote; raise for dtypes that do not fit."""
    for operand in operands:
        if is_float(operand.dtype):
            continue
        if operand.name != MASK:
            raise not_float_error(operand.op, operand.dtype)
        if operand.dtype != np.bool_:
            raise DTypeError(
                f"{operand.op}: attn_mask is {operand.dtype}; it must be bool, true where a key takes part, or floats, "
                "which are added to the scores. Compare it, such as mask != 0."
            )
    return promoted(*[operand.dtype for operand in operands if is_float(operand.dtype)])


def with_components(operands: tuple[AttentionOperand, ...]) -> tuple[list[AttentionOperand], bool]:
    """Return operands of equal numbers of dimensions and components, and whether their first dimension is a batch.

    A dense operand has a slice for each component, or is the same for all. If all are dense and have at most three
    dimensions, they are one component.
    """
    nested = [operand for operand in operands if operand.is_nested]
    if nested:
        count, rank = nested[0].sizes[0], len(nested[0].sizes)
    else:
        rank = max(2, *[len(operand.sizes) for operand in operands[:3]])
        count = next((x.sizes[0] for x in operands if len(x.sizes) == rank > 3 and x.sizes[0] != 1), 1)
    has_batch = bool(nested) or rank > 3
    for operand in nested:
        _check_nested(operand, rank, count)
    return [x if x.is_nested else _with_slices(x, rank, count, has_batch) for x in operands], has_batch


def _check_nested(operand: AttentionOperand, rank: int, count: int | None) -> None:
    """Raise unless a nested operand has ``rank`` dimensions and ``count`` components, which are matrices."""
    op, name, _, sizes, *_ = operand
    if len(sizes) < 3:
        raise StructureError(
            f"{op}: the components of {name} have {len(sizes) - 1} dimensions; they must be matrices at least. Use "
            "unsqueeze."
        )
    for unit, expected, number in ("dimensions", rank, len(sizes)), ("components", count, sizes[0]):
        if number != expected:
            raise StructureError(
                f"{op}: nested operands have {expected} and {number} {unit}; the numbers must be equal."
            )
    if name != MASK and sizes[-1] is None:
        raise StructureError(f"{op}: dimension {rank - 1} of {name}, the last one, is irregular; it must be regular.")


def _with_slices(operand: AttentionOperand, rank: int, count: Any, has_batch: bool) -> AttentionOperand:
    """Return a dense operand with the structure of its slices; raise unless it has ``count`` slices, or one for all."""
    op, name, _, sizes, *_ = operand
    least, dims = 0 if name == MASK else 2, len(sizes)
    if not least <= dims <= rank or (has_batch and dims == rank and sizes[0] not in (1, count)):
        batch_rule = f"; if it has {rank}, the first size must be {count} (components) or 1" if has_batch else ""
        raise ShapeError(
            f"{op}: {name} has shape {sizes}; if it is dense, it must have from {least} to {rank} dimensions"
            f"{batch_rule}."
        )
    shape: Any = (1,) * (rank + (not has_batch) - dims) + sizes
    return operand._replace(sizes=shape, structure=structure_of_slices(shape, count))


def misfit_error(text: str, component: int, *operands: AttentionOperand) -> StructureError | ShapeError:
    """Return the error for operands that do not fit each other: a ShapeError if any of them is dense."""
    error_class = StructureError if all(operand.is_nested for operand in operands) else ShapeError
    has_components = any(operand.is_nested and operand.sizes[0] for operand in operands)
    return error_class(f"{operands[0].op}: {f'at component {component}, ' if has_components else ''}{text}.")


def check_sizes(a: AttentionOperand, b: AttentionOperand, axes: slice, rule: str, broadcast: bool = False) -> None:
    """Raise unless two operands have equal sizes along some axes; with ``broadcast``, a regular size of 1 fits, too."""
    sizes = np.where(a.broadcasts | b.broadcasts, -1, a.extents) if broadcast else a.extents
    difference = first_difference(sizes[:, axes], b.extents[:, axes])
    if difference:
        i = difference[0]
        shapes = f"{a.name} has shape {shape_text(a.extents[i])} and {b.name} {shape_text(b.extents[i])}"
        raise misfit_error(f"{shapes}; {rule}", i, a, b)


def check_groups(query: AttentionOperand, key: AttentionOperand, value: AttentionOperand) -> None:
    """Raise unless keys and values have equal numbers of heads, and queries a multiple of it, in each component."""
    if query.extents.shape[1] < 3:
        raise StructureError(f"{query.op}: enable_gqa=True needs a dimension of heads before the matrices.")
    check_sizes(key, value, slice(-3, -2), "their numbers of heads must be equal")
    heads, key_heads = query.extents[:, -3:-2], key.extents[:, -3:-2]
    difference = first_difference(heads, heads // np.maximum(key_heads, 1) * key_heads)
    if difference:
        numbers = (
            f"the {heads[difference]} heads of query must be a multiple of the {key_heads[difference]} heads of key"
        )
        raise misfit_error(numbers, difference[0], query, key)
