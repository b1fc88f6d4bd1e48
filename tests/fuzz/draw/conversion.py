"""Calls that build nested arrays, and that take pieces of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..oracle import DTYPES, Nest
from ..plan import Call, Dense, Ref
from . import arrays
from .draft import Draft
from .moves import sizes_along

LAYOUTS = ("jagged", "strided")
ENDS = (None, None, 0, 1, 2, -1, -2, 5, -7)
STEPS = (None, None, None, 1, 2, -1, -2)
WILD_ENTRIES = (True, 1.0, "0", [0], 2**70, slice(1.5), slice(0))


def _slice(d: Draft) -> slice:
    return slice(d.chance.one(ENDS), d.chance.one(ENDS), d.chance.one(STEPS) if not d.wild(0.02) else 0)


def index(d: Draft, x: Nest) -> Any:
    """What may stand between the brackets behind ``x``."""
    entries: list[Any] = []
    for dim in range(d.chance.between(0, x.rank)):
        least = min(sizes_along(x, dim))
        if (x.dense or (entries and type(entries[0]) is int)) and d.chance.happens(0.08):
            entries.append(picks(d, least))
        elif d.chance.happens(0.3):
            entries.append(d.integer(-least, least - 1) if least else _slice(d))
        else:
            entries.append(_slice(d) if d.chance.happens(0.7) else slice(None))
    if d.chance.happens(0.2) and (entries or not d.tame):
        entries.insert(d.chance.between(1 if entries and not d.wild() else 0, len(entries)), None)
    if d.chance.happens(0.2):
        entries.insert(d.chance.below(len(entries) + 1), ...)
    if x.rank and d.chance.happens(0.12):
        entries = [picks(d, x.shape[0] or 0), *(one for one in entries[1:] if type(one) is not list)]
    if d.wild(0.02):
        entries.insert(d.chance.below(len(entries) + 1), d.chance.one(WILD_ENTRIES))
    return entries[0] if len(entries) == 1 and d.chance.happens(0.7) else tuple(entries)


def picks(d: Draft, size: int) -> list[Any]:
    """Places of ``size`` entries, or a bool for each of them."""
    if d.chance.happens(0.3):
        return [d.chance.happens(0.5) for _ in range(size + d.wild(0.05))]
    return [d.integer(-size, size - 1) for _ in range(d.chance.below(4))] if size else []


def mask(d: Draft, x: Nest) -> Ref:
    """Bools for the elements of ``x``, or for what stands along its first dimensions."""
    if x.dense or x.rank < 3 or d.chance.happens(0.6):
        return d.like(x, "b" if not d.wild(0.04) else "biuf")
    form = arrays.form_of(x)
    covered = d.chance.between(1, form.rank - 1)
    irregular = frozenset(dim for dim in form.irregular if dim <= covered)
    shapes = tuple(shape[:covered] for shape in form.shapes)
    return d.nested(
        "b", replace(form, shapes=shapes, rank=covered, irregular=irregular, regular=form.regular[:covered])
    )


def getitem(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    if x.rank > (not x.dense) and not x.unknown and d.chance.happens(0.12):
        return Call("getitem", (ref, mask(d, x)))
    return Call("getitem", (ref, index(d, x)))


def to_padded_array(d: Draft) -> Call:
    ref = d.array(dense=0.02)
    x = d.value(ref)
    padding = d.chance.one((0.0, -0.0, 0, 1, -1.0, 7)) if d.chance.happens(0.6) else d.number(x.dtype)
    if x.dense or d.chance.happens(0.6):
        return Call("to_padded_array", (ref, padding))
    needed = [x.count, *[max(x.column(dim), default=x.shape[dim] or 0) for dim in range(1, x.rank)]]
    size = [least + d.chance.one((0, 0, 1, 2)) for least in needed]
    if d.wild(0.05):
        size[d.chance.below(len(size))] += d.chance.one((-1, -3))
    if d.wild(0.02):
        size.append(1)
    return Call("to_padded_array", (ref, padding, tuple(size)))


def to(d: Draft) -> Call:
    """Another dtype, another layout, or both."""
    ref = d.array()
    x = d.value(ref)
    options: dict[str, Any] = {"layout": d.chance.one(LAYOUTS)} if d.chance.happens(0.1 if x.dense else 0.4) else {}
    if options and d.chance.happens(0.4):
        return Call("to", (ref,), options)
    kind = d.dtype("f") if d.tame else d.chance.one((*DTYPES, "nonsense") if d.wild() else DTYPES)
    if d.chance.happens(0.3):
        return Call("to", (ref,), {"dtype": kind, **options})
    return Call("to", (ref, kind), options)


def nested_array(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        options: dict[str, Any] = {"layout": d.chance.one(LAYOUTS)} if d.chance.happens(0.7) else {}
        if d.chance.happens(0.1):
            options["dtype"] = d.chance.one(DTYPES) if not d.tame else np.dtype(np.float64)
        if d.chance.happens(0.4) or d.wild(0.05):
            ref = d.array(dense=0.7 if op == "nested_array" else 0.3)
            if op == "as_nested_array" or d.value(ref).dense or d.wild(0.1):
                return Call(op, (ref,), options)
        form = arrays.form(d.chance, jagged=d.chance.happens(0.7))
        kind = d.dtype()
        same = not d.wild(0.1)
        parts: list[Any] = [d.dense(shape, dtype=kind if same else d.dtype()) for shape in form.shapes]
        if d.wild(0.05):
            parts.append(d.chance.one(([1.0, 2.0], 3, [[1], [2]], [], d.array())))
        return Call(op, (parts,), options)

    return drawn


def from_buffer(d: Draft) -> Call:
    """A second look into memory that is there already."""
    there = [Ref("x", i) for i, one in enumerate(d.operands) if isinstance(one, Dense)]
    there = [ref for ref in there if d.value(ref).rank]
    shape = (d.chance.between(1, 6), 2)[: d.chance.between(1, 2)]
    ref = d.chance.one(there) if there and d.chance.happens(0.5) else d.dense(shape, d.kinds)
    x = d.value(ref)
    rows = x.shape[0] or 0
    if x.rank == 1 and d.chance.happens(0.5):
        sizes = [[d.chance.between(0, 2), d.chance.between(0, 2)] for _ in range(d.chance.between(1, 3))]
        starts = [d.chance.between(0, max(rows - a * b, 0)) if a * b <= rows or d.wild() else 0 for a, b in sizes]
        return Call("nested_array_from_strided", (ref, sizes, None, starts))
    lengths = [d.chance.between(0, rows) for _ in range(d.chance.between(1, 3))]
    starts = [d.chance.between(0, rows - length) for length in lengths]
    if d.wild(0.1):
        starts[0] += rows
    return Call("nested_array_from_jagged", (ref, [*starts, rows], lengths))


def narrow(d: Draft) -> Call:
    ref = d.array(least=2, dense=0.8)
    x = d.value(ref)
    if not x.dense:
        at = 0 if d.chance.happens(0.4) else d.chance.between(1, x.rank - 1)
        size = min((one.shape[at - 1] for one in x), default=0) if at else x.count
        start = d.integer(0, size)
        return Call("narrow", (ref, at, start, d.integer(0, max(size - start, 0)) if type(start) is int else 1))
    layout = {"layout": d.chance.one(LAYOUTS)}
    at = 1 if layout["layout"] == "jagged" and not d.wild(0.05) else d.dim(x, batch=False)
    size = (x.shape[at] if isinstance(at, int) and -x.rank <= at < x.rank else 1) or 0
    count = (x.shape[0] if x.rank else 1) or 0
    starts = [d.chance.between(0, size) for _ in range(count)]
    lengths = [d.chance.between(0, size - start) + d.wild(0.02) for start in starts]
    if starts and d.chance.happens(0.3):
        start, length = max(starts), min(lengths)
        return Call("narrow", (ref, at, start, length if start + length <= size else 0), layout)
    return Call("narrow", (ref, at, starts, lengths), layout)


def masked_select(d: Draft) -> Call:
    shape = [d.chance.between(0, 3) for _ in range(d.chance.between(0 if d.wild() else 1, 3))]
    ref = d.dense(shape, d.kinds)
    mask = [1 if d.chance.happens(0.15) else size for size in shape]
    mask = mask[d.chance.below(len(mask) + 1) :] if d.chance.happens(0.3) else mask
    return Call("masked_select", (ref, d.dense(mask, "b" if not d.wild() else "biuf")))


DRAWS: dict[str, Callable[[Draft], Call]] = {
    "getitem": getitem,
    "to_padded_array": to_padded_array,
    "to": to,
    "nested_array": nested_array("nested_array"),
    "as_nested_array": nested_array("as_nested_array"),
    "nested_array_from_jagged": from_buffer,
    "nested_array_from_strided": from_buffer,
    "narrow": narrow,
    "masked_select": masked_select,
}
