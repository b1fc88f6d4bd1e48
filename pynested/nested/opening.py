"""A nested array as the functions of `pynested.autograd` see it: its values, and where gradients of them lie."""

from __future__ import annotations

from typing import Any

from pynested.autograd import Array, register_container
from pynested.autograd.containers import Rebuild
from pynested.autograd.passes import ones_like
from pynested.autograd.rules import elementwise as of_elements
from pynested.backends.errors import StructureError
from pynested.backends.host import from_host, to_host
from pynested.components.packing import as_gradient, packed, placed_like

from .array import NestedArray, around, laid_out


def opened(x: NestedArray) -> tuple[list[Array], Rebuild]:
    """The values, and the way back to a nested array of this structure."""
    structure = x.structure
    return [x.data], lambda arrays: None if arrays[0] is None else laid_out(arrays[0], structure)


def cotangent(name: str, x: NestedArray, given: Any) -> list[Array]:
    """What arrives at the values of ``x``: places that several components show receive the sum, holes zero."""
    return [as_gradient(name, given, x)]


def tangent(name: str, x: NestedArray, given: Any) -> list[Array]:
    """Where the values of ``x`` move; a place that several components show moves only once, and a hole does not."""
    if not x.structure.overlapping:
        return cotangent(name, x, given)
    as_gradient(name, given, x)  # is nested and of this shape
    if given.data.shape != x.data.shape or not given.structure.same_placement(x.structure):
        raise StructureError(
            f"{name}: components of the primal overlap, so one place could move in two ways. Give a tangent that lies "
            "as the primal does: the same offsets, sizes and strides around other values."
        )
    (mask,) = shown(x)
    data = given.data
    return [data if mask is None else of_elements.where(data, data.dtype.type(0), from_host(mask, x.device))]


def shown(x: NestedArray) -> list[Any]:
    """Which values are no holes: those to which something comes that is sent to every component."""
    if x.structure.tiles:
        return [None]
    ones = around(ones_like(x.data), x.structure)
    mask = to_host(placed_like("holes", packed(ones), x).data) != 0
    return [None if mask.all() else mask]


register_container(NestedArray, opened, cotangent, tangent, shown)
