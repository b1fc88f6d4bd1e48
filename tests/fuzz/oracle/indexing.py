"""Pieces: what an index or a slice picks of every component, and what kind of array that is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .values import Answer, Nest, Refused, Silent, both, dense, dim_of, integer, shaped, stacked

DENSE_KINDS = ("DimensionError", "IndexOutOfRange", "ArgumentError")  # of a wrong index of a dense array: either


def _picks(item: Any, size: int) -> Any:
    """The places that a list, or a vector, names of ``size``."""
    array = np.asarray(item) if len(item) or isinstance(item, np.ndarray) else np.zeros(0, np.int64)
    if array.dtype.kind == "O" and array.ndim == 1 and all(type(one) is int for one in array):
        raise Refused("IndexOutOfRange")  # one of them is beyond int64
    if array.dtype.kind not in "biu" or array.ndim != 1:
        raise Refused("ArgumentError")
    if array.dtype.kind == "b":
        if len(array) != size:
            raise Refused("IndexOutOfRange")
        return np.flatnonzero(array)
    if (array < -size).any() or (array >= size).any():
        raise Refused("IndexOutOfRange")
    return array


def _entry(item: Any, may_pick: bool = False) -> Any:
    """One entry of an index, checked."""
    if isinstance(item, list | np.ndarray) and may_pick:
        return item
    if item is None or item is Ellipsis:
        return item
    if not isinstance(item, slice):
        return integer(item)
    start, stop, step = (None if end is None else integer(end) for end in (item.start, item.stop, item.step))
    if step == 0:
        raise Refused("ArgumentError")
    return slice(start, stop, step)


def getitem(self: Nest, index: Any) -> Answer:
    if isinstance(index, Nest):
        return _masked(self, index) if not index.dense else getitem(self, index[0])
    try:
        items = index if isinstance(index, tuple) else (index,)
        free = self.dense or (bool(items) and type(items[0]) is int)
        entries = both(*[lambda item=item, i=i: _entry(item, free or not i) for i, item in enumerate(items)])  # type: ignore[misc]
        if self.dense:
            return _dense_getitem(self, entries)
        expanded = _expanded(self, entries)
        return _component_getitem(self, entries) if free else _nested_getitem(self, expanded)
    except Refused as refusal:
        huge = any(type(item) is int and abs(item) >= 2**63 for item in (index if isinstance(index, tuple) else ()))
        either = DENSE_KINDS if self.dense else ("IndexOutOfRange",) if huge else ()
        raise Refused(*refusal.kinds, *either) from None


def _masked(x: Nest, mask: Nest) -> Answer:
    """What a nested mask chooses."""
    if x.dense:
        raise Refused("StructureError")
    if mask.dtype.kind != "b":
        raise Refused("ArgumentError", "StructureError")
    if mask.rank > x.rank or x.count != mask.count:
        raise Refused("StructureError")
    if x.unknown or mask.unknown:
        raise Silent
    if any(holds.shape != one.shape[: holds.ndim] for one, holds in zip(x, mask, strict=True)):
        raise Refused("StructureError")
    if not x.count and not all(None in pair or pair[0] == pair[1] for pair in zip(x.shape, mask.shape, strict=False)):
        raise Refused("StructureError")
    layout = x.layout if x.ragged is None or x.ragged < mask.rank else "strided"
    left, ragged = (None, *x.shape[mask.rank :]), 1 if layout == "jagged" else None
    arguments = {"self": shaped(x), "index": shaped(mask)}
    return Answer("getitem", arguments, lambda raw: Nest(raw, layout, x.dtype, ragged, left))


def _dense_getitem(x: Nest, entries: list[Any]) -> Answer:
    if sum(item is Ellipsis for item in entries) > 1:
        raise Refused(*DENSE_KINDS)
    picked = _of_component(x[0], entries)
    return Answer("clone", {"self": shaped(dense(picked))}, lambda raw: dense(np.asarray(raw[0]), x.dtype))


def _of_component(x: Any, entries: list[Any]) -> Any:
    """What NumPy picks, where it is settled what that is."""
    arrays = [np.asarray(item) for item in entries if isinstance(item, list | np.ndarray)]
    if any(array.size and array.dtype.kind not in "biu" for array in arrays):
        raise Refused("ArgumentError", *DENSE_KINDS)
    flags = any(array.dtype.kind == "b" for array in arrays)
    numbered = [np.zeros(0, np.int64) if isinstance(item, list) and not item else item for item in entries]
    try:
        picked = x[tuple(numbered) if any(item is Ellipsis for item in entries) else (*numbered, ...)]
    except IndexError:
        raise Refused("ArgumentError", "ShapeError", *DENSE_KINDS) from None
    if len(arrays) > 1 and flags:
        raise Refused("ArgumentError")
    named = [i for i, item in enumerate(entries) if isinstance(item, int | list | np.ndarray)]
    if arrays and len(named) <= named[-1] - named[0]:
        raise Silent  # NumPy and PyTorch have different orders of dimensions
    return picked


def _expanded(x: Nest, entries: list[Any]) -> list[Any]:
    """The entries, with full slices for ``...`` and for what is missing."""
    named = sum(item is not None and item is not Ellipsis for item in entries)
    dots = [i for i, item in enumerate(entries) if item is Ellipsis]
    if named > x.rank or len(dots) > 1:
        raise Refused("DimensionError")
    place = dots[0] if dots else len(entries)
    expanded = entries[:place] + [slice(None)] * (x.rank - named) + entries[place + 1 :]
    if expanded[0] is None:
        raise Refused("DimensionError")
    return expanded


def _component_getitem(x: Nest, entries: list[Any]) -> Answer:
    batch, *rest = entries
    if not -x.count <= batch < x.count:
        raise Refused("IndexOutOfRange")
    _of_component(x[batch], rest)
    return Answer("getitem", {"self": shaped(x), "index": tuple(entries)}, lambda raw: dense(np.asarray(raw), x.dtype))


def _nested_getitem(x: Nest, entries: list[Any]) -> Answer:
    batch, *rest = entries
    if isinstance(batch, list | np.ndarray):
        batch = entries[0] = _picks(batch, x.count)
        chosen: list[Any] = [x[i] for i in batch]
    else:
        chosen = x[batch]
    for component in chosen:
        try:
            component[tuple(rest)]
        except IndexError:
            raise Refused("IndexOutOfRange") from None
    arguments = {"self": shaped(x), "index": tuple(entries)}
    if not chosen and any(isinstance(item, int) for item in rest):
        raise Silent  # nobody has that index, and nobody lacks it
    return Answer("getitem", arguments, lambda raw: _indexed(x, rest, raw))


def _indexed(x: Nest, rest: list[Any], raw: list[Any]) -> Nest:
    """Components after indexing: dense where an integer took the ragged dimension, else as they were."""
    sizes: list[int | None] = []
    ragged, dim, gone = None, 0, False
    for item in rest:
        dim += item is not None
        if isinstance(item, int):
            gone = gone or dim == x.ragged
            continue
        size = 1 if item is None else x.shape[dim]
        sizes.append(len(range(*item.indices(size))) if isinstance(item, slice) and size is not None else size)
        if item is not None and dim == x.ragged:
            ragged = len(sizes)
    parts = [np.asarray(one) for one in raw]
    return stacked(parts, tuple(sizes), x.dtype) if gone else Nest(parts, x.layout, x.dtype, ragged, tuple(sizes))


def select(self: Nest, dim: Any, index: Any) -> Answer:
    at, where = dim_of(self, dim), integer(index)
    sizes: Any = [self.count] if not at else self.column(at)
    if any(not -size <= where < size for size in sizes):
        raise Refused("IndexOutOfRange")
    arguments = {"self": shaped(self), "dim": at, "index": where}
    if not at:
        return Answer("select", arguments, lambda raw: dense(np.asarray(raw), self.dtype))
    if not self.count:
        raise Silent  # nobody has that index, and nobody lacks it
    left = (*self.shape[1:at], *self.shape[at + 1 :])

    def wrap(raw: Any) -> Nest:
        parts = [np.asarray(one) for one in raw]
        if at == self.ragged:
            return stacked(parts, left, self.dtype)
        return self.like(parts, None, None if self.ragged is None else self.ragged - (at < self.ragged), left)

    return Answer("select", arguments, wrap)


def chunk(self: Nest, chunks: Any, dim: Any = 0) -> Answer:
    at = dim_of(self, dim)
    size = self.count if not at else self[0].shape[at - 1] if self.dense else self.shape[at]
    if at and self.unknown:
        raise Silent

    def pieces() -> int:
        count = integer(chunks)
        if count < 1:
            raise Refused("ArgumentError")
        return count

    def regular() -> None:
        if size is None:
            raise Refused("DimensionError")

    count, _ = both(pieces, regular)
    if at and not self.count:
        raise Silent  # the definition asks the first component
    return Answer(
        "chunk", {"self": shaped(self), "chunks": count, "dim": at}, lambda raw: [self.like(one) for one in raw]
    )


def split(self: Nest, sizes: Any, dim: Any = 0) -> Answer:
    at = dim_of(self, dim)
    if at and self.unknown:
        raise Silent
    lengths = (self.count,) if not at else self.column(at)
    several = isinstance(sizes, tuple)

    def pieces() -> Any:
        given = tuple(integer(one) for one in sizes) if several else integer(sizes)
        if min(given, default=-1) < 0 if several else given < 1:
            raise Refused("ArgumentError")
        return given

    def regular() -> None:
        if at and not several and not self.dense and self.shape[at] is None:
            raise Refused("DimensionError")

    parts, _ = both(pieces, regular)
    known = lengths or ([] if self.shape[at] is None else [self.shape[at]])
    if several and any(sum(parts) != length for length in known):
        raise Refused("ShapeError")
    arguments = {"self": shaped(self), "sizes": parts, "dim": at}
    return Answer("split", arguments, lambda raw: [self.like(one, sizes=one.shape[1:]) for one in raw])


def unbind(self: Nest, dim: Any = 0) -> Answer:
    at = dim_of(self, dim)
    if at and not self.dense:
        raise Refused("DimensionError")
    parts = list(np.moveaxis(self[0], at - 1, 0)) if self.dense else list(self)
    return Answer("unbind", {"self": parts}, lambda raw: [dense(np.asarray(one), self.dtype) for one in raw])


RULES: dict[str, Callable[..., Answer]] = {
    "getitem": getitem,
    "select": select,
    "chunk": chunk,
    "split": split,
    "unbind": unbind,
}
