"""Rules that move elements. All are linear, and come in pairs: each is the other's adjoint.

reshape  <-> reshape        transpose <-> transpose      broadcast_to <-> sum_to
slice    <-> place          concatenate -> slice         cast <-> cast
strided  <-> unstrided      take_rows <-> add_rows       gather <-> scatter
pad      <-> unpad          spread <-> segment_sum (in segment.py)
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pynested.backends.dtypes import computing_dtype, is_float
from pynested.backends.host import repeats, window
from pynested.backends.numpy.products import sum_first
from pynested.backends.numpy.running import FEW_ROWS, quiet

from ..array import Array, zeros_like
from .kinds import Linear, Several, Variadic


@quiet
def total(k: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """The sum over ``axes``, in the dtype of x (int64 for bools and ints); halves are added up in float32."""
    if len(axes) == x.ndim:
        return k.sum_all(x)
    if axes == (x.ndim - 1,):
        return k.sum_last(x)
    if not axes and is_float(x.dtype):
        return x.copy()
    if not is_float(x.dtype):
        return x.sum(axis=axes, dtype=np.int64)
    if axes == (0,) and type(x) is np.ndarray and len(x) > FEW_ROWS:
        return sum_first(x)
    return x.sum(axis=axes, dtype=computing_dtype(x.dtype)).astype(x.dtype, copy=False)


def summed_to(x: Any, shape: tuple[int, ...]) -> Any:
    """``x`` summed to ``shape``, which it mostly has already; then nothing is recorded."""
    return x if x.shape == shape else sum_to(x, shape)


def _sum_to(k: Any, x: Any, shape: tuple[int, ...]) -> Any:
    lead = x.ndim - len(shape)
    axes = tuple(i for i in range(x.ndim) if i < lead or (shape[i - lead] == 1 and x.shape[i] != 1))
    return k.xp.asarray(total(k, x, axes)).reshape(shape) if lead or axes else x


def _viewed(k: Any, x: Any, index: Any) -> Any:
    """A view also where ``index`` leaves no dimension: NumPy gives a copy then, unless the index has an ellipsis."""
    items = index if type(index) is tuple else (index,)
    return x[items if Ellipsis in items else (*items, Ellipsis)]


def _place(k: Any, x: Any, shape: tuple[int, ...], index: Any) -> Any:
    zeros = k.xp.zeros(shape, x.dtype)
    zeros[index] = x
    return zeros


def _unstrided(k: Any, x: Any, shape: tuple[int, ...], sizes: Any, strides: Any, offset: int) -> Any:
    size = int(np.prod(shape, dtype=np.int64))
    flat = k.scatter_components(
        x.reshape(-1), np.array([sizes], np.int64), np.array([strides], np.int64), np.array([offset], np.int64), size
    )
    return flat.reshape(shape)


def strided_view(k: Any, flat: Any, sizes: Any, strides: Any, offset: int) -> Any:
    """A view of a flat array with sizes and strides of its own, in elements of that array, wherever these lie."""
    contiguous = flat.flags.c_contiguous
    item = flat.dtype.itemsize if contiguous else flat.strides[0]
    steps = tuple([s * item for s in strides])
    if k.xp is np and contiguous:  # the quicker way
        return np.ndarray(sizes, flat.dtype, flat, offset * item if 0 not in sizes else 0, steps)
    return k.xp.lib.stride_tricks.as_strided(flat[offset:], tuple(sizes), steps)


def _strided(k: Any, x: Any, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Any:
    flat = x.reshape(-1)
    view = strided_view(k, flat, sizes, strides, offset)
    return window(view, flat) if k.xp is np and repeats(view) else view


def _split(g: Any, shapes: tuple[tuple[int, ...], ...], axis: int) -> tuple[Any, ...]:
    """The pieces of ``g`` along ``axis``, one for each of the arrays that were joined."""
    pieces, start = [], 0
    for shape in shapes:
        index = (slice(None),) * axis + (slice(start, start + shape[axis]),)
        pieces.append(slice_(g, index))
        start += shape[axis]
    return tuple(pieces)


def _stacked(parts: list[Any], shape: tuple[int, ...], axis: int) -> Any:
    """The cotangents of the entries along ``axis`` put together again; zeros where none arrived."""
    nothing = zeros_like(next(part for part in parts if part is not None))
    one = (*shape[:axis], 1, *shape[axis + 1 :])
    return concatenate([reshape(nothing if part is None else part, one) for part in parts], axis)


reshape: Linear = Linear(
    "reshape",
    lambda k, x, shape: x.reshape(shape),
    lambda g, shapes, shape: reshape(g, shapes[0]),
)
transpose: Linear = Linear(
    "transpose",
    lambda k, x, axes: x.transpose(axes),
    lambda g, shapes, axes: transpose(g, tuple(axes.index(i) for i in range(len(axes)))),
)
broadcast_to: Linear = Linear(
    "broadcast_to",
    lambda k, x, shape: k.xp.broadcast_to(x, shape),
    lambda g, shapes, shape: sum_to(g, shapes[0]),
)
sum_to: Linear = Linear(
    "sum_to",
    _sum_to,
    lambda g, shapes, shape: broadcast_to(g, shapes[0]),
)
cast: Linear = Linear("cast", "cast", lambda g, shapes, dtype: g)
alias: Linear = Linear("alias", lambda k, x: x[...], lambda g, shapes: g)
copy: Linear = Linear("copy", "copy", lambda g, shapes: g)
slice_: Linear = Linear(
    "slice",
    _viewed,
    lambda g, shapes, index: place(g, shapes[0], index),
)
place: Linear = Linear(
    "place",
    _place,
    lambda g, shapes, shape, index: slice_(g, index),
)
concatenate: Variadic = Variadic(
    "concatenate",
    lambda k, *arguments: k.concatenate(arguments[:-1], arguments[-1]),
    _split,
)
unbind: Several = Several(
    "unbind",
    lambda k, x, axis: [x[(*[slice(None)] * axis, i, ...)] for i in range(x.shape[axis])],
    lambda g, shapes, axis: _stacked(g, shapes[0], axis),
)
strided: Linear = Linear(
    "as_strided",
    _strided,
    lambda g, shapes, sizes, strides, offset: unstrided(g, shapes[0], sizes, strides, offset),
)
unstrided: Linear = Linear(
    "unstrided",
    _unstrided,
    lambda g, shapes, shape, sizes, strides, offset: reshape(strided(g, sizes, strides, offset), shapes[0]),
)
take_rows: Linear = Linear(
    "take_rows",
    "take_rows",
    lambda g, shapes, index: add_rows(g, index, shapes[0][0]),
)
add_rows: Linear = Linear(
    "add_rows",
    "add_rows",
    lambda g, shapes, index, rows: take_rows(g, index),
)
gather: Linear = Linear(
    "gather",
    "gather_components",
    lambda g, shapes, sizes, strides, offsets: scatter(g, sizes, strides, offsets, shapes[0][0]),
)
scatter: Linear = Linear(
    "scatter",
    "scatter_components",
    lambda g, shapes, sizes, strides, offsets, buffer_size: gather(g, sizes, strides, offsets),
)
pad: Linear = Linear(
    "pad",
    lambda k, x, segments, length: k.pad(x, segments, length, 0),
    lambda g, shapes, segments, length: unpad(g, segments, length),
)
unpad: Linear = Linear(
    "unpad",
    lambda k, x, segments, length: k.unpad(x, segments),
    lambda g, shapes, segments, length: pad(g, segments, length),
)


def to_dtype(x: Array, dtype: np.dtype[Any]) -> Array:
    """``x`` in ``dtype``, itself if that is its own; a gradient flows between floating point dtypes only."""
    if x.dtype == dtype:
        return x
    found: Array = cast(x if is_float(dtype) else x.detach(), dtype)
    return found


def stacked(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Arrays of one shape and dtype along a new axis."""
    shape = arrays[0].shape
    found: Array = concatenate([reshape(x, (*shape[:axis], 1, *shape[axis:])) for x in arrays], axis)
    return found
