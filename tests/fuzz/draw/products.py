"""Calls of matrix products, tables of rows, and losses."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np

from ..oracle import Nest
from ..plan import Call, Ref
from . import arrays
from .draft import Draft

FLOAT64 = np.dtype(np.float64)
LABELS = [np.dtype(name) for name in ("int64", "int64", "int32", "int8", "uint8", "int16")]


def _counterpart(d: Draft, x: Nest, left: bool, rank: int) -> Ref:
    """An operand of ``rank`` dimensions that can be multiplied with ``x``, from the right (or from the left)."""
    dim = x.rank - 1 if left or x.rank < 2 else x.rank - 2
    inner = x.shape[dim]
    if inner is None and x.count and len(set(x.column(dim))) == 1:
        inner = x.column(dim)[0]
    inner = d.chance.between(0, 4) if inner is None or d.wild(0.03) else inner
    width = d.chance.one((1, 2, 3, 0))
    own = [inner] if rank == 1 else [inner, width] if left else [width, inner]
    lead = [] if rank < 3 else [1 if d.chance.happens(0.2) else x.shape[0] if not d.wild(0.05) else 2]
    lead += [size or 1 for size in x.shape[1:-2]] if rank > 3 else []
    return d.dense([*lead, *own], d.kinds)


def _turned(d: Draft, x: Nest, left: bool) -> Ref:
    """A nested operand whose components can be multiplied with those of ``x``."""
    width = d.chance.one((None, 1, 2))
    shapes = []
    for one in x:
        free = d.chance.between(0, 3) if width is None else width
        inner = one.shape[-1] if left else one.shape[-2]
        shapes.append((*one.shape[:-2], *((inner, free) if left else (free, inner))))
    if d.wild(0.04) and shapes:
        shapes[-1] = (*shapes[-1][:-2], 5, 5)
    rank = x.rank - 1
    inner_dim, outer_dim = (rank - 1, rank) if left else (rank, rank - 1)
    irregular = inner_dim if x.shape[-1 if left else -2] is None else outer_dim
    return d.nested(d.kinds, arrays.Form(tuple(shapes), rank, frozenset({irregular}), (0,) * (rank - 2) + (2, 2)))


def matmul(op: str) -> Callable[[Draft], Call]:
    def drawn(d: Draft) -> Call:
        ref = d.array(least=2 if not d.wild() else 1, dense=0.2)
        x = d.value(ref)
        left = d.chance.happens(0.6)
        if x.dense and not x.rank:
            return Call(op, (ref, ref))
        if not x.dense and x.rank >= 3 and d.chance.happens(0.4):
            other = _turned(d, x, left)
        else:
            least = 3 if op == "bmm" and not d.wild(0.1) else 1
            other = _counterpart(d, x, left, d.chance.between(least, max(x.rank, least)) if not d.wild(0.03) else 4)
        return Call(op, (ref, other) if left else (other, ref))

    return drawn


def linear(d: Draft) -> Call:
    ref = d.array()
    x = d.value(ref)
    size = x.shape[-1] if x.rank and x.shape[-1] is not None and not d.wild(0.04) else d.chance.between(0, 3)
    width = d.chance.one((1, 2, 3, 0))
    weight = d.dense((width, size) if not d.wild(0.02) else (size,), d.kinds)
    if d.chance.happens(0.5):
        return Call("linear", (ref, weight, d.dense((width,) if not d.wild(0.04) else (width, 1), d.kinds)))
    return Call("linear", (ref, weight))


def _labels(d: Draft, form: arrays.Form, classes: int, ignored: int | None = None) -> Ref:
    """Nested integers below ``classes``, now and then others."""
    kind = d.chance.one(LABELS)
    pool = list(range(max(classes, 1)))
    pool += [ignored] if ignored is not None and ignored >= np.iinfo(kind).min else []
    if d.wild(0.03):
        pool += [classes, -1 if kind.kind == "i" else classes + 1]
    numbers = np.array(pool).astype(kind)
    return d.add(
        arrays.nested(d.chance, form, d.chance.happens(0.6), kind, lambda count: d.chance.picks(numbers, count))
    )


def embedding(d: Draft) -> Call:
    rows = d.chance.between(1, 4)
    weight = d.dense((rows, d.chance.between(0, 3)) if not d.wild(0.03) else (rows,), d.kinds)
    if d.wild(0.05):
        return Call("embedding", (d.array(), weight))
    options: dict[str, Any] = {}
    if d.chance.happens(0.3):
        options["padding_idx"] = d.chance.between(-rows, rows - 1) if not d.wild(0.05) else rows
    return Call("embedding", (_labels(d, arrays.form(d.chance, d.chance.between(1, 2)), rows), weight), options)


def cross_entropy(d: Draft) -> Call:
    classes = d.chance.between(1, 3)
    form = arrays.form(d.chance, d.chance.between(1, 2), d.chance.between(1, 3) if d.tame else None)
    shapes = tuple((*shape, classes) for shape in form.shapes)
    scores = replace(form, shapes=shapes, rank=form.rank + 1, regular=(*form.regular, classes))
    ignored = d.chance.one((-100, -1, 0, 1))
    options: dict[str, Any] = {"reduction": d.chance.one(("none", "sum", "mean")) if not d.wild() else "max"}
    if d.chance.happens(0.5):
        options["ignore_index"] = ignored
    if d.chance.happens(0.3):
        smoothing = (0.25, 0.0, 1.0, 0.5) if not d.wild() else (-0.5, 1.5)
        options["label_smoothing"] = d.chance.one(smoothing)
    if d.chance.happens(0.3):
        options["weight"] = d.dense((classes + d.wild(0.04),), dtype=FLOAT64, style="positive")
    x = d.nested("f" if not d.wild() else "biuf", scores, dtype=FLOAT64 if "weight" in options else None)
    return Call("cross_entropy", (x, _labels(d, form, classes, ignored)), options)


DRAWS: dict[str, Callable[[Draft], Call]] = {
    "matmul": matmul("matmul"),
    "bmm": matmul("bmm"),
    "linear": linear,
    "embedding": embedding,
    "cross_entropy": cross_entropy,
}
