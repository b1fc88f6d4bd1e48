"""How the dimensions of a nested array are reduced, whatever the operator: as axes of rows, or as segments of them."""

from __future__ import annotations

from math import prod

import numpy as np

from pynested.autograd import Array
from pynested.autograd.arguments.shapes import possible_shape
from pynested.autograd.rules import movement as moves
from pynested.autograd.rules import reduction as of_axes
from pynested.autograd.rules.movement import to_dtype
from pynested.backends import Segments, strided_index
from pynested.backends.host import from_host
from pynested.nested.array import NestedArray
from pynested.nested.operands import Dims, DType, Joined, Operand
from pynested.structure import Ints, Jagged, Strided
from pynested.tables.entries import Reduction
from pynested.tables.reductions import REDUCTIONS

from .packing import as_jagged_view, gathered, in_strided_again, lead, packed, to_strided
from .shapes import describe


def reduced(
    name: str, self: Operand, dim: Dims, keepdim: bool, dtype: DType | None = None, *, correction: float | None = None
) -> Joined:
    """Return the reduction ``name`` of an operand, dense or nested, over ``dim``."""
    how = REDUCTIONS[name] if correction is None else REDUCTIONS[name].having(correction)
    if type(self) is not NestedArray:
        return how(self, dim, keepdim, dtype)
    dims = how.dims(dim, self.ndim)
    data, kind = how.takes(how.name, self.data, dtype)
    result = _over(dims, self if data is self.data else NestedArray(data, self.structure), keepdim, how)
    if isinstance(result, Array):
        return to_dtype(result, kind)
    return result if result.dtype == kind else NestedArray(to_dtype(result.data, kind), result.structure)


def _over(dims: tuple[int, ...], x: NestedArray, keepdim: bool, how: Reduction) -> NestedArray | Array:
    """Over canonical ``dims``: whatever the layout, in as few calls as there are kinds of dimension."""
    x = packed(x)
    if not dims:
        return NestedArray(how.over_axes(x.data, ()), x.structure)
    if isinstance(x.structure, Jagged) and dims[0] != 0:
        return _over_jagged(x, dims, keepdim, how)
    rows = as_jagged_view(x)
    if len(dims) == x.ndim:
        result = _over_everything(x, how)
    elif x.structure.ragged_dim in dims:
        result = how.over_axes(x.data, tuple(dim - 1 for dim in dims if dim))
    elif dims[0] == 0 and (rows is None or dims[1:2] != (1,)):
        result = _over_batch(x, dims, how)
    elif rows is None:
        return _over_strided(x, dims, keepdim, how)
    elif dims[0] == 0:
        result = how.over_axes(rows.data, tuple(dim - 1 for dim in dims[1:]))
    else:
        return _back_from_rows(_over_jagged(rows, dims, keepdim, how), x)
    if not keepdim:
        return result
    sizes = iter(result.shape)
    return moves.reshape(result, tuple(1 if dim in dims else next(sizes) for dim in range(x.ndim)))


def _over_everything(x: NestedArray, how: Reduction) -> Array:
    flat = moves.reshape(x.data, (x.data.numel(),))
    if how.refuses and not x.data.numel():
        raise how.refused("the nested array has no elements")
    return how.over_axes(flat, (0,))


def _over_jagged(x: NestedArray, dims: tuple[int, ...], keepdim: bool, how: Reduction) -> NestedArray | Array:
    """Regular dims are axes of the values; together with the ragged one they are runs."""
    structure = x.structure
    assert isinstance(structure, Jagged)
    r = structure.ragged_dim
    axes = tuple(dim - 1 for dim in dims if dim != r)
    if r in dims:
        result = _over_runs(x, structure, axes, how)
        if not keepdim:
            return result
        sizes = [1 if dim in dims else size for dim, size in enumerate((len(x), *x.data.shape))]
        return moves.reshape(result, tuple(sizes))
    values = how.over_axes(x.data, axes)
    if keepdim:
        return NestedArray(moves.reshape(values, of_axes.keepdim_shape(x.data.shape, axes)), structure)
    return NestedArray(values, structure.with_ragged_dim(r - len([axis for axis in axes if axis < r - 1])))


