"""Views of nested arrays: what the values become when their structure does, in each layout; and the components."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from pynested.autograd import Array
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import views
from pynested.nested.array import NestedArray, around
from pynested.structure import WHOLE, Jagged, Part, Strided, Structure

from .packing import along


def viewed(x: NestedArray, structure: Structure, view: Callable[..., Array], *how: Any) -> NestedArray:
    """``x`` seen with another ``structure``: jagged values are ``view(values, *how)``, a strided buffer stays."""
    return around(moves.alias(x.data) if isinstance(structure, Strided) else view(x.data, *how), structure)


def taken(x: NestedArray, part: Part) -> NestedArray:
    """What a ``part`` of its structure leaves of ``x``: a view, or a copy where the part names places."""
    structure, axis, entries = part
    if isinstance(entries, np.ndarray):
        return around(along(x.data, axis, entries), structure)
    if entries is WHOLE:
        return around(moves.alias(x.data), structure)
    return around(moves.slice_(x.data, (WHOLE,) * axis + (entries,)), structure)


def picked(x: NestedArray, picks: slice) -> NestedArray:
    """The components that ``picks`` names, as a view."""
    return taken(x, x.structure.picked(picks))


def sliced(x: NestedArray, dim: int, part: slice) -> NestedArray:
    """The entries along ``dim`` (canonical, not the batch) that ``part`` names in each component."""
    return x if part == WHOLE else taken(x, x.structure.sliced(dim - 1, part))


def stretched(x: NestedArray, sizes: Mapping[int, int]) -> NestedArray:
    """``x`` with axes of size 1 repeated, as a view; ``sizes`` are the new ones, by the axis of components."""
    structure = x.structure
    if isinstance(structure, Jagged):
        shape = tuple(sizes.get(axis, size) for axis, size in enumerate(x.data.shape))
        return around(moves.broadcast_to(x.data, shape), structure)
    outline, strides = structure.outline.copy(), structure.strides.copy()
    for axis, size in sizes.items():
        outline[:, axis], strides[:, axis] = size, 0
    offsets = np.where((outline[: len(x)] > 0).all(axis=1), structure.offsets, 0)
    return taken(x, Part(Strided.derived(outline, strides, offsets, structure.buffer_size)))


def component(x: NestedArray, i: int) -> Array:
    """Component ``i`` (canonical), as a view."""
    structure = x.structure
    if isinstance(structure, Jagged):
        start, length = int(structure.offsets[i]), int(structure.component_lengths[i])
        before = (WHOLE,) * (structure.ragged_dim - 1)
        return moves.slice_(x.data, (*before, slice(start, start + length)))
    one = slice(i, i + 1)
    return views.components(x.data, structure.sizes[one], structure.strides[one], structure.offsets[one])[0]  # type: ignore[no-any-return]


def component_data(x: NestedArray, i: int) -> Any:
    """The values of component ``i``, as the array module sees them."""
    return component(NestedArray(x.data.detach(), x.structure), i).data


def unbound(x: NestedArray) -> tuple[Array, ...]:
    """All components, as views."""
    structure = x.structure
    if not structure.count:
        return ()
    if isinstance(structure, Jagged):
        starts, lengths = structure.offsets[:-1].tolist(), structure.component_lengths.tolist()
        return views.pieces(x.data, structure.ragged_dim - 1, tuple(starts), tuple(lengths))  # type: ignore[no-any-return]
    return views.components(x.data, structure.sizes, structure.strides, structure.offsets)  # type: ignore[no-any-return]
