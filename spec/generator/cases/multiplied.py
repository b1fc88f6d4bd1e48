"""Calls from covering arrays that multiply matrices: every form that one operand beside a nested one can have."""

from __future__ import annotations

from typing import Any

from ..author import Book
from ..batches import Outline, drawn, outline
from ..covering import Row
from .calls import add
from .meetings import numbers, second_dtype

__all__ = ["multiplied"]

COLUMNS = 3  # of what stands behind, or rows of what stands in front


def multiplied(book: Book, row: Row, key: str) -> None:
    """Add a product of nested matrices, (B, *, D) or (B, D, *), with something that fits."""
    form = outline(row)
    x, y = drawn(form, row["dtype"], f"{key} x", "fine"), _other(row, form, second_dtype(row), f"{key} y")
    in_front = row["product"].startswith("left")
    own = int(in_front)  # the position of the nested operand
    tracked = {"both": None, "self": (own,), "other": (1 - own,)}[row["tracked"]]
    kind = {"jagged": "dense", "strided": "nested"} if row["product"] == "summed" else "nested"
    add(book, row, [y, x] if in_front else [x, y], "gradient", kind=kind, tracked=tracked)


def _other(row: Row, form: Outline, dtype: str, key: str) -> Any:
    """Return the other operand: its inner size is that of the nested one, component by component."""
    batch, inner = len(form.shapes), form.shape[form.regular[0]] or 0
    if row["product"] == "summed":
        columns = Outline(tuple((n, COLUMNS) for n in form.lengths), (batch, None, COLUMNS), 1)
        return drawn(columns, dtype, key, "fine")
    if row["product"] == "outer":
        rows = Outline(tuple((inner, n) for n in form.lengths[::-1]), (batch, inner, None), 2)
        return drawn(rows, dtype, key, "fine")
    shapes = {
        "matrix": (inner, COLUMNS),
        "vector": (inner,),
        "slices": (batch, inner, COLUMNS),
        "slice": (1, inner, COLUMNS),
        "left": (COLUMNS, inner),
        "left-slices": (batch, COLUMNS, inner),
    }
    return numbers(dtype, shapes[row["product"]], key, "fine")