def _over_runs(x: NestedArray, structure: Jagged, axes: tuple[int, ...], how: Reduction) -> Array:
    """The ragged dim and ``axes``, one segment for each run: in stages, equal maxima would not be counted together.

    Kept dims stay ahead of the reduced ones if they lie there, so that what is in order already is not moved.
    """
    r, shape = structure.ragged_dim - 1, x.data.shape
    if r == 0 and not axes:  # what follows would change nothing
        return how.over_segments(x.data, structure.segments, lambda i: _component(x, i))
    last = max(r, *axes, 0)
    kept = [axis for axis in range(len(shape)) if axis != r and axis not in axes]
    ahead, behind = [axis for axis in kept if axis < last], [axis for axis in kept if axis > last]
    copies, width = (prod(shape[axis] for axis in some) for some in (ahead, axes))
    rows = _in_order(x.data, (*ahead, r, *axes, *behind))
    rows = moves.reshape(rows, (copies * shape[r] * width, *[shape[axis] for axis in behind]))
    segments = structure.segments.repeated(copies, width)
    result = how.over_segments(rows, segments, lambda i: _component(x, i % len(x)))
    if not ahead:
        return result
    result = moves.reshape(result, (*[shape[axis] for axis in ahead], len(x), *result.shape[1:]))
    return moves.transpose(result, lead(len(ahead), result.ndim)).contiguous()


def _in_order(values: Array, order: tuple[int, ...]) -> Array:
    return values if order == tuple(range(values.ndim)) else moves.transpose(values, order)


def _back_from_rows(result: NestedArray | Array, x: NestedArray) -> NestedArray | Array:
    """What `_over_jagged` made of the rows of a strided array, in the strided layout, unless no dimension is left."""
    if isinstance(result, NestedArray):
        return in_strided_again(result.data, x.structure)  # type: ignore[arg-type]
    if result.ndim == 1:
        return result
    sizes = np.tile(np.array(result.shape[1:], np.int64), (len(x), 1))
    return NestedArray(moves.reshape(result, (result.numel(),)), Strided.of_packed(sizes, len(x)))


def _component(x: NestedArray, i: int) -> str:
    return f"component {i}, of shape {describe(x.component_shape(i))},"


def _over_strided(x: NestedArray, dims: tuple[int, ...], keepdim: bool, how: Reduction) -> NestedArray | Array:
    """The reduced dims brought last, every run is a segment of the flat buffer."""
    sizes = x.component_sizes()
    inner = [dim - 1 for dim in dims]
    outer = [k for k in range(x.ndim - 1) if k not in inner]
    runs = sizes[:, outer].prod(axis=1, dtype=np.int64)
    lengths = np.repeat(sizes[:, inner].prod(axis=1, dtype=np.int64), runs)
    ends = np.cumsum(runs)

    def where(i: int) -> str:
        return _component(x, int(np.searchsorted(ends, i, "right")))

    result = how.over_segments(gathered(x, outer + inner), Segments.from_lengths(lengths), where)
    if not outer and not keepdim:
        return result
    outline = x.outline
    left = np.where(np.isin(np.arange(x.ndim - 1), inner), 1, outline) if keepdim else outline[:, outer]
    return NestedArray(result, Strided.of_packed(left, len(x)))


def _positions(sizes: Ints, outer: list[int], shape: tuple[int, ...]) -> Ints:
    """For each element, component by component and row-major, its place in a dense array of the kept dims."""
    steps = np.ones(len(shape), np.int64)
    steps[:-1] = np.cumprod(np.array(shape[:0:-1], np.int64))[::-1]
    strides = np.zeros_like(sizes)
    strides[:, outer] = steps
    return strided_index(sizes, strides, np.zeros(len(sizes), np.int64))


def _over_batch(x: NestedArray, dims: tuple[int, ...], how: Reduction) -> Array:
    """Components aligned at the left: at each place of the kept dims, whatever elements are there."""
    sizes = x.component_sizes()
    outer = [k for k in range(x.ndim - 1) if k + 1 not in dims]
    shape = possible_shape(how.name, tuple(int(x.outline[:, k].max(initial=0)) for k in outer))
    place = _positions(sizes, outer, shape)
    counts = np.bincount(place, minlength=int(np.prod(shape, dtype=np.int64)))
    order = np.argsort(place, kind="stable")

    def where(i: int) -> str:
        return f"place {tuple(int(k) for k in np.unravel_index(i, shape))} of the result"

    rows, segments = moves.take_rows(gathered(to_strided(x)), order), Segments.from_lengths(counts)
    result = how.over_segments(rows, segments, where)
    if how.is_place:  # among those that are present: the number of the component that it is
        numbers = from_host(np.repeat(np.arange(len(x)), sizes.prod(axis=1, dtype=np.int64))[order], x.device)
        result = Array(numbers[from_host(segments.offsets[:-1], x.device) + result.data], x.device)
    return moves.reshape(result, shape)
