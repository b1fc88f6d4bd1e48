"""Movement: where the elements of a component go, which dimension is ragged afterwards, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from pynested.spec.components import Components

from .values import Answer, Nest, Refused, Silent, both, component_dim, dense, dim_of, dims_of, integer, shaped


def _same(op: str) -> Callable[..., Answer]:
    def rule(self: Nest) -> Answer:
        return Answer(op, {"self": shaped(self)}, lambda raw: self.like(raw))

    return rule


def transpose(self: Nest, dim0: Any, dim1: Any) -> Answer:
    a, b = component_dim(self, dim0), component_dim(self, dim1)
    order = list(range(len(self.shape) + self.dense))
    order[a], order[b] = order[b], order[a]
    sizes = [self.shape[dim] for dim in order[1:]] if not self.dense else ()
    ragged = {a: b, b: a}.get(self.ragged or 0, self.ragged)
    return Answer(
        "transpose", {"self": shaped(self), "dim0": a, "dim1": b}, lambda raw: self.like(raw, None, ragged, sizes)
    )


def unsqueeze(self: Nest, dim: Any) -> Answer:
    at = component_dim(self, dim, 1)
    sizes = (*self.shape[1:at], 1, *self.shape[at:])
    ragged = None if self.ragged is None else self.ragged + (at <= self.ragged)
    return Answer("unsqueeze", {"self": shaped(self), "dim": at}, lambda raw: self.like(raw, None, ragged, sizes))


def permute(self: Nest, dims: Any) -> Answer:
    given = both(*[lambda one=one: dim_of(self, one) for one in dims])  # type: ignore[misc]
    order = [0, *given] if self.dense else given
    if sorted(order) != list(range(self.rank + self.dense)) or order[0]:
        raise Refused("DimensionError")
    ragged = None if self.ragged is None else order.index(self.ragged)
    sizes = () if self.dense else [self.shape[dim] for dim in order[1:]]
    arguments = {"self": shaped(self), "dims": tuple(order)}
    return Answer("permute", arguments, lambda raw: self.like(raw, None, ragged, sizes))


def squeeze(self: Nest, dim: Any = None) -> Answer:
    shape = (1, *self.shape) if self.dense else self.shape
    if dim is None:
        if not self.dense:
            raise Refused("DimensionError")
        dims: Any = tuple(at for at, size in enumerate(shape) if at and size == 1)
    else:
        dims = dims_of(self, dim)

    def refuse(wrong: bool, kind: str) -> None:
        if wrong:
            raise Refused(kind)

    sizes = [shape[at] for at in dims if at]
    if self.unknown and None in sizes:
        raise Silent
    both(
        lambda: refuse(0 in dims or None in sizes, "DimensionError"),
        lambda: refuse(any(size not in (1, None) for size in sizes), "ShapeError"),
    )
    kept = [at for at in range(len(shape)) if at not in dims]
    ragged = None if self.ragged is None else kept.index(self.ragged)
    left = () if self.dense else [shape[at] for at in kept[1:]]
    return Answer("squeeze", {"self": shaped(self), "dim": dims}, lambda raw: self.like(raw, None, ragged, left))


def flatten(self: Nest, start_dim: Any = 0, end_dim: Any = -1) -> Answer:
    none = int(not self.rank)  # a number counts as an array of one dimension
    first, last = both(lambda: dim_of(self, start_dim, none), lambda: dim_of(self, end_dim, none))
    if not first or first > last:
        raise Refused("DimensionError")
    shape = (1, *self.shape) if self.dense else self.shape
    merged = shape[first : last + 1]
    whole = None if None in merged else math.prod(size or 0 for size in merged)
    ragged = self.ragged
    if ragged is not None and ragged > first:
        ragged = max(ragged - (last - first), first)
    sizes = () if self.dense else (*shape[1:first], whole, *shape[last + 1 :])
    arguments = {"self": shaped(self), "start_dim": first, "end_dim": last}
    return Answer("flatten", arguments, lambda raw: self.like(raw, None, ragged, sizes))


def unflatten(self: Nest, dim: Any, sizes: Any) -> Answer:
    at = component_dim(self, dim)
    size = self[0].shape[at - 1] if self.dense else self.shape[at]
    if self.unknown or not sizes:
        raise Silent
    if size is None:
        raise Refused("DimensionError", "ArgumentError")
    parts = tuple(integer(part) for part in sizes)
    known = math.prod(part for part in parts if part != -1)
    if parts.count(-1) > 1 or min(parts) < -1:
        raise Refused("ShapeError")
    if -1 in parts and not known:
        if size:
            raise Refused("ShapeError")
        raise Silent
    if size % known if -1 in parts else size != known:
        raise Refused("ShapeError")
    made = tuple(size // known if part == -1 else part for part in parts)
    left = (*self.shape[1:at], *made, *self.shape[at + 1 :])
    ragged = None if self.ragged is None else self.ragged + (len(parts) - 1 if at < self.ragged else 0)
    return Answer(
        "unflatten", {"self": shaped(self), "dim": at, "sizes": parts}, lambda raw: self.like(raw, None, ragged, left)
    )


def _dense_shape(x: Nest, shape: tuple[int, ...]) -> tuple[int, ...]:
    """The shape that a dense array is brought to: one size may be -1, and is what the others leave."""
    known = math.prod(size for size in shape if size != -1)
    if shape.count(-1) > 1 or min(shape, default=0) < -1 or (-1 in shape and not known):
        raise Refused("ShapeError")
    if x[0].size % known if -1 in shape else x[0].size != known:
        raise Refused("ShapeError")
    return tuple(x[0].size // known if size == -1 else size for size in shape)


def reshape(self: Nest, shape: Any, op: str = "reshape") -> Answer:
    asked = tuple(integer(size) for size in shape)
    if self.dense:
        found = (1, *_dense_shape(self, asked))
        return Answer(op, {"self": shaped(self), "shape": found}, lambda raw: self.like(raw), op == "view")
    if not asked or asked[0] not in (-1, self.count) or min(asked) < -1:
        raise Refused("ShapeError")
    for dim, size in enumerate(asked[1:], 1):
        if size == -1 and dim >= self.rank:
            raise Refused("ShapeError")
        if size != -1 and dim < self.rank and self.shape[dim] is None and not self.unknown:
            raise Refused("ShapeError")
    if self.layout == "jagged" and len(asked) <= self.ragged:
        raise Refused("ShapeError")
    for component in self:
        new = [component.shape[dim] if size == -1 else size for dim, size in enumerate(asked[1:])]
        if math.prod(new) != component.size:
            raise Refused("ShapeError")
    sizes = tuple(self.shape[dim] if size == -1 else size for dim, size in enumerate(asked[1:], 1))
    may_refuse = op == "view" or not self.count
    return Answer(op, {"self": shaped(self), "shape": asked}, lambda raw: self.like(raw, sizes=sizes), may_refuse)


def view(self: Nest, shape: Any) -> Answer:
    return reshape(self, shape, "view")


def reshape_as(self: Nest, other: Nest) -> Answer:
    if self.dense != other.dense:
        raise Refused("ShapeError", "StructureError")
    if self.count != other.count or any(a.size != b.size for a, b in zip(self, other, strict=False)):
        raise Refused("ShapeError")
    return Answer("reshape_as", {"self": shaped(self), "other": shaped(other)}, lambda raw: other.like(raw, self.dtype))


# ---- joining ---------------------------------------------------------------------------------------------------------


def _joined(arrays: Any, op: str) -> tuple[np.dtype[Any], list[Components]]:
    """The promoted dtype, and the components in it; what does not fit together is refused."""
    if not isinstance(arrays, list | tuple) or isinstance(arrays, Nest):
        raise Refused("ArgumentError")
    if not arrays:
        raise Refused("StructureError", "ShapeError")
    dense_ones = [x.dense for x in arrays]
    if any(dense_ones) and not all(dense_ones):
        raise Refused("StructureError")
    kinds = ["StructureError", "ShapeError"] if all(dense_ones) else ["StructureError"]
    if len({x.rank for x in arrays}) > 1:
        raise Refused(*kinds)
    if any(x.unknown for x in arrays):
        raise Silent  # nobody knows whether they fit
    dtype = np.result_type(*[x.dtype for x in arrays])
    return dtype, [shaped(x, None if dtype.kind == "f" else dtype) for x in arrays]


def cat(arrays: Any, dim: Any = 0) -> Answer:
    dtype, parts = _joined(arrays, "cat")
    first = arrays[0]

    def check_rank() -> None:
        if first.dense and not first.rank:
            raise Refused("StructureError", "ShapeError", "DimensionError")

    _, at = both(check_rank, lambda: dim_of(first, dim))
    _refuse_sizes(arrays, [at] if at else list(range(first.rank)), bool(at))
    same = first.layout == "jagged" and all(x.layout == "jagged" and x.ragged == first.ragged for x in arrays)
    if not at:
        same = same and len({x.shape[1:] for x in arrays}) == 1
        sizes = first.shape[1:]
    else:
        total = [x.shape[at] if not x.dense else 0 for x in arrays] if not first.dense else [0]
        sizes = tuple(
            (None if None in total else sum(total)) if d == at else own for d, own in enumerate(first.shape[1:], 1)
        )
    made = _wrap_joined(first, same, dtype, first.ragged, sizes)
    return Answer("cat", {"arrays": parts, "dim": at}, made)


def _refuse_sizes(arrays: Any, free: list[int], whole: bool) -> None:
    """Sizes may differ along the dims ``free`` only; ``whole``: and the numbers of components may not differ."""
    first = arrays[0]
    kinds = ["StructureError", "ShapeError"] if first.dense else ["StructureError"]
    if whole and len({x.count for x in arrays}) > 1:
        raise Refused(*kinds)
    for x in arrays[1:] if whole else ():
        pairs = [(a.shape, b.shape) for a, b in zip(first, x, strict=True)]
        pairs += [] if first.count or first.unknown or x.unknown else [(first.shape[1:], x.shape[1:])]
        for a, b in pairs:
            wrong = [d for d, (m, n) in enumerate(zip(a, b, strict=True), 1) if d not in free and m != n]
            if any(None not in (a[d - 1], b[d - 1]) for d in wrong):
                raise Refused(*kinds)


def _wrap_joined(first: Nest, same: bool, dtype: Any, ragged: int | None, sizes: Any) -> Callable[[Any], Nest]:
    if first.dense:
        return lambda raw: dense(np.asarray(raw[0]), dtype)
    if same:
        return lambda raw: Nest(raw, "jagged", dtype, ragged, tuple(sizes))
    return lambda raw: Nest(raw, "strided", dtype, sizes=tuple(sizes))


def stack(arrays: Any, dim: Any = 0) -> Answer:
    dtype, parts = _joined(arrays, "stack")
    first = arrays[0]
    at = dim_of(first, dim, 1)
    if not at:
        raise Refused("DimensionError")
    _refuse_sizes(arrays, [], True)
    same = first.layout == "jagged" and all(x.layout == "jagged" and x.ragged == first.ragged for x in arrays)
    sizes = (*first.shape[1:at], len(arrays), *first.shape[at:]) if not first.dense else ()
    ragged = None if first.ragged is None else first.ragged + (at <= first.ragged)
    made = _wrap_joined(first, same, dtype, ragged, sizes)
    return Answer("stack", {"arrays": parts, "dim": at}, made)


RULES: dict[str, Callable[..., Answer]] = {
    **{op: _same(op) for op in ("clone", "detach", "contiguous")},
    "transpose": transpose,
    "permute": permute,
    "squeeze": squeeze,
    "flatten": flatten,
    "unsqueeze": unsqueeze,
    "unflatten": unflatten,
    "reshape": reshape,
    "view": view,
    "reshape_as": reshape_as,
    "cat": cat,
    "stack": stack,
}
