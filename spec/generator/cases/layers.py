"""Calls from covering arrays of what stands in models: layers with weights, norms, dropout, tables and losses."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ...components import each
from ..author import Book
from ..batches import Layouts, Outline, drawn, outline
from ..covering import Row
from .calls import add, refusal
from .meetings import numbers, second_dtype

__all__ = ["classified", "dropped", "looked_up", "multiplied_by_weights", "normalized"]

IGNORED = -100  # what `ignore_index` is by default


def _width(row: Row, form: Outline, same: int) -> int:
    """Return how many outputs or classes there are."""
    longest = max(form.lengths, default=0) or 2
    return {"other": 3, "one": 1, "same": same, "longest": longest, "zero": 0}[row["width"]]


def multiplied_by_weights(book: Book, row: Row, key: str) -> None:
    """Add a linear layer; where the last dimension is irregular, that it is refused."""
    form, dtype = outline(row), second_dtype(row)
    inputs = form.size(len(form.shape) - 1, 3)
    outputs = _width(row, form, inputs)
    x = drawn(form, row["dtype"], f"{key} x", "fine")
    args: list[Any] = [x, numbers(dtype, (outputs, inputs), f"{key} w", "fine")]
    if row["given"] == "both":
        args.append(numbers(dtype, (outputs,), f"{key} b", "fine"))
    tracked = {"both": None, "self": (0,), "other": tuple(range(1, len(args)))}[row["tracked"]]
    refused, accepted = form.layouts(len(form.shape) - 1)
    _refuse(book, refused, args)
    if accepted:
        add(book, row, args, "shape", "gradient", tracked=tracked, layouts=accepted)


def _refuse(book: Book, layouts: Layouts, args: Sequence[Any], **kw: Any) -> None:
    """Add that an irregular dimension is refused, in the layouts in which it is one."""
    if layouts:
        clause, near = refusal(book.op, "StructureError"), f"{book.op}/float32/ragged/1"
        book.error_inside("axes", clause, "StructureError", near, args, kw=kw, layouts=layouts)


def normalized(book: Book, row: Row, key: str) -> None:
    """Add a layer norm; where it would be over an irregular dimension, that it is refused."""
    form = outline(row)
    rank = len(form.shape)
    dims = (rank - 2, rank - 1) if row["over"] == "two" else (rank - 1,)
    known = tuple(form.size(dim, 3) for dim in dims)
    args: list[Any] = [drawn(form, row["dtype"], f"{key} x", "fine"), known[0] if row["over"] == "number" else known]
    kw: dict[str, Any] = {}
    for name in ("weight", "bias"):
        if row["given"] in (name, "both"):
            kw[name] = numbers(row["dtype"], known, f"{key} {name}", "fine")
    if row["eps"] == "half":
        kw["eps"] = 0.5
    refused, accepted = form.layouts(*dims)
    _refuse(book, refused, args, **kw)
    if accepted:
        tracked = {"both": None, "self": (0,), "other": None}[row["tracked"]]
        add(book, row, args, "shape", "gradient", kw=kw, tracked=tracked, layouts=accepted)


def dropped(book: Book, row: Row, key: str) -> None:
    """Add a dropout of which every element is certain."""
    x = drawn(outline(row), row["dtype"], key, "fine")
    ways: dict[str, dict[str, Any]] = {
        "nothing": {"p": 0.0},
        "everything": {"p": 1.0},
        "evaluation": {"p": 1.0, "training": False},
        "absent": {"training": False},
    }
    clause = {"nothing": "1", "everything": "9"}.get(row["dropped"], "3")
    book.value(
        f"{row['dtype']}/axes", f"{clause} 4 10", [x], kw=ways[row["dropped"]], drawn=row["cotangent"], zeros="either"
    )


def looked_up(book: Book, row: Row, key: str) -> None:
    """Add rows of a table; where there are none, that the first index is refused."""
    form = outline(row)
    rows = 5
    indices = drawn(form, "int8" if row["second"] == "whole" else "int64", f"{key} i", "whole", 0, rows - 1)
    weight = numbers(row["dtype"], (rows, _width(row, form, rows)), f"{key} w", "fine")
    add(book, row, [indices, weight], "shape", "gradient")


def classified(book: Book, row: Row, key: str) -> None:
    """Add losses of targets: the classes lie behind the dimensions that the row speaks of."""
    targets = outline(row)
    classes = _width(row, targets, 2)
    shapes = tuple((*shape, classes) for shape in targets.shapes)
    x = drawn(Outline(shapes, (*targets.shape, classes), targets.ragged), row["dtype"], f"{key} x", "fine")
    y = drawn(targets, "int64", f"{key} y", "whole", 0, classes - 1)
    kw: dict[str, Any] = {} if row["folded"] == "mean" else {"reduction": row["folded"]}
    if row["ignored"] == "other":
        kw["ignore_index"] = 1
    if row["ignored"] == "some":
        y = each(lambda one: np.where((one + np.arange(one.size).reshape(one.shape)) % 2, IGNORED, one), y)
    if row["ignored"] == "every":
        y = each(lambda one: np.full_like(one, IGNORED), y)
    if row["given"] == "weight":
        kw["weight"] = np.array([math.ldexp(1.0, number % 4 - 1) for number in range(classes)], row["dtype"])
    if row["smoothed"] == "quarter":
        kw["label_smoothing"] = 0.25
    add(book, row, [x, y], "dtype", "gradient", kw=kw)
