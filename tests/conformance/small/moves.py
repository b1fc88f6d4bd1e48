"""What moves components about, joins them and takes them apart; products with a dense matrix."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from calc import Dense, Nest, dim_of, empty_of, inside, leave, nest


def moved(x: Nest, forth: Any, back: Any, dim: int) -> Any:
    """A dense function of each component and its inverse; ``dim`` is where the ragged dimension goes."""

    def pull(gs: Any) -> None:
        x.grad = [back(g) for g in gs]

    return nest([forth(part) for part in x.parts()], x, dim, forth(empty_of(x))), pull


def transpose(x: Nest, dim0: int, dim1: int) -> Any:
    a, b = inside(dim0, x.ndim), inside(dim1, x.ndim)
    at = {a: b, b: a}.get(x.dim - 1, x.dim - 1)
    return moved(x, lambda part: np.swapaxes(part, a, b), lambda g: np.swapaxes(g, a, b), at + 1)


def unsqueeze(x: Nest, dim: int) -> Any:
    axis = inside(dim, x.ndim + 1)
    at = x.dim + (axis < x.dim)
    return moved(x, lambda part: np.expand_dims(part, axis), lambda g: g.squeeze(axis), at)


def select(x: Nest, dim: int, index: int) -> Any:
    if not isinstance(index, int):
        raise TypeError("index")
    if dim_of(dim, x.ndim) == 0:
        return one_of(x, index)
    axis = inside(dim, x.ndim)
    if axis == x.dim - 1:
        raise NotImplementedError("select along the ragged dimension")
    size = x.values.shape[axis]
    if not -size <= index < size:
        raise IndexError("index")

    def back(g: Any, part: Any) -> Any:
        out = np.zeros(part.shape, part.dtype)
        out[(slice(None),) * axis + (index,)] = g
        return out

    parts = x.parts()

    def pull(gs: Any) -> None:
        x.grad = [back(g, part) for g, part in zip(gs, parts, strict=True)]

    picked = [part.take(index, axis) for part in parts]
    return nest(picked, x, x.dim - (axis < x.dim - 1), empty_of(x).take(index, axis)), pull


def one_of(x: Nest, index: int) -> Any:
    if not -len(x) <= index < len(x):
        raise IndexError("component")

    def pull(g: Any) -> None:
        x.grad = [np.zeros(part.shape, part.dtype) for part in x.parts()]
        x.grad[index] = g

    return x.parts()[index], pull


def unbind(x: Nest, dim: int = 0) -> Any:
    if dim_of(dim, x.ndim) != 0:
        raise ValueError("dim")

    def pull(gs: Any) -> None:
        x.grad = list(gs)

    return x.parts(), pull


def cat(arrays: Any, dim: int = 0) -> Any:
    if not all(isinstance(one, Nest) for one in arrays) or not arrays:
        raise NotImplementedError("cat of dense arrays")
    first = arrays[0]
    if any(one.ndim != first.ndim or one.dim != first.dim for one in arrays):
        raise ValueError("rank")
    dtype = np.result_type(*[one.values.dtype for one in arrays])
    at = dim_of(dim, first.ndim)
    if at == 0:
        return cat_batch(arrays, dtype)
    if any(len(one) != len(first) for one in arrays):
        raise ValueError("batch")
    axis = at - 1
    if axis != first.dim - 1 and any(not np.array_equal(one.lengths, first.lengths) for one in arrays):
        raise ValueError("lengths")
    groups = list(zip(*[one.parts() for one in arrays], strict=True))
    parts = [np.concatenate(group, axis=axis).astype(dtype) for group in groups]

    def pull(gs: Any) -> None:
        ends = [np.cumsum([part.shape[axis] for part in group])[:-1] for group in groups]
        split = [np.split(g, end, axis) for g, end in zip(gs, ends, strict=True)]
        for number, one in enumerate(arrays):
            leave(one, [pieces[number].astype(one.values.dtype) for pieces in split])

    return nest(parts, first, none=np.concatenate([empty_of(one, dtype) for one in arrays], axis=axis)), pull


def cat_batch(arrays: Any, dtype: Any) -> Any:
    regular = {tuple(np.delete(one.values.shape, one.dim - 1)) for one in arrays}
    if len(regular) > 1:
        raise NotImplementedError("components of other regular sizes")

    def pull(gs: Any) -> None:
        start = 0
        for one in arrays:
            leave(one, [g.astype(one.values.dtype) for g in gs[start : start + len(one)]])
            start += len(one)

    parts = [part.astype(dtype) for one in arrays for part in one.parts()]
    return nest(parts, arrays[0], none=empty_of(arrays[0], dtype)), pull


def to_padded_array(x: Nest, padding: Any, output_size: Any = None) -> Any:
    if x.values.dtype.kind == "f":
        padding = float(padding)
    elif padding != np.asarray(padding).astype(np.int64):
        raise TypeError("padding")
    if isinstance(padding, bool) != (x.values.dtype.kind == "b"):
        raise NotImplementedError("padding of another kind")
    longest = int(max(x.lengths, default=0))
    shape = [len(x), *x.values.shape]
    shape[x.dim] = longest
    if output_size is not None:
        if len(output_size) != len(shape) or any(n < size for n, size in zip(output_size, shape, strict=True)):
            raise ValueError("output_size")
        shape = [*output_size]
    out = np.full(shape, padding, x.values.dtype)
    parts = x.parts()
    places = [(i, *map(slice, part.shape)) for i, part in enumerate(parts)]
    for place, part in zip(places, parts, strict=True):
        out[place] = part

    def pull(g: Any) -> None:
        x.grad = [np.ascontiguousarray(g[place]) for place in places]

    return out, pull


def rows_of(part: Any) -> Any:
    return part.reshape(math.prod(part.shape[:-1]), part.shape[-1])


def linear(x: Nest, weight: Dense, bias: Dense | None = None) -> Any:
    w = weight.array
    if w.ndim != 2 or x.ndim < 3 or x.values.dtype != w.dtype or w.dtype.kind != "f":
        raise NotImplementedError("linear")
    if x.dim == x.ndim - 1 or x.values.shape[-1] != w.shape[1]:
        raise ValueError("in")
    if bias is not None and (bias.array.shape != (w.shape[0],) or bias.array.dtype != w.dtype):
        raise ValueError("bias")
    parts = [part.astype(np.float64) for part in x.parts()]
    wide = w.astype(np.float64)
    add = 0 if bias is None else bias.array.astype(np.float64)
    ys = [(part @ wide.T + add).astype(w.dtype) for part in parts]

    def pull(gs: Any) -> None:
        flows = [g.astype(np.float64) for g in gs]
        x.grad = [(g @ wide).astype(w.dtype) for g in flows]
        each = [rows_of(g).T @ rows_of(part) for g, part in zip(flows, parts, strict=True)]
        weight.grad = sum(each, np.zeros(w.shape)).astype(w.dtype)
        if bias is not None:
            rows = [rows_of(g).sum(0) for g in flows]
            bias.grad = sum(rows, np.zeros(w.shape[0])).astype(w.dtype)

    return nest(ys, x, none=np.zeros((*empty_of(x).shape[:-1], w.shape[0]), w.dtype)), pull
