"""Copies of chosen components, and of chosen elements of each component."""

from __future__ import annotations

import numpy as np

from pynested.autograd.rules import movement as moves
from pynested.backends import strided_index
from pynested.backends.errors import ArgumentError, StructureError
from pynested.backends.host import to_host
from pynested.nested.layout_conversion import (
    as_strided_parts,
    gather_elements,
    repacked,
    to_jagged,
    to_strided,
)
from pynested.nested.nested_array import NestedArray, wrap_unchecked
from pynested.nested.operands import check_devices
from pynested.nested.shape_comparison import first_difference, shape_text
from pynested.structure import Ints, Strided


def components_at(x: NestedArray, picks: Ints) -> NestedArray:
    """A copy of the components of these numbers, in their order."""
    return repacked(wrap_unchecked(x.data, x.structure.select_components(picks).structure))


def chosen_of(x: NestedArray, mask: NestedArray) -> NestedArray:
    """Of every component, ``component[mask]``: what stands where the mask holds, in C order, along one dimension."""
    check_devices("index", (x, mask))
    covered = mask.ndim - 1
    if mask.dtype != np.bool_:
        raise ArgumentError(f"index: a nested array in an index is a mask of bools, not of {mask.dtype}.")
    if not 0 < covered < x.ndim or len(mask) != len(x):
        raise StructureError(
            f"index: a mask of {mask.ndim} dimensions and {len(mask)} components picks from {x.ndim} dimensions and "
            f"{len(x)} components; it must have as many components, and 2 to {x.ndim} dimensions."
        )
    extents = x.extents
    found = first_difference(mask.extents, extents[:, :covered])
    if found:
        i = found[0]
        which = f"component {i}" if len(x) else "a component, if there were one,"
        raise StructureError(
            f"index: the mask has shape {shape_text(mask.extents[i])} at {which} of shape {shape_text(extents[i])}. It "
            f"must have the first {covered} sizes of every component."
        )
    holds = to_host(gather_elements(to_strided(mask.detach())).data)
    sizes = extents[: len(x)]
    numels, widths = sizes[:, :covered].prod(axis=1), sizes[:, covered:].prod(axis=1)
    ends = np.append(0, np.cumsum(holds))[np.append(0, np.cumsum(numels))]
    buffer, structure = as_strided_parts(x)
    places = strided_index(sizes, structure.strides, structure.offsets)
    values = moves.take_rows(buffer, places[np.repeat(holds, np.repeat(widths, numels))])
    counts = np.diff(ends) if len(x) else np.array([-1])
    chosen = NestedArray(values, Strided.from_extents(np.column_stack([counts, extents[:, covered:]]), len(x)))
    ragged = x.structure.ragged_dim
    return chosen if ragged is None or ragged > covered else to_jagged(chosen, 1)
