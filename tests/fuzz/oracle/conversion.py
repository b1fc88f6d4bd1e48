"""Into nested arrays and out of them: what comes out, and what is refused."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from .values import Answer, Nest, Refused, Silent, both, dense, dim_of, dtype_of, holds, integer, shaped, unfit


def to_padded_array(input: Nest, padding: Any, output_size: Any = None) -> Answer:
    if input.dense:
        raise Refused("StructureError", "ArgumentError")
    needed = [input.count, *[max(input.column(d), default=input.shape[d] or 0) for d in range(1, input.rank)]]

    def size() -> dict[str, Any]:
        if output_size is None:
            return {}
        asked = tuple(integer(one) for one in output_size)
        if len(asked) != len(needed) or any(one < least for one, least in zip(asked, needed, strict=True)):
            raise Refused("ShapeError")
        return {"output_size": asked}

    _, given = both(lambda: holds(input.dtype, padding), size)
    arguments = {"input": shaped(input), "padding": padding, **given}
    return Answer("to_padded_array", arguments, lambda raw: dense(np.asarray(raw), input.dtype), input.unknown)


# ---- from arrays -----------------------------------------------------------------------------------------------------

Entries = list[tuple[Any, np.dtype[Any]]]  # arrays, and their dtypes


def _entries(tensor_list: Any) -> Entries:
    """The entries of a list, or the slices of a dense array."""
    if isinstance(tensor_list, Nest):
        if not tensor_list.dense:
            raise Refused("ArgumentError", "StructureError")
        if tensor_list.rank < 2:
            raise Refused("StructureError", "ArgumentError")
        return [(one, tensor_list.dtype) for one in tensor_list[0]]
    if not isinstance(tensor_list, list | tuple):
        raise Refused("ArgumentError")
    if any(isinstance(one, Nest) and not one.dense for one in tensor_list):
        raise Refused("StructureError")
    nests = [one if isinstance(one, Nest) else dense(np.asarray(one)) for one in tensor_list]
    return [(one[0], one.dtype) for one in nests]


def _check_dtypes(entries: Entries, kind: np.dtype[Any], asked: bool) -> None:
    """Nothing is converted with possible loss, but to a dtype that is asked for."""
    lossy = [(one, own) for one, own in entries if not np.can_cast(own, kind)]
    found = [unfit(kind, np.asarray(one).astype(own)) if asked else "DTypeError" for one, own in lossy if one.size]
    kinds = [name for name in found if name is not None]
    if kinds:
        raise Refused(*kinds)
    if any(not one.size and (not asked or unfit(kind, np.zeros(0, own)) is not None) for one, own in lossy):
        raise Silent  # nothing can be lost


def _irregular(entries: Entries, jagged: bool) -> list[int]:
    """The dims along which the entries differ."""
    if len({one.ndim for one, _ in entries}) > 1 or (jagged and not entries[0][0].ndim):
        raise Refused("StructureError")
    sizes = zip(*[one.shape for one, _ in entries], strict=True)
    differ = [dim for dim, same in enumerate(sizes, 1) if len(set(same)) > 1]
    if jagged and len(differ) > 1:
        raise Refused("LayoutError")
    return differ


def nested_array(tensor_list: Any, dtype: Any = None, layout: Any = None, op: str = "nested_array") -> Answer:
    entries = _entries(tensor_list)
    wanted = None if dtype is None else dtype_of(dtype)
    jagged = layout == "jagged"
    if not entries:
        return _of_nothing(tensor_list, wanted, jagged, op)
    kind = entries[0][1] if wanted is None else wanted
    differ, _ = both(lambda: _irregular(entries, jagged), lambda: _check_dtypes(entries, kind, wanted is not None))
    ragged = (differ or [1])[0] if jagged else None
    given = {"tensor_list": [one for one, _ in entries], "dtype": kind}
    return Answer(op, given, lambda raw: Nest(raw, "jagged" if jagged else "strided", kind, ragged))


def _of_nothing(tensor_list: Any, wanted: Any, jagged: bool, op: str) -> Answer:
    """No arrays: an empty list says nothing of them, an empty dense array says all."""
    listed = not isinstance(tensor_list, Nest)
    if jagged and (listed or op == "nested_array"):
        raise Refused("StructureError") if listed else Silent
    kind = wanted or (np.dtype(np.float64) if listed else tensor_list.dtype)
    if not listed:
        _check_dtypes([(np.zeros(0), tensor_list.dtype)], kind, True)
    sizes = () if listed else tensor_list.shape[1:]
    layout, ragged = ("jagged", 1) if jagged else ("strided", None)
    return Answer(op, {"tensor_list": []}, lambda raw: Nest(raw, layout, kind, ragged, sizes))


def as_nested_array(tensor_list: Any, dtype: Any = None, layout: Any = None) -> Answer:
    if not isinstance(tensor_list, Nest) or tensor_list.dense:
        return nested_array(tensor_list, dtype, layout, "as_nested_array")
    x = tensor_list
    kind = x.dtype if dtype is None else dtype_of(dtype)
    becomes = layout or x.layout
    entries = [(one, x.dtype) for one in (np.zeros(0), *x)]
    at, _ = both(lambda: _ragged_in(x, becomes), lambda: _check_dtypes(entries, kind, True))
    given = {"tensor_list": shaped(x), "dtype": kind}
    return Answer("as_nested_array", given, lambda raw: Nest(raw, becomes, kind, at, x.shape[1:]))


def _ragged_in(x: Nest, layout: str) -> int | None:
    """The ragged dimension of a nested array when it is expressed in another layout, or in its own."""
    irregular = [dim for dim in range(1, x.rank) if x.shape[dim] is None]
    if layout == "jagged" and x.rank < 2:
        raise Refused("StructureError", "LayoutError")
    if layout == "jagged" and x.layout == "strided" and len(irregular) > 1:
        raise Refused("LayoutError")
    return None if layout == "strided" else x.ragged or (irregular or [1])[0]


def to(self: Nest, *targets: Any, dtype: Any = None, layout: Any = None) -> Answer:
    asked = [*targets, *([] if dtype is None else [dtype])]
    if len(asked) > 1:
        raise Silent
    kind, _ = both(lambda: dtype_of(asked[0]) if asked else self.dtype, lambda: _layout_of(self, layout))
    given = {"self": shaped(self), "dtype": kind}
    if self.dense:
        return Answer("to", given, lambda raw: dense(np.asarray(raw[0]), kind))
    becomes, at = layout or self.layout, _ragged_in(self, layout or self.layout)
    return Answer("to", given, lambda raw: Nest(raw, becomes, kind, at, self.shape[1:]))


def _layout_of(x: Nest, layout: Any) -> None:
    """Refuse a layout that is none, or that the array cannot have."""
    if layout is None:
        return
    if x.dense:
        raise Refused("StructureError")
    _ragged_in(x, layout)


# ---- views of a dense array ------------------------------------------------------------------------------------------


def nested_array_from_jagged(values: Nest, offsets: Any = None, lengths: Any = None, jagged_dim: Any = None) -> Answer:
    at = 1 if jagged_dim is None else integer(jagged_dim)
    if not values.dense:
        raise Refused("ArgumentError")
    if offsets is None and lengths is None:
        raise Refused("StructureError")
    if not 1 <= at <= values.rank:
        raise Refused("DimensionError")
    rows = values[0].shape[at - 1]
    starts = list(offsets) if offsets is not None else [sum(lengths[:i]) for i in range(len(lengths) + 1)]
    sizes = list(lengths) if lengths is not None else [b - a for a, b in pairwise(starts)]
    if len(starts) != len(sizes) + 1 or min(sizes, default=0) < 0:
        raise Refused("StructureError")
    if lengths is None and (starts[0] != 0 or starts[-1] != rows):
        raise Refused("StructureError")
    if any(a < 0 or a + n > rows for a, n in zip(starts, sizes, strict=False)):
        raise Refused("StructureError")
    arguments = {"values": values[0], "offsets": starts, "lengths": sizes, "jagged_dim": at}
    tail = offsets is None and starts[-1] != rows  # lengths alone that leave a tail
    sizes_of = values.shape
    return Answer(
        "nested_array_from_jagged", arguments, lambda raw: Nest(raw, "jagged", values.dtype, at, sizes_of), tail
    )


def nested_array_from_strided(values: Nest, sizes: Any, strides: Any = None, offsets: Any = None) -> Answer:
    if not values.dense or values.rank != 1:
        raise Refused("StructureError", "ArgumentError")
    steps = strides if strides is not None else [[math.prod(size[d + 1 :]) for d in range(len(size))] for size in sizes]
    counts = [math.prod(size) for size in sizes]
    starts = offsets if offsets is not None else [sum(counts[:i]) for i in range(len(counts))]
    if len(steps) != len(sizes) or len(starts) != len(sizes):
        raise Refused("StructureError")
    for size, step, start in zip(sizes, steps, starts, strict=True):
        last = start + sum((n - 1) * s for n, s in zip(size, step, strict=True))
        if min((*size, *step), default=0) < 0 or (0 not in size and (start < 0 or last >= values[0].size)):
            raise Refused("StructureError")
    rows = np.array(sizes, np.int64).reshape(len(sizes), -1 if len(sizes) else 0)
    arguments = {"values": values[0], "sizes": rows, "strides": steps, "offsets": starts}
    unknown = (None,) * (len(sizes[0]) if len(sizes) else 0)

    def wrap(raw: Any) -> Nest:
        return Nest([np.asarray(one) for one in raw], "strided", values.dtype, sizes=unknown)

    return Answer("nested_array_from_strided", arguments, wrap, may_refuse=True)  # memory that is not contiguous


def narrow(array: Nest, dim: Any, start: Any = 0, length: Any = None, layout: Any = None) -> Answer:
    at = integer(dim)
    if length is None or (array.dense and array.rank < 2):
        raise Silent
    if not array.dense:
        return _narrow_nested(array, at, start, length)
    if not -array.rank <= at < array.rank:
        raise Refused("DimensionError")
    at %= array.rank
    jagged = layout == "jagged"
    if jagged and at != 1:
        raise Refused("DimensionError")
    if not at:
        raise Silent
    count, size = array[0].shape[0], array[0].shape[at]
    starts, lengths = (_whole(one, count) for one in (start, length))
    if any(a < 0 or n < 0 or a + n > size for a, n in zip(starts, lengths, strict=True)):
        raise Refused("StructureError")
    whole = {"start": np.array(starts, np.int64), "length": np.array(lengths, np.int64)}
    sizes = tuple(None if d == at else own for d, own in enumerate(array.shape[1:], 1))
    made = ("jagged", array.dtype, 1) if jagged else ("strided", array.dtype, None)
    return Answer("narrow", {"array": array[0], "dim": at, **whole}, lambda raw: Nest(raw, *made, sizes))


def _whole(value: Any, count: int) -> list[int]:
    """An integer for each of so many entries, as Python has it."""
    numbers = np.asarray(value)
    if numbers.dtype.kind not in "iu" and numbers.size:
        raise Refused("DTypeError")
    if numbers.shape not in ((), (count,)):
        raise Refused("StructureError")
    return [int(one) for one in np.broadcast_to(numbers, (count,)).tolist()]


def _narrow_nested(x: Nest, dim: int, start: Any, length: Any) -> Answer:
    at = dim_of(x, dim)
    try:
        first, count = integer(start), integer(length)
    except Refused:
        if np.size(start) == np.size(length) == 1:
            raise Silent from None  # integers, perhaps, in another form
        raise Refused("DTypeError", "ArgumentError", "StructureError") from None
    known = [one.shape[at - 1] for one in x] or [size for size in x.shape[at : at + 1] if size is not None]
    fits = all(first + count <= size for size in (known if at else [x.count]))
    if first < 0 or count < 0 or not fits:
        raise Refused("StructureError", *["DTypeError"] * (max(abs(first), abs(count)) >= 2**63))
    arguments = {"array": shaped(x), "dim": at, "start": first, "length": count}
    sizes = tuple(count if d == at and size is not None else size for d, size in enumerate(x.shape[1:], 1))
    return Answer("narrow", arguments, lambda raw: x.like(raw, sizes=sizes))


def masked_select(array: Nest, mask: Nest) -> Answer:
    if not array.dense or not mask.dense:
        raise Refused("ArgumentError")
    kinds = ["DTypeError"] if mask.dtype.kind != "b" else []
    try:
        fits = np.broadcast_shapes(array[0].shape, mask[0].shape) == array[0].shape
    except ValueError:
        fits = False
    kinds += [] if array.rank and fits else ["ShapeError"]
    if kinds:
        raise Refused(*kinds)
    arguments = {"array": array[0], "mask": mask[0]}
    return Answer("masked_select", arguments, lambda raw: Nest(raw, "jagged", array.dtype, 1, (None,)))


RULES: dict[str, Callable[..., Answer]] = {
    "to": to,
    "to_padded_array": to_padded_array,
    "nested_array": nested_array,
    "as_nested_array": as_nested_array,
    "nested_array_from_jagged": nested_array_from_jagged,
    "nested_array_from_strided": nested_array_from_strided,
    "narrow": narrow,
    "masked_select": masked_select,
}
