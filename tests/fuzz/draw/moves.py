"""Calls that move elements: dims exchanged, divided and joined, arrays reshaped, picked from and put together."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from ..oracle import Nest
from ..plan import Call, Ref
from . import arrays
from .draft import Draft


def transpose(d: Draft) -> Call:
    ref = d.array(least=2 if d.chance.happens(0.8) else 1)
    x = d.value(ref)
    return Call("transpose", (ref, d.dim(x, batch=False), d.dim(x, batch=False)))


def unsqueeze(d: Draft) -> Call:
    ref = d.array()
    return Call("unsqueeze", (ref, d.dim(d.value(ref), 1, batch=False)))


def permute(d: Draft) -> Call:
    ref = d.array(least=2 if d.chance.happens(0.8) else 1)
    x = d.value(ref)
    dims: list[Any] = list(range(x.rank))
    inner = d.chance.order(x.rank - (not x.dense))
    dims = inner if x.dense else [0, *[i + 1 for i in inner]]
    dims = [dim - x.rank if d.chance.happens(0.2) else dim for dim in dims]
    if dims and d.wild(0.05):
        dims[d.chance.below(len(dims))] = d.chance.one((0, 1, -1, 1.0, True, 2**70))
    if dims and d.wild(0.02):
        dims.pop()
    return Call("permute", (ref, tuple(dims)))


def squeeze(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    ones = [dim for dim, size in enumerate(x.shape) if size == 1 and (dim or x.dense)]
    if not ones or d.wild(0.1):
        return Call("squeeze", (ref, d.dim(x, batch=False)) if d.chance.happens(0.8) else (ref,))
    dims = [dim - x.rank if d.chance.happens(0.3) else dim for dim in ones if d.chance.happens(0.7)]
    if d.wild(0.1):
        dims.append(d.dim(x))
    if x.dense and d.chance.happens(0.2):
        return Call("squeeze", (ref,))
    return Call("squeeze", (ref, dims[0] if len(dims) == 1 and d.chance.happens(0.7) else tuple(dims)))


def flatten(d: Draft) -> Call:
    ref = d.array(least=2 if d.chance.happens(0.8) else 1)
    x = d.value(ref)
    dims = [d.dim(x, batch=False), d.dim(x, batch=False)]
    if all(type(dim) is int and -x.rank <= dim < x.rank for dim in dims) and not d.wild(0.05):
        dims.sort(key=lambda dim: dim % x.rank)
    if d.chance.happens(0.2):
        return Call("flatten", (ref, dims[0]))
    return Call("flatten", (ref, *dims))


def _divisor(d: Draft, size: int) -> int:
    """A number that divides ``size``, a small one of a vast one; 0 for 0."""
    return d.chance.one([n for n in range(1, min(size, 64) + 1) if size % n == 0] or [0])


def _factors(d: Draft, size: int) -> list[int]:
    """Sizes whose product is ``size``, -1 among them now and then."""
    first = _divisor(d, size)
    parts = [first, size // first if first else d.chance.between(0, 3)]
    if d.chance.happens(0.3):
        parts.insert(d.chance.below(3), 1)
    if d.chance.happens(0.3):
        parts[d.chance.below(len(parts))] = -1
    if d.wild(0.06):
        parts[d.chance.below(len(parts))] = d.chance.one((-1, -2, 0, 5, 1.0, True, 2**40))
    return parts


def unflatten(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    regular = [dim for dim, size in enumerate(x.shape) if size is not None and (dim or x.dense)]
    at = d.chance.one(regular) if regular and not d.wild(0.05) else d.dim(x, batch=False)
    size = x.shape[at] if isinstance(at, int) and -x.rank <= at < x.rank else 2
    at = at - x.rank if isinstance(at, int) and d.chance.happens(0.3) else at
    return Call("unflatten", (ref, at, tuple(_factors(d, size or 0))))


def _new_shape(d: Draft, x: Nest) -> tuple[Any, ...]:
    """A shape that the components have room for: one regular dimension cut in two, or two next to each other joined."""
    sizes: list[Any] = list(x.shape[1:])
    if not x.dense:
        sizes = [-1 if size is None or d.chance.happens(0.2) else size for size in sizes]
    cut = [i for i, size in enumerate(sizes) if size != -1]
    if cut and d.chance.happens(0.6):
        at = d.chance.one(cut)
        if d.chance.happens(0.5) or at + 1 >= len(sizes) or sizes[at + 1] == -1:
            n = _divisor(d, sizes[at])
            sizes[at : at + 1] = [n, sizes[at] // n if n else d.chance.between(0, 3)]
        else:
            sizes[at : at + 2] = [sizes[at] * sizes[at + 1]]
    if d.chance.happens(0.2):
        sizes.append(1)
    if x.dense and sizes and d.chance.happens(0.3):
        sizes[d.chance.below(len(sizes))] = -1
    shape = [-1 if d.chance.happens(0.2) and not x.dense else x.shape[0] if x.rank else 1, *sizes]
    if d.wild(0.08):
        shape[d.chance.below(len(shape))] = d.chance.one((-1, -2, 0, 7, 1.0, 2**40))
    return tuple(shape)


def reshape(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        ref = d.array(least=2 if d.chance.happens(0.7) else 1)
        return Call(op, (ref, _new_shape(d, d.value(ref))))

    return drawn


def reshape_as(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    if x.dense:
        return Call("reshape_as", (ref, d.dense(d.chance.one(((x[0].size,), (1, *x.shape), x.shape)))))
    form = arrays.form_of(x)
    how = d.chance.below(3)
    if how == 0:
        flat = tuple((math.prod(shape),) for shape in form.shapes)
        form = arrays.Form(flat, 1, frozenset({1}), (0,))
    elif how == 1:
        shapes = tuple((*shape, 1) for shape in form.shapes)
        form = replace(form, shapes=shapes, rank=form.rank + 1, regular=(*form.regular, 1))
    if d.wild(0.04) and form.shapes:
        form = replace(form, shapes=((9,) * form.rank, *form.shapes[1:]))
    return Call("reshape_as", (ref, d.nested(form=form)))


def select(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    at = d.dim(x)
    if not isinstance(at, int) or not -x.rank <= at < x.rank:
        return Call("select", (ref, at, 0))
    least = min(sizes_along(x, at % x.rank))
    return Call("select", (ref, at, d.integer(-least, least - 1) if least else d.integer(0, 1)))


def sizes_along(x: Nest, dim: int) -> tuple[int, ...]:
    """The size of each component along a dimension, or the number of components; 0 if there are none."""
    if not dim and not x.dense:
        return (x.count,)
    return x.column(dim + x.dense) or (0,)


def chunk(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    regular = [dim for dim, size in enumerate(x.shape) if size is not None]
    if not regular:
        return Call("chunk", (ref, 2))
    at = d.chance.one(regular) if not d.wild(0.06) else d.dim(x)
    count = (
        d.integer(1, 4) if 0 not in x.shape else d.chance.between(1, 4)
    )  # nothing is cut into as many as one asks for
    return Call("chunk", (ref, count, at)) if d.chance.happens(0.8) else Call("chunk", (ref, count))


def split(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    at = d.dim(x)
    if not isinstance(at, int) or not -x.rank <= at < x.rank:
        return Call("split", (ref, 1, at))
    size = sizes_along(x, at % x.rank)[0]
    if d.chance.happens(0.5):
        return Call("split", (ref, d.integer(1, max(size, 1)), *((at,) if at or d.chance.happens(0.5) else ())))
    ends = sorted(d.chance.between(0, size) for _ in range(d.chance.below(3)))
    parts: list[Any] = [b - a for a, b in zip([0, *ends], [*ends, size], strict=True)]
    if d.wild(0.06):
        parts[d.chance.below(len(parts))] = d.chance.one((-1, 1.0, True, 7, 2**70))
    return Call("split", (ref, tuple(parts) if not d.wild(0.02) else (), at))


# ---- joining ---------------------------------------------------------------------------------------------------------


def join(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        ref = d.array()
        x = d.value(ref)
        at = d.dim(x, op == "stack", batch=op == "cat")
        parts = [ref]
        for _ in range(d.chance.one((0, 1, 1, 2))):
            parts.append(ref if d.chance.happens(0.15) else _joinable(d, x, at, op))
        if d.wild(0.02):
            return Call(op, ([] if d.chance.happens(0.5) else ref, at))
        return Call(op, (parts, at))

    return drawn


def _joinable(d: Draft, x: Nest, at: Any, op: str) -> Ref:
    """An array that can be joined to ``x`` along ``at``, or nearly."""
    if op == "stack" or not isinstance(at, int) or not x.rank or d.chance.happens(0.3):
        return d.like(x, d.kinds) if not d.wild(0.03) else d.nested()
    at %= x.rank
    if x.dense:
        shape = list(x.shape)
        shape[at] = d.chance.between(0, 3)
        return d.dense(shape, d.kinds)
    form = arrays.form_of(x)
    if not at:
        more = tuple(form.shape(d.chance.between(0, 3)) for _ in range(d.chance.between(0, 2)))
        return d.nested(d.kinds, replace(form, shapes=more))
    size = None if at in form.irregular else d.chance.between(0, 2)
    shapes = tuple(
        (*shape[: at - 1], d.chance.between(0, 2) if size is None else size, *shape[at:]) for shape in form.shapes
    )
    regular = (*form.regular[: at - 1], size or 0, *form.regular[at:])
    return d.nested(d.kinds, replace(form, shapes=shapes, regular=regular))


DRAWS: dict[str, Callable[[Draft], Call]] = {
    "transpose": transpose,
    "permute": permute,
    "squeeze": squeeze,
    "flatten": flatten,
    "split": split,
    "unsqueeze": unsqueeze,
    "unflatten": unflatten,
    "reshape": reshape("reshape"),
    "view": reshape("view"),
    "reshape_as": reshape_as,
    "select": select,
    "chunk": chunk,
    "cat": join("cat"),
    "stack": join("stack"),
}
