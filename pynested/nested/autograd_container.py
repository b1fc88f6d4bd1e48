"""`NestedArray` as a container of arrays for `pynested.autograd`: its values, and gradients in their placement.

Importing this module registers the class, so that `grad`, `vjp`, `jvp` and the other functions of `pynested.autograd`
accept nested arrays.
"""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array, register_container
from pynested.autograd.backward import ones_like
from pynested.autograd.containers import Rebuild
from pynested.autograd.primitives import binary
from pynested.backends.errors import StructureError

from .layout_conversion import as_gradient, place_like
from .nested_array import NestedArray, wrap_unchecked, wrap_values


def flatten_nested(x: NestedArray) -> tuple[list[Array], Rebuild]:
    """Return the values, and a function that wraps new values in the structure of ``x``."""
    structure = x.structure
    return [x.data], lambda arrays: None if arrays[0] is None else wrap_values(arrays[0], structure)


def cotangent_values(name: str, x: NestedArray, cotangent: Any) -> list[Array]:
    """Return a nested cotangent of ``x`` as a cotangent of its values: 0 in gaps, a sum where components overlap."""
    return [as_gradient(name, cotangent, x)]


def tangent_values(name: str, x: NestedArray, tangent: Any) -> list[Array]:
    """Return a nested tangent, or gradient, of ``x`` as an array that lies as the values of ``x``, zero in gaps.

    If components of ``x`` overlap, the tangent must have the same placement, so that shared elements count once.
    """
    if not x.structure.has_overlap:
        return cotangent_values(name, x, tangent)
    as_gradient(name, tangent, x)  # raises unless the tangent is nested and has the shape of x
    if tangent.data.shape != x.data.shape or not tangent.structure.same_placement(x.structure):
        raise StructureError(
            f"{name}: components of the array overlap, so one of its elements could get two values. Give a tangent or "
            "gradient with the structure of the array: the same offsets, sizes and strides."
        )
    data = tangent.data
    num_components_of_value = place_like(name, wrap_unchecked(ones_like(data), x.structure), x)
    return [binary.where(data, data.dtype.type(0), num_components_of_value.data != 0)]


register_container(NestedArray, flatten_nested, cotangent_values, tangent_values)
