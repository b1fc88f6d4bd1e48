"""Operators that keep the shape and work along one dimension: each run along it is a segment of rows, or of an axis."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import canonical_dim
from pynested.autograd.rules import movement as moves
from pynested.backends import Segments
from pynested.backends.errors import DimensionError
from pynested.nested.array import NestedArray, around
from pynested.structure import Jagged, Strided

from .packing import as_jagged_view, contiguous, gathered, in_strided_again, inverse, lead, packed
from .shapes import named_instead

OverRuns = Callable[[Array, Segments], Array]
OverAxis = Callable[[Array, int], Array]


def along(name: str, x: NestedArray, dim: int, over_runs: OverRuns, over_axis: OverAxis) -> NestedArray:
    """The operator ``name`` on each run of ``x`` along ``dim``, any but the batch: packed, in the layout of ``x``.

    ``over_runs(rows, segments)`` works on each segment of rows (N, ...), ``over_axis(values, axis)`` along an axis of
    values; both return an array of the shape that they are given. The ragged dimension of the jagged layout is brought
    first where it does not lead, and its runs are segments of rows. A strided array whose memory can be seen as rows is
    taken for jagged; of any other the dimension is brought last, and every run is a segment of the flat buffer.
    """
    at = canonical_dim(name, dim, x.ndim)
    if not at:
        raise DimensionError(
            f"{name}: dimension 0 is the batch dimension, along which components have nothing in common. "
            f"{named_instead(x.ndim)}"
        )
    structure = x.structure
    if isinstance(structure, Strided):
        if structure.packed.jagged_view is None:
            return _along_buffer(x, structure, at - 1, over_runs)
        rows = as_jagged_view(contiguous(x))
        assert rows is not None
        return in_strided_again(along(name, rows, at, over_runs, over_axis).data, structure.packed)
    if not structure.tiles:
        return along(name, packed(x), at, over_runs, over_axis)
    return around(_along_values(x.data, structure, at - 1, over_runs, over_axis), structure)


def _along_values(values: Array, structure: Jagged, axis: int, over_runs: OverRuns, over_axis: OverAxis) -> Array:
    if axis != structure.ragged_dim - 1:
        return over_axis(values, axis)
    if axis == 0:
        return over_runs(values, structure.segments)
    order = lead(axis, values.ndim)
    return moves.transpose(over_runs(moves.transpose(values, order), structure.segments), inverse(order)).contiguous()


def _along_buffer(x: NestedArray, structure: Strided, axis: int, over_runs: OverRuns) -> NestedArray:
    order = [k for k in range(x.ndim - 1) if k != axis] + [axis]
    lengths = structure.sizes[:, axis]
    runs = np.where(lengths > 0, structure.sizes[:, order[:-1]].prod(axis=1, dtype=np.int64), 0)
    flat = over_runs(gathered(x, order), Segments.from_lengths(np.repeat(lengths, runs)))
    turned = Strided.of_packed(structure.outline[:, order], structure.count)
    return contiguous(around(flat, turned.with_axes(inverse(order))))


def over_last(x: NestedArray, sizes: tuple[int, ...], function: Callable[[Array], Array]) -> NestedArray:
    """``function`` of the values of ``x``, whose last dimensions have ``sizes``: (..., *sizes) -> (..., *others).

    It may change these dimensions, and how many they are, and no others. The values are packed.
    """
    x = packed(x)
    structure = x.structure
    if isinstance(structure, Jagged):
        return around(function(x.data), structure)
    kept = structure.outline[:, : structure.outline.shape[1] - len(sizes)]
    rows = int(kept[: structure.count].prod(axis=1).sum())
    values = function(moves.reshape(gathered(x), (rows, *sizes)))
    others = np.broadcast_to(np.array(values.shape[1:], np.int64), (len(kept), values.ndim - 1))
    outline = np.concatenate([kept, others], axis=1)
    return around(moves.reshape(values, (values.numel(),)), Strided.of_packed(outline, structure.count))
