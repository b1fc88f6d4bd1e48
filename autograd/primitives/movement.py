"""Primitives that move elements, or add up those that meet. They are linear, but `cast` rounds, and `pad` adds a fill.

``a <-> b`` says that each is the other's adjoint, ``a -> b`` that the adjoint of a uses b:

reshape  <-> reshape        transpose <-> transpose      broadcast_to <-> sum_to
slice    <-> place          concatenate -> slice         cast <-> cast
strided  -> scatter         take_rows <-> add_rows       gather <-> scatter
pad      <-> unpad          spread <-> segment_sum (in segment.py)

``k`` has the kernels of a backend, ``g`` is the cotangent of the result ``y``, ``t`` a tangent of ``x``.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate, pairwise
from math import prod
from typing import Any

import numpy as np

from pynested.backends import transfer
from pynested.backends.dtypes import computing_dtype, is_bfloat16, is_float
from pynested.backends.numpy.products import sum_first
from pynested.backends.repeating_views import repeating_components, view_with_base

from ..array import Array, new_zeros
from .primitive import LINEAR, Primitive


def sum_raw(k: Any, x: Any, axes: tuple[int, ...]) -> Any:
    """Return the sum over ``axes``, in the dtype of x (int64 for bools and ints); halves are added up in float32."""
    if len(axes) == x.ndim:
        return k.sum_all(x)
    if axes == (x.ndim - 1,):
        return k.sum_last(x)
    if not axes and is_float(x.dtype):
        return x.copy()
    if not is_float(x.dtype):
        return x.sum(axis=axes, dtype=np.int64)
    if axes == (0,) and type(x) is np.ndarray:
        return sum_first(x)
    return x.sum(axis=axes, dtype=computing_dtype(x.dtype)).astype(x.dtype, copy=False)


def _sum_to(k: Any, x: Any, shape: tuple[int, ...]) -> Any:
    num_new_axes = x.ndim - len(shape)
    axes = tuple(i for i in range(x.ndim) if i < num_new_axes or shape[i - num_new_axes] == 1 != x.shape[i])
    return k.xp.asarray(sum_raw(k, x, axes)).reshape(shape) if num_new_axes or axes else x


def _slice(k: Any, x: Any, index: Any) -> Any:
    """Return a view. An ellipsis is added, because without it NumPy copies an element instead of returning a view."""
    items = index if type(index) is tuple else (index,)
    return x[items if Ellipsis in items else (*items, Ellipsis)]


def _place(k: Any, x: Any, shape: tuple[int, ...], index: Any) -> Any:
    zeros = k.xp.zeros(shape, x.dtype)
    zeros[index] = x
    return zeros


def strided_view(k: Any, flat: Any, sizes: Any, strides: Any, offset: int) -> Any:
    """Return the view of a flat array that has these sizes, strides and offset, all counted in elements."""
    is_contiguous = flat.flags.c_contiguous
    element_bytes = flat.dtype.itemsize if is_contiguous else flat.strides[0]
    byte_strides = tuple([stride * element_bytes for stride in strides])
    if k.xp is np and is_contiguous:  # faster than as_strided
        return np.ndarray(sizes, flat.dtype, flat, offset * element_bytes if 0 not in sizes else 0, byte_strides)
    return k.xp.lib.stride_tricks.as_strided(flat[offset:], tuple(sizes), byte_strides)


reshape: Primitive = Primitive(
    "reshape",
    lambda k, x, shape: x.reshape(shape),
    [lambda g, y, x, shape: reshape(g, x.shape)],
    LINEAR,
)
transpose: Primitive = Primitive(
    "transpose",
    lambda k, x, axes: x.transpose(axes),
    [lambda g, y, x, axes: transpose(g, tuple(axes.index(i) for i in range(len(axes))))],
    LINEAR,
    public="permute",
)
broadcast_to: Primitive = Primitive(
    "broadcast_to",
    lambda k, x, shape: k.xp.broadcast_to(x, shape),
    [lambda g, y, x, shape: sum_to(g, x.shape)],
    LINEAR,
)
sum_to: Primitive = Primitive("sum_to", _sum_to, [lambda g, y, x, shape: broadcast_to(g, x.shape)], LINEAR)
cast = Primitive("cast", lambda k, x, dtype: k.cast(x, dtype), [lambda g, y, x, dtype: g], LINEAR, public="to")
alias = Primitive("alias", lambda k, x: x[...], [lambda g, y, x: g], LINEAR)
copy = Primitive("copy", lambda k, x: k.copy(x), [lambda g, y, x: g], LINEAR, public="clone")
slice_: Primitive = Primitive(
    "slice",
    _slice,
    [lambda g, y, x, index: place(g, x.shape, index)],
    LINEAR,
    public="getitem",
)
strided: Primitive = Primitive(
    "as_strided",
    lambda k, x, *component: _components(k, x.reshape(-1), *component)[0],
    [lambda g, y, x, *component: reshape(scatter(reshape(g, (g.numel(),)), *component, prod(x.shape)), x.shape)],
    LINEAR,
)
place: Primitive = Primitive("place", _place, [lambda g, y, x, shape, index: slice_(g, index)], LINEAR)
take_rows: Primitive = Primitive(
    "take_rows",
    lambda k, x, index: k.take_rows(x, index),
    [lambda g, y, x, index: add_rows(g, index, x.shape[0])],
    LINEAR,
    public="getitem",
)
add_rows: Primitive = Primitive(
    "add_rows",
    lambda k, x, index, num_rows: k.add_rows(x, index, num_rows),
    [lambda g, y, x, index, num_rows: take_rows(g, index)],
    LINEAR,
)
gather: Primitive = Primitive(
    "gather",
    lambda k, x, sizes, strides, offsets: k.gather_components(x, sizes, strides, offsets),
    [lambda g, y, x, sizes, strides, offsets: scatter(g, sizes, strides, offsets, x.shape[0])],
    LINEAR,
)
scatter: Primitive = Primitive(
    "scatter",
    lambda k, x, sizes, strides, offsets, buffer_size: k.scatter_components(x, sizes, strides, offsets, buffer_size),
    [lambda g, y, x, sizes, strides, offsets, buffer_size: gather(g, sizes, strides, offsets)],
    LINEAR,
)
pad: Primitive = Primitive(
    "pad",
    lambda k, x, segments, length, fill: k.pad(x, segments, length, fill),
    [lambda g, y, x, segments, length, fill: unpad(g, segments, length)],
    [lambda t, y, x, segments, length, fill: pad(t, segments, length, 0)],
    public="to_padded_array",
)
unpad: Primitive = Primitive(
    "unpad",
    lambda k, x, segments, length: k.unpad(x, segments),
    [lambda g, y, x, segments, length: pad(g, segments, length, 0)],
    LINEAR,
)


def _concatenate_vjp(g: Any, y: Any, *arrays_and_axis: Any) -> list[Any]:
    """Cut ``g`` into the cotangents of the arrays."""
    *arrays, axis = arrays_and_axis
    before = [slice(None)] * axis
    ends = accumulate([array.shape[axis] for array in arrays], initial=0)
    return [slice_(g, (*before, slice(*start_and_end))) for start_and_end in pairwise(ends)]


_concatenate = Primitive(
    "cat",
    lambda k, *arrays_and_axis: k.concatenate(arrays_and_axis[:-1], arrays_and_axis[-1]),
    _concatenate_vjp,
    LINEAR,
)


def concatenate(arrays: Sequence[Array], axis: int) -> Array:
    """Return arrays joined along an axis."""
    return _concatenate(*arrays, axis)


def stacked(arrays: Sequence[Array], axis: int = 0) -> Array:
    """Return arrays of one shape and dtype along a new axis."""
    shape = arrays[0].shape
    return concatenate([reshape(x, (*shape[:axis], 1, *shape[axis:])) for x in arrays], axis)


def summed_to(x: Array, shape: tuple[int, ...]) -> Array:
    """Return ``x`` summed to ``shape``; ``x`` itself if it has this shape."""
    return x if x.shape == shape else sum_to(x, shape)


def to_dtype(x: Array, dtype: np.dtype[Any]) -> Array:
    """Return ``x`` in ``dtype``, or ``x`` itself if it has this dtype. Only floating dtypes pass gradients on."""
    if x.dtype == dtype:
        return x
    return cast(x if is_float(dtype) else x.detach(), dtype)


to_device: Primitive = Primitive(
    "to_device",
    lambda k, x, target, source: Array(transfer(x, target), target),
    [lambda g, y, x, target, source: to_device(g, source, target)],
    LINEAR,
    public="to",
)


def converted(x: Array, device: str, dtype: np.dtype[Any]) -> Array:
    """Return ``x`` in ``dtype`` on ``device``; ``x`` itself if nothing changes."""
    if not is_bfloat16(dtype):  # which only the new device may have
        x = to_dtype(x, dtype)
    moved = x if device == x.device else to_device(x, device, x.device)
    return to_dtype(moved, dtype)


# ---- one array as many views ----------------------------------------------------------------------------------------
# One node has all views as outputs, and its vjp joins the cotangents of all views once. With one node for each view,
# every vjp would make zeros of the size of the whole array.


def _with_zeros(cotangents: list[Any], shapes: Iterable[tuple[int, ...]]) -> list[Any]:
    """Return the cotangents of views of these shapes, with zeros for a view without cotangent."""
    like = next(g for g in cotangents if g is not None)
    pairs = zip(cotangents, shapes, strict=True)
    return [new_zeros(shape, like.dtype, like.device) if g is None else g for g, shape in pairs]


def _unbind(k: Any, x: Any, axis: int) -> list[Any]:
    before = (slice(None),) * axis
    return [x[(*before, i, ...)] for i in range(x.shape[axis])]


def _unbind_vjp(g: list[Any], y: Any, x: Any, axis: int) -> Any:
    """Return the cotangents of the entries along ``axis`` as one array."""
    shape = (*x.shape[:axis], *x.shape[axis + 1 :])
    return stacked(_with_zeros(g, [shape] * len(g)), axis)


unbind: Any = Primitive("unbind", _unbind, [_unbind_vjp], LINEAR)


def _pieces(k: Any, x: Any, axis: int, starts: tuple[int, ...], lengths: tuple[int, ...]) -> list[Any]:
    before = (slice(None),) * axis
    return [x[(*before, slice(start, start + length))] for start, length in zip(starts, lengths, strict=True)]


def _pieces_vjp(g: list[Any], y: Any, x: Any, axis: int, starts: tuple[int, ...], lengths: tuple[int, ...]) -> Any:
    """Return zeros of the shape of x, with the cotangent of each piece added where the piece lies."""
    shapes = [(*x.shape[:axis], length, *x.shape[axis + 1 :]) for length in lengths]
    joined = concatenate(_with_zeros(g, shapes), axis)
    ends = np.cumsum(lengths)
    if ends[-1] == x.shape[axis] and starts == tuple((ends - lengths).tolist()):
        return joined
    index = np.concatenate([np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)])
    order = (axis, *[i for i in range(len(x.shape)) if i != axis])
    rows = add_rows(transpose(joined, order), index, x.shape[axis])
    return transpose(rows, tuple(order.index(i) for i in range(len(order))))


pieces: Any = Primitive("pieces", _pieces, [_pieces_vjp], LINEAR)


def _components(k: Any, x: Any, sizes: Any, strides: Any, offsets: Any) -> list[Any]:
    views = [
        strided_view(k, x, size, stride, offset)
        for size, stride, offset in zip(sizes.tolist(), strides.tolist(), offsets.tolist(), strict=True)
    ]
    if k.xp is np:
        for i in repeating_components(sizes, strides):
            views[i] = view_with_base(views[i], x, is_read_only=True)
    return views


def _components_vjp(g: list[Any], y: Any, x: Any, sizes: Any, strides: Any, offsets: Any) -> Any:
    cotangents = _with_zeros(g, map(tuple, sizes.tolist()))
    flat = concatenate([reshape(cotangent, (cotangent.numel(),)) for cotangent in cotangents], 0)
    return scatter(flat, sizes, strides, offsets, x.shape[0])


components: Any = Primitive("components", _components, [_components_vjp], LINEAR)
