"""Components in one buffer, and arithmetic, reductions and runs on them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np


class Dense:
    """A dense array, and the gradient that came back for it."""

    def __init__(self, array: Any) -> None:
        self.array, self.grad = np.asarray(array), None


class Nest:
    """Component i is values[offsets[i] : offsets[i] + lengths[i]] along the ragged dimension ``dim``."""

    def __init__(self, values: Any, offsets: Any, lengths: Any, dim: int) -> None:
        self.values, self.offsets, self.lengths, self.dim, self.grad = values, offsets, lengths, dim, None

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def ndim(self) -> int:
        return int(self.values.ndim) + 1

    @property
    def shape(self) -> tuple[int | None, ...]:
        sizes = [None if d == self.dim - 1 else n for d, n in enumerate(self.values.shape)]
        return (len(self), *sizes)

    def parts(self) -> list[Any]:
        rows = np.moveaxis(self.values, self.dim - 1, 0)
        found = []
        for i in range(len(self)):
            start, stop = self.offsets[i], self.offsets[i] + self.lengths[i]
            found.append(np.moveaxis(rows[start:stop], 0, self.dim - 1))
        return found


def nest(parts: Sequence[Any], like: Nest, dim: int | None = None, none: Any = None) -> Nest:
    """Packed components; where there are none, ``none`` is a component of length 0."""
    dim = like.dim if dim is None else dim
    lengths = np.array([part.shape[dim - 1] for part in parts], np.int64)
    values = np.concatenate(parts, axis=dim - 1) if len(parts) else none
    return Nest(values, np.concatenate([[0], np.cumsum(lengths)])[:-1], lengths, dim)


def dim_of(dim: int, ndim: int) -> int:
    if not isinstance(dim, int) or not -ndim <= dim < ndim:
        raise IndexError(f"dim {dim} of {ndim}")
    return dim % ndim


def inside(dim: int, ndim: int) -> int:
    """The axis of a component; the batch has none."""
    dim = dim_of(dim, ndim)
    if dim == 0:
        raise IndexError("the batch dimension")
    return dim - 1


def sum_to(g: Any, shape: tuple[int, ...]) -> Any:
    """Undo a broadcast."""
    g = g.sum(axis=tuple(range(g.ndim - len(shape))))
    axes = tuple(d for d, n in enumerate(shape) if n == 1 and g.shape[d] != 1)
    return g.sum(axis=axes, keepdims=True)


def empty_of(x: Nest, dtype: Any = None) -> Any:
    shape = list(x.values.shape)
    shape[x.dim - 1] = 0
    return np.zeros(shape, x.values.dtype if dtype is None else dtype)


# --- elementwise


def times(slope: Any, g: Any) -> Any:
    """The cotangent times a slope, or where a condition holds, whatever it is elsewhere."""
    return np.where(slope, g, 0) if np.asarray(slope).dtype.kind == "b" else g * slope


def unary(x: Nest, f: Callable[[Any], Any], slope: Callable[[Any, Any], Any]) -> Any:
    xs = x.parts()
    ys = [f(one).astype(one.dtype) for one in xs]

    def pull(gs: Any) -> None:
        x.grad = [times(slope(a, y), g).astype(a.dtype) for g, a, y in zip(gs, xs, ys, strict=True)]

    return nest(ys, x, none=empty_of(x)), pull


def sides(a: Any, b: Any) -> tuple[Nest, list[Any], list[Any]]:
    """The components of two operands that meet; a dense one has a slice for each component, or one for all."""
    first = a if isinstance(a, Nest) else b
    for one in (a, b):
        if isinstance(one, Nest):
            if one.ndim != first.ndim or one.dim != first.dim or not np.array_equal(one.lengths, first.lengths):
                raise ValueError("the operands differ in structure")
        elif isinstance(one, Dense) and (one.array.ndim > first.ndim or not fits(one.array, first)):
            raise ValueError("the dense operand does not fit")
    return first, slices(a, first), slices(b, first)


def fits(array: Any, x: Nest) -> bool:
    whole = (1,) * (x.ndim - array.ndim) + array.shape
    if whole[0] not in (1, len(x)):
        return False
    for dim in range(1, x.ndim):
        met = x.lengths if dim == x.dim else [x.values.shape[dim - 1]]
        if whole[dim] != 1 and any(n not in (whole[dim], 1 if dim != x.dim else whole[dim]) for n in met):
            return False
    return True


def slices(one: Any, first: Nest) -> list[Any]:
    if isinstance(one, Nest):
        return one.parts()
    if isinstance(one, Dense):
        array = one.array
        if array.ndim < first.ndim:
            return [array] * len(first)
        return [array[i if len(array) > 1 else 0] for i in range(len(first))]
    return [one] * len(first)


def binary(a: Any, b: Any, f: Callable[[Any, Any], Any], slopes: Callable[[Any, Any], Any] | None) -> Any:
    first, xs, ys = sides(a, b)
    types = [weak_type(one) for one in (a, b)]
    if any(type(one) is int and first.values.dtype.kind in "biu" and not in_range(one, first) for one in types):
        raise NotImplementedError("a number that the dtype cannot hold")
    dtype = np.bool_ if slopes is None else np.result_type(*types)
    if slopes is not None and np.dtype(dtype).kind == "b":
        raise NotImplementedError("arithmetic of bools")
    wide = np.result_type(*types)
    cast = [(weak(x, wide), weak(y, wide)) for x, y in zip(xs, ys, strict=True)]
    with np.errstate(all="ignore"):
        outs = [np.asarray(f(x, y)).astype(dtype) for x, y in cast]
    none = np.zeros(np.broadcast_shapes(*[s for s in (shape_in(a, first), shape_in(b, first)) if s is not None]), dtype)

    def pull(gs: Any) -> None:
        if slopes is None:
            return
        for side, one in enumerate((a, b)):
            gone = [g * slopes(x, y)[side] for g, (x, y) in zip(gs, cast, strict=True)]
            leave(one, side_parts(one, gone, first))

    return nest(outs, first, none=none), pull


def in_range(number: int, x: Nest) -> bool:
    if x.values.dtype.kind == "b":
        return number in (0, 1)
    limits = np.iinfo(x.values.dtype)
    return bool(limits.min <= number <= limits.max)


def shape_in(one: Any, first: Nest) -> tuple[int, ...] | None:
    if isinstance(one, Nest):
        return empty_of(one).shape
    if isinstance(one, Dense):
        shape = one.array.shape[1:] if one.array.ndim == first.ndim else one.array.shape
        return tuple(1 if len(shape) - d == first.ndim - first.dim else n for d, n in enumerate(shape))
    return None


def weak_type(one: Any) -> Any:
    return one.values.dtype if isinstance(one, Nest) else one.array.dtype if isinstance(one, Dense) else one


def weak(x: Any, dtype: Any) -> Any:
    return np.asarray(x).astype(dtype) if not isinstance(x, (bool, int, float)) else np.asarray(x, dtype)


def side_parts(one: Any, gone: list[Any], first: Nest) -> Any:
    """What flowed back to an operand: its components, or the sum over all of them for a dense one."""
    if isinstance(one, Nest):
        return [sum_to(g, part.shape).astype(part.dtype) for g, part in zip(gone, one.parts(), strict=True)]
    if not isinstance(one, Dense):
        return None
    total = np.zeros(one.array.shape, np.float64)
    for i, g in enumerate(gone):
        if one.array.ndim < first.ndim:
            total += sum_to(g.astype(np.float64), one.array.shape)
        else:
            row = i if len(one.array) > 1 else 0
            total[row] += sum_to(g.astype(np.float64), one.array.shape[1:])
    return total.astype(one.array.dtype)


def leave(one: Any, gradient: Any) -> None:
    """Add to the gradient of an operand; the same one may be given twice."""
    if gradient is None:
        return
    if one.grad is None:
        one.grad = gradient
    elif isinstance(one, Dense):
        one.grad = one.grad + gradient
    else:
        one.grad = [old + new for old, new in zip(one.grad, gradient, strict=True)]


# --- reductions and runs


def fold(x: Nest, dim: int, keepdim: bool, f: Callable[[Any, int], Any], back: Callable[..., Any], dtype: Any) -> Any:
    """Reduce one dimension of every component; the ragged one leaves a dense array."""
    axis = inside(dim, x.ndim)
    xs = x.parts()
    ys = [f(part, axis).astype(dtype) for part in xs]  # keeps the axis
    ragged = axis == x.dim - 1
    none = np.zeros([1 if d == axis else n for d, n in enumerate(empty_of(x).shape)], dtype)

    def pull(gs: Any) -> None:
        kept = [g if keepdim else np.expand_dims(g, axis) for g in gs]
        x.grad = [
            np.asarray(back(g, part, y, axis)).astype(part.dtype) for g, part, y in zip(kept, xs, ys, strict=True)
        ]

    shown = ys if keepdim else [y.squeeze(axis) for y in ys]
    none = none if keepdim else none.squeeze(axis)
    if ragged:
        return np.stack(shown) if shown else np.zeros((0, *none.shape), dtype), pull
    return nest(shown, x, x.dim - (not keepdim and axis < x.dim - 1), none), pull


def total(part: Any, axis: int) -> Any:
    return part.sum(axis, keepdims=True, dtype=np.float64 if part.dtype.kind == "f" else np.int64)


def sum_(x: Nest, dim: int, keepdim: bool) -> Any:
    dtype = x.values.dtype if x.values.dtype.kind == "f" else np.int64
    return fold(x, dim, keepdim, total, lambda g, part, y, axis: np.broadcast_to(g, part.shape), dtype)


def mean(x: Nest, dim: int, keepdim: bool) -> Any:
    if x.values.dtype.kind != "f":
        raise NotImplementedError("the mean of integers")

    def back(g: Any, part: Any, y: Any, axis: int) -> Any:
        return np.broadcast_to(g.astype(np.float64) / max(part.shape[axis], 1), part.shape)

    def f(part: Any, axis: int) -> Any:
        with np.errstate(all="ignore"):
            return total(part, axis) / part.shape[axis] if part.shape[axis] else total(part, axis) + np.nan

    return fold(x, dim, keepdim, f, back, x.values.dtype)


def amax(x: Nest, dim: int, keepdim: bool) -> Any:
    axis = inside(dim, x.ndim)
    for part in x.parts():
        if part.shape[axis] == 0 and part.max(axis, initial=0).size:
            raise ValueError("the maximum of nothing")

    def f(part: Any, axis: int) -> Any:
        return (
            part.max(axis, keepdims=True) if part.size else np.zeros([*part.shape[:axis], 1, *part.shape[axis + 1 :]])
        )

    def back(g: Any, part: Any, y: Any, axis: int) -> Any:
        hit = part == y
        with np.errstate(all="ignore"):
            share = g.astype(np.float64) / hit.sum(axis, keepdims=True)
        return np.where(hit, share, np.where(np.isnan(y.astype(np.float64)), np.nan, 0))

    return fold(x, dim, keepdim, f, back, x.values.dtype)


def runs(x: Nest, dim: int, f: Callable[[Any, int], Any], back: Callable[..., Any]) -> Any:
    """An operator that keeps the shape, on every run along one dimension."""
    axis = inside(dim, x.ndim)
    if x.values.dtype.kind != "f":
        raise NotImplementedError("not of floats")
    xs = x.parts()
    with np.errstate(all="ignore"):
        ys = [f(part.astype(np.float64), axis) for part in xs]

    def pull(gs: Any) -> None:
        with np.errstate(all="ignore"):
            pulled = [back(g.astype(np.float64), y, axis) for g, y in zip(gs, ys, strict=True)]
        x.grad = [one.astype(part.dtype) for one, part in zip(pulled, xs, strict=True)]

    return nest([y.astype(x.values.dtype) for y in ys], x, none=empty_of(x)), pull


def softmax(part: Any, axis: int) -> Any:
    e = np.exp(part - part.max(axis, keepdims=True, initial=-np.inf))
    return e / e.sum(axis, keepdims=True)
