"""Primitives that cut one array into many views: a node with as many outputs.

The vjp puts the cotangents of all views together once, so a loop over components costs no more than their size.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pynested.backends.host import repeating, window

from ..array import new_zeros
from .movement import add_rows, concatenate, reshape, scatter, strided_view, transpose
from .primitive import LINEAR, Primitive


def _pieces(k: Any, x: Any, axis: int, starts: tuple[int, ...], lengths: tuple[int, ...]) -> list[Any]:
    before = (slice(None),) * axis
    if not axis:
        return [x[start : start + length] for start, length in zip(starts, lengths, strict=True)]
    return [x[(*before, slice(start, start + length))] for start, length in zip(starts, lengths, strict=True)]


def _joined(parts: Any, shape: tuple[int, ...], axis: int, starts: tuple[int, ...], lengths: tuple[int, ...]) -> Any:
    """The cotangents of pieces, added where the pieces came from; zeros elsewhere."""
    like = next(part for part in parts if part is not None)
    full = [
        new_zeros((*shape[:axis], length, *shape[axis + 1 :]), like) if part is None else part
        for part, length in zip(parts, lengths, strict=True)
    ]
    joined = concatenate(full, axis)
    ends = np.cumsum(lengths)
    if ends[-1] == shape[axis] and starts == tuple((ends - lengths).tolist()):
        return joined
    index = np.concatenate([np.arange(start, start + length) for start, length in zip(starts, lengths, strict=True)])
    order = (axis, *[i for i in range(len(shape)) if i != axis])
    rows = add_rows(transpose(joined, order), index, shape[axis])
    return transpose(rows, tuple(order.index(i) for i in range(len(order))))


def _components(k: Any, x: Any, sizes: Any, strides: Any, offsets: Any) -> list[Any]:
    views = [
        strided_view(k, x, size, stride, offset)
        for size, stride, offset in zip(sizes.tolist(), strides.tolist(), offsets.tolist(), strict=True)
    ]
    if k.xp is np:
        for i in repeating(sizes, strides):
            views[i] = window(views[i], x)
    return views


def _scattered(parts: Any, shape: tuple[int, ...], sizes: Any, strides: Any, offsets: Any) -> Any:
    like = next(part for part in parts if part is not None)
    numels = sizes.prod(axis=1).tolist()
    flat = [
        new_zeros((size,), like) if part is None else reshape(part, (size,))
        for part, size in zip(parts, numels, strict=True)
    ]
    return scatter(concatenate(flat, 0), sizes, strides, offsets, shape[0])


pieces: Any = Primitive(
    "pieces",
    _pieces,
    [lambda g, y, x, axis, starts, lengths: _joined(g, x.shape, axis, starts, lengths)],
    LINEAR,
)
components: Any = Primitive(
    "components",
    _components,
    [lambda g, y, x, sizes, strides, offsets: _scattered(g, x.shape, sizes, strides, offsets)],
    LINEAR,
)
